"""JSON values out of bytes, with every way in which real files are torn."""

import json
import re
from dataclasses import dataclass
from typing import Any

import orjson

DEEPEST = 1000
"""Levels of nesting that are read; orjson refuses more at 1,024, and no transcript has a tenth of them."""

_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Torn:
    """Something about a line that is not a plain JSON value."""

    reason: str
    recovered: bool


def decode(raw: bytes) -> tuple[list[Any], list[Torn]]:
    """The values that a line holds, and what was wrong with it; both may be empty (a blank line)."""
    if not raw.strip():
        return [], []
    try:
        return [orjson.loads(raw)], []
    except orjson.JSONDecodeError as error:
        if any(word in str(error).lower() for word in ("recursion", "depth")):
            return [], [Torn(f"nested deeper than {DEEPEST:,} levels: skipped", recovered=False)]
        return _recover(raw)


def _recover(raw: bytes) -> tuple[list[Any], list[Torn]]:
    torn: list[Torn] = []
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        text = raw.decode("utf-8", "replace")
        wrong = raw[error.start]
        torn.append(Torn(f"byte 0x{wrong:02X} at {error.start + 1} is not UTF-8: read as U+FFFD", recovered=True))
    values, rest, odd = _values_of(text)
    if odd:
        torn.append(Torn(odd, recovered=False))
    if rest:
        torn.append(Torn(_broken(text, rest, len(values)), recovered=False))
    elif len(values) > 1:
        torn.append(Torn(f"{len(values)} values on one line: all read", recovered=True))
    elif not torn and values:
        what = "a lone surrogate" if _ESCAPE.search(text) else "not strict JSON"
        torn.append(Torn(f"{what}: read all the same", recovered=True))
    return values, torn


def _values_of(text: str) -> tuple[list[Any], int, str]:
    """The values at the start of a text, where no more could be read (0: all was), a refusal."""
    values: list[Any] = []
    at = _skip_space(text, 0)
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except RecursionError:
            return values, 0, f"nested deeper than {DEEPEST:,} levels: skipped"
        except ValueError:
            return values, at + 1, ""
        values.append(value)
        at = _skip_space(text, at)
    return values, 0, ""


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _broken(text: str, place: int, values: int) -> str:
    rest = text[place - 1 :]
    if "\0" in rest:
        what = "binary data"
    elif rest[:1] in "{[":
        what = "a value that breaks off"
    else:
        what = "text that is not JSON"
    if values:
        return f"{what} after {_many(values)}, from character {place} on: skipped"
    return f"{what}: skipped"


def _many(values: int) -> str:
    return "a whole value" if values == 1 else f"{values} whole values"


_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},\n]|[-\w][-+.\w]*+', re.DOTALL)


def element_lines(text: str, deepest: int = 4) -> dict[tuple[str | int, ...], tuple[int, ...]]:
    """Start lines of the elements of each array in a document, by the path to the array.

    Arrays deeper than `deepest` levels are left out: messages stand near the top.
    """
    return _LineIndex(deepest).build(text)


class _LineIndex:
    """One walk over the brackets, commas and strings of a document."""

    def __init__(self, deepest: int) -> None:
        self._deepest = deepest
        self._found: dict[tuple[str | int, ...], list[int]] = {}
        self._stack: list[list[Any]] = []
        """[is an array, key or index, waits for an element] of each open container."""

    def build(self, text: str) -> dict[tuple[str | int, ...], tuple[int, ...]]:
        line, last_string = 1, ""
        for match in _TOKEN.finditer(text):
            sign = match.group()
            if sign == "\n":
                line += 1
            elif sign[0] == '"':
                self._element(line)
                last_string = sign
                line += sign.count("\n")
            elif sign[0] == "-" or sign[0].isalnum():
                self._element(line)
            elif sign in "[{":
                self._element(line)
                self._open(sign == "[", last_string)
            elif sign in "]}":
                if self._stack:
                    self._stack.pop()
            elif self._stack:
                self._comma()
        return {path: tuple(lines) for path, lines in self._found.items()}

    def _element(self, line: int) -> None:
        top = self._stack[-1] if self._stack else None
        if top and top[0] and top[2]:
            top[2] = False
            if len(self._stack) <= self._deepest:
                self._found.setdefault(self._path(), []).append(line)

    def _path(self) -> tuple[str | int, ...]:
        """The path to the container on top: the keys and indices under which each one stands."""
        return tuple(level[3] for level in self._stack[1:])

    def _open(self, is_array: bool, last_string: str) -> None:
        parent = self._stack[-1] if self._stack else None
        under: str | int = ""
        if parent is not None:
            under = parent[1] if parent[0] else last_string[1:-1]
        self._stack.append([is_array, 0, True, under])

    def _comma(self) -> None:
        top = self._stack[-1]
        if top[0]:
            top[1] += 1
            top[2] = True
