"""From a transcript to notes: what its turns say, each turn once; and notes held against the transcript they name."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from ctxcli.compact.material import Span, material_of
from ctxcli.compact.superseded import entries_of
from ctxcli.constraints import constraints_of
from ctxcli.guard.policy import Policy
from ctxcli.guard.reading import Reading
from ctxcli.guard.sides import Before
from ctxcli.identifiers import Extractor, extract
from ctxcli.identifiers.secrets import mask, secrets_in
from ctxcli.model import MAIN, EventKind, Message, Transcript
from ctxcli.notes import Mark, Note, Notebook, Source, hash_of, hash_over, new, notes_of, source_of
from ctxcli.reports.notes import StrayRow
from ctxcli.reports.slots import Slots
from ctxcli.shelf import Weigh
from ctxcli.slots import IDENTIFIERS, OPEN, is_synthetic
from ctxcli.summarisers.extractive import SUMMARISER
from ctxcli.summarisers.extractive.pending import ASKED, ERROR, REQUEST, TO_DO, TRIED

_UNBOUNDED = 10**9
"""Tokens: notes leave nothing out."""
_OF_THE_MOMENT = (ASKED, ERROR, REQUEST, TO_DO, TRIED)
"""How open items begin that later turns overtake."""


def notes_from(
    transcript: Transcript, notebook: Notebook, weigh: Weigh, extractor: Extractor = extract
) -> tuple[list[Note], Mark | None]:
    """What the notebook lacks of a transcript's main conversation, and the mark that says so; none where it has it all.

    Only raw turns are read, no summary. What stands in turns that were extracted before comes up again only where a
    later turn overtook it: as superseded. Where those turns are not what they were, everything is extracted anew.
    """
    turns = [index for index, message in enumerate(transcript.messages) if message.lane == MAIN]
    known = _known(transcript, turns, notebook.marks)
    if known == len(turns):
        return [], None
    raw = list(_raw(transcript, turns))
    old = frozenset(turns[:known])
    reading = Reading(transcript, extractor)
    fresh = [index for index in raw if index not in old]
    parts = reading.parts(fresh)
    before = Before(reading, parts, parts)
    found = _Places(transcript, raw, old, notebook)
    every = [
        *notes_of(_slots(before, weigh, raw), source_of(transcript)),
        *notes_of(_restated(transcript, fresh, raw), source_of(transcript)),
        *_identifiers(before, source_of(transcript)),
    ]
    masked = {note.id: note for note in (_masked(found.placed(one), reading.secrets) for one in every)}
    news = [note for note in masked.values() if found.is_news(note)]
    last = transcript.messages[turns[-1]]
    seen = [transcript.messages[index] for index in turns]
    mark = Mark(source_of(transcript), last.line, hash_over(seen), len(turns), last.time)
    return new(notebook, [*_overtaken(notebook, source_of(transcript), masked), *news]), mark


def _known(transcript: Transcript, turns: Sequence[int], marks: Iterable[Mark]) -> int:
    """How many of the turns have been extracted: by the longest mark that fits, whatever the file is called now."""
    for mark in sorted(marks, key=lambda mark: -mark.messages):
        first = [transcript.messages[index] for index in turns[: mark.messages]]
        if 0 < len(first) == mark.messages and first[-1].line == mark.line and hash_over(first) == mark.hash:
            return mark.messages
    return 0


def _raw(transcript: Transcript, turns: Iterable[int]) -> Iterator[int]:
    """The turns that were said and not taken back; no summary, nothing that the source repeats."""
    rewound = {at for event in transcript.events if event.kind is EventKind.REWIND for at in event.drops}
    for index in turns:
        message = transcript.messages[index]
        summary = any(part.sums_up or is_synthetic(part.text) for part in message.parts)
        if not (summary or message.copied or index in rewound):
            yield index


def _slots(before: Before, weigh: Weigh, raw: Sequence[int]) -> Slots:
    material = material_of(before, Policy(), weigh, _UNBOUNDED, span=Span(tuple(raw)))
    return replace(SUMMARISER.summarise(replace(material, identifiers=())), identifiers={})


def _restated(transcript: Transcript, fresh: Sequence[int], raw: Sequence[int]) -> Slots:
    """The boundaries of the new turns alone: one in the words of an old turn stands from here on."""
    found = list(constraints_of(transcript, list(fresh)))
    return Slots(tuple(entries_of(found, transcript, raw)))


def _identifiers(before: Before, source: Source) -> Iterator[Note]:
    """Those that the guard asks for by default."""
    for key in before.required(Policy()).keys:
        one = before.known[key]
        yield Note(IDENTIFIERS, one.value, type=one.kind, source=source, line=one.line)


def _overtaken(notebook: Notebook, source: Source, open_now: Container[str]) -> Iterator[Note]:
    """Standing open items of this conversation that belong to a moment which has passed."""
    for note in notebook.entries:
        passing = note.slot == OPEN and not note.superseded and note.text.startswith(_OF_THE_MOMENT)
        if passing and note.source is not None and _is_same(note.source, source) and note.id not in open_now:
            yield replace(note, superseded=True)


def _is_same(one: Source, other: Source) -> bool:
    """Whether two sources are one conversation: by its id where both have one, else by the file's name."""
    if one.conversation is not None and other.conversation is not None:
        return one.conversation == other.conversation
    return one.path == other.path


