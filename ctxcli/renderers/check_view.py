"""A check as blocks: the verdict, what the provider refuses, the answers."""

from collections.abc import Iterator

from ctxcli.renderers.view import Block, Column, Facts, Grid, number, plural
from ctxcli.reports.check import CheckReport
from ctxcli.rules import RULES


def check_blocks(report: CheckReport) -> Iterator[Block]:
    """The blocks of one report."""
    source = report.source
    which = (f"conversation {source.conversation}",) if source.conversation else ()
    yield Facts(((source.path, source.format, *which), ("OK" if report.ok else "FAILS", *what_holds(report))))
    if report.findings:
        columns = (Column("rule"), Column("name", spare=True), Column("level"), Column("line", right=True),
                   Column("message", right=True, spare=True), Column("what", long=True))  # fmt: skip
        rows = (
            (one.rule, RULES[one.rule].title, one.level, number(one.line), number(one.message), one.why)
            for one in report.findings
        )
        yield Grid(columns, tuple(rows))
    if report.habits:
        columns = (Column("habit"), Column("question"), Column("answer"), Column("line", right=True, spare=True),
                   Column("why", long=True))  # fmt: skip
        habits = ((one.rule, one.question, one.answer, number(one.line), one.why) for one in report.habits)
        yield Grid(columns, tuple(habits))


def what_holds(report: CheckReport) -> Iterator[str]:
    """The profile and the counts."""
    counts = report.counts
    yield f"profile {report.profile}"
    yield f"{plural(counts.messages, 'message')} in the context"
    yield plural(counts.errors, "error")
    yield plural(counts.warnings, "warning")
