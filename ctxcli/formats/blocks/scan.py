"""A source read once more to be written: its values with the places that they stand at.

It is taken apart as it was when it was loaded: a value a line, one document over many lines, or values
in a row. Instead of lines the records carry marks, a number for each place, so that a reader tells of
every message where it stands.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ctxcli.formats.blocks.exchange import is_message
from ctxcli.formats.blocks.splice import Edits, Path, children, rewritten, values_in
from ctxcli.model import Record

_MARK = "\ufeff"
_DEEPEST = 3


class Place(NamedTuple):
    """Where a value stands."""

    record: int
    path: Path
    start: int
    end: int


@dataclass(slots=True)
class Scan:
    """The records of a source, and the place behind each mark."""

    text: str
    """Bytes that are not UTF-8 stand in it as surrogates, and become those bytes again."""
    records: list[Record] = field(default_factory=list)
    places: dict[int, Place] = field(default_factory=dict)

    def place(self, mark: int) -> Place:
        """The place of a mark that a reader gave back."""
        return self.places[mark]

    def raw(self, place: Place) -> str:
        """The text of the value at a place."""
        return self.text[place.start : place.end]

    def parsed(self, start: int, end: int) -> Any:
        """The value of a piece of the text, as a reader sees it: bytes that are not UTF-8 are U+FFFD."""
        raw = self.text[start:end].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return next(value for _, _, value in values_in(raw))

    def add(self, start: int, end: int, value: Any) -> None:
        """Take in one value of the source."""
        number = len(self.records)
        mark = self._mark(Place(number, (), start, end))
        lines: dict[Path, tuple[int, ...]] = {}
        self._walk(number, (), start, value, lines)
        self.records.append(Record(mark, value, lines=lines))

    def _mark(self, place: Place) -> int:
        mark = len(self.places) + 1
        self.places[mark] = place
        return mark

    def _walk(self, number: int, path: Path, start: int, value: Any, lines: dict[Path, tuple[int, ...]]) -> None:
        """Mark the elements of the arrays near the top; messages themselves are not looked into."""
        if not isinstance(value, (dict, list)) or len(path) > _DEEPEST or is_message(value):
            return
        inside, _ = children(self.text, start)
        if isinstance(value, list):
            lines[path] = tuple(self._mark(Place(number, (*path, one.key), one.start, one.end)) for one in inside)
        for child in inside:
            held: Any = value
            self._walk(number, (*path, child.key), child.start, held[child.key], lines)


def scan(source: bytes) -> Scan:
    """Read a whole source, which was loaded before."""
    found = Scan(source.decode("utf-8", "surrogateescape"))
    for start, end, value in _values(found.text):
        found.add(start, end, value)
    return found


def _values(text: str) -> Iterator[tuple[int, int, Any]]:
    start = len(_MARK) if text.startswith(_MARK) else 0
    first = next((place for place in _lines(text, start) if text[slice(*place)].strip()), None)
    if first is None:
        return
    if _is_whole(text[slice(*first)]):
        yield from _by_line(text, start)
    elif _is_document(text[start:]):
        yield from _in_a_row(text, start, len(text))
    else:
        by_line, row = list(_by_line(text, start)), list(_in_a_row(text, start, len(text)))
        objects = sum(isinstance(value, dict) for _, _, value in by_line)
        yield from row if row and (len(row) > objects or not objects) else by_line


def _lines(text: str, at: int) -> Iterator[tuple[int, int]]:
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        yield at, end
        at = end


def _by_line(text: str, at: int) -> Iterator[tuple[int, int, Any]]:
    for start, end in _lines(text, at):
        yield from _in_a_row(text, start, end)


def _in_a_row(text: str, start: int, end: int) -> Iterator[tuple[int, int, Any]]:
    for one, other, value in values_in(text[start:end]):
        yield start + one, start + other, value


def _is_whole(line: str) -> bool:
    """Whether a line holds values and nothing else."""
    found = list(values_in(line))
    return bool(found) and not line[found[-1][1] :].strip()


def _is_document(text: str) -> bool:
    """Whether a text is one value of strict JSON."""
    try:
        json.dumps(json.loads(text, parse_constant=_refuse), ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(name: str) -> None:
    raise ValueError(name)


@dataclass(slots=True)
class Rewrite:
    """What is to become of the records of a source."""

    scan: Scan
    edits: dict[int, dict[Path, str | None]] = field(default_factory=dict)
    """By record; None at the path () takes a whole record out."""
    before: dict[int, str] = field(default_factory=dict)
    """JSON text that goes in before a record."""
    after: dict[int, str] = field(default_factory=dict)

    def edit(self, place: Place, new: str | None) -> None:
        """Put other JSON text at a place, or nothing."""
        self.edits.setdefault(place.record, {})[place.path] = new

    def result(self) -> bytes:
        """The source with all of it done; what no edit touches is as it was."""
        return "".join(self._pieces()).encode("utf-8", "surrogateescape")

    def _pieces(self) -> Iterator[str]:
        text, done = self.scan.text, 0
        for number, record in enumerate(self.scan.records):
            edits: Edits = self.edits.get(number, {})
            _, _, start, end = self.scan.places[record.line]
            if not edits and number not in self.before and number not in self.after:
                continue
            head, tail = text.rfind("\n", 0, start) + 1, text.find("\n", end) + 1 or len(text)
            alone = head >= done and not (text[head:start] + text[end:tail]).strip(" \t\r\n" + _MARK)
            gone = edits.get((), "") is None
            cut = max(head, len(_MARK) if text.startswith(_MARK) else 0) if alone else start
            yield text[done:cut]
            ending = "\r\n" if text[:tail].endswith("\r\n") else "\n"
            if number in self.before:
                yield self.before[number] + (ending if alone else " ")
            if not gone:
                yield text[cut:start] + rewritten(text, start, edits)
            done = tail if gone and alone else end
            if number in self.after:
                yield f"{ending}{self.after[number]}" if not gone else f"{self.after[number]}{ending}"
        yield text[done:]
