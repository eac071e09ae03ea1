"""Texts that padding is made of: cut into pieces, the nearest to an item first, none that gives its answer away."""

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from ctxcli.shelf import Weigh
from ctxcli.sweep.grading import normal
from ctxcli.sweep.item import Item
from ctxcli.sweep.prompts import GAP

_LONGEST = 600
"""Characters of a piece: about a paragraph, so that a length can be met and a span can stand between two."""
_SHORTEST = 30
"""Characters of a line or paragraph that is a piece of its own; shorter ones go with the one before."""
_BLANK = re.compile(r"\n\s*\n")
_ENDS = re.compile(r"(?<=[.!?…])\s+|\n+")
_WORD = re.compile(r"\w{2,64}")
_MOST_WORDS = 200
"""Words of an item that are looked for."""
_AT_ONCE = 256
_LONGEST_SIGN = 40
"""Code points of one sign."""
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
"""What joins two emoji, or says how one looks."""


class Corpus:
    """Pieces of text, with an index over their words and their tokens."""

    def __init__(self, texts: Iterable[str], weigh: Weigh) -> None:
        """Cut the texts into pieces; a piece that stands twice counts once."""
        unique: dict[str, str] = {}
        for text in texts:
            for piece in pieces_of(text):
                unique.setdefault(normal(piece), piece)
        unique.pop("", None)
        self.pieces = list(unique.values())
        self._weigh = weigh
        self._index: sqlite3.Connection | None = None

    def nearest(self, item: Item) -> Iterator[tuple[str, int]]:
        """(piece, tokens with the gap behind it) of those that do not hold the answer, by BM25 over question and span.

        Pieces that share no word with it come last, in the order of the corpus.
        """
        ranked = self._ranked(f"{item.question} {item.span}")
        for start in range(0, len(ranked), _AT_ONCE):
            some = [self.pieces[at] for at in ranked[start : start + _AT_ONCE]]
            some = [piece for piece in some if not item.holds_answer(piece)]
            yield from zip(some, self._weigh.count([piece + GAP for piece in some]), strict=True)

    def _ranked(self, text: str) -> Sequence[int]:
        words = list(dict.fromkeys(_WORD.findall(text.casefold())))[:_MOST_WORDS]
        query = " OR ".join(f'"{word}"' for word in words)
        if not query or not self.pieces:
            return range(len(self.pieces))
        sql = "SELECT rowid - 1, bm25(pieces) FROM pieces WHERE pieces MATCH ?"
        scores = {at: round(rank, 6) for at, rank in self._table().execute(sql, (query,))}
        return sorted(range(len(self.pieces)), key=lambda at: scores.get(at, 0.0))

    def _table(self) -> sqlite3.Connection:
        if self._index is None:
            self._index = sqlite3.connect(":memory:")
            self._index.execute("CREATE VIRTUAL TABLE pieces USING fts5(said, tokenize = 'unicode61')")
            clean = (text.encode("utf-8", "replace").decode().replace("\0", " ") for text in self.pieces)
            self._index.executemany("INSERT INTO pieces (rowid, said) VALUES (?, ?)", enumerate(clean, 1))
        return self._index

    def close(self) -> None:
        """Let the index go."""
        if self._index is not None:
            self._index.close()
            self._index = None


def pieces_of(text: str) -> Iterator[str]:
    """The paragraphs of a text, long ones cut between sentences, or between words where a sentence is too long."""
    held = ""
    for paragraph in _BLANK.split(text):
        bare = paragraph.strip()
        if held and len(held) >= _SHORTEST:
            yield from _cut(held)
            held = ""
        held = f"{held}\n{bare}" if held else bare
    if held:
        yield from _cut(held)


def whole_signs(text: str, at: int) -> int:
    """The place to cut at, or before it, that tears no sign: an accent from its letter, an emoji from what joins it."""
    start = at
    while 0 < start < len(text) and at - start < _LONGEST_SIGN and _goes_on(text, start):
        start -= 1
    return start if start and at - start < _LONGEST_SIGN else at


def _goes_on(text: str, at: int) -> bool:
    return text[at] in _JOINERS or text[at - 1] == "\u200d" or unicodedata.category(text[at]) in ("Mn", "Mc", "Me")


def _cut(paragraph: str) -> Iterator[str]:
    start = 0
    while len(paragraph) - start > _LONGEST:
        window = paragraph[start : start + _LONGEST]
        ends = [match.end() for match in _ENDS.finditer(window) if match.end() >= _SHORTEST]
        at = ends[-1] if ends else window.rfind(" ") + 1 or whole_signs(paragraph, start + _LONGEST) - start
        if window[:at].strip():
            yield window[:at].strip()
        start += at
    if paragraph[start:].strip():
        yield paragraph[start:].strip()
