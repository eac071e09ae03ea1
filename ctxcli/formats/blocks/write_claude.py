"""A Claude Code session with one more compaction at its end: a boundary, and the new context in records after it.

Nothing that is there is changed. The kept messages are written again, because no client knows how to
keep single ones from before a boundary; each says which record it repeats.
"""

import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ctxcli.change import Change
from ctxcli.errors import UnreadableError
from ctxcli.formats.blocks.claude_rows import edited_row
from ctxcli.formats.blocks.edits import Fate, fates_of
from ctxcli.formats.blocks.scan import Scan, scan
from ctxcli.formats.blocks.splice import Path, rewritten, written
from ctxcli.formats.blocks.synthetic import BY_CTX
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.formats.blocks.work import Work, found_again
from ctxcli.model import MAIN, Message, Record, Transcript

_CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
_ENVELOPE = ("isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug", "agentId")
"""What a new record takes over from the last one of its conversation."""


def write_session(source: bytes, work: Work, read: Callable[[Iterable[Record]], Iterator[Transcript]]) -> bytes:
    """The source, and after it a compaction of each conversation that changes; see `Format.write`."""
    if all(change is None for _, change in work):
        return source
    book = scan(source)
    seed = hashlib.sha256(source).hexdigest()
    again = iter(list(read(book.records)))
    pieces = [source if source.endswith(b"\n") else source + b"\n"]
    for transcript, change in work:
        own = found_again(transcript, again)
        if change is not None:
            lines = _Compaction(book, own, change, seed).lines()
            pieces += [line.encode("utf-8", "surrogateescape") + b"\n" for line in lines]
    return b"".join(pieces)


@dataclass(slots=True)
class _Compaction:
    """The records that one compaction adds."""

    book: Scan
    own: Transcript
    change: Change
    seed: str
    """Of the source: what is added to it has ids that nothing else has, and always the same ones."""
    last: Mapping[str, Any] = field(init=False)
    """The last record of the conversation."""
    time: str = field(init=False)
    _parent: str = ""
    _number: int = 0
    _copies: dict[str, str] = field(default_factory=dict)
    """The ids of the copies, by those of the records that they repeat."""

    def __post_init__(self) -> None:
        sessions = {text(self._value(one.line).get("sessionId")) for one in self.own.messages if one.lane == MAIN}
        side = any(self._value(one.line).get("isSidechain") is True for one in self.own.messages[:1])
        chain = [
            value
            for record in self.book.records
            if (value := mapping(record.value)).get("uuid")
            and value.get("type") in _CHAIN
            and text(value.get("sessionId")) in sessions
            and (value.get("isSidechain") is True) is side
        ]
        if not chain:
            raise UnreadableError(f"{self.own.path}: none of its records has an id that a compaction could name")
        self.last = chain[-1]
        self.time = _just_after(next((text(one["timestamp"]) for one in reversed(chain) if one.get("timestamp")), ""))

    def lines(self) -> Iterator[str]:
        """The boundary, then the context after the change, each record the child of the one before."""
        yield self._boundary()
        waiting, fates = bool(self.change.summary), fates_of(self.change)
        for index in self.change.keep:
            if waiting and index >= self.change.at:
                yield self._summary()
                waiting = False
            yield from self._copy(self.own.messages[index], fates[index])
        if waiting:
            yield self._summary()

    def _boundary(self) -> str:
        facts: dict[str, Any] = {"trigger": "manual"}
        calls = [call for call in self.own.calls if call.lane == MAIN and call.usage and call.usage.prompt]
        if calls and (usage := calls[-1].usage) is not None:
            facts["preTokens"] = (usage.prompt or 0) + (usage.output or 0)
        if not self.change.summary:
            facts[BY_CTX] = {"summary": False}
        return self._new(
            {"parentUuid": None, "logicalParentUuid": self.last["uuid"]},
            {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": False},
            {"level": "info", "compactMetadata": facts},
        )

    def _summary(self) -> str:
        said = {"role": "user", "content": self.change.summary}
        return self._new(
            {"parentUuid": self._parent},
            {"type": "user", "message": said, "isVisibleInTranscriptOnly": True, "isCompactSummary": True},
        )

    def _new(self, links: dict[str, Any], facts: dict[str, Any], more: dict[str, Any] | None = None) -> str:
        """A record that the client would have written, in the envelope of the last one."""
        envelope = {key: self.last[key] for key in _ENVELOPE if key in self.last}
        self._parent = self._id()
        return written({**links, **envelope, **facts, "timestamp": self.time, "uuid": self._parent, **(more or {})})

    def _id(self) -> str:
        self._number += 1
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"ctx:{self.seed}:{self.last['uuid']}:{self._number}"))

    def _copy(self, message: Message, fate: Fate) -> Iterator[str]:
        """The records of a kept message once more, under ids of their own."""
        for mark in message.lines if message.parts else ():
            place = self.book.place(mark)
            raw, value = self.book.raw(place), self.book.parsed(place.start, place.end)
            edits = edited_row(raw, value, message, mark, fate)
            if edits is None:
                continue
            own = self._copies[text(value.get("uuid"))] = self._id()
            edits |= {
                ("parentUuid",): written(self._parent),
                ("uuid",): written(own),
                ("timestamp",): written(self.time),
            }
            if value.get("sessionId") != self.last.get("sessionId"):
                edits["sessionId",] = written(self.last.get("sessionId"))
            if (asked := self._copies.get(text(value.get("sourceToolAssistantUUID")))) is not None:
                edits["sourceToolAssistantUUID",] = written(asked)
            self._parent = own
            yield _named(raw, edits, {"sessionId": value.get("sessionId"), "messageUuid": value.get("uuid")})

    def _value(self, mark: int) -> Mapping[str, Any]:
        return mapping(self.book.records[self.book.place(mark).record].value)


def _named(raw: str, edits: Mapping[Path, str | None], origin: dict[str, Any]) -> str:
    """The record's text with the edits made, and with the record that it repeats."""
    copy = rewritten(raw, 0, {**edits, ("forkedFrom",): None})
    return f'{copy[:-1].rstrip()},"forkedFrom":{written(origin)}}}'


def _just_after(time: str) -> str:
    """A millisecond later: clients go on from the newest record."""
    try:
        later = datetime.fromisoformat(time) + timedelta(milliseconds=1)
    except ValueError:
        return time
    return later.isoformat(timespec="milliseconds").replace("+00:00", "Z")
