"""The report for a person: drawn with rich, in colour on a terminal, plain text elsewhere."""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ctxcli.renderers.audit_view import audit_blocks, summary_block
from ctxcli.renderers.view import Block, Curve, Facts, Grid, Notes
from ctxcli.reports import AuditReport
from ctxcli.shelf import Canvas, Renderer

if TYPE_CHECKING:
    from rich.console import Console

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.-:=+*#"
_ASCII = str.maketrans({"·": "-", "…": "~", "→": ">", "×": "x", "–": "-", "│": "|", "“": '"', "”": '"'})
_NARROW = 90
_UNBOUND = 100_000
_WIDEST_CURVE = 100
_GAP = 2
_SHORTEST = 12


def audit(reports: Iterable[AuditReport], canvas: Canvas) -> Iterator[str]:
    """Each report in full; of a source with many conversations a row each, unless all was asked for."""
    rows: list[AuditReport] = []
    shown = 0
    for report in reports:
        rows.append(report)
        if report.source.many and not canvas.every_call:
            continue
        yield ("\n\n" if shown else "") + _draw(list(audit_blocks(report, every_call=canvas.every_call)), canvas)
        shown += 1
    if len(rows) > 1:
        yield ("\n\n" if shown else "") + _draw([*_heading(rows), summary_block(rows), *_hint(rows, canvas)], canvas)


def _heading(rows: Sequence[AuditReport]) -> Iterator[Block]:
    paths = {report.source.path for report in rows}
    if len(paths) == 1 and rows[0].source.many:
        yield Facts(((paths.pop(), rows[0].source.format, f"{len(rows):,} conversations"),))


def _hint(rows: Sequence[AuditReport], canvas: Canvas) -> Iterator[Block]:
    if rows[0].source.many and not canvas.every_call:
        yield Notes("more", ("--conversation NAME reports on one of them, --all on each",))


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


def _block(block: Block, console: "Console", canvas: Canvas) -> None:
    match block:
        case Facts(lines):
            for at, facts in enumerate(lines):
                _facts(facts, console, canvas, bold=at == 0)
        case Curve():
            _curve(block, console, canvas)
        case Grid():
            _grid(block, console, canvas)
        case Notes():
            _notes(block, console)


def _facts(facts: Sequence[str], console: "Console", canvas: Canvas, *, bold: bool) -> None:
    """Facts in a row, broken between facts where the terminal is narrow."""
    from rich.text import Text  # noqa: PLC0415

    width = canvas.width or _UNBOUND
    row = Text()
    for fact in facts:
        if row.cell_len and row.cell_len + 3 + len(fact) > width:
            console.print(row)
            row = Text("  ")
        elif row.cell_len:
            row.append(" · ", style="dim")
        row.append(_clean(fact), style="bold" if bold and not row.cell_len else "")
    console.print(row)


def _curve(curve: Curve, console: "Console", canvas: Canvas) -> None:
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


def _grid(grid: Grid, console: "Console", canvas: Canvas) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    narrow = 0 < canvas.width < _NARROW
    shown = [at for at, column in enumerate(grid.columns) if not (narrow and column.spare)]
    names = [grid.columns[at].name for at in shown]
    rows = [[_clean(row[at]) for at in shown] for row in grid.rows]
    widths = [max(len(name), *(len(row[at]) for row in rows)) for at, name in enumerate(names)]
    spare = (canvas.width or _UNBOUND) - sum(widths) - _GAP * (len(widths) - 1)
    for at, column in enumerate(grid.columns[at] for at in shown):
        if column.long and spare < 0:
            room = max(_SHORTEST, widths[at] + spare)
            spare += widths[at] - room
            for row in rows:
                row[at] = _shorten(row[at], room)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for at, name in zip(shown, names, strict=True):
        justify = "right" if grid.columns[at].right else "left"
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _shorten(text: str, room: int) -> str:
    """The text without its middle: of a path both ends tell more than the first half."""
    if len(text) <= room:
        return text
    tail = (room - 1) * 2 // 3
    return f"{text[: room - 1 - tail]}…{text[-tail:]}"


def _notes(notes: Notes, console: "Console") -> None:
    from rich.padding import Padding  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    indent = len(notes.title) + 2
    for at, line in enumerate(notes.lines):
        if at == 0:
            head = Text(notes.title + "  ", style="bold red" if notes.warn else "dim")
            head.append(_clean(line), style="none")
            console.print(head, soft_wrap=False)
        else:
            console.print(Padding(Text(_clean(line)), (0, 0, 0, indent)))


def _clean(text: str) -> str:
    """Text from a transcript must not steer the terminal."""
    return "".join(sign if sign.isprintable() else "�" if sign not in "\n\t" else " " for sign in text)


RENDERER = Renderer("table", "for people: a terminal, a log", audit)
