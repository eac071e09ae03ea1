"""Whether one string is a near neighbour of another: a digit swapped, a sign flipped, cut short, made longer."""

import re

from ctxcli.guard.forms import PATHS, ends_with, squeezed

_SIGN = re.compile(r"^[-+−]")
_WORD = re.compile(r"\w+")
_ALIKE = 0.6
"""Share of its words that a quotation has to keep to be a changed one and not another."""
LONGEST_TAIL = 12
"""Characters by which a neighbour may be longer."""


def slip(kind: str, original: str, other: str) -> int | None:
    """How far `other` is from `original` where it may be what a slip left of it, 0 the nearest; None where it is not.

    Equal strings are no slip.
    """
    if original == other or not original or not other:
        return None
    if kind == "quoted":
        return 0 if _alike(original, other) else None
    if original.casefold() == other.casefold() or _SIGN.sub("", original) == _SIGN.sub("", other):
        return 0
    if kind in PATHS:
        if any(
            (below(original, other), below(other, original), ends_with(original, other), ends_with(other, original))
        ):
            return None
        if _one_segment_off(original, other):
            return 1
    if kind == "package" and original.startswith(other) and original[len(other)] in "@=<>~!":
        return None
    edits = distance(original, other, 2 if len(original) > 4 else 1)
    return 1 if edits is None and _cut_or_longer(original, other) else edits


def _cut_or_longer(original: str, other: str) -> bool:
    shorter, longer = sorted((original, other), key=len)
    if len(shorter) < 3 or not longer.startswith(shorter):
        return False
    if longer is other:
        return len(other) - len(original) <= LONGEST_TAIL
    return len(other) >= min(8, (len(original) + 1) // 2)


def below(folder: str, path: str) -> bool:
    """Whether a path lies in a folder."""
    return path.startswith(folder.rstrip("/") + "/")


def _one_segment_off(original: str, other: str) -> bool:
    """The same folders with a name that is nearly the same, or the same name in a folder that differs once."""
    one, two = original.split("/"), other.split("/")
    if len(one) != len(two) or len(one) < 2:
        return False
    off = [at for at in range(len(one)) if one[at] != two[at]]
    if len(off) != 1:
        return False
    if off[0] < len(one) - 1:
        return len(one) > 2 or distance(one[0], two[0], 2) is not None
    return one[-1].split(".")[0] == two[-1].split(".")[0] or distance(one[-1], two[-1], 2) is not None


def _alike(original: str, other: str) -> bool:
    words, others = set(_WORD.findall(squeezed(original).casefold())), set(_WORD.findall(squeezed(other).casefold()))
    return bool(words) and len(words & others) / len(words | others) >= _ALIKE


def distance(one: str, two: str, most: int) -> int | None:
    """How many insertions, deletions, substitutions or swaps of neighbours lie between two strings; None over `most`.

    Time is linear in the length: only the band of `most` around the diagonal is filled (restricted
    Damerau-Levenshtein distance), and what both begin and end with is left out.
    """
    if abs(len(one) - len(two)) > most:
        return None
    one, two = _unlike(one, two)
    if not one or not two:
        return max(len(one), len(two))
    far = most + 1
    before_last: list[int] = []
    last = [column if column <= most else far for column in range(len(two) + 1)]
    for row, sign in enumerate(one, 1):
        this = [far] * (len(two) + 1)
        if row <= most:
            this[0] = row
        for column in range(max(1, row - most), min(len(two), row + most) + 1):
            cost = min(last[column] + 1, this[column - 1] + 1, last[column - 1] + (sign != two[column - 1]))
            if row > 1 and column > 1 and sign == two[column - 2] and one[row - 2] == two[column - 1]:
                cost = min(cost, before_last[column - 2] + 1)
            this[column] = cost
        if min(this) > most:
            return None
        before_last, last = last, this
    return last[-1] if last[-1] <= most else None


def _unlike(one: str, two: str) -> tuple[str, str]:
    """Two strings without what both begin with and what both end with."""
    start, shorter = 0, min(len(one), len(two))
    while start < shorter and one[start] == two[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == two[-1 - end]:
        end += 1
    return one[start : len(one) - end], two[start : len(two) - end]
