"""From the pieces to the report: means and their spread, who is best and by how much, generations, floors."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from ctxcli.bench.case import Score
from ctxcli.bench.cells import RECORDED, Cell
from ctxcli.bench.fit import fits, is_most
from ctxcli.bench.lives import Life
from ctxcli.bench.plan import Plan
from ctxcli.intervals import bootstrap
from ctxcli.reports.bench import BenchCell, BenchRow, Comparison, Interval, KindHeld

_CLEAR = 1e-9
Group = tuple[float | None, str | None]
"""A budget, and the compactor whose own size it is."""


def is_within(cell: Cell) -> bool:
    """Whether there is a result, and it is within its budget."""
    return cell.score is not None and fits(cell.score.tokens, cell.target)


def share(many: int, held: int) -> float | None:
    """A share; None of nothing."""
    return held / many if many else None


def recall(score: Score) -> float | None:
    """Hindsight recall of a result."""
    return share(score.used, score.used_held)


def interval(values: Mapping[str, Sequence[float]], seed: str) -> Interval | None:
    """The mean of values that stand by conversation, with its spread; None of none.

    Conversations that have one value each are drawn like the values of one.
    """
    every = [value for some in values.values() for value in some]
    if not every:
        return None
    found = bootstrap(values if max(map(len, values.values())) > 1 else {"": every}, seed)
    low, high = found or (None, None)
    return Interval(_round(fmean(every)), _round(low), _round(high), len(every))


def _round(value: float | None) -> float:
    return None if value is None else round(value, 4)  # type: ignore[return-value]


@dataclass(frozen=True)
class Table:
    """The cells of a run, by group and compactor."""

    plan: Plan
    cells: Sequence[Cell]

    @cached_property
    def groups(self) -> dict[Group, dict[str, list[Cell]]]:
        """Budgets in ascending order, then the sizes of others."""
        found: defaultdict[Group, dict[str, list[Cell]]] = defaultdict(dict)
        for cell in self.cells:
            found[cell.budget, cell.against].setdefault(cell.compactor, []).append(cell)
        return dict(sorted(found.items(), key=lambda one: (one[0][0] is None, one[0][0] or 0.0, one[0][1] or "")))

    def rows(self) -> Iterator[BenchRow]:
        """Each compactor at each budget; within one the best first, those that do not fit last."""
        for group, by_name in self.groups.items():
            rows = [self._row(group, name, cells) for name, cells in by_name.items()]
            yield from sorted(rows, key=_rank)

    def _row(self, group: Group, name: str, cells: Sequence[Cell]) -> BenchRow:
        fitting = [cell for cell in cells if is_within(cell)]
        scores = [cell.score for cell in fitting if cell.score is not None]
        kinds: dict[str, KindHeld] = {}
        for score in scores:
            for kind, (many, held) in score.kinds.items():
                was = kinds.get(kind, KindHeld(0, 0))
                kinds[kind] = KindHeld(was.required + many, was.held + held)
        seed = f"{self.plan.seed} {group} {name}"
        return BenchRow(
            compactor=name, kind=self._kind(name), budget=group[0], against=group[1],
            results=len(cells), fitting=len(fitting), failed=sum(cell.score is None for cell in cells),
            left=_mean(cell.score.tokens / cell.before for cell in fitting if cell.score),
            tokens=round(fmean(score.tokens for score in scores)) if scores else None,
            recall=interval(_by_conversation(fitting, recall), f"recall {seed}"),
            required=interval(
                _by_conversation(fitting, lambda one: share(one.required, one.required_held)), f"required {seed}"
            ),
            constraints=_mean_of(scores, lambda one: share(one.constraints, one.constraints_held)),
            decisions=_mean_of(scores, lambda one: share(one.decisions, one.decisions_held)),
            mutated=sum(one.mutated for one in scores), invented=sum(one.invented for one in scores),
            broken=sum(one.broken > 0 for one in scores),
            seconds=_mean(cell.seconds for cell in fitting if cell.seconds is not None),
            by_kind=dict(sorted(kinds.items())),
        )  # fmt: skip

    def _kind(self, name: str) -> str:
        return "recorded" if name == RECORDED else "strategy" if name in self.plan.strategies else "outside"

    def comparisons(self, rows: Iterable[BenchRow]) -> Iterator[Comparison]:
        """The best of each group against each of the others that fits anywhere."""
        first: dict[Group, list[BenchRow]] = {}
        for row in rows:
            if row.recall is not None:
                first.setdefault((row.budget, row.against), []).append(row)
        for group, (best, *others) in first.items():
            for other in others:
                found = self._compared(group, best.compactor, other.compactor)
                if found is not None:
                    yield found

    def _compared(self, group: Group, best: str, other: str) -> Comparison | None:
        by_name = self.groups[group]
        one, two = ({_place(cell): cell for cell in by_name[name] if is_within(cell)} for name in (best, other))
        differences: dict[str, list[float]] = {}
        for place in [place for place in one if place in two]:
            mine, theirs = one[place].score, two[place].score
            if mine is not None and theirs is not None and mine.used:
                own = differences.setdefault(conversation_of(one[place]), [])
                own.append((mine.used_held - theirs.used_held) / mine.used)
        found = interval(differences, f"{self.plan.seed} {group} {best} {other}")
        if found is None:
            return None
        every = [value for some in differences.values() for value in some]
        return Comparison(
            group[0], group[1], best, other, found.mean, found.low, found.high, len(every),
            sum(value > _CLEAR for value in every), sum(value < -_CLEAR for value in every),
            won=found.low is not None and found.low > _CLEAR,
        )  # fmt: skip


_FIGURES = (
    "tokens", "required", "required_held", "used", "used_held", "constraints", "constraints_held", "decisions",
    "decisions_held", "mutated", "invented", "broken",
)  # fmt: skip


def cell_rows(cells: Iterable[Cell]) -> Iterator[BenchCell]:
    """The cells for the report."""
    for one in cells:
        figures = {name: getattr(one.score, name) if one.score else None for name in _FIGURES}
        yield BenchCell(
            path=one.path, conversation=one.conversation, call=one.call, compactor=one.compactor, budget=one.budget,
            against=one.against, before=one.before, target=one.target, fits=is_within(one), seconds=one.seconds,
            error=one.error or None, **figures,
        )  # fmt: skip


def _rank(row: BenchRow) -> tuple[bool, float, float, str]:
    """Those that fit wherever the others do go first, then by recall."""
    return (
        row.recall is None or not is_most(row.fitting, row.results),
        -(row.recall.mean if row.recall else 0.0),
        -(row.required.mean if row.required else 0.0),
        row.compactor,
    )


def _place(cell: Cell) -> tuple[str, str | None, int]:
    return cell.path, cell.conversation, cell.call


def conversation_of(one: Cell | Life) -> str:
    """What results are alike by: the conversation that they are of."""
    return f"{one.path} {one.conversation or ''}"


def _by_conversation(cells: Iterable[Cell], value: Callable[[Score], float | None]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for cell in cells:
        figure = value(cell.score) if cell.score is not None else None
        if figure is not None:
            found.setdefault(conversation_of(cell), []).append(figure)
    return found


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return round(fmean(found), 4) if found else None


def _mean_of(scores: Iterable[Score], value: Callable[[Score], float | None]) -> float | None:
    return _mean(figure for figure in map(value, scores) if figure is not None)


def cuts_by_source(cells: Iterable[Cell]) -> tuple[Counter[tuple[str, str | None]], Counter[tuple[str, str | None]]]:
    """How many places each conversation was compacted at, and how many of them are recorded compactions."""
    places = {(_place(cell), cell.against == RECORDED) for cell in cells}
    every = Counter((path, conversation) for (path, conversation, _), _ in places)
    recorded = Counter((path, conversation) for (path, conversation, _), was in places if was)
    return every, recorded
