"""What a sweep concludes: the knee, the gap, the effective context, and what it cannot tell."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.intervals import bootstrap, newcombe, wilson
from ctxcli.reports.sweep import SweepReport, SweepSource, SweepSpent
from ctxcli.sweep.grid import MIDDLE, Case, Grid, Plan
from ctxcli.sweep.report import Asking, Floors, report_of
from ctxcli.sweep.run import Sweep
from sweep_support import PORT, SMALL, TEAM, answered, small_grid

SOURCE = SweepSource("items.jsonl", False, 2, {"exact": 2}, (), 0)
ASKING = Asking("openai:m", None, "o200k_base", SweepSpent(0, 0, 0, 0, 0, None))
EVEN = replace(SMALL, repeats=8)


@cache
def laid(plan: Plan = SMALL) -> Grid:
    return small_grid(plan)


def concluded(sweep: Sweep, plan: Plan = SMALL, floors: Floors = Floors()) -> SweepReport:  # noqa: B008 - frozen
    return report_of(sweep, (PORT, TEAM), plan, SOURCE, ASKING, floors)


def of(right: Callable[[Case], bool], plan: Plan = SMALL, floors: Floors = Floors()) -> SweepReport:  # noqa: B008 - frozen
    return concluded(answered(laid(plan), right), plan, floors)


def test_a_model_that_falls_at_16_and_in_the_middle() -> None:
    """Right up to 4×; at 16× three of four at the ends, and one of four in the middle."""
    report = of(lambda case: case.multiple < 16 or case.repeat % 4 < (1 if case.position == MIDDLE else 3), EVEN)
    assert (report.knee.verdict, report.knee.multiple) == ("knee", 16)
    assert report.knee.tokens == report.lengths[2].tokens
    assert report.knee.positions == {"head": 16, "middle": 16, "tail": 16}
    four, sixteen = report.gaps
    assert (four.gap, four.certain) == (0.0, False)
    assert (sixteen.best, sixteen.gap, sixteen.certain) == ("head", 0.5, True)
    assert (report.effective.multiple, report.effective.longest) == (4, False)
    assert report.lengths[2].mean == pytest.approx((0.75 * 2 + 0.25) / 3, abs=1e-4)
    assert report.ok
    assert report.complete


def test_a_flat_model_has_no_knee_and_no_gap() -> None:
    for rule in (lambda _: True, lambda case: case.repeat % 2 == 0):
        report = of(rule, EVEN)
        assert (report.knee.verdict, report.knee.multiple) == ("none", None)
        assert "is ruled out" in report.knee.why
        assert not any(gap.certain for gap in report.gaps)
        assert (report.effective.multiple, report.effective.longest) == (16, True)


def test_one_lucky_base_is_no_knee() -> None:
    """A base that is right each time by luck, and one wrong answer elsewhere."""
    report = of(lambda case: (case.multiple, case.position, case.repeat) != (4, MIDDLE, 0))
    assert report.knee.verdict == "none"


def test_a_fall_that_may_be_chance_is_not_called_no_knee() -> None:
    plan = replace(SMALL, multiples=(1, 4), repeats=2)
    report = of(lambda case: (case.multiple, case.repeat) != (4, 1), plan)
    assert report.lengths[1].fall == 0.5
    assert (report.knee.verdict, report.knee.multiple) == ("unknown", None)
    assert "may be chance" in report.knee.why


def test_one_repeat_cannot_tell() -> None:
    plan = replace(SMALL, repeats=1)
    report = of(lambda case: case.multiple < 16, plan)
    assert (report.knee.verdict, report.knee.multiple) == ("unknown", None)
    assert "one repeat" in report.knee.why
    assert report.lengths[2].fall == 1
    assert report.lengths[2].low is report.lengths[2].spread is None
    assert not any(gap.certain for gap in report.gaps)


def test_nothing_right_at_the_base_cannot_tell() -> None:
    report = of(lambda case: case.multiple > 1)
    assert (report.knee.verdict, report.effective.tokens) == ("unknown", None)
    assert not report.effective.longest
    assert any("wrong at the base each time" in note for note in report.notes)


def test_what_is_missing_counts_for_nothing() -> None:
    sweep = answered(laid(), lambda _: True)
    gone = [case.id for case in sweep.grid.cases if case.multiple == 16 and case.item is TEAM]
    for id_ in gone:
        del sweep.answers[id_]
    report = concluded(sweep)
    assert not report.complete
    assert not report.ok
    assert all(cell.mean == 1 for cell in report.cells)
    assert sum(cell.asked - cell.answered for cell in report.cells) == len(gone)
    assert any(f"{len(gone)} of 56 answers are missing" in note for note in report.notes)
    for case in sweep.grid.cases:
        if case.multiple == 16:
            sweep.answers.pop(case.id, None)
    report = concluded(sweep)
    assert (report.knee.verdict, report.effective.multiple, report.effective.longest) == ("unknown", 4, True)
    sweep.answers.clear()
    report = concluded(sweep)
    assert (report.knee.verdict, report.effective.tokens, report.lengths[0].mean) == ("unknown", None, None)


def test_every_figure_follows_from_the_answers() -> None:
    report = of(lambda case: sum(map(ord, case.id)) % 3 > 0)
    for cell in report.cells:
        own = [row.right for row in report.answers if (row.multiple, row.position) == (cell.multiple, cell.position)]
        assert (cell.asked, cell.right, cell.mean) == (len(own), sum(own), round(fmean(own), 4))
    for one in report.lengths:
        assert one.mean == round(fmean(row.right for row in report.answers if row.multiple == one.multiple), 4)
        assert one.fall == pytest.approx(report.lengths[0].mean - one.mean, abs=2e-4)
    for gap in report.gaps:
        means = {cell.position: cell.mean for cell in report.cells if cell.multiple == gap.multiple}
        assert gap.gap == pytest.approx(max(means.values()) - means[MIDDLE], abs=2e-4)


@pytest.mark.parametrize(
    ("floors", "ok"),
    [
        (Floors(score=0.5), False), (Floors(score=0.3), True), (Floors(effective=100), True), (Floors(effective=200), False),
    ],
)  # fmt: skip
def test_floors(floors: Floors, ok: bool) -> None:
    report = of(lambda case: case.multiple < 16 or case.position == "tail", EVEN, floors)
    assert [one.ok for one in report.floors] == [ok]
    assert report.ok is ok


def test_a_floor_beyond_the_longest_length_cannot_be_told() -> None:
    report = of(lambda _: True, floors=Floors(effective=64_000))
    assert report.floors[0].ok is None
    assert "the longest length that has answers" in report.floors[0].why


def test_intervals_by_known_figures() -> None:
    """Wilson's of 81 of 263 (Newcombe 1998a), Newcombe's of 56 of 70 less 48 of 80 (1998b, table II a)."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert newcombe((56, 70), (48, 80)) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert wilson(0, 0) is newcombe((0, 0), (1, 2)) is None


@given(st.integers(1, 60).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count))))
def test_an_interval_holds_its_mean(counts: tuple[int, int]) -> None:
    right, count = counts
    low, high = wilson(right, count)
    assert 0 <= low <= right / count <= high <= 1


def test_a_bootstrap_wants_a_spread_and_repeats_itself() -> None:
    assert bootstrap({}, "") is bootstrap({"a": [1.0]}, "") is None
    assert bootstrap({"a": [1.0, 1.0], "b": [1.0]}, "") == (1.0, 1.0)
    values = {"a": [0.0, 1.0, 1.0, 0.0], "b": [1.0, 1.0, 0.0, 1.0]}
    low, high = bootstrap(values, "seed")
    assert bootstrap(values, "seed") == (low, high)
    assert 0 <= low < 0.625 < high <= 1
