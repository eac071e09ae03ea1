"""What a sentence is about, beside the values that it gives: two that give one thing a value are two of its states.

By words alone, in English, and on the safe side: two sentences that may speak of two things are two.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

ItemT = TypeVar("ItemT")

_VALUES = (
    ("money", re.compile(r"[$€£]\s?\d[\d,.]*\d|[$€£]\d")),
    ("url", re.compile(r"\bhttps?://[^\s,;]+")),
    ("date", re.compile(r"\b\d{4}-\d{2}-\d{2}\b")),
    ("ref", re.compile(r"(?<![\w/])(?:/?[\w.-]+(?:/[\w.-]+)+|/[\w.-]+)/?")),
    ("hash", re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,40}\b")),
    ("code", re.compile(r"\b(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[\w.-]*\w\b")),
    ("number", re.compile(r"\b\d[\d,.]*(?: of \d+)?\b")),
    ("name", re.compile(r"(?<=[\w,;:'’] )(?:[A-Z][a-z]\w*(?: (?=[A-Z][a-z]))?)+")),
)
"""Kinds of values, the more special ones first; what one has taken is no other's."""
_WORD = re.compile(r"[A-Za-z][\w'’-]*|·")
_GAP = " · "
"""What stands in the place of a value, so that its neighbours do not become neighbours."""
_STOP = frozenset(
    """
    a an the this that these those it its and or but not no nor of for from to in on at by with without into over under
    as is are was were be been being am has have had do does did will would shall should can could may might must we
    you i they he she our your my their them us me user users all any every each only just still yet also please now
    never always current currently new latest present active working old previous want wants wanted prefer prefers
    preferred use uses using used write send keep keeps stay stays make let need needs update so then there here after
    before until first next other others moved moves move switched
    """.split()  # noqa: SIM905 - a word list is read as text
)
_SAME = {
    "due": "deadline", "date": "deadline", "spend": "budget", "spending": "budget", "cost": "budget",
    "expense": "budget", "ceiling": "cap", "limit": "cap", "host": "run", "timezone": "zone", "unpushed": "push",
}  # fmt: skip
"""Words that name one thing, to the one that stands for them."""
_ENDINGS = re.compile(r"(?:['’]s|ations?|ing|ed|es|al|s|e)$")
_NEXT = re.compile(r"^(?:after (?:this|that),? )?(?:the |our |my )?next (?:step|up|task)\b", re.IGNORECASE)
"""There is one next step: the one that was named last."""
_STEP = "step"
_ENOUGH, _SHARE = 2, 0.5
"""Words that two have to share where they do not share them all, and the share of the shorter one."""
_FORBIDS = re.compile(
    r"^(?:never|do not|don[’']?t|no|avoid|under no circumstances)\b|\b(?:must|may|should|can) ?(?:not|never)\b"
    r"|\b(?:keep|leave) .+ (?:as (?:it|they|is)|alone|untouched|unchanged|intact)\b",
    re.IGNORECASE,
)
_UNLESS = re.compile(r"\b(?:without|until|unless)\b", re.IGNORECASE)
_AMOUNTS = frozenset(("money", "date", "number"))
"""A limit that is set again takes the place of the one before; a second thing that is forbidden does not."""


class Subject(NamedTuple):
    """What a sentence is about."""

    words: frozenset[str]
    """Those with a meaning of their own, less their endings; no values."""
    before: dict[str, str]
    """By word, the one right before it: what tells `staging database` from `production database`."""
    kinds: frozenset[str]
    """Of the values that it gives; of one that forbids something, of amounts, and of what stands behind an `unless`."""
    things: frozenset[str] = frozenset()
    """The other values: where an amount is given, they name what it is an amount of."""


def subject_of(sentence: str) -> Subject:
    """The subject of a sentence."""
    rest, values = _without_values(sentence)
    kinds = {kind for kind, _ in values}
    if _FORBIDS.search(sentence):
        unless = _UNLESS.search(sentence)
        kinds &= _AMOUNTS | {kind for kind, _ in _without_values(sentence[unless.end() :])[1]} if unless else _AMOUNTS
    words: list[str] = [_stem(word.casefold()) for word in _WORD.findall(rest)]
    own = [word for word in words if word not in ("", "·")]
    before = {word: first for first, word in pairwise(words) if first not in ("", "·") and word}
    things = frozenset(value for kind, value in values if kind not in _AMOUNTS)
    return Subject(frozenset(own), before, frozenset(kinds | ({_STEP} if _NEXT.search(sentence) else set())), things)


def _without_values(sentence: str) -> tuple[str, list[tuple[str, str]]]:
    """The sentence with a gap for each value, and the values with their kinds."""
    values: list[tuple[str, str]] = []
    for kind, shape in _VALUES:
        values += [(kind, found[0]) for found in shape.finditer(sentence)]
        sentence = shape.sub(_GAP, sentence)
    return sentence, values


def gives_value(sentence: str) -> bool:
    """Whether a sentence holds a value: an amount, a name, a reference."""
    return any(shape.search(sentence) for _, shape in _VALUES)


def _stem(word: str) -> str:
    """The word without its ending; empty for one that has no meaning of its own, the gap for a value's place."""
    bare = word.removesuffix("'s").removesuffix("’s")
    if word == "·" or bare in _STOP:
        return "" if bare in _STOP else word
    bare = _SAME.get(bare, _SAME.get(bare.removesuffix("s"), bare))
    stem = _ENDINGS.sub("", bare) if len(bare) > 3 else bare.removesuffix("s")
    return re.sub(r"([^aeiouls])\1$", r"\1", stem)


def is_same(one: Subject, other: Subject) -> bool:
    """Whether both give a value of the same kind to the same thing."""
    kinds = one.kinds & other.kinds
    if _STEP in kinds:
        return True
    if not kinds or not one.words or not other.words:
        return False
    if kinds & _AMOUNTS and one.things - other.things and other.things - one.things:
        return False
    shared = one.words & other.words
    if one.words != other.words and len(shared) < _ENOUGH:
        return False
    if len(shared) < _SHARE * min(len(one.words), len(other.words)):
        return False
    return not any(_differ(one, other, word) for word in shared)


def _differ(one: Subject, other: Subject, word: str) -> bool:
    """Whether the word is qualified in two ways."""
    first, second = one.before.get(word), other.before.get(word)
    return bool(first and second and first != second and first not in other.words and second not in one.words)


def last_states(items: Sequence[ItemT], text: Callable[[ItemT], str]) -> list[ItemT]:
    """The items without those that a later one gives another value, or says again; in order."""
    subjects = [subject_of(text(item)) for item in items]
    return [
        item
        for place, item in enumerate(items)
        if not any(is_same(subjects[place], later) for later in subjects[place + 1 :])
    ]
