"""A transcript while it is being read: messages may still grow, usage may still be corrected."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from ctxcli.model import (
    MAIN,
    Call,
    Event,
    EventKind,
    Lane,
    Message,
    Part,
    PartKind,
    Record,
    Role,
    Skip,
    Transcript,
    Usage,
    media_of,
)

JSON_NAMES = {
    "list": "an array", "dict": "an object", "str": "a string", "int": "a number", "float": "a number",
    "bool": "a truth value", "NoneType": "null",
}  # fmt: skip
"""What JSON calls the values that Python has read from it."""


@dataclass(slots=True)
class OpenMessage:
    """A message whose later lines may still come."""

    role: Role
    lane: str
    line: int
    parts: list[Part]
    lines: list[int]
    id: str = ""
    time: str = ""
    harness: bool = False
    copied: bool = False
    group: str = ""
    """Which of several interleaved sessions it came from."""

    def close(self, tools: dict[str, Part]) -> Message:
        """The finished message; results learn their tool's name and address from the call."""
        parts = tuple(_named(part, tools) for part in self.parts)
        lines = tuple(sorted(set(self.lines)))
        return Message(self.role, parts, self.lane, self.line, lines, self.id, self.time, self.harness, self.copied)


def _named(part: Part, tools: dict[str, Part]) -> Part:
    call = tools.get(part.ref) if part.kind in (PartKind.TOOL_RESULT, PartKind.MEDIA) and part.ref else None
    if call is None:
        return part
    return replace(part, name=part.name or call.name, address=part.address or call.address)


