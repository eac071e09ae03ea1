"""Intervals: Wilson's for shares; Newcombe's, and the bootstrap over items and their repeats, for differences."""

import random
from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev

_Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
_DRAWS = 1_000
Interval = tuple[float, float]
Count = tuple[int, int]
"""(right, answered)."""


def wilson(right: int, count: int) -> Interval | None:
    """The 95 % interval of a share; None without a count. Source: Wilson 1927, as in Brown, Cai, DasGupta 2001."""
    if not count:
        return None
    share, square = right / count, _Z * _Z / count
    middle = (share + square / 2) / (1 + square)
    half = _Z * sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square)
    # at 0 and at 1 the formula is exact and the arithmetic is not
    low, high = (0.0 if right == 0 else middle - half), (1.0 if right == count else middle + half)
    return max(0.0, low), min(1.0, high)


def bootstrap(pairs: Mapping[str, Sequence[float]], seed: str) -> Interval | None:
    """The 95 % interval of the mean of differences, which stand by item, one a repeat.

    Items are drawn first and repeats within them, since the repeats of one item are alike: with one item it is over its
    repeats alone. None where an item has fewer than two repeats everywhere: there is no spread to tell.
    """
    groups = [list(values) for values in pairs.values() if values]
    if not groups or max(map(len, groups)) < 2:
        return None
    if len({value for group in groups for value in group}) == 1:
        return groups[0][0], groups[0][0]
    dice = random.Random(seed)  # noqa: S311 - a sample, no secret
    means = []
    for _ in range(_DRAWS):
        drawn = dice.choices(groups, k=len(groups))
        total = sum(sum(dice.choices(group, k=len(group))) for group in drawn)
        means.append(total / sum(map(len, drawn)))
    means.sort()
    return means[int(0.025 * _DRAWS)], means[int(0.975 * _DRAWS) - 1]


def newcombe(one: Count, other: Count) -> Interval | None:
    """The 95 % interval of the difference of two shares; None where one has no count.

    It stays wide where all of a few answers are right, of which a bootstrap draws nothing else. Source: Newcombe 1998,
    Interval estimation for the difference between independent proportions, method 10.
    """
    first, second = wilson(*one), wilson(*other)
    if first is None or second is None:
        return None
    share, less = one[0] / one[1], other[0] / other[1]
    down = sqrt((share - first[0]) ** 2 + (second[1] - less) ** 2)
    up = sqrt((first[1] - share) ** 2 + (less - second[0]) ** 2)
    return share - less - down, share - less + up


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return fmean(values) if values else None


def spread(values: Sequence[float]) -> float | None:
    """The standard deviation of a sample; None of fewer than two."""
    return stdev(values) if len(values) > 1 else None
