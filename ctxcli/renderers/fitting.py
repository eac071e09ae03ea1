"""How wide the columns of a table are on a terminal of a given width."""

from collections.abc import Sequence

from ctxcli.renderers.view import Grid, printable

GAP = 2
"""Blanks between two columns."""
SHORTEST = 16
"""Characters that a text keeps, whatever the width."""


def fitting(grid: Grid, room: int) -> tuple[list[int], list[int]]:
    """The columns that fit, and their widths: spare ones go first, then text is shortened, figures never."""
    natural = [
        max([len(column.name), *(len(printable(row[at])) for row in grid.rows)])
        for at, column in enumerate(grid.columns)
    ]
    shown = list(range(len(grid.columns)))

    for at in reversed(range(len(grid.columns))):
        if grid.columns[at].spare and _wide(grid, natural, shown, SHORTEST) > room:
            shown.remove(at)
    most = max((natural[at] for at in shown if grid.columns[at].yields), default=0)
    while most > SHORTEST and _wide(grid, natural, shown, most) > room:
        most -= 1
    return shown, [min(natural[at], most) if grid.columns[at].yields else natural[at] for at in shown]


def _wide(grid: Grid, natural: Sequence[int], shown: Sequence[int], most: int) -> int:
    """The columns' width in all where no text is longer than `most`."""
    widths = (min(natural[at], most) if grid.columns[at].yields else natural[at] for at in shown)
    return sum(widths) + GAP * (len(shown) - 1)


def shortened(text: str, room: int) -> str:
    """The text without its middle: of a path both ends tell more than the first half."""
    if len(text) <= room:
        return text
    tail = (room - 1) * 2 // 3
    return f"{text[: room - 1 - tail]}…{text[-tail:]}"
