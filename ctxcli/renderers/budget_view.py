"""A context against its window: the note as it stands, or the shares of a window as blocks."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, number, percent, printable
from ctxcli.reports.budget import BudgetReport, BudgetSource


def budget_blocks(report: BudgetReport) -> Iterator[Block]:
    """The shares of a window that no transcript fills."""
    window = report.window
    yield Facts((
        (f"window {number(window.max_context)} ({window.origin})", f"reserve {number(window.reserve_output)}",
         f"usable {number(window.usable)}"),
    ))  # fmt: skip
    columns = (Column("layer"), Column("quota", right=True), Column("of the window", right=True))
    rows = [("output", window.reserve_output), ("system and tools", report.fixed)]
    rows += [(row.layer, row.quota) for row in report.layers if row.quota is not None]
    whole = window.max_context
    yield Grid(columns, tuple(
        (name, number(size), percent(size / whole if whole else None)) for name, size in rows
    ))  # fmt: skip
    if report.overflow and window.usable is not None:
        much = number(report.fixed - window.usable)
        yield Notes("note", (f"System prompt and tools take {much} tokens more than is usable.",), warn=True)


def notes_of(reports: Iterable[BudgetReport], draw: Callable[[BudgetReport], str]) -> Iterator[str]:
    """The notes as they stand, nothing else with them; of several, each under a line that says whose it is."""
    stream = iter(reports)
    first = list(islice(stream, 2))
    for at, report in enumerate(chain(first, stream)):
        between = "\n" if at else ""
        if report.source is None:
            yield between + draw(report)
            continue
        head = _whose(report.source) + "\n" if len(first) > 1 else ""
        yield between + head + "\n".join(report.note) + "\n"


def _whose(source: BudgetSource) -> str:
    name = source.path + (f" [{source.conversation}]" if source.many and source.conversation else "")
    return printable(name)
