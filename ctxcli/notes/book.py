"""A notes file read: what stands after everything that was added and removed, and what cannot be trusted."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ctxcli.model import Skip
from ctxcli.notes.note import (
    EXTRACTED,
    HEAD,
    NOTE,
    REMOVED,
    VERSION,
    Item,
    Mark,
    Note,
    Removal,
    Source,
    digest,
    line_of,
)
from ctxcli.reports.slots import Decision, Entry, Slots
from ctxcli.slots import CONSTRAINTS, DECISIONS, IDENTIFIERS, OPEN, SLOTS

SUPERSEDED = " (superseded)"
"""How the text of a boundary ends that was taken back, in slots."""
_MARK = re.compile(r" \(superseded(?: by line \d+)?\)$")
_OTHER = "other"
"""The kind of an identifier that was noted without one."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """What a notes file says."""

    entries: tuple[Note, ...] = ()
    """Those that stand, in the order in which they came."""
    removed: tuple[Removal, ...] = ()
    """What was removed and has not been added again."""
    marks: tuple[Mark, ...] = ()
    faults: tuple[Skip, ...] = ()
    """Lines that do not count; `recovered` where nothing is lost that was written whole."""
    lines: int = 0

    def find(self, prefix: str) -> list[Note]:
        """The standing entries whose id begins so."""
        return [note for note in self.entries if note.id.startswith(prefix.lower())]


def parse(lines: Iterable[bytes]) -> Notebook:
    """Read the lines of a notes file, however torn: a line that is not as it was written is a fault, no entry."""
    standing: dict[str, Note] = {}
    removed: dict[str, Removal] = {}
    marks: list[Mark] = []
    faults: list[Skip] = []
    number = 0
    for number, raw in enumerate(lines, 1):
        bare = raw.rstrip(b"\r\n")
        if not bare.strip():
            continue
        item = _read(bare)
        if isinstance(item, str):
            faults.append(Skip(number, item, recovered=item == _TORN))
            continue
        if _as_written(bare) != bare.decode("utf-8"):
            faults.append(Skip(number, "says what it said, in other bytes than ctx wrote: counted", recovered=True))
        match item:
            case Note():
                standing[item.id] = item
                removed.pop(item.id, None)
            case Removal():
                standing.pop(item.id, None)
                removed[item.id] = item
            case Mark():
                marks.append(item)
    return Notebook(tuple(standing.values()), tuple(removed.values()), tuple(marks), tuple(faults), number)


def is_notes(content: bytes) -> bool:
    """Whether bytes are those of a notes file, an empty or a torn one included, and not of another kind of file."""
    first = next((line.strip() for line in content.split(b"\n") if line.strip()), b"")
    head = HEAD.encode()
    return first.startswith(head) or (head.startswith(first) and b"\n" not in content.lstrip()) or any(
        not isinstance(_read(line.rstrip(b"\r")), str) for line in content.split(b"\n")
    )  # fmt: skip


def standing(text: str) -> str:
    """A notes file, its lines empty that count no more: removed entries, removals. Any other text as it is."""
    lines = [line.encode("utf-8", "replace") for line in text.split("\n")]
    if not is_notes(b"\n".join(lines)):
        return text
    ids = {note.id for note in parse(lines).entries}
    gone = (isinstance(item := _read(line.rstrip(b"\r")), Removal) or (isinstance(item, Note) and item.id not in ids)
            for line in lines)  # fmt: skip
    return "\n".join("" if away else line for line, away in zip(text.split("\n"), gone, strict=True))


_TORN = "a record that breaks off: its writing was cut short. Nothing rests on this line, it can be deleted"
_ALTERED = "altered since ctx wrote it: not counted"
_FOREIGN = "no record of ctx: not counted"


def _as_written(raw: bytes) -> str:
    """A record in the bytes that ctx gives it."""
    return line_of(json.loads(raw))


def _read(raw: bytes) -> Item | str:
    """The value of a line, or why it is none."""
    ours = raw.startswith(HEAD.encode())
    try:
        fields = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return _FOREIGN if not ours else _ALTERED if raw.endswith(b"}") else _TORN
    kind = fields.get("kind") if isinstance(fields, dict) else None
    if kind not in _READERS:
        return _ALTERED if ours else _FOREIGN
    check = fields.pop("check", None)
    if check != digest(fields):
        return _ALTERED
    if fields.pop("version") != VERSION:
        return "written by another version of ctx: not counted"
    try:
        return _READERS[fields.pop("kind")](fields)
    except (KeyError, TypeError, ValueError):
        return _FOREIGN


def _note(fields: dict[str, Any]) -> Note:
    source, rejected, slot = fields["source"], fields["rejected"], fields["slot"]
    if slot not in SLOTS or not isinstance(rejected, list):
        raise ValueError(slot)
    note = Note(
        slot=slot, text=_text(fields["text"]), reason=_maybe(fields["reason"]), chosen=_maybe(fields["chosen"]),
        rejected=tuple(_text(one) for one in rejected), type=_maybe(fields["type"]),
        superseded=fields["superseded"] is True, source=None if source is None else _source(source),
        line=None if fields["line"] is None else _figure(fields["line"]), hash=_maybe(fields["hash"]),
        time=_text(fields["time"]),
    )  # fmt: skip
    if note.id != fields["id"]:
        raise ValueError(fields["id"])
    return note


def _removal(fields: dict[str, Any]) -> Removal:
    return Removal(_text(fields["id"]), _maybe(fields["reason"]), _text(fields["time"]))


def _mark(fields: dict[str, Any]) -> Mark:
    return Mark(
        _source(fields["source"]), _figure(fields["line"]), _text(fields["hash"]), _figure(fields["messages"]),
        _text(fields["time"]),
    )  # fmt: skip


_READERS: dict[str, Callable[[dict[str, Any]], Item]] = {NOTE: _note, REMOVED: _removal, EXTRACTED: _mark}


def _source(value: Any) -> Source:
    return Source(_text(value["path"]), _maybe(value["conversation"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _maybe(value: Any) -> str | None:
    return None if value is None else _text(value)


def _figure(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(value)
    return value


def new(notebook: Notebook, notes: Iterable[Note]) -> list[Note]:
    """Those that do not stand yet, each once; one that stands counts as new where it was superseded since, or again."""
    standing = {note.id: note.superseded for note in notebook.entries}
    found = []
    for note in notes:
        if standing.get(note.id) != note.superseded:
            standing[note.id] = note.superseded
            found.append(note)
    return found


def to_slots(notebook: Notebook) -> Slots:
    """The standing entries as slots: boundaries taken back are marked, other entries that were superseded left out."""
    identifiers: dict[str, list[str]] = {}
    for note in _of(notebook, IDENTIFIERS):
        identifiers.setdefault(note.type or _OTHER, []).append(note.text)
    return Slots(
        constraints=tuple(
            Entry(note.text + (SUPERSEDED if note.superseded else ""), note.line)
            for note in notebook.entries if note.slot == CONSTRAINTS
        ),
        decisions=tuple(
            Decision(note.text, note.chosen, note.rejected, note.reason, note.line)
            for note in _of(notebook, DECISIONS)
        ),
        identifiers={kind: tuple(values) for kind, values in identifiers.items()},
        open=tuple(Entry(note.text, note.line) for note in _of(notebook, OPEN)),
    )  # fmt: skip


def _of(notebook: Notebook, slot: str) -> Iterator[Note]:
    return (note for note in notebook.entries if note.slot == slot and not note.superseded)


def notes_of(slots: Slots, source: Source | None = None, time: str = "") -> list[Note]:
    """The items of slots as entries; of a boundary that is marked as superseded, the text without the mark."""
    found = []
    for one in slots.constraints:
        text = _MARK.sub("", one.text)
        found.append(Note(CONSTRAINTS, text, superseded=text != one.text, source=source, line=one.line, time=time))
    found += [
        Note(DECISIONS, one.text, one.reason, one.chosen, one.rejected, source=source, line=one.line, time=time)
        for one in slots.decisions
    ]
    found += [
        Note(IDENTIFIERS, value, type=kind, source=source, time=time)
        for kind, values in slots.identifiers.items()
        for value in values
    ]
    return found + [Note(OPEN, one.text, source=source, line=one.line, time=time) for one in slots.open]
