"""What changes the context in a Codex rollout: compactions, roll-backs, resumes at an earlier point."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.codex_items import SEALED, grouped, message_role, output_parts, weighed
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.openai import content_parts, plain
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import COMPACTION, MAIN, EventKind, Part, PartKind, Role

_KEPT_USER_CHARACTERS = 80_000
"""Codex keeps the newest 20,000 tokens of user messages, by its own 4 bytes a token (core/src/compact.rs)."""


@dataclass(slots=True)
class CodexContext:
    """Records the events of one rollout in its draft."""

    draft: Draft
    instructions: set[int] = field(default_factory=set)
    """The messages that survive every compaction."""
    turn_start: int = 0
    """Where the messages of the current turn begin."""
    _turns: list[int] = field(default_factory=list)
    _totals: dict[int, int] = field(default_factory=dict)
    """After each count, by the total that it gave: how many messages there were."""
    _compaction: int | None = None

    def add_message(self, item: Mapping[str, Any], line: int, time: str, *, copied: bool = False) -> None:
        """Add a message that the model did not write."""
        parts = tuple(content_parts(item.get("content"), line))
        role, harness = message_role(item)
        index = self.draft.add(role, parts, line, time=time, harness=harness, copied=copied)
        if role is Role.USER and not harness:
            self._turns.append(index)

    def counted(self, total: int | None) -> None:
        """A call's usage was reported, with this running total."""
        if total is not None:
            self._totals[total] = len(self.draft.messages)
        self._compaction = None

    def check_return(self, total: int | None, last: int | None, line: int) -> None:
        """A total that goes on from an earlier one: the session was resumed there, and what came between is gone."""
        if total is None or last is None:
            return
        place = self._totals.get(total - last)
        if place is None or place == max(self._totals.values(), default=0):
            return
        drops = [index for index in self.draft.live[MAIN] if place <= index < self.turn_start]
        if drops:
            self.draft.event(EventKind.REWIND, line, drops=drops, trigger="resume", at=self.turn_start)

    def estimated(self, estimate: int | None) -> bool:
        """Right after a compaction, a count without input is the client's estimate of the new context."""
        if self._compaction is None or not estimate:
            return False
        self.draft.amend(self._compaction, tokens_after=estimate)
        return True

    def compacted(self, payload: Mapping[str, Any], line: int, time: str, places: Sequence[int] = ()) -> None:
        """A compaction: what came before leaves, what the record holds stands in its place.

        `places` are the lines of the items that it holds, where they have lines of their own.
        """
        history, message = payload.get("replacement_history"), text(payload.get("message"))
        live = self.draft.live[MAIN]
        kept = set(self.instructions) if isinstance(history, list) else self._kept_without_history()
        drops = [index for index in live if index not in kept]
        items = weighed([mapping(item) for item in sequence(history)], payload)
        sealed = any(item.get("type") in SEALED for item in items)
        kind = EventKind.SUMMARY if message.strip() or sealed or not items else EventKind.TRIM
        opaque = kind is EventKind.SUMMARY and (sealed or not message.strip())
        self._compaction = event = self.draft.event(kind, line, drops=drops, opaque=opaque)
        start = 0
        for size, is_summary in grouped(items, payload, message):
            group = [(items[at], places[at] if at < len(places) else line) for at in range(start, start + size)]
            start += size
            self._replaced(group, time, message, is_summary=is_summary)
        if message.strip() and self.draft.events[event].summary is None:
            summary = Part(PartKind.SUMMARY, message, line)
            index = self.draft.add(Role.USER, [summary], line, time=time, harness=True)
            self.draft.amend(event, summary=index, opaque=False)
        if not history and not message.strip():
            self.draft.bookkeep("compacted")

    def _replaced(
        self, group: Sequence[tuple[Mapping[str, Any], int]], time: str, message: str, *, is_summary: bool
    ) -> None:
        """One message of the new context: an item, or those of one answer."""
        item, line = group[0]
        kind = text(item.get("type"))
        if is_summary:
            body = plain(item.get("content"))
            index = self.draft.add(Role.USER, [Part(PartKind.SUMMARY, body, line)], line, time=time, harness=True)
            if self._compaction is not None and body == message:
                self.draft.amend(self._compaction, summary=index, opaque=False)
        elif kind in SEALED:
            sealed = Part(PartKind.OPAQUE, "", line, name=COMPACTION)
            index = self.draft.add(Role.USER, [sealed], line, time=time, harness=True)
            if self._compaction is not None and not message.strip():
                self.draft.amend(self._compaction, summary=index)
        elif kind == "agent_message":
            self.add_mail(item, line, time, copied=True)
        elif kind == "message" and item.get("role") != "assistant":
            self.add_message(item, line, time, copied=True)
        else:
            role = Role.TOOL if kind.endswith("_output") else Role.ASSISTANT
            index = self.draft.add(role, output_parts(item, line), line, time=time, copied=True)
            for more, place in group[1:]:
                self.draft.extend(index, output_parts(more, place), place)

    def add_mail(self, item: Mapping[str, Any], line: int, time: str, *, copied: bool = False) -> None:
        """Add what another agent wrote."""
        body = Part(PartKind.TEXT, plain(item.get("content")), line, name=text(item.get("author")))
        self.draft.add(Role.USER, [body], line, time=time, harness=True, copied=copied)

    def _kept_without_history(self) -> set[int]:
        """What an old compaction kept: standing instructions and the newest user messages."""
        kept, left = set(self.instructions), _KEPT_USER_CHARACTERS
        for index in reversed(self.draft.live[MAIN]):
            message = self.draft.messages[index]
            if message.role is Role.SYSTEM:
                kept.add(index)
            elif message.role is Role.USER and not message.harness and left > 0:
                left -= sum(len(part.text) for part in message.parts)
                kept.add(index)
        return kept

    def rolled_back(self, turns: int, line: int) -> None:
        """The user took back so many turns."""
        live = [index for index in self._turns if index in self.draft.live[MAIN]]
        if turns and live:
            start = live[-min(turns, len(live))]
            drops = [index for index in self.draft.live[MAIN] if index >= start]
            self.draft.event(EventKind.REWIND, line, drops=drops, trigger="user")
