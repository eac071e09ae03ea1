"""A span in pieces that fit into one question each: whole turns as long as they fit, then whole lines."""

from collections.abc import Callable, Iterator, Sequence

Count = Callable[[Sequence[str]], Sequence[int]]
"""Tokens of each text."""
_PART = "\n\n"
_BETWEEN = " \t,;"


def chunks(texts: Sequence[str], most: int | None, count: Count) -> list[str]:
    """The texts joined into as few pieces as hold `most` tokens at the most, in order; one piece for no limit.

    A text that is longer by itself is cut between lines, and a line that is longer between words, where it has some.
    """
    whole = _PART.join(texts)
    if most is None or sum(count(texts)) <= most:
        return [whole]
    fitting = [
        piece for text, tokens in zip(texts, count(texts), strict=True) for piece in _cut(text, tokens, most, count)
    ]
    return [_PART.join(group) for group in _grouped(fitting, most, count)]


def _cut(text: str, tokens: int, most: int, count: Count) -> list[str]:
    if tokens <= most:
        return [text]
    lines = text.splitlines(keepends=True)
    if len(lines) == 1:
        at = _middle(text)
        if at == 0:
            return [text]
        halves = (text[:at], text[at:])
        return [piece for one, its in zip(halves, count(halves), strict=True) for piece in _cut(one, its, most, count)]
    fitting = [piece for line, its in zip(lines, count(lines), strict=True) for piece in _cut(line, its, most, count)]
    return ["".join(group) for group in _grouped(fitting, most, count)]


def _middle(text: str) -> int:
    """Where a line is cut: behind the last word of its first half, or in the middle of one that fills most of that."""
    half = len(text) // 2
    at = max(text.rfind(sign, 0, half) for sign in _BETWEEN) + 1
    return at if at > half // 2 else half


def _grouped(pieces: Sequence[str], most: int, count: Count) -> Iterator[list[str]]:
    """Neighbours together while they fit."""
    group: list[str] = []
    room = most
    for piece, tokens in zip(pieces, count(pieces), strict=True):
        if group and tokens > room:
            yield group
            group, room = [], most
        group.append(piece)
        room -= tokens
    if group:
        yield group
