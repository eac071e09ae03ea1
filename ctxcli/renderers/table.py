"""The report for a person: drawn with rich, in colour on a terminal, plain text elsewhere."""

from __future__ import annotations  # the reports stand in types alone

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ctxcli.renderers.fitting import GAP, SHORTEST, fitting, shortened
from ctxcli.renderers.view import Block, Curve, Facts, Grid, Notes, printable
from ctxcli.renderers.views import (
    audit_blocks,
    bench_blocks,
    budget_blocks,
    check_blocks,
    compact_pages,
    finding_blocks,
    formats_blocks,
    guard_blocks,
    identifiers_blocks,
    in_full_or_rows,
    notes_blocks,
    notes_of,
    probe_blocks,
    simulate_blocks,
    summary_blocks,
    sweep_blocks,
)
from ctxcli.shelf import Canvas, Renderer

if TYPE_CHECKING:
    from rich.console import Console

    from ctxcli.reports.audit import AuditReport
    from ctxcli.reports.bench import BenchReport
    from ctxcli.reports.budget import BudgetReport
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

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.-:=+*#"
_ASCII = str.maketrans({"·": "-", "…": "~", "→": ">", "×": "x", "–": "-", "│": "|", "“": '"', "”": '"'})
_UNBOUND = 100_000
_WIDEST_CURVE = 100


def audit(reports: Iterable[AuditReport], canvas: Canvas) -> Iterator[str]:
    """Each report in full; of a source with many conversations a row each, unless they are asked for in full."""
    return _drawn((_audited(one, canvas) for one in in_full_or_rows(reports, full=canvas.full)), canvas)


def _audited(one: AuditReport | Sequence[AuditReport], canvas: Canvas) -> Iterable[Block]:
    if isinstance(one, Sequence):
        return (*_heading(one), *summary_blocks(one), *_hint(one, canvas))
    return audit_blocks(one, every_call=canvas.every_call)


def identifiers(reports: Iterable[IdentifiersReport], canvas: Canvas) -> Iterator[str]:
    """Each report in full."""
    return _drawn((identifiers_blocks(report, everything=canvas.every_call) for report in reports), canvas)


def guard(reports: Iterable[GuardReport], canvas: Canvas) -> Iterator[str]:
    """Each report in full."""
    return _drawn((guard_blocks(report, everything=canvas.every_call) for report in reports), canvas)


def check(reports: Iterable[CheckReport], canvas: Canvas) -> Iterator[str]:
    """Each report in full."""
    return _drawn(map(check_blocks, reports), canvas)


def probe(reports: Iterable[ProbeReport], canvas: Canvas) -> Iterator[str]:
    """Each pair of contexts with its questions."""
    return _drawn((probe_blocks(report, everything=canvas.every_call) for report in reports), canvas)


def finding(reports: Iterable[FindingReport], canvas: Canvas) -> Iterator[str]:
    """Each source with its findings."""
    return _drawn(map(finding_blocks, reports), canvas)


def compact(reports: Iterable[CompactReport], canvas: Canvas) -> Iterator[str]:
    """Each report in full; of a source with many conversations a row each."""
    return _drawn(compact_pages(reports, full=canvas.full), canvas)


def notes(reports: Iterable[NotesReport], canvas: Canvas) -> Iterator[str]:
    """Each report, with its entries where all is wanted."""
    return _drawn((notes_blocks(report, everything=canvas.every_call) for report in reports), canvas)


def formats(reports: Iterable[FormatReport], canvas: Canvas) -> Iterator[str]:
    """How each source was understood."""
    return _drawn(map(formats_blocks, reports), canvas)


def simulate(reports: Iterable[SimulateReport], canvas: Canvas) -> Iterator[str]:
    """Each transcript under its policies."""
    return _drawn((simulate_blocks(report, everything=canvas.every_call) for report in reports), canvas)


def bench(reports: Iterable[BenchReport], canvas: Canvas) -> Iterator[str]:
    """Each bench."""
    return _drawn((bench_blocks(report, everything=canvas.every_call) for report in reports), canvas)


def sweep(reports: Iterable[SweepReport], canvas: Canvas) -> Iterator[str]:
    """Each sweep."""
    return _drawn((sweep_blocks(report, everything=canvas.every_call) for report in reports), canvas)


def budget(reports: Iterable[BudgetReport], canvas: Canvas) -> Iterator[str]:
    """The notes as they stand, or the shares of a window."""
    return notes_of(reports, lambda report: _draw(list(budget_blocks(report)), canvas))


def _drawn(pages: Iterable[Iterable[Block]], canvas: Canvas) -> Iterator[str]:
    """Reports one below the other."""
    for number, blocks in enumerate(pages):
        yield ("\n\n" if number else "") + _draw(list(blocks), canvas)


def _heading(rows: Sequence[AuditReport]) -> Iterator[Block]:
    paths = {report.source.path for report in rows}
    if len(paths) == 1 and rows[0].source.many:
        yield Facts(((paths.pop(), rows[0].source.format, f"{len(rows):,} conversations"),))


