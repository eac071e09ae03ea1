"""From a path to transcripts: records as a stream, the format that claims them, companions and skips."""

import glob
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from ctxcli.errors import UnknownFormatError, UnreadableError
from ctxcli.files.containers import unpacker
from ctxcli.files.records import LINES_OF_A_TEXT, Tally, records_of
from ctxcli.files.streams import STDIN, shown
from ctxcli.formats import FORMATS, TEXTS
from ctxcli.model import Record, Skip, Transcript
from ctxcli.shelf import Format

_FRAMES = 5_000
"""Calls in a row that Python has to allow, so that values as deep as the parser reads can be walked."""
_LOOK_AT = 25
"""Records that detection looks at."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """One conversation, and the files besides its own that it was read from."""

    transcript: Transcript
    companions: tuple[str, ...] = ()


def load(
    path: str, *, format_name: str | None = None, progress: Callable[[int], None] | None = None
) -> Iterator[Loaded]:
    """The conversations of one source, one at a time.

    Raises UnreadableError or UnknownFormatError; a conversation that was yielded before stays valid.
    """
    tally = Tally(progress=progress)
    records = records_of(path, tally)
    first = _first(path, records, tally)
    format_ = FORMATS[format_name] if format_name else detect(first, path)
    companions = _companions(format_, path, first)
    stream = _chain(first, records, companions, tally)
    held: Transcript | None = None
    number = 0
    for number, transcript in enumerate(format_.read(stream)):
        if held is not None:
            yield Loaded(_finish(held, path, tally, number), companions)
        held = transcript
    if held is None or not (held.messages or held.calls):
        raise UnreadableError(f"{path}: {format_.title}, but it holds no message")
    yield Loaded(_finish(held, path, tally, number + 1 if number else None), companions)


def claiming(path: str) -> list[Format]:
    """The formats that claim the first records of a source, those that give way to another included."""
    if path == STDIN:
        return []
    first = _first(path, records_of(path, tally := Tally()), tally)
    return [format_ for format_ in FORMATS.values() if format_.claims(first)]


def is_claimed(path: str) -> bool:
    """Whether a format claims the first records of a source; raises UnreadableError as `load` does."""
    tally = Tally()
    try:
        detect(_first(path, records_of(path, tally), tally), path)
    except UnknownFormatError:
        return False
    return True


def _first(path: str, records: Iterator[Record], tally: Tally) -> list[Record]:
    """The records that detection looks at; raises UnreadableError where none of them is an object or an array."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES))
    first = list(islice(records, _LOOK_AT))
    if first and isinstance(first[0].value, str):
        first += islice(records, LINES_OF_A_TEXT - len(first))
        if any(FORMATS[name].claims(first) for name in TEXTS):
            return first
    if not any(isinstance(record.value, (dict, list)) for record in first):
        raise UnreadableError(_nothing(path, tally))
    return first


def detect(first: list[Record], path: str) -> Format:
    """The format that claims these records, asked in order; raises UnknownFormatError where none does.

    That no two formats claim the same source, but for general ones, is a law over the fixtures.
    """
    for format_ in FORMATS.values():
        if format_.claims(first):
            return format_
    if path != STDIN and unpacker(path) is not None:
        raise UnknownFormatError(f"{path}: holds no transcript that ctx reads. `ctx formats` lists what can be read.")
    raise UnknownFormatError(
        f"{path}: JSON, but no transcript format that ctx reads (it begins with {_shape(first[0])}). "
        "`ctx formats` lists what can be read."
    )


def _shape(record: Record) -> str:
    value = record.value
    if isinstance(value, dict):
        return (
            "an object with the keys " + ", ".join(str(key)[:40] for key in list(value)[:6])
            if value
            else "an empty object"
        )
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return "a value that is no object"


def _nothing(path: str, tally: Tally) -> str:
    name = shown(path)
    if not tally.skips:
        return f"{name}: holds no JSON object" if tally.records else f"{name}: is empty"
    first = tally.skips[0]
    rest = len(tally.skips) - 1
    many = f", and so {rest:,} more" if rest else ""
    return f"{name}: holds no JSON object (line {first.line}: {first.reason}{many}). Is it a transcript?"


def _companions(format_: Format, path: str, first: list[Record]) -> tuple[str, ...]:
    """Files beside the source that hold the rest of the same conversation.

    Those of the source's own name are taken, and one of a name that is no pattern; others must name its session.
    """
    if path == STDIN or not format_.companions:
        return ()
    own = Path(path)
    stem, name = own.name.split(".jsonl", 1)[0], own.name.split(".", 1)[0]
    sessions = {_session(record) for record in first} - {""} | {stem}
    found: dict[str, None] = {}
    for pattern in format_.companions:
        its_own = "{" in pattern or not glob.has_magic(pattern)
        wanted = pattern.replace("{stem}", glob.escape(stem)).replace("{name}", glob.escape(name))
        for file in sorted(own.parent.glob(wanted)):
            if file != own and file.is_file() and (its_own or _belongs(file, sessions)):
                found[str(file)] = None
    return tuple(found)


def _belongs(file: Path, sessions: set[str]) -> bool:
    try:
        head = next(records_of(str(file), Tally()), None)
    except UnreadableError:
        return True  # it may belong, and reading it will say why it cannot be read
    return (
        head is not None
        and _session(head) in sessions
        and isinstance(head.value, dict)
        and bool(head.value.get("isSidechain"))
    )


def _session(record: Record) -> str:
    value = record.value
    return str(value.get("sessionId") or "") if isinstance(value, dict) else ""


def _chain(first: list[Record], rest: Iterator[Record], companions: tuple[str, ...], tally: Tally) -> Iterator[Record]:
    yield from first
    yield from rest
    for file in companions:
        try:
            yield from records_of(file, tally, file)
        except UnreadableError as error:
            tally.skips.append(Skip(0, str(error), file=file))


def _finish(transcript: Transcript, path: str, tally: Tally, number: int | None) -> Transcript:
    """The transcript with its place, and with the skips met since the one before.

    `number` is its place among the conversations of its source, None for the only one.
    """
    found = (*transcript.skips, *tally.take_skips())
    return replace(
        transcript,
        path=path,
        skips=tuple(sorted(found, key=lambda skip: (skip.file, skip.line, skip.reason))),
        id=transcript.id or (str(number) if number else None),
        bytes=transcript.bytes if number else tally.bytes,
        lines=transcript.records if number else tally.lines,
        many=number is not None,
    )
