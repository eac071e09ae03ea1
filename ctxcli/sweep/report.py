"""The document `ctx.sweep` of what has come back."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxcli.reports.sweep import (
    SweepCell,
    SweepEffective,
    SweepFloor,
    SweepItemRow,
    SweepLength,
    SweepPlan,
    SweepReport,
    SweepSource,
    SweepSpent,
)
from ctxcli.sweep.conclude import BASE_SHARE, Table
from ctxcli.sweep.grading import MOST_WORDS
from ctxcli.sweep.grid import Plan
from ctxcli.sweep.item import Item, is_given_away
from ctxcli.sweep.run import Sweep, counted

_FEW = 5
"""Items that a note names."""


@dataclass(frozen=True, slots=True)
class Floors:
    """What the user wants at least."""

    score: float | None = None
    """Of the mean at every length."""
    effective: int | None = None
    """Tokens of the effective context."""
    share: float = BASE_SHARE
    """Of the base's mean, which makes a length part of the effective context."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who was asked, and what it came to."""

    model: str | None
    judge: str | None
    tokenizer: str
    spent: SweepSpent


def report_of(
    sweep: Sweep, items: Sequence[Item], plan: Plan, source: SweepSource, asking: Asking, floors: Floors
) -> SweepReport:
    """Conclude from what is there; what is missing is said, and never counted as wrong."""
    graded = list(sweep.graded())
    table = Table((one for one, _ in graded), plan)
    lengths, effective = tuple(table.lengths()), table.effective(floors.share)
    complete = all(one.right is not None for one, _ in graded)
    found = tuple(_floors(floors, lengths, effective, plan))
    rows = tuple(
        SweepItemRow(item.id, item.line, item.grading, sweep.grid.weights[item.id], table.of_item(item.id))
        for item in items
    )
    cells = tuple(table.cells())
    return SweepReport(
        kind="ctx.sweep", version=1, ok=complete and all(one.ok for one in found), complete=complete, source=source,
        plan=SweepPlan(plan.multiples, plan.positions, plan.repeats, plan.seed, plan.recite),
        model=asking.model, judge=asking.judge, tokenizer=asking.tokenizer,
        cells=cells, lengths=lengths, knee=table.knee(), gaps=tuple(table.gaps()), effective=effective, floors=found,
        spent=asking.spent, items=rows, answers=tuple(row for _, row in graded),
        notes=tuple(_notes(sweep, items, plan, cells, rows)),
    )  # fmt: skip


def _floors(
    floors: Floors, lengths: Sequence[SweepLength], effective: SweepEffective, plan: Plan
) -> Iterator[SweepFloor]:
    if floors.score is not None:
        means = [(one.mean, one.multiple) for one in lengths if one.mean is not None]
        worst, at = min(means, default=(None, None))
        if worst is None or (worst >= floors.score and len(means) < len(lengths)):
            yield SweepFloor("min-score", floors.score, worst, None, "not every length has answers")
        else:
            yield SweepFloor("min-score", floors.score, worst, worst >= floors.score, f"the lowest is that at {at}×")
    if floors.effective is not None:
        yield _effective_floor(floors.effective, effective, plan)


def _effective_floor(floor: int, effective: SweepEffective, plan: Plan) -> SweepFloor:
    tokens = effective.tokens
    if tokens is None:
        return SweepFloor("min-effective", floor, None, None, "the effective context cannot be told")
    if tokens < floor and effective.longest:
        why = f"the longest length that has answers is {tokens:,} tokens, of {plan.multiples[-1]}× at most"
        return SweepFloor("min-effective", floor, tokens, None, why)
    return SweepFloor("min-effective", floor, tokens, tokens >= floor, f"it ends at {effective.multiple}×")


def _notes(
    sweep: Sweep, items: Sequence[Item], plan: Plan, cells: Sequence[SweepCell], rows: Sequence[SweepItemRow]
) -> Iterator[str]:
    if sweep.stopped:
        yield f"Stopped: {sweep.stopped}."
    if plan.narrowed:
        more = ", ".join(f"{one}×" for one in plan.narrowed)
        yield (f"{more} asked on top, to narrow the knee down; with more lengths one falls sooner by chance.")
    open_ = sum(cell.asked - cell.answered for cell in cells)
    if open_:
        every = sum(cell.asked for cell in cells)
        yield f"{open_:,} of {every:,} answers are missing or have no grade; they count for nothing."
    for why, count in Counter(sweep.failed.values()).most_common(3):
        yield f"{count:,} failed: {why}"
    if sweep.grid.shared:
        many = ", ".join(f"{one}×" for one in sorted(sweep.grid.shared))
        yield (
            f"At {many} the corpus holds less than twice what some items need: the repeats share most of their "
            "padding, in another order."
        )
    base = str(plan.multiples[0])
    yield from _named("wrong at the base each time, so that they tell nothing of length", (
        row.id for row in rows if row.means[base] == 0
    ))  # fmt: skip
    yield from _named("of which the question holds the answer", (item.id for item in items if is_given_away(item)))
    stops = counted(sweep.answers)
    if stops["length"]:
        yield f"{stops['length']:,} answers were cut off at the limit of the output; --max-output sets it."
    if stops["refused"]:
        yield f"{stops['refused']:,} answers were refused, and count as wrong unless they hold the answer."
    long = sum(row.why.endswith("other words") for _, row in sweep.graded())
    if long:
        yield f"{long:,} answers hold the right one among more than {MOST_WORDS} other words, and count as wrong."


def _named(what: str, found: Iterator[str]) -> Iterator[str]:
    names = list(found)
    if names:
        more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
        yield f"Items {what}: {', '.join(names[:_FEW])}{more}."
