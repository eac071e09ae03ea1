"""Intervals of means: Wilson's for shares, and the bootstrap over items and their repeats for differences."""

import random
from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev

_Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
_DRAWS = 2_000
Interval = tuple[float, float]


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
        values = [value for group in drawn for value in dice.choices(group, k=len(group))]
        means.append(fmean(values))
    means.sort()
    return means[int(0.025 * _DRAWS)], means[int(0.975 * _DRAWS) - 1]


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return fmean(values) if values else None


def spread(values: Sequence[float]) -> float | None:
    """The standard deviation of a sample; None of fewer than two."""
    return stdev(values) if len(values) > 1 else None