@dataclass(slots=True)
class Draft:
    """Collects one conversation record by record.

    Every record must end in exactly one of: a message (`add`, `extend`), `bookkeep`,
    `not_a_record`, `unknown` or a count of `duplicates`; `finish` then accounts for all of them.
    """

    format: str
    provider: str = ""
    agent: str = ""
    id: str | None = None
    messages: list[OpenMessage] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    event_groups: list[str] = field(default_factory=list)
    """For each event, which of several interleaved sessions it came from."""
    lanes: dict[str, Lane] = field(default_factory=lambda: {MAIN: Lane(MAIN)})
    skips: list[Skip] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    live: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Indices of the messages in each lane's context now."""
    records: int = 0
    taken: int = 0
    duplicates: int = 0
    size: int = 0
    folders: dict[str, None] = field(default_factory=dict)
    window: int | None = None
    window_is_usable: bool = False
    _books: Counter[str] = field(default_factory=Counter)
    _unknown: dict[str, list[int]] = field(default_factory=dict)
    _tools: dict[str, Part] = field(default_factory=dict)
    _results: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    _stripped: dict[tuple[PartKind, str], int] = field(default_factory=dict)

    def saw(self, record: Record) -> None:
        """Count a record of the source; call it once for each, before anything else."""
        self.records += 1
        self.size += record.size

    def works_in(self, folder: str) -> None:
        """The agent's working folder, as a record names it."""
        if folder:
            self.folders[folder] = None

    def add(  # noqa: PLR0913 - the facts of a message, by name
        self,
        role: Role,
        parts: Iterable[Part],
        line: int,
        *,
        lane: str = MAIN,
        id: str = "",  # noqa: A002 - the field's name
        time: str = "",
        harness: bool = False,
        copied: bool = False,
        group: str = "",
    ) -> int:
        """Append a message to its lane's context; returns its index."""
        if lane not in self.lanes:
            self.lanes[lane] = Lane(lane)
        index = len(self.messages)
        message = OpenMessage(role, lane, line, [], [line], id, time, harness, copied, group)
        self.messages.append(message)
        self.live[lane].append(index)
        self.extend(index, parts, line)
        return index

    def extend(self, index: int, parts: Iterable[Part], line: int) -> None:
        """Add the parts that another record holds of the message at `index`."""
        message = self.messages[index]
        message.lines.append(line)
        for part in parts:
            if part.kind is PartKind.TOOL_CALL and part.ref:
                self._tools.setdefault(part.ref, part)
            elif part.kind is PartKind.TOOL_RESULT and part.ref:
                self._results.setdefault(part.ref, []).append((index, len(message.parts)))
            message.parts.append(part)

    def call(self, at: int, line: int, **facts: str | Usage | None) -> int:
        """Record the model call whose answer is the message at `at`; returns the call's index."""
        self.calls.append(Call(at, self.messages[at].lane, line, **facts))  # type: ignore[arg-type]
        return len(self.calls) - 1

    def event(  # noqa: PLR0913 - the facts of an event, by name
        self,
        kind: EventKind,
        line: int,
        *,
        lane: str = MAIN,
        drops: Iterable[int] = (),
        clears: Iterable[tuple[int, int]] = (),
        trigger: str = "",
        tokens_before: int | None = None,
        tokens_after: int | None = None,
        opaque: bool = False,
        at: int | None = None,
        group: str = "",
    ) -> int:
        """Record a change of context here (or before the message at `at`); returns its index."""
        gone = frozenset(drops)
        if kind is EventKind.CLEAR:
            clears = self._with_media(clears)
        if gone:
            self.live[lane] = [index for index in self.live[lane] if index not in gone]
        self.events.append(
            Event(
                kind,
                len(self.messages) if at is None else at,
                lane,
                line,
                trigger,
                tuple(sorted(gone)),
                tuple(clears),
                None,
                tokens_before,
                tokens_after,
                opaque,
            )
        )
        self.event_groups.append(group)
        return len(self.events) - 1

    def _with_media(self, places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """The results, and the images that came with them."""
        for index, number in places:
            yield index, number
            parts = self.messages[index].parts
            yield from ((index, other) for other in media_of(parts, parts[number].ref))

    def amend(self, event: int, **facts: int | bool | None) -> None:
        """Correct a recorded event: what stands in the place of the dropped messages, its sizes."""
        self.events[event] = replace(self.events[event], **facts)  # type: ignore[arg-type]

    def results(self, refs: Iterable[str], lane: str = MAIN) -> list[tuple[int, int]]:
        """(message, part) of the live tool results that answer the calls named."""
        live = frozenset(self.live[lane])
        return sorted(place for ref in set(refs) for place in self._results.get(ref, ()) if place[0] in live)

    def unstripped(self, kind: PartKind, lane: str = MAIN) -> list[tuple[int, int]]:
        """(message, part) of the live parts of a kind that have not been handed out before."""
        start = self._stripped.get((kind, lane), 0)
        self._stripped[kind, lane] = len(self.messages)
        return [
            (index, number)
            for index in islice(self.live[lane], bisect_left(self.live[lane], start), None)
            for number, part in enumerate(self.messages[index].parts)
            if part.kind is kind and part.name != "compaction"
        ]

    def bookkeep(self, type_: str) -> None:
        """The record is the agent's own: no model saw it."""
        self._books[type_] += 1

    def unknown(self, type_: str, line: int) -> None:
        """The record is of a type that this reader does not know."""
        self._unknown.setdefault(type_, []).append(line)

    def not_a_record(self, record: Record) -> None:
        """A JSON value that is no object: a number, a list, a string."""
        kind = JSON_NAMES.get(type(record.value).__name__, "value")
        reason = f"{kind} stands where a record should: skipped"
        self.skips.append(Skip(record.line, reason, file=record.file))

    def finish(self) -> Transcript:
        """The finished transcript."""
        return Transcript(
            format=self.format,
            id=self.id,
            agent=self.agent,
            provider=self.provider,
            messages=tuple(message.close(self._tools) for message in self.messages),
            calls=tuple(self.calls),
            events=tuple(self.events),
            lanes=tuple(self.lanes.values()),
            skips=(*self.skips, *self._unknown_skips()),
            bookkeeping=tuple(sorted(self._books.items())),
            unknown=tuple(sorted((type_, len(lines)) for type_, lines in self._unknown.items())),
            duplicates=self.duplicates,
            records=self.records,
            folders=tuple(self.folders),
            window=self.window,
            window_is_usable=self.window_is_usable,
            notes=tuple(self.notes),
            bytes=self.size,
        )

    def _unknown_skips(self) -> Iterable[Skip]:
        for type_, lines in self._unknown.items():
            many = f", {len(lines)} of them" if len(lines) > 1 else ""
            yield Skip(lines[0], f"record type {type_!r} is not known{many}: not counted")
