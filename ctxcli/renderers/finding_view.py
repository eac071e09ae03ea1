"""The findings of sub-agents, checked, as blocks."""

from collections.abc import Iterator

from ctxcli.renderers.view import Block, Column, Facts, Grid, number, plural
from ctxcli.reports.finding import FindingReport


def finding_blocks(report: FindingReport) -> Iterator[Block]:
    """The blocks of one source: its findings, and what is wrong with them."""
    bad = sum(not one.ok for one in report.findings)
    found = plural(len(report.findings), "finding")
    verdict = ("OK", found) if report.ok else ("INVALID", f"{bad:,} of {found}")
    yield Facts(((report.path,), verdict))
    columns = (
        Column("finding", right=True), Column("line", right=True), Column(""), Column("locations", right=True),
        Column("rejected", right=True, spare=True), Column("unresolved", right=True, spare=True),
        Column("failures", right=True, spare=True), Column("answer", prose=True),
    )  # fmt: skip
    yield Grid(columns, tuple(
        (number(one.n), number(one.line), "ok" if one.ok else "invalid", number(one.locations), number(one.rejected),
         number(one.unresolved), number(one.failures), one.answer or "–")
        for one in report.findings
    ))  # fmt: skip
    faults = [(one.n, fault) for one in report.findings for fault in one.faults]
    if faults:
        wrong = (Column("finding", right=True), Column("at"), Column("fault", prose=True), Column("do", prose=True))
        yield Grid(wrong, tuple((number(n), fault.at, fault.what, fault.fix) for n, fault in faults))