def _hint(rows: Sequence[AuditReport], canvas: Canvas) -> Iterator[Block]:
    if any(report.source.many for report in rows) and not canvas.full:
        yield Notes("more", ("--conversation ID reports on one of them, --all on each",))


def _draw(blocks: Sequence[Block], canvas: Canvas) -> str:
    from rich.console import Console  # noqa: PLC0415 - only where a table is drawn

    stream = io.StringIO()
    console = Console(
        file=stream,
        width=canvas.width or _UNBOUND,
        force_terminal=canvas.colour,
        color_system="standard" if canvas.colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for number, block in enumerate(blocks):
        if number and not isinstance(block, Curve):
            console.print()
        _block(block, console, canvas)
    text = "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"
    return text.translate(_ASCII) if canvas.ascii else text


def _block(block: Block, console: Console, canvas: Canvas) -> None:
    match block:
        case Facts(lines):
            for at, facts in enumerate(lines):
                _facts(facts, console, canvas, bold=at == 0)
        case Curve():
            _curve(block, console, canvas)
        case Grid():
            _grid(block, console, canvas)
        case Notes():
            _notes(block, console, canvas)


def _facts(facts: Sequence[str], console: Console, canvas: Canvas, *, bold: bool) -> None:
    """Facts in a row, broken between facts where the terminal is narrow, and within one only if it must be."""
    from rich.text import Text  # noqa: PLC0415

    width = canvas.width or _UNBOUND
    rows: list[list[str]] = [[]]
    for fact in (piece for whole in facts for piece in textwrap.wrap(printable(whole), width - 2) or [""]):
        used = sum(map(len, rows[-1])) + 3 * len(rows[-1])
        if rows[-1] and used + len(fact) > width - 2 * (len(rows) > 1):
            rows.append([])
        rows[-1].append(fact)
    for at, row in enumerate(rows):
        text = Text("  " if at else "")
        for place, fact in enumerate(row):
            text.append(" · " if place else "", style="dim")
            text.append(fact, style="bold" if bold and at == place == 0 else "")
        console.print(text, no_wrap=True, crop=False)


def _curve(curve: Curve, console: Console, canvas: Canvas) -> None:
    from rich.text import Text  # noqa: PLC0415

    if len(curve.values) < 2:
        return
    legend = f"   │ {curve.legend}" if curve.legend else ""
    room = min(_WIDEST_CURVE, (canvas.width or _WIDEST_CURVE) - len(curve.title) - 2 - len(legend))
    bars = _ASCII_BARS if canvas.ascii else _BARS
    row = Text(f"{curve.title}  ")
    row.append(_spark(curve.values, curve.marks, max(10, room), bars), style="cyan")
    row.append(legend, style="dim")
    console.print(row)


def _spark(values: Sequence[int], marks: frozenset[int], room: int, bars: str) -> str:
    """The values as bars, the highest of each group where there are more than fit; │ before a marked one."""
    top = max(values) or 1
    cells = max(1, min(len(values), room - len(marks)))
    drawn = []
    for cell in range(cells):
        start, end = cell * len(values) // cells, (cell + 1) * len(values) // cells
        group = range(start, max(end, start + 1))
        drawn += ["│"] * sum(mark in group for mark in marks)
        height = max(values[at] for at in group) / top
        drawn.append(bars[min(len(bars) - 1, int(height * len(bars)))])
    return "".join(drawn)


def _grid(grid: Grid, console: Console, canvas: Canvas) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    shown, widths = fitting(grid, canvas.width or _UNBOUND)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for at, width in zip(shown, widths, strict=True):
        column = grid.columns[at]
        table.add_column(
            column.name, justify="right" if column.right else "left", no_wrap=not column.prose, overflow="fold",
            min_width=width, max_width=width,
        )  # fmt: skip
    for row in grid.rows:
        cells = [(grid.columns[at], printable(row[at]), width) for at, width in zip(shown, widths, strict=True)]
        table.add_row(*(Text(cell if column.prose else shortened(cell, width)) for column, cell, width in cells))
    console.print(table, width=max(sum(widths) + GAP * len(widths), 1), no_wrap=True, crop=False)


def _notes(notes: Notes, console: Console, canvas: Canvas) -> None:
    from rich.text import Text  # noqa: PLC0415

    indent = len(notes.title) + 2
    for at, line in enumerate(notes.lines):
        room = max(SHORTEST, (canvas.width or _UNBOUND) - indent)
        for number, piece in enumerate(textwrap.wrap(printable(line), room) or [""]):
            head = Text(notes.title if at == number == 0 else "", style="bold red" if notes.warn else "dim")
            head.pad_right(indent - len(head))
            head.append(piece, style="none")
            console.print(head, no_wrap=True, crop=False)


RENDERER = Renderer(
    "table",
    "for people: a terminal, a log",
    audit,
    identifiers,
    guard,
    check=check,
    compact=compact,
    notes=notes,
    formats=formats,
    simulate=simulate,
    budget=budget,
    sweep=sweep,
    finding=finding,
    probe=probe,
    bench=bench,
)
