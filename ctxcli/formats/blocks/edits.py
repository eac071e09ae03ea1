"""From parts that give way to the places in a message's JSON that they stand at."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.change import Change
from ctxcli.errors import UnreadableError
from ctxcli.formats.blocks.splice import Path, Piece, find, rewritten, written
from ctxcli.formats.blocks.values import mapping, sequence
from ctxcli.model import PartKind

Media = Callable[[Any], int]
"""How many images and files an item of a tool's answer holds."""
_TEXT_KEYS = ("text", "value", "refusal", "thinking")
_THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one message: of which of its parts the text changes, and which go."""

    texts: Mapping[int, str] = field(default_factory=dict)
    gone: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        """Whether anything becomes of it."""
        return bool(self.texts or self.gone)

    def of(self, start: int, end: int) -> "Fate":
        """What becomes of the parts from one number to another, counted from there."""
        texts = {number - start: text for number, text in self.texts.items() if start <= number < end}
        return Fate(texts, frozenset(number - start for number in self.gone if start <= number < end))


def fates_of(change: Change) -> defaultdict[int, Fate]:
    """What a change makes of the parts of each message, by its index."""
    texts: defaultdict[int, dict[int, str]] = defaultdict(dict)
    gone: defaultdict[int, set[int]] = defaultdict(set)
    for (index, number), text in change.texts.items():
        texts[index][number] = text
    for index, number in change.gone:
        gone[index].add(number)
    found = {index: Fate(texts[index], frozenset(gone[index])) for index in {*texts, *gone}}
    return defaultdict(Fate, found)


def edited(raw: str, value: Any, pieces: Sequence[Piece], fate: Fate, media: Media) -> str:
    """The JSON text of a message after a change; `value` is what the text holds, `pieces` what its reader makes of it.

    Raises UnreadableError where a part cannot be parted from what stays.
    """
    return rewritten(raw, 0, dict(_edits(raw, value, pieces, fate, media))) if fate else raw


def _edits(
    raw: str, value: Any, pieces: Sequence[Piece], fate: Fate, media: Media
) -> Iterator[tuple[Path, str | None]]:
    removed: dict[Path, int] = {}
    start = 0
    for path, parts in pieces:
        end = start + len(parts)
        own = fate.of(start, end)
        start = end
        if parts and len(own.gone) == len(parts):
            yield from _removed(path)
            removed[path[:-1]] = removed.get(path[:-1], 0) + 1
        elif own:
            yield from _changed(raw, _at(value, path), (path, parts), own, media)
    for path, number in removed.items():
        inside = _at(value, path)
        if path and isinstance(inside, list) and number == len(inside):
            yield path, "null" if path == ("content",) else None


def _removed(path: Path) -> Iterator[tuple[Path, str | None]]:
    """A piece that goes: a block of a list, a key with its like, or a message's only text."""
    if path[0] in _THOUGHTS:
        yield from (((key,), None) for key in _THOUGHTS)
    else:
        yield path[:1] if path[0] == "audio" else path, "null" if path == ("content",) else None


def _changed(raw: str, value: Any, piece: Piece, fate: Fate, media: Media) -> Iterator[tuple[Path, str | None]]:
    """The edits of a piece of which something stays."""
    path, parts = piece
    if parts[0].kind is PartKind.TOOL_RESULT:
        yield from _result(raw, value, piece, fate, media)
    elif len(parts) == 1:
        where = _text_at(value)
        new = fate.texts[0]
        yield (path, written({"type": "text", "text": new})) if where is None else ((*path, *where), written(new))
    else:
        raise inseparable(parts[0].line)


def _text_at(value: Any) -> Path | None:
    """Where in a block its text stands; None where it is of no known shape."""
    if not isinstance(value, dict):
        return ()
    if value.get("type") == "document" and isinstance(mapping(value.get("source")).get("data"), str):
        return ("source", "data")
    return next(((key,) for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)


def _result(raw: str, value: Any, piece: Piece, fate: Fate, media: Media) -> Iterator[tuple[Path, str | None]]:
    """A tool's answer: the text of it, and the images and files in it that go or stay."""
    path, parts = piece
    path = (*path, *_answer_at(value))
    content = _at(value, path[len(piece[0]) :])
    kept = [number for number in range(1, len(parts)) if number not in fate.gone]
    if 0 in fate.gone:
        raise inseparable(parts[0].line)
    if 0 in fate.texts and not kept:
        yield path, written(fate.texts[0])
        return
    number, items = 1, []
    for at, item in enumerate(sequence(content)):
        many = media(item)
        left = sum(one in kept for one in range(number, number + many))
        number += many
        if many and 0 < left < many:
            raise inseparable(parts[0].line)
        if many and not left:
            yield (*path, at), None
        elif many:
            items.append(_raw(raw, (*path, at)))
    if number != len(parts):
        raise inseparable(parts[0].line)
    if 0 in fate.texts:
        yield path, f"[{','.join([written({'type': 'text', 'text': fate.texts[0]}), *items])}]"


def _raw(raw: str, path: Path) -> str:
    place = find(raw, 0, path)
    return raw[slice(*place)] if place else "null"


def _answer_at(value: Any) -> Path:
    """Where the content of a tool's answer stands in its block, item or message content."""
    if not isinstance(value, dict):
        return ()
    if "output" in value:
        return ("output", "content") if isinstance(value["output"], dict) else ("output",)
    return ("content",) if "content" in value else ()


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def inseparable(line: int) -> UnreadableError:
    """The error for a value of which only a part is to go and cannot."""
    return UnreadableError(
        f"line {line}: text and media stand there in one value, of which only a part is to go. "
        "Keep the message whole (--pin), or write --output-format openai-chat"
    )
