"""What a bench concludes of cells whose figures are known: intervals over conversations, and floors of what fits."""

from dataclasses import replace

import pytest

from ctxcli.bench.case import Score
from ctxcli.bench.cells import Cell
from ctxcli.bench.cuts import Cut
from ctxcli.bench.floors import Floor
from ctxcli.bench.plan import Plan
from ctxcli.bench.report import report_of
from ctxcli.bench.results import Job, Piece
from ctxcli.renderers.bench_view import bench_chart
from ctxcli.reports.bench import BenchReport

PLAN = Plan(("contract", "drop-oldest"), budgets=(0.1,), generations=0)


def cell(compactor: str, number: int, held: int, tokens: int = 90) -> Cell:
    score = Score(tokens, 10, held, 10, held, 0, 0, 0, 0, 0, 0, 0)
    return Cell(f"f{number}", None, 7, compactor, 0.1, None, 1_000, 100, score, None)


def reported(cells: list[Cell], *floors: Floor) -> BenchReport:
    return report_of(
        PLAN, [Piece(Job("f", 1, Cut(at + 1, at)), (one,)) for at, one in enumerate(cells)], floors, with_cells=False
    )


def test_one_cut_in_each_of_many_conversations_is_a_spread() -> None:
    cells = [cell(name, at, held) for at in range(9) for name, held in (("contract", 9), ("drop-oldest", at % 3))]
    (found,) = reported(cells).comparisons
    assert found.won
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.difference < found.high
    assert found.difference == pytest.approx(0.8)
    assert not reported(cells[:2]).comparisons[0].won  # one conversation alone has none


def test_conversations_of_one_file_are_drawn_like_those_of_several() -> None:
    cells = [
        replace(cell(name, at // 2, held), call=at % 2)
        for at in range(12) for name, held in (("contract", 5 + at % 5), ("drop-oldest", at % 4))
    ]  # fmt: skip
    together = [replace(one, path="f", conversation=one.path[1:]) for one in cells]
    assert reported(together).comparisons == reported(cells).comparisons
    assert [row.recall for row in reported(together).rows] == [row.recall for row in reported(cells).rows]


@pytest.mark.parametrize(("fitting", "ok"), [(1, False), (2, True)])
def test_a_floor_is_not_reached_by_what_seldom_fits(fitting: int, ok: bool) -> None:
    cells = [cell("contract", at, 9, tokens=90 if at < fitting else 900) for at in range(4)]
    (found,) = reported(cells, Floor("recall", 0.5)).floors
    assert (found.ok, found.value) == (ok, 0.9 if ok else None)


def test_the_chart_has_a_point_at_one_budget_and_a_level_for_a_size_of_its_own() -> None:
    own = replace(cell("recorded", 0, 4), budget=None, against="recorded")
    lines = bench_chart(reported([cell("contract", 0, 9), own])).lines
    assert [(one.name, list(one.xs), list(one.ys), one.level) for one in lines] == [
        ("contract", [10.0], [0.9], False), ("recorded, leaves 9.0 %", [10.0], [0.4], True),
    ]  # fmt: skip
