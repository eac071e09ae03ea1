"""What the calls of a log of Inspect were given, against what their lanes held before; see blocks/inspect_sample.py."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.values import count, text
from ctxcli.model import COMPACTIONS, MAIN, EventKind, PartKind, Role

_KINDS = {"trim": EventKind.TRIM, "edit": EventKind.REWRITE}


@dataclass(frozen=True, slots=True)
class Given:
    """A message that a call was given."""

    said: Said
    id: str
    source: str
    summary: bool


@dataclass(slots=True)
class Held:
    """What is known of one lane."""

    keys: dict[int, bytes] = field(default_factory=dict)
    """Every message that was ever in it."""
    tools: list[Any] = field(default_factory=list)
    tools_at: int | None = None


class Contexts:
    """The lanes of one sample."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.lanes: defaultdict[str, Held] = defaultdict(Held)
        self.pending: dict[str, list[tuple[Mapping[str, Any], int]]] = {}
        """By the lane that they were recorded in, the compactions whose outcome the next call will show."""

    def sync(self, scope: str, lane: str, given: Sequence[Given], line: int, time: str) -> None:
        """Take what a call was given: what is new enters, and what is missing has left."""
        context, messages = self.lanes[lane], self.draft.messages
        left = [at for at in self.draft.live[lane] if at != context.tools_at]
        fresh: list[Given] = []
        clears: list[tuple[int, int]] = []
        waiting: defaultdict[bytes, list[int]] = defaultdict(list)
        for at in left:
            waiting[context.keys[at]].append(at)
        kept: set[int] = set()
        for one in given:
            found = next((at for at in waiting.get(one.said.key, ()) if at not in kept), None)
            if found is None and one.id:
                found = next((at for at in left if messages[at].id == one.id and at not in kept), None)
                found = self._changed(found, one, clears)
            if found is None:
                fresh.append(one)
            else:
                kept.add(found)
        self.change(scope, lane, [at for at in left if at not in kept], clears, line, fresh)
        for one in fresh:
            self.add(lane, one, line, time)

    def _changed(self, at: int | None, now: Given, clears: list[tuple[int, int]]) -> int | None:
        """A message of the same id with another text: a result that was cut, or an answer without its reasoning."""
        if at is None or self.draft.messages[at].role is not now.said.role:
            return None
        if now.said.role is Role.TOOL:
            before = self.draft.messages[at].parts
            if sum(len(part.text) for part in now.said.parts) < sum(len(part.text) for part in before):
                done = {place for event in self.draft.events for place in event.clears}
                clears += [
                    (at, number)
                    for number, part in enumerate(before)
                    if part.kind is PartKind.TOOL_RESULT and (at, number) not in done
                ]
                return at
        return at if now.said.role is Role.ASSISTANT else None

    def change(
        self,
        scope: str,
        lane: str,
        drops: list[int],
        clears: list[tuple[int, int]],
        line: int,
        fresh: Sequence[Given] = (),
    ) -> None:
        """The events between two calls: what a recorded compaction did, or what the agent took out on its own."""
        system = [at for at in drops if self.draft.messages[at].role is Role.SYSTEM]
        said = [at for at in drops if at not in system]
        if system:
            self.draft.event(EventKind.RENEW, line, lane=lane, drops=system, trigger="system prompt")
        recorded = self.pending.pop(scope, [])
        for number, (event, place) in enumerate(recorded):
            last = number == len(recorded) - 1
            kind = _KINDS.get(text(event.get("type")), EventKind.SUMMARY)
            kind = EventKind.CLEAR if kind is EventKind.REWRITE and clears and not said else kind
            index = self.draft.event(
                kind,
                place,
                lane=lane,
                drops=said if last else (),
                clears=clears if last and kind is EventKind.CLEAR else (),
                trigger=text(event.get("source")),
                tokens_before=count(event.get("tokens_before")),
                tokens_after=count(event.get("tokens_after")),
            )
            if kind is EventKind.SUMMARY and last:
                self._summarised(index, fresh)
        if recorded and (not clears or not said):
            return
        if clears:
            self.draft.event(EventKind.CLEAR, line, lane=lane, clears=clears, trigger="agent")
        if said and not recorded:
            last_kept = max((at for at in self.draft.live[lane] if at not in said), default=-1)
            kind = EventKind.REWIND if min(said) > last_kept and not fresh else EventKind.REWRITE
            self.draft.event(kind, line, lane=lane, drops=said, trigger="agent")

    def _summarised(self, index: int, fresh: Sequence[Given]) -> None:
        """Which of the messages that come now is the summary: one that says so, else the first of the user's."""
        marked = [at for at, one in enumerate(fresh) if one.summary]
        asked = [at for at, one in enumerate(fresh) if one.said.role is Role.USER]
        place = next(iter([*marked, *asked]), None)
        if place is None:
            return
        opaque = not any(part.text for part in fresh[place].said.parts)
        self.draft.amend(index, summary=len(self.draft.messages) + place, opaque=opaque)

    def add(self, lane: str, one: Given, line: int, time: str) -> int:
        """Add a message to a lane; returns its index."""
        said, at = one.said, len(self.draft.messages)
        parts = said.parts if said.line == line else tuple(replace(part, line=line) for part in said.parts)
        told = any(event.summary == at for event in self.draft.events if event.kind in COMPACTIONS)
        if told:
            parts = tuple(
                replace(part, kind=PartKind.SUMMARY) if part.kind is PartKind.TEXT else part for part in parts
            )
        asked = any(self.draft.messages[index].role is Role.USER for index in self.draft.live[lane])
        by_client = lane != MAIN or one.summary or told or (one.source != "input" and asked)
        copied = lane != MAIN and any(
            said.key in other.keys.values() for name, other in self.lanes.items() if name != lane
        )
        harness = said.role is Role.USER and by_client
        self.draft.add(said.role, parts, line, lane=lane, id=one.id, time=time, harness=harness, copied=copied)
        self.lanes[lane].keys[at] = said.key
        return at
