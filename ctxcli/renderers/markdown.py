"""The report as GitHub-flavoured markdown, for job summaries and pull requests."""

from __future__ import annotations  # the reports stand in types alone

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ctxcli.renderers.view import Block, Curve, Facts, Grid, Notes, printable
from ctxcli.renderers.views import (
    audit_blocks,
    bench_blocks,
    check_blocks,
    compact_pages,
    finding_blocks,
    formats_blocks,
    guard_blocks,
    identifiers_blocks,
    in_full_or_rows,
    notes_blocks,
    probe_blocks,
    simulate_blocks,
    summary_blocks,
    sweep_blocks,
)
from ctxcli.shelf import Canvas, Renderer

if TYPE_CHECKING:
    from ctxcli.reports.audit import AuditReport
    from ctxcli.reports.bench import BenchReport
    from ctxcli.reports.check import CheckReport
    from ctxcli.reports.compact import CompactReport
    from ctxcli.reports.finding import FindingReport
    from ctxcli.reports.formats import FormatReport
    from ctxcli.reports.guard import GuardReport
    from ctxcli.reports.identifiers import IdentifiersReport
    from ctxcli.reports.notes import NotesReport
    from ctxcli.reports.probe import ProbeReport
    from ctxcli.reports.simulate import SimulateReport
    from ctxcli.reports.sweep import SweepReport

_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|#~"} | {"\n": " "})


def audit(reports: Iterable[AuditReport], canvas: Canvas) -> Iterator[str]:
    """Each report under a heading; of a source with many conversations a row each."""
    return _spaced(
        _page(audit_blocks(one, every_call=canvas.every_call))
        if not isinstance(one, Sequence)
        else "### Summary\n\n" + _page(summary_blocks(one))
        for one in in_full_or_rows(reports, full=canvas.full)
    )


def identifiers(reports: Iterable[IdentifiersReport], canvas: Canvas) -> Iterator[str]:
    """Each report under a heading."""
    return _spaced(_page(identifiers_blocks(report, everything=canvas.every_call)) for report in reports)


def guard(reports: Iterable[GuardReport], canvas: Canvas) -> Iterator[str]:
    """Each report under a heading."""
    return _spaced(_page(guard_blocks(report, everything=canvas.every_call)) for report in reports)


def check(reports: Iterable[CheckReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """Each report in full."""
    return _spaced(_page(check_blocks(report)) for report in reports)


def probe(reports: Iterable[ProbeReport], canvas: Canvas) -> Iterator[str]:
    """Each pair of contexts with its questions."""
    return _spaced(_page(probe_blocks(report, everything=canvas.every_call)) for report in reports)


def finding(reports: Iterable[FindingReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """Each source with its findings."""
    return _spaced(map(_page, map(finding_blocks, reports)))


def compact(reports: Iterable[CompactReport], canvas: Canvas) -> Iterator[str]:
    """Each report in full; of a source with many conversations a row each."""
    return _spaced(map(_page, compact_pages(reports, full=canvas.full)))


def notes(reports: Iterable[NotesReport], canvas: Canvas) -> Iterator[str]:
    """Each report, with its entries where all is wanted."""
    return _spaced(_page(notes_blocks(report, everything=canvas.every_call)) for report in reports)


def formats(reports: Iterable[FormatReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """How each source was understood."""
    return _spaced(map(_page, map(formats_blocks, reports)))


def simulate(reports: Iterable[SimulateReport], canvas: Canvas) -> Iterator[str]:
    """Each transcript under its policies."""
    return _spaced(_page(simulate_blocks(report, everything=canvas.every_call)) for report in reports)


def bench(reports: Iterable[BenchReport], canvas: Canvas) -> Iterator[str]:
    """Each bench."""
    return _spaced(_page(bench_blocks(report, everything=canvas.every_call)) for report in reports)


def sweep(reports: Iterable[SweepReport], canvas: Canvas) -> Iterator[str]:
    """Each sweep."""
    return _spaced(_page(sweep_blocks(report, everything=canvas.every_call)) for report in reports)


def _spaced(pages: Iterable[str]) -> Iterator[str]:
    """Pages with an empty line between them."""
    for number, page in enumerate(pages):
        yield ("\n" if number else "") + page


def _page(blocks: Iterable[Block]) -> str:
    return "\n".join("\n".join(_block(block)) + "\n" for block in blocks if not isinstance(block, Curve))


def _block(block: Block) -> Iterator[str]:
    match block:
        case Facts(lines):
            yield f"### {_escape(lines[0][0])}"
            yield ""
            for at, facts in enumerate(lines):
                yield "- " + " · ".join(_escape(fact) for fact in (facts[1:] if at == 0 else facts))
        case Grid(columns, rows):
            yield "| " + " | ".join(_escape(column.name) for column in columns) + " |"
            yield "|" + "|".join("---:" if column.right else "---" for column in columns) + "|"
            for row in rows:
                yield "| " + " | ".join(_escape(cell) for cell in row) + " |"
        case Notes(title, lines):
            for line in lines:
                yield f"- **{_escape(title)}** {_escape(line)}"


def _escape(text: str) -> str:
    """Nothing in a transcript becomes markup."""
    return printable(text).translate(_SPECIAL)


RENDERER = Renderer(
    "markdown",
    "GitHub-flavoured, for job summaries",
    audit,
    identifiers,
    guard,
    check=check,
    compact=compact,
    notes=notes,
    formats=formats,
    simulate=simulate,
    sweep=sweep,
    finding=finding,
    probe=probe,
    bench=bench,
)
