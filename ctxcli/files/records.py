"""From a path to records, as a stream, with all that could not be read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

import orjson

from ctxcli.errors import UnreadableError
from ctxcli.files.containers import unpacker
from ctxcli.files.streams import lines_of, opened
from ctxcli.files.values import decode, element_lines
from ctxcli.formats import FORMATS, TEXTS
from ctxcli.model import Record, Skip

LINES_OF_A_TEXT = 200
"""Lines of a text that a format looks at."""


@dataclass(slots=True)
class Tally:
    """What has been read of a source so far."""

    bytes: int = 0
    lines: int = 0
    records: int = 0
    skips: list[Skip] = field(default_factory=list)
    progress: Callable[[int], None] | None = None

    def take_skips(self) -> tuple[Skip, ...]:
        """The skips since the last call."""
        found, self.skips = tuple(self.skips), []
        return found


def records_of(path: str, tally: Tally, file: str = "") -> Iterator[Record]:
    """The JSON values of a source (of a companion where `file` says so): one a line, or one document over many.

    A folder, an archive or a database gives what it holds; a text that a format claims, its lines.
    """
    unpack = unpacker(path)
    if unpack is not None:
        for record in unpack(path, tally.skips):
            tally.records += 1
            tally.bytes += record.size
            yield record
        return
    with opened(path) as stream:
        lines = _counted(lines_of(stream, path), tally, main=not file)
        head: list[bytes] = []
        for raw in lines:
            head.append(raw)
            if raw.strip():
                break
        if not head:
            return
        start = len(head)
        if head[-1].lstrip()[:1] not in (b"{", b"["):
            head += islice(lines, LINES_OF_A_TEXT)
            if _is_text(head):
                yield from _text(chain(head, lines), tally)
                return
        values, torn = decode(head[start - 1])
        if values and all(one.recovered for one in torn):
            yield from _from_lines(chain(head[start - 1 :], lines), start, tally, file)
        else:
            yield from _from_document(b"".join([*head, *lines]), path, tally, file)


def is_marked_up(path: str) -> bool:
    """Whether a source is a text that a format claims; raises UnreadableError where it cannot be opened."""
    with opened(path) as stream:
        head = list(islice(lines_of(stream, path), LINES_OF_A_TEXT))
    first = next((line.lstrip()[:1] for line in head if line.strip()), b"")
    return first not in (b"{", b"[") and _is_text(head)


def _is_text(head: list[bytes]) -> bool:
    first = list(_text(iter(head), Tally()))
    return any(FORMATS[name].claims(first) for name in TEXTS)


def _text(lines: Iterator[bytes], tally: Tally) -> Iterator[Record]:
    for number, raw in enumerate(lines, 1):
        tally.records += 1
        line = raw.rstrip(b"\r\n")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            tally.skips.append(
                Skip(number, f"byte 0x{line[error.start]:02X} is not UTF-8: read as U+FFFD", recovered=True)
            )
            text = line.decode("utf-8", "replace")
        yield Record(number, text, len(raw))


def _counted(lines: Iterator[bytes], tally: Tally, *, main: bool) -> Iterator[bytes]:
    for raw in _until_torn(lines, tally):
        if main:
            tally.lines += 1
        tally.bytes += len(raw)
        if tally.progress is not None and tally.lines % 256 == 0:
            tally.progress(tally.bytes)
        yield raw


def _until_torn(lines: Iterator[bytes], tally: Tally) -> Iterator[bytes]:
    """The lines of a stream; where compressed data breaks off after some, what follows is a skip."""
    number = 0
    try:
        for raw in lines:
            number += 1
            yield raw
    except UnreadableError as error:
        if not number:
            raise
        tally.skips.append(Skip(number + 1, str(error)))


def _from_lines(lines: Iterator[bytes], start: int, tally: Tally, file: str) -> Iterator[Record]:
    for number, raw in enumerate(lines, start):
        yield from _from_line(raw, number, tally, file)


def _from_line(raw: bytes, number: int, tally: Tally, file: str) -> Iterator[Record]:
    values, torn = decode(raw)
    tally.skips += [Skip(number, one.reason, one.recovered, file) for one in torn]
    size = len(raw) // max(1, len(values))
    for value in values:
        tally.records += 1
        yield Record(number, value, size, file)


def _from_document(whole: bytes, path: str, tally: Tally, file: str) -> Iterator[Record]:
    """One document over several lines, several of them in a row, or lines of which the first is torn."""
    try:
        value = orjson.loads(whole)
    except orjson.JSONDecodeError as error:
        yield from _rescue(whole, f"{path}: not valid JSON from line {error.lineno} on: {error.msg}", tally, file)
        return
    tally.records += 1
    yield Record(1, value, len(whole), file, element_lines(whole.decode("utf-8")))


def _rescue(whole: bytes, complaint: str, tally: Tally, file: str) -> Iterator[Record]:
    """Read by lines or as documents in a row, whichever gives more; raises the complaint where neither gives any."""
    trial = Tally()
    by_line = [
        record for number, raw in enumerate(whole.split(b"\n"), 1) for record in _from_line(raw, number, trial, file)
    ]
    objects = sum(isinstance(record.value, dict) for record in by_line)
    values, torn = decode(whole)
    if values and (len(values) > objects or not objects):
        tally.skips += [Skip(1, one.reason, one.recovered, file) for one in torn]
        by_line = [Record(1, value, len(whole) // len(values), file) for value in values]
    elif not objects and whole.lstrip()[:1] in (b"{", b"["):
        raise UnreadableError(complaint)
    else:
        tally.skips += trial.skips
    tally.records += len(by_line)
    yield from by_line
