"""From graded answers to the report: cells, lengths, the knee, the position gap, the effective context."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from ctxcli.intervals import Count, Interval, bootstrap, mean, newcombe, spread, wilson
from ctxcli.reports.sweep import SweepCell, SweepEffective, SweepGap, SweepKnee, SweepLength
from ctxcli.sweep.grid import HEAD, MIDDLE, Case, Plan

KNEE, NONE, UNKNOWN = "knee", "none", "unknown"
METHOD = (
    "the first multiple at which the 95 % interval of base less score, over all positions, lies above 0; the interval "
    "is at each end the wider one of the bootstrap over pairs of item and repeat (items are drawn, then their repeats) "
    "and of Newcombe's for two shares"
)
BASE_SHARE = 0.85
"""Of the base's mean, which a length of the effective context holds."""


@dataclass(frozen=True, slots=True)
class Graded:
    """One prompt and its grade; None where there is none."""

    case: Case
    right: bool | None


class Table:
    """The graded answers, by what they are asked for."""

    def __init__(self, graded: Iterable[Graded], plan: Plan) -> None:
        self.plan = plan
        self._rows = list(graded)
        self._intervals: dict[str, Interval | None] = {}
        self._scores: dict[tuple[int, str], dict[tuple[str, int], float]] = {}
        for row in self._rows:
            if row.right is not None:
                cell = self._scores.setdefault((row.case.multiple, row.case.position), {})
                cell[row.case.item.id, row.case.repeat] = float(row.right)

    @property
    def base(self) -> int:
        """The shortest multiple, which the others are held against."""
        return self.plan.multiples[0]

    def cells(self) -> Iterator[SweepCell]:
        """Each cell of the grid."""
        for multiple, position in self.plan.cells:
            rows = [row for row in self._rows if (row.case.multiple, row.case.position) == (multiple, position)]
            scores = self._scores.get((multiple, position), {})
            right = sum(score == 1 for score in scores.values())
            low, high = wilson(right, len(scores)) or (None, None)
            yield SweepCell(
                multiple, position, round(mean([row.case.tokens for row in rows]) or 0), len(rows), len(scores), right,
                _short(mean(list(scores.values()))), _short(low), _short(high),
                _short(spread(_means(scores, by_repeat=True))), _short(spread(_means(scores, by_repeat=False))),
            )  # fmt: skip

    def lengths(self) -> Iterator[SweepLength]:
        """Each multiple over all positions."""
        base = mean(self._every(self.base))
        for multiple in self.plan.multiples:
            scores = self._every(multiple)
            here = mean(scores)
            falls = self.falls(multiple)
            found = self._fall_interval(multiple, None) if multiple != self.base else None
            low, high = found or (None, None)
            yield SweepLength(
                multiple, self.tokens(multiple), len(scores), _short(here), _short(self._spread(multiple)),
                None if here is None or not base else _short(here / base),
                _short(mean(_flat(falls))), _short(low), _short(high),
            )  # fmt: skip

    def tokens(self, multiple: int) -> int:
        """Of a prompt of this length, in the mean."""
        return round(mean([row.case.tokens for row in self._rows if row.case.multiple == multiple]) or 0)

    def falls(self, multiple: int, position: str | None = None) -> dict[str, list[float]]:
        """By item, for each repeat the base's score less the one here, over the positions that both have."""
        base, here = self._pairs(self.base, position), self._pairs(multiple, position)
        found: dict[str, list[float]] = {}
        for (item, repeat), score in base.items():
            if (item, repeat) in here:
                found.setdefault(item, []).append(score - here[item, repeat])
        return found

    def knee(self) -> SweepKnee:
        """The first length at which the score falls beyond the spread."""
        verdict, multiple, why = self._knee(None)
        positions = {
            position: self._knee(position)[1] for position in self.plan.positions if self.plan.multiples[-1] > 1
        }
        return SweepKnee(verdict, multiple, self.tokens(multiple) if multiple else None, positions, METHOD, why)

    def between(self) -> int | None:
        """The length between a knee and the one before it, as ratios go; None where the knee is at most twice that."""
        found = self.knee().multiple
        if found is None:
            return None
        before = self.plan.multiples[self.plan.multiples.index(found) - 1]
        return round(sqrt(before * found)) if found > 2 * before else None

    def _knee(self, position: str | None) -> tuple[str, int | None, str]:
        base = mean(self._every(self.base))
        if self.plan.repeats < 2:
            return UNKNOWN, None, "one repeat shows no spread: ask at least twice (--repeats)"
        if len(self.plan.multiples) < 2:
            return UNKNOWN, None, "there is one length only"
        if base is None:
            return UNKNOWN, None, "the base has no answers"
        if base == 0:
            return UNKNOWN, None, "no answer is right at the base: there is nothing to fall from"
        largest, doubtful = 0.0, 0
        for multiple in self.plan.multiples[1:]:
            interval = self._fall_interval(multiple, position)
            if interval is None:
                return UNKNOWN, None, f"at {multiple}× no repeats can be held against the base"
            if interval[0] > 0:
                return KNEE, multiple, f"the score falls by {_points(interval)} points at {multiple}×"
            largest = max(largest, interval[1])
            here = mean(self._every(multiple, position))
            doubtful = doubtful or (multiple if here is not None and here < BASE_SHARE * base else 0)
        if doubtful:
            return UNKNOWN, None, f"the score falls at {doubtful}×, which may be chance: ask more often (--repeats)"
        return NONE, None, f"a fall of more than {largest * 100:.0f} points is ruled out"

    def gaps(self) -> Iterator[SweepGap]:
        """What the position costs at each length that has a middle and an end."""
        if MIDDLE not in self.plan.positions or len(self.plan.positions) < 2:
            return
        for multiple in (many for many in self.plan.multiples if many > 1):
            means = {at: mean(list(self._scores.get((multiple, at), {}).values())) for at in self.plan.positions}
            known = {at: value for at, value in means.items() if value is not None}
            if MIDDLE not in known:
                yield SweepGap(multiple, self.tokens(multiple), "", None, None, None, certain=False)
                continue
            best = max(known, key=lambda at: (known[at], at != MIDDLE, at == HEAD))
            gaps = self._gaps(multiple, best)
            ends, middles = self._scores[multiple, best], self._scores[multiple, MIDDLE]
            counts = [_count(own[pair] for pair in ends.keys() & middles.keys()) for own in (ends, middles)]
            low, high = self._interval(gaps, f"gap {multiple}", counts[0], counts[1]) or (None, None)
            yield SweepGap(
                multiple, self.tokens(multiple), best, _short(mean(_flat(gaps))), _short(low), _short(high),
                certain=low is not None and low > 0,
            )  # fmt: skip

    def effective(self, share: float = BASE_SHARE) -> SweepEffective:
        """The longest length up to which each mean is at least this share of the base's."""
        base = mean(self._every(self.base))
        held: int | None = None
        longest = False
        for multiple in self.plan.multiples if base else ():
            here = mean(self._every(multiple))
            longest = here is None
            if here is None or here < share * (base or 0) - 1e-9:
                break
            held = multiple
        longest = longest or held == self.plan.multiples[-1]
        return SweepEffective(share, held, self.tokens(held) if held else None, longest=bool(held) and longest)

    def of_item(self, item: str) -> dict[str, float | None]:
        """The means of one item, by multiple."""
        return {
            str(multiple): _short(mean([score for (name, _), score in self._pairs(multiple).items() if name == item]))
            for multiple in self.plan.multiples
        }

    def _pairs(self, multiple: int, position: str | None = None) -> dict[tuple[str, int], float]:
        """The score of each (item, repeat) at a length: over the positions, those without an answer left out."""
        found: dict[tuple[str, int], list[float]] = {}
        for cell in self._cells(multiple, position):
            for pair, score in cell.items():
                found.setdefault(pair, []).append(score)
        return {pair: fmean(scores) for pair, scores in sorted(found.items())}

    def _gaps(self, multiple: int, best: str) -> dict[str, list[float]]:
        ends, middles = (self._scores.get((multiple, at), {}) for at in (best, MIDDLE))
        found: dict[str, list[float]] = {}
        for (item, repeat), score in sorted(ends.items()):
            if (item, repeat) in middles:
                found.setdefault(item, []).append(score - middles[item, repeat])
        return found

    def _every(self, multiple: int, position: str | None = None) -> list[float]:
        return [score for scores in self._cells(multiple, position) for score in scores.values()]

    def _cells(self, multiple: int, position: str | None) -> list[dict[tuple[str, int], float]]:
        """The scores of a length at a position, or at each; where there is no padding, those there are."""
        return [
            scores for (many, at), scores in self._scores.items()
            if many == multiple and (position in (None, at) or at not in self.plan.positions)
        ]  # fmt: skip

    def _spread(self, multiple: int) -> float | None:
        return spread(_means(self._pairs(multiple), by_repeat=True))

    def _fall_interval(self, multiple: int, position: str | None) -> Interval | None:
        both = self._pairs(self.base, position).keys() & self._pairs(multiple, position).keys()
        counts = [
            _count(score for scores in self._cells(many, position) for pair, score in scores.items() if pair in both)
            for many in (self.base, multiple)
        ]
        falls = self.falls(multiple, position)
        return self._interval(falls, f"fall {multiple} {position or 'everywhere'}", counts[0], counts[1])

    def _interval(self, pairs: dict[str, list[float]], what: str, one: Count, other: Count) -> Interval | None:
        """The wider of the two intervals, at each end; None where there is no spread to tell."""
        if what not in self._intervals:
            drawn, wide = bootstrap(pairs, f"{self.plan.seed}:{what}"), newcombe(one, other)
            self._intervals[what] = drawn and wide and (min(drawn[0], wide[0]), max(drawn[1], wide[1]))
        return self._intervals[what]


def _count(scores: Iterable[float]) -> Count:
    every = list(scores)
    return sum(score == 1 for score in every), len(every)


def _means(scores: dict[tuple[str, int], float], *, by_repeat: bool) -> list[float]:
    """The mean of each repeat, or of each item."""
    groups: dict[str | int, list[float]] = {}
    for pair, score in scores.items():
        groups.setdefault(pair[by_repeat], []).append(score)
    return [fmean(values) for values in groups.values()]


def _flat(pairs: dict[str, list[float]]) -> Sequence[float]:
    return [value for values in pairs.values() for value in values]


def _short(value: float | None) -> float | None:
    """Four digits: more would be noise."""
    return None if value is None else round(value, 4) + 0.0


def _points(interval: Interval) -> str:
    low, high = (round(value * 100) for value in interval)
    return f"{low}" if low == high else f"{low} to {high}"