def _masked(note: Note, secrets: frozenset[str]) -> Note:
    def hide(text: str) -> str:
        return mask(text, secrets | secrets_in(text))

    return replace(
        note,
        text=hide(note.text),
        reason=None if note.reason is None else hide(note.reason),
        chosen=None if note.chosen is None else hide(note.chosen),
        rejected=tuple(map(hide, note.rejected)),
    )


class _Places:
    """Where the words of entries stand: in which message, and whether that was extracted before."""

    def __init__(
        self, transcript: Transcript, raw: Iterable[int], old: Container[int] = (), notebook: Notebook | None = None
    ) -> None:
        self._messages = transcript.messages
        self._by_line = _by_line(transcript.messages, raw)
        self._old = old
        self._texts: dict[int, str] = {}
        self._standing = {one.id for one in notebook.entries} if notebook else set()
        self._removed = {one.id for one in notebook.removed} if notebook else set()

    def placed(self, note: Note) -> Note:
        """The entry with the hash and the time of the message that says it."""
        indices = self._by_line.get(note.line or 0, [])
        if not indices:
            return note
        wanted = [_flat(note.text), _flat(note.text.partition(": ")[2])]
        several = indices if len(indices) > 1 else []
        saying = (index for text in wanted if text for index in several if text in self._text(index))
        message = self._messages[next(saying, indices[0])]
        return replace(note, hash=hash_of(message), time=message.time)

    def _text(self, index: int) -> str:
        if index not in self._texts:
            self._texts[index] = _said(self._messages[index])
        return self._texts[index]

    def is_news(self, note: Note) -> bool:
        """Whether it is of a new turn, or says how an old one ended; that brings nothing back that was removed."""
        indices = self._by_line.get(note.line or 0, [])
        fresh = [index not in self._old for index in indices]
        if fresh and all(fresh):
            return True
        ended = note.slot == OPEN or (note.superseded and note.id in self._standing)
        return (ended or any(fresh)) and note.id not in self._removed


def strays(transcript: Transcript, notebook: Notebook) -> tuple[int, list[StrayRow]]:
    """How many entries were noted from a line of this transcript, and those that do not stand there any more."""
    source, messages = source_of(transcript), transcript.messages
    own = [one for one in notebook.entries if one.line and one.source is not None and _is_same(one.source, source)]
    by_line = _by_line(messages, range(len(messages)))
    hashes = [hash_of(message) for message in messages]
    now = {one: message.line for one, message in zip(reversed(hashes), reversed(messages), strict=True)}
    found = []
    for note in own:
        here = by_line.get(note.line or 0, ())
        if note.hash is None:
            stands = any(_flat(note.text) in _said(messages[index]) for index in here)
        else:
            stands = any(hashes[index] == note.hash for index in here)
        if not stands:
            found.append(StrayRow(note.id, note.slot, note.text, note.line or 0, now.get(note.hash or "")))
    return len(own), found


def placed_at(transcript: Transcript, note: Note, line: int) -> Note | None:
    """An entry with its place in a transcript, and the time of that message; None where none stands on that line."""
    places = _Places(transcript, range(len(transcript.messages)))
    found = places.placed(replace(note, source=source_of(transcript), line=line))
    return None if found.hash is None else replace(found, time=found.time or note.time)


def _by_line(messages: Sequence[Message], indices: Iterable[int]) -> dict[int, list[int]]:
    """The messages that stand on each source line."""
    found: dict[int, list[int]] = {}
    for index in indices:
        message = messages[index]
        for line in dict.fromkeys((message.line, *message.lines, *(part.line for part in message.parts))):
            found.setdefault(line, []).append(index)
    return found


def _flat(text: str) -> str:
    return " ".join(text.split())


def _said(message: Message) -> str:
    return _flat(" ".join(part.text for part in message.parts))
