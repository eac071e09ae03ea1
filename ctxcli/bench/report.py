"""The report of a run: its tables, generations, planted facts, floors and notes."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from ctxcli.bench.cells import RECORDED, Cell
from ctxcli.bench.conclude import Table, cell_rows, conversation_of, cuts_by_source, interval, share
from ctxcli.bench.fit import is_most
from ctxcli.bench.floors import Floor, floor_rows
from ctxcli.bench.lives import Life
from ctxcli.bench.plan import Plan
from ctxcli.bench.results import Piece
from ctxcli.reports.bench import (
    BenchLife,
    BenchReport,
    BenchRow,
    BenchSettings,
    BenchSource,
    Comparison,
    Generation,
    PlantedRow,
)

_HALF = 0.5
"""Of what was required at first; a generation that holds less is the cliff."""
_MOST = 5
"""Failures that are told."""


def report_of(plan: Plan, pieces: Iterable[Piece], floors: Sequence[Floor], *, with_cells: bool) -> BenchReport:
    """Everything that the pieces say; the same pieces in any order give the same report, but for times."""
    ordered = sorted(pieces, key=_place)
    cells = [cell for piece in ordered for cell in piece.cells]
    lives = [life for piece in ordered for life in piece.lives]
    table = Table(plan, cells)
    rows = tuple(table.rows())
    generations, planted = tuple(_lives(plan, lives)), tuple(_planted(lives))
    asked = tuple(floor_rows(floors, plan, rows, generations, planted))
    comparisons = tuple(table.comparisons(rows))
    return BenchReport(
        kind="ctx.bench", version=1, ok=all(one.ok for one in asked),
        settings=BenchSettings(
            plan.budgets, plan.cuts, plan.least, plan.generations, plan.generation_budget, plan.plant, plan.seed
        ),
        sources=tuple(_sources(cells)), rows=rows, comparisons=comparisons, generations=generations, planted=planted,
        floors=asked, cells=tuple(cell_rows(cells)) if with_cells else (),
        notes=tuple(_notes(cells, lives, rows, comparisons)),
    )  # fmt: skip


def _place(piece: Piece) -> tuple[str, int, bool, int, bool]:
    """By source and conversation; the cuts in their order, a recorded compaction first, then the generations."""
    job, cut = piece.job, piece.job.cut
    return (
        job.path, job.conversation, cut is None, cut.at if cut else 0, cut is not None and cut.event is None,
    )  # fmt: skip


def _sources(cells: Iterable[Cell]) -> Iterator[BenchSource]:
    every, recorded = cuts_by_source(cells)
    for (path, conversation), many in sorted(every.items(), key=lambda one: (one[0][0], one[0][1] or "")):
        yield BenchSource(path, conversation, many, recorded[path, conversation])


def _lives(plan: Plan, lives: Sequence[Life]) -> Iterator[BenchLife]:
    for compactor, form in dict.fromkeys((one.compactor, one.form) for one in lives):
        mine = [one for one in lives if (one.compactor, one.form) == (compactor, form)]
        rows = []
        for number in range(1, plan.generations + 1):
            there = [one for one in mine if one.generation == number and not one.error and one.required]
            some = [one for one in there if one.fits]
            if not is_most(len(some), len(there)):
                continue
            shares: dict[str, list[float]] = {}
            for one in some:
                shares.setdefault(conversation_of(one), []).append(one.held / one.required)
            held = interval(shares, f"{plan.seed} {compactor} {form} {number}")
            if held is not None:
                many, kept = _facts(some)
                left = fmean(one.after / one.before for one in some)
                rows.append(Generation(number, held, share(many, kept), round(left, 4)))
        cliff = next((row.generation for row in rows if row.held.mean < _HALF), None)
        yield BenchLife(compactor, form, tuple(rows), cliff, sum(bool(one.error) for one in mine))


def _facts(lives: Iterable[Life]) -> tuple[int, int]:
    pairs = [pair for one in lives for pair in one.facts.values()]
    return sum(many for many, _ in pairs), sum(held for _, held in pairs)


def _planted(lives: Sequence[Life]) -> Iterator[PlantedRow]:
    last = max((one.generation for one in lives), default=0)
    for compactor, form in dict.fromkeys((one.compactor, one.form) for one in lives):
        every = [one for one in lives if (one.compactor, one.form, one.generation) == (compactor, form, last)]
        ends = [one for one in every if one.fits]
        if not is_most(len(ends), len(every)):
            continue
        for name in dict.fromkeys(name for one in ends for name in one.facts):
            pairs = [one.facts[name] for one in ends if name in one.facts]
            slot, _, place = name.partition(", ")
            many, held = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
            yield PlantedRow(compactor, form, slot, place, many, held)


def _notes(
    cells: Sequence[Cell], lives: Sequence[Life], rows: Sequence[BenchRow], comparisons: Sequence[Comparison]
) -> Iterator[str]:
    if not cells:
        yield "No context was large enough to compare on, or nothing was used later: --min-context sets the size."
    yield from _ranking(rows, comparisons)
    never = sorted({row.compactor for row in rows if row.budget is not None and not row.fitting and not row.failed})
    fitting = {row.compactor for row in rows if row.budget is not None and row.fitting}
    if unable := [name for name in never if name not in fitting]:
        yield f"Within none of the budgets: {', '.join(unable)}. What it may take is not enough to get there."
    errors = dict.fromkeys([one.error for one in cells] + [one.error for one in lives])
    yield from [error for error in errors if error][:_MOST]
    if cells and not any(cell.compactor == RECORDED for cell in cells):
        yield "None of these transcripts records a compaction that can be read."


def _ranking(rows: Sequence[BenchRow], comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Who is best at which budget, in words; a difference inside the spread is no win."""
    for budget, against in dict.fromkeys((row.budget, row.against) for row in rows):
        mine = [one for one in comparisons if (one.budget, one.against) == (budget, against)]
        if not mine:
            continue
        where = f"at {budget * 100:g} %" if budget is not None else f"at the size of {against}"
        level = [one.other for one in mine if not one.won]
        beaten = [one.other for one in mine if one.won]
        told = [f"ahead of {', '.join(beaten)} by more than the spread"] if beaten else []
        told += [f"not to be told apart from {', '.join(level)}"] if level else []
        yield f"Hindsight recall {where}: {mine[0].best} is {'; '.join(told)}."
