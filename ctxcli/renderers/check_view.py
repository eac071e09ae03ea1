"""A check as blocks: the verdict, what the provider refuses, the answers."""

from collections.abc import Iterator

from ctxcli.renderers.view import Block, Column, Facts, Grid, number, plural
from ctxcli.reports.check import CheckReport

_ASKED = {
    "CTX401": "task kept", "CTX402": "room left", "CTX403": "recorded", "CTX404": "tested", "CTX405": "bounded",
    "CTX406": "read once", "CTX407": "checkable",
}  # fmt: skip
"""The questions in two words, for a table."""


def check_blocks(report: CheckReport) -> Iterator[Block]:
    """The blocks of one report."""
    source = report.source
    which = (f"conversation {source.conversation}",) if source.conversation else ()
    yield Facts(((source.path, source.format, *which), ("OK" if report.ok else "FAILS", *what_holds(report))))
    if report.findings:
        columns = (Column("rule"), Column("level"), Column("line", right=True), Column("what", prose=True))
        rows = ((one.rule, one.level, number(one.line), one.why) for one in report.findings)
        yield Grid(columns, tuple(rows))
    if report.habits:
        asked = (Column("habit"), Column(""), Column("answer"), Column("line", right=True), Column("why", prose=True))
        habits = (
            (one.rule, _ASKED[one.rule], one.answer, number(one.line), one.why) for one in report.habits
        )  # fmt: skip
        yield Grid(asked, tuple(habits))


def what_holds(report: CheckReport) -> Iterator[str]:
    """The profile and the counts."""
    counts = report.counts
    yield f"profile {report.profile}"
    yield f"{plural(counts.messages, 'message')} in the context"
    yield plural(counts.errors, "error")
    yield plural(counts.warnings, "warning")
