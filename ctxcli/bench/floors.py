"""Floors: figures that a compactor has to reach, so that a bench can be a test."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxcli.bench.fit import is_most
from ctxcli.bench.plan import Plan
from ctxcli.reports.bench import (
    AT_MOST,
    PLANTED,
    RECALL,
    REQUIRED,
    SURVIVAL,
    BenchLife,
    BenchRow,
    FloorRow,
    PlantedRow,
)


@dataclass(frozen=True, slots=True)
class Floor:
    """A figure, and who has to reach it: None for the user's own compactors, else for the first strategy."""

    measure: str
    least: float
    compactor: str | None = None


def floor_rows(
    floors: Sequence[Floor],
    plan: Plan,
    rows: Sequence[BenchRow],
    lives: Sequence[BenchLife],
    planted: Sequence[PlantedRow],
) -> Iterator[FloorRow]:
    """Each floor for each compactor that it holds for, at each budget.

    A compactor that failed, or is within the budget at fewer than half of the cuts, reaches none.
    """
    usual = [one.name for one in plan.outside] or list(plan.strategies[:1])
    for floor in floors:
        for name in [floor.compactor] if floor.compactor else usual:
            found = list(_values(floor.measure, name, rows, lives, planted)) or [(None, None)]
            for budget, value in found:
                yield FloorRow(floor.measure, floor.least, name, budget, value, _is_reached(floor, value))


def _is_reached(floor: Floor, value: float | None) -> bool:
    if value is None:
        return False
    return value <= floor.least if floor.measure in AT_MOST else value >= floor.least


def _values(
    measure: str, name: str, rows: Sequence[BenchRow], lives: Sequence[BenchLife], planted: Sequence[PlantedRow]
) -> Iterator[tuple[float | None, float | None]]:
    if measure == SURVIVAL:
        yield from ((None, one.generations[-1].held.mean) for one in _best_form(name, lives) if one.generations)
    elif measure == PLANTED:
        best = [one.form for one in _best_form(name, lives)]
        mine = [one for one in planted if one.compactor == name and one.form in best]
        if mine:
            yield None, sum(one.held for one in mine) / sum(one.planted for one in mine)
    else:
        mine_rows = [row for row in rows if row.compactor == name and row.against in (None, name)]
        yield from ((row.budget, _of_row(measure, row)) for row in mine_rows)


def _best_form(name: str, lives: Sequence[BenchLife]) -> list[BenchLife]:
    """The form in which a compactor is used: from raw turns where it can."""
    return [one for one in lives if one.compactor == name][:1]


def _of_row(measure: str, row: BenchRow) -> float | None:
    if row.failed or not row.fitting or not is_most(row.fitting, row.results):
        return None
    if measure in (RECALL, REQUIRED):
        found = row.recall if measure == RECALL else row.required
        return found.mean if found else None
    value: float | None = getattr(row, measure)
    return value
