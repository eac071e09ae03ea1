"""What changes the context in a Copilot CLI session: compactions, truncations, rewinds, clears."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.copilot_events import usage_of
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.values import count, mapping, text
from ctxcli.model import EventKind, Part, PartKind, Record, Role

Handler = Callable[[Mapping[str, Any], Record, str], None]
"""Takes the data of an event, its record and its lane."""


def time_of(record: Record) -> str:
    """When an event was written."""
    return text(mapping(record.value).get("timestamp"))


@dataclass(slots=True)
class CopilotContext:
    """Records the events of one session in its draft."""

    draft: Draft
    model: str = ""
    """The model that answers now."""
    starts: dict[str, int] = field(default_factory=dict)
    """By event: how many messages there were before it."""
    _compacting: dict[str, list[int]] = field(default_factory=dict)
    """By lane: what was in the context when a compaction began."""

    def add(self, role: Role, parts: Iterable[Part], record: Record, lane: str, *, harness: bool = False) -> int:
        """Append what an event says to its lane; returns the message's index."""
        id_ = text(mapping(record.value).get("id"))
        return self.draft.add(role, parts, record.line, lane=lane, id=id_, time=time_of(record), harness=harness)

    def _said(self, lane: str) -> list[int]:
        """What is in the context besides the system prompt."""
        return [index for index in self.draft.live[lane] if self.draft.messages[index].role is not Role.SYSTEM]

    def _oldest(self, indices: Sequence[int], many: int) -> list[int]:
        """So many of the oldest of them as the client counts: one for each event, and no result without its call."""
        events: dict[str, None] = {}
        taken: list[int] = []
        for index in indices:
            message = self.draft.messages[index]
            events[message.id] = None
            if len(events) > many and message.role is not Role.TOOL:
                break
            taken.append(index)
        return taken

    def begin(self, _: Mapping[str, Any], __: Record, lane: str) -> None:
        """A compaction begins."""
        self._compacting[lane] = self._said(lane)
        self.draft.bookkeep("session.compaction_start")

    def compacted(self, data: Mapping[str, Any], record: Record, lane: str) -> None:
        """A compaction that succeeded. It may run beside the conversation: what was said meanwhile stays.

        The call that wrote the summary saw the context before, so it stands before the change.
        """
        begun = self._compacting.pop(lane, None)
        if data.get("success") is not True:
            self.draft.bookkeep("session.compaction_complete/failed")
            return
        live = self._said(lane)
        drops = live if begun is None else [index for index in begun if index in live]
        drops = self._oldest(drops, count(data.get("messagesRemoved")) or len(drops))
        cost = mapping(data.get("compactionTokensUsed"))
        if (usage := usage_of(cost)) is not None:
            at = self.add(Role.ASSISTANT, (), record, lane)
            id_, model = text(data.get("requestId")), text(cost.get("model")) or self.model
            self.draft.call(at, record.line, id=id_, time=time_of(record), model=model, usage=usage)
            drops = [*drops, at]
        body = text(data.get("summaryContent"))
        event = self.draft.event(
            EventKind.SUMMARY,
            record.line,
            lane=lane,
            drops=drops,
            trigger=text(data.get("trigger")),
            tokens_before=count(data.get("preCompactionTokens")),
            tokens_after=count(data.get("postCompactionTokens")),
            opaque=not body.strip(),
        )
        kind = PartKind.SUMMARY if body.strip() else PartKind.OPAQUE
        summary = self.add(Role.USER, [Part(kind, body, record.line)], record, lane, harness=True)
        self.draft.amend(event, summary=summary)

    def truncated(self, data: Mapping[str, Any], record: Record, lane: str) -> None:
        """The oldest messages were left out to make room."""
        self.draft.window = count(data.get("tokenLimit")) or self.draft.window
        self.draft.bookkeep("session.truncation")
        many = count(data.get("messagesRemovedDuringTruncation")) or 0
        if many and (drops := self._oldest(self._said(lane), many)):
            self.draft.event(
                EventKind.TRIM,
                record.line,
                lane=lane,
                drops=drops,
                trigger=text(data.get("performedBy")),
                tokens_before=count(data.get("preTruncationTokensInMessages")),
                tokens_after=count(data.get("postTruncationTokensInMessages")),
            )

    def rewound(self, data: Mapping[str, Any], record: Record, lane: str) -> None:
        """The user went back to before an event."""
        start = self.starts.get(text(data.get("upToEventId")))
        self.draft.bookkeep("session.snapshot_rewind")
        drops = [index for index in self._said(lane) if start is not None and index >= start]
        if drops:
            self.draft.event(EventKind.REWIND, record.line, lane=lane, drops=drops, trigger="user")

    def cleared(self, data: Mapping[str, Any], record: Record, lane: str) -> None:
        """The user emptied the context; a first message may stand in it at once."""
        self.draft.event(EventKind.RESET, record.line, lane=lane, drops=self._said(lane), trigger="clear")
        if first := text(data.get("initialMessage")):
            self.add(Role.USER, [Part(PartKind.TEXT, first, record.line)], record, lane, harness=True)
        else:
            self.draft.bookkeep("session.context_cleared")
