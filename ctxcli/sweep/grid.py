"""The grid: each item at each length, with its span at each position, in samples of padding that differ by repeat."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ctxcli.ask import Request
from ctxcli.errors import SettingError
from ctxcli.shelf import Weigh
from ctxcli.sweep.corpus import Corpus, whole_signs
from ctxcli.sweep.item import Item
from ctxcli.sweep.prompts import GAP, key, prompt, quoted

ALONE = "alone"
HEAD, MIDDLE, TAIL = POSITIONS = ("head", "middle", "tail")
_POOL = 2
"""Times what is needed that the nearest pieces come to from which a sample is drawn."""
_SMALLEST = 4
"""Tokens below which no more padding is added."""
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_NEAR = 80
"""Characters by which a span may stand off the middle of long padding so that no sentence is cut."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked."""

    multiples: tuple[int, ...] = (1, 4, 16, 64)
    """Of the tokens of an item's span and question, ascending."""
    positions: tuple[str, ...] = POSITIONS
    repeats: int = 8
    seed: int = 0
    recite: bool = False
    narrowed: tuple[int, ...] = ()
    """Of the multiples, those that were added to narrow a knee down."""

    @property
    def cells(self) -> list[tuple[int, str]]:
        """(multiple, position) of each cell, in order."""
        return [(many, at) for many in self.multiples for at in ((ALONE,) if many == 1 else self.positions)]


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt of the grid; its text is put together when it is asked for."""

    id: str
    item: Item
    multiple: int
    position: str
    repeat: int
    pieces: tuple[str, ...]
    tokens: int
    recite: bool

    @property
    def text(self) -> str:
        """The prompt."""
        return _text(self.item, self.pieces, recite=self.recite)

    def request(self, max_output: int, temperature: float | None) -> Request:
        """As an asker takes it."""
        return Request(self.text, max_output=max_output, temperature=temperature, repeat=self.repeat)


@dataclass(frozen=True, slots=True)
class Grid:
    """All prompts, in the order in which they are asked: a whole grid before the next repeat."""

    cases: tuple[Case, ...]
    weights: dict[str, int]
    """Tokens of the span and the question of each item, by its id."""
    shared: frozenset[int]
    """Multiples at which the corpus holds less than twice what is needed, so that the samples are much alike."""


def grid(items: Sequence[Item], corpus: Corpus, plan: Plan, weigh: Weigh) -> Grid:
    """Lay out the grid; the same arguments give the same prompts.

    Raises SettingError, before anything is asked, where there is too little padding for a length.
    """
    frame = weigh.count([prompt("", "", recite=plan.recite)])[0]
    pools = [_pool(item, corpus, plan.multiples[-1], weigh) for item in items]
    _check(pools, plan)
    cases: list[Case] = []
    shared: set[int] = set()
    for pool in pools:
        for multiple in plan.multiples:
            need = (multiple - 1) * pool.base
            near = _nearest(pool.pieces, need)
            if need and sum(tokens for _, tokens in near) < _POOL * need:
                shared.add(multiple)
            for repeat in range(plan.repeats):
                padding = _sample(pool.item, near, need, f"{plan.seed}:{pool.item.id}:{multiple}:{repeat}", weigh)
                cases += _at_positions(pool.item, plan, multiple, repeat, padding, frame + pool.base)
    ordered = tuple(sorted(cases, key=lambda case: (case.repeat, case.multiple)))
    return Grid(ordered, {pool.item.id: pool.base for pool in pools}, frozenset(shared))


class _Pool(NamedTuple):
    """The nearest pieces to an item, up to twice of what its longest prompt needs."""

    item: Item
    base: int
    """Tokens of its span and question."""
    pieces: list[tuple[str, int]]
    """(piece, tokens)."""
    room: int
    """Tokens of all of them."""


def _pool(item: Item, corpus: Corpus, longest: int, weigh: Weigh) -> _Pool:
    own = Corpus(item.padding, weigh) if item.padding else corpus
    base = sum(weigh.count([item.span, item.question]))
    most = (longest - 1) * base
    pieces, room = [], 0
    for piece, tokens in own.nearest(item) if most else ():
        pieces.append((quoted(piece), tokens))
        room += tokens
        if room >= _POOL * most:
            break
    if own is not corpus:
        own.close()
    return _Pool(item, base, pieces, room)


def _check(pools: Sequence[_Pool], plan: Plan) -> None:
    """Raise SettingError where some item has too little padding, with the lengths that all items have enough for."""

    def lacks(pool: _Pool, multiple: int) -> int:
        return (multiple - 1) * pool.base - pool.room

    longest = plan.multiples[-1]
    short = [pool for pool in pools if lacks(pool, longest) > 0]
    if not short:
        return
    worst = max(short, key=lambda pool: lacks(pool, longest))
    fits = [str(many) for many in plan.multiples if all(lacks(pool, many) <= 0 for pool in pools)]
    where = "its own padding holds" if worst.item.padding else "the corpus holds"
    raise SettingError(
        f"item {worst.item.id!r}: {longest}× wants {(longest - 1) * worst.base:,} tokens of padding, and {where} "
        f"{worst.room:,} that do not give the answer away ({len(short):,} of {len(pools):,} items want more than there "
        f"is): give more with --corpus, leave out long items, or ask for less: --multiples {','.join(fits) or '1'}"
    )


def _nearest(pool: Sequence[tuple[str, int]], need: int) -> Sequence[tuple[str, int]]:
    """The first of the pool, up to twice of what is needed."""
    room = 0
    for place, (_, tokens) in enumerate(pool):
        if room >= _POOL * need:
            return pool[:place]
        room += tokens
    return pool


def _sample(
    item: Item, near: Sequence[tuple[str, int]], need: int, seed: str, weigh: Weigh
) -> list[tuple[str, int]]:  # fmt: skip
    """Pieces of the pool in a random order, until they come to what is needed; the last one is cut to fit."""
    chosen: list[tuple[str, int]] = []
    for piece, tokens in random.Random(seed).sample(near, len(near)):  # noqa: S311 - a sample, no secret
        if need < _SMALLEST:
            break
        part = (piece, tokens) if tokens <= need else _cut(piece, tokens, need, weigh)
        if part[1] == tokens or not item.holds_answer(part[0]):  # a cut may make an answer of a longer word
            chosen.append(part)
            need -= part[1]
    return chosen


def _cut(piece: str, tokens: int, need: int, weigh: Weigh) -> tuple[str, int]:
    """The start of a piece, whole words, of about so many tokens."""
    at = len(piece) * need // tokens
    short = (
        piece[: piece.rfind(" ", 0, at + 1)].rstrip()
        if " " in piece[: at + 1]
        else piece[: whole_signs(piece, max(1, at))]
    )
    return short, weigh.count([short + GAP])[0]


def _at_positions(
    item: Item, plan: Plan, multiple: int, repeat: int, padding: Sequence[tuple[str, int]], fixed: int
) -> Iterator[Case]:
    """The prompts of one sample: the same padding, the span at each place."""
    tokens = fixed + sum(weight for _, weight in padding)
    texts = [piece for piece, _ in padding]
    for position in (ALONE,) if multiple == 1 else plan.positions:
        pieces = tuple(_placed(item.span, texts, position))
        id_ = key(_text(item, pieces, recite=plan.recite), repeat)
        yield Case(id_, item, multiple, position, repeat, pieces, tokens, plan.recite)


def _placed(span: str, padding: Sequence[str], position: str) -> list[str]:
    span = quoted(span)
    if position == TAIL:
        return [*padding, span]
    if position in (HEAD, ALONE):
        return [span, *padding]
    half = sum(map(len, padding)) // 2
    near, before = min(_NEAR, half // 4), 0
    for place, piece in enumerate(padding):
        if half - before <= len(piece):
            left, right = _halved(piece, half - before, near)
            return [
                *padding[:place],
                *([left] if left else []),
                span,
                *([right] if right else []),
                *padding[place + 1 :],
            ]
        before += len(piece)
    return [*padding, span]


def _halved(piece: str, at: int, near: int) -> tuple[str, str]:
    """A piece in two: at its start or end or between sentences where one of these is near, else between words."""
    ends = [0, len(piece), *(match.end() for match in _SENTENCE.finditer(piece))]
    best = min(ends, key=lambda end: abs(end - at))
    if abs(best - at) > near:
        best = min((*ends, *(match.end() for match in _SPACE.finditer(piece))), key=lambda end: abs(end - at))
    return piece[:best].rstrip(), piece[best:].lstrip()


def _text(item: Item, pieces: Sequence[str], *, recite: bool) -> str:
    return prompt(GAP.join(pieces), item.question, recite=recite)
