"""JSON text changed in places, so that everything else of it stays as it was, character by character."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ctxcli.model import Part

Path = tuple[str | int, ...]
"""Keys and indices from a value to one inside it."""
Edits = Mapping[Path, str | None]
"""What takes the place of the value at each path: other JSON text, or None where it goes, key and all."""
Piece = tuple[Path, tuple[Part, ...]]
"""The parts that a reader makes of the value at a path of a message."""

DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Child(NamedTuple):
    """An element of an array, or a member of an object, in a text."""

    key: str | int
    head: int
    """Where it begins: the key of a member, the value of an element."""
    start: int
    """Where its value begins."""
    end: int


def written(value: Any) -> str:
    """Compact JSON text that is always valid UTF-8: a lone surrogate stands as an escape."""
    return escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def escaped(text: str) -> str:
    """JSON text in which each lone surrogate stands as an escape."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def space_after(text: str, at: int) -> int:
    """The first place from here on that is no white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def children(text: str, at: int) -> tuple[list[Child], int]:
    """What the container that begins here holds, and where its closing bracket stands."""
    named, closing = text[at] == "{", "}" if text[at] == "{" else "]"
    found: list[Child] = []
    place = space_after(text, at + 1)
    while text[place] != closing:
        head, key = place, len(found)
        if named:
            key, place = DECODER.raw_decode(text, place)
            place = space_after(text, space_after(text, place) + 1)
        _, end = DECODER.raw_decode(text, place)
        found.append(Child(key, head, place, end))
        place = space_after(text, end)
        if text[place] == ",":
            place = space_after(text, place + 1)
    return found, place


def find(text: str, at: int, path: Path) -> tuple[int, int] | None:
    """Where the value at a path stands, from the one that begins here; of a key that stands twice the last."""
    for step in path:
        if text[at] not in "{[":
            return None
        child = next((one for one in reversed(children(text, at)[0]) if one.key == step), None)
        if child is None:
            return None
        at = child.start
    return at, DECODER.raw_decode(text, at)[1]


def rewritten(text: str, at: int, edits: Edits) -> str:
    """The text of the value that begins here, with the edits made; the edit of a container rules those inside it."""
    if (whole := edits.get(())) is not None:
        return whole
    if not edits:
        return text[at : DECODER.raw_decode(text, at)[1]]
    inside, closing = children(text, at)
    pieces: list[tuple[int, str] | None] = []
    for number, child in enumerate(inside):
        own = {path[1:]: new for path, new in edits.items() if path[0] == child.key}
        gone = () in own and own[()] is None
        pieces.append(None if gone else (number, text[child.head : child.start] + rewritten(text, child.start, own)))
    return rebuilt(text, at, inside, closing, [piece for piece in pieces if piece is not None])


def rebuilt(text: str, at: int, inside: Sequence[Child], closing: int, pieces: Sequence[tuple[int | None, str]]) -> str:
    """A container with other contents, and its own white space: (number of the child before, or None, its text)."""
    if not pieces:
        return text[at] + text[closing]
    usual = _usual_gap(text, at, inside)
    out = [text[at], text[at + 1 : inside[0].head] if inside else ""]
    for place, (number, piece) in enumerate(pieces):
        if place:
            out.append(text[inside[number - 1].end : inside[number].head] if number else usual)
        out.append(piece)
    return "".join([*out, text[inside[-1].end : closing] if inside else "", text[closing]])


def _usual_gap(text: str, at: int, inside: Sequence[Child]) -> str:
    """What stands between two children."""
    if len(inside) > 1:
        return text[inside[0].end : inside[1].head]
    return "," + (text[at + 1 : inside[0].head] if inside else "")


def in_the_style_of(text: str, at: int, members: Mapping[str, str]) -> str:
    """An object of these members (key, JSON text), laid out as the object that begins here is."""
    inside, closing = children(text, at) if text[at] == "{" else ([], at)
    if not inside:
        return "{" + ",".join(f"{written(key)}:{value}" for key, value in members.items()) + "}"
    first = inside[0]
    colon = text[DECODER.raw_decode(text, first.head)[1] : first.start]
    rows = (f"{written(key)}{colon}{value}" for key, value in members.items())
    opening, ending = text[at + 1 : first.head], text[inside[-1].end : closing]
    return "{" + opening + _usual_gap(text, at, inside).join(rows) + ending + "}"


def values_in(text: str) -> Iterator[tuple[int, int, Any]]:
    """(start, end, value) of the JSON values in a row at the start of a text, as far as they can be read."""
    at = space_after(text, 0)
    while at < len(text):
        try:
            value, end = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield at, end, value
        at = space_after(text, end)
