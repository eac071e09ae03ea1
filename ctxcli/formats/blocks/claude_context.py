"""What changes the context in a Claude Code session: compactions, clears, rewinds, dropped thinking."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.budget import model_window
from ctxcli.formats.blocks.claude_records import is_clear, is_resume, strips_thinking
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.sessions import Sessions
from ctxcli.formats.blocks.synthetic import BY_CTX
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, PartKind

_USUAL_WINDOW = 200_000


@dataclass(slots=True)
class ClaudeContext:
    """Records the events of one session in its draft."""

    draft: Draft
    sessions: Sessions
    model: str = ""
    """The model that answered last in the main lane."""
    index_of: dict[str, int] = field(default_factory=dict)
    """The message that a record's uuid belongs to, or the next one where the record is none."""
    segment: int = 0
    """How often the context was rebuilt; what is written again afterwards is in it again."""
    message_of: dict[str, int] = field(default_factory=dict)
    """The message that a record's uuid belongs to, for those that hold a piece of one."""
    standing: set[int] = field(default_factory=set)
    """The messages that survive every compaction and every clear: what a client sends anew with each request."""
    _parents: dict[str, str] = field(default_factory=dict)
    _resuming: bool = False
    _prompts: dict[str, int] = field(default_factory=dict)
    _awaiting_summary: int | None = None

    def is_again(self, value: Mapping[str, Any]) -> bool:
        """Whether a record repeats one of its own session under another id, as a compaction by ctx writes them."""
        origin = value.get("forkedFrom")
        if not isinstance(origin, dict) or text(origin.get("messageUuid")) not in self.message_of:
            return False
        first, own = text(origin.get("sessionId")), text(value.get("sessionId"))
        return self.sessions.root(first) == self.sessions.root(own)

    def saw(self, value: Mapping[str, Any], *, again: bool) -> None:
        """Take a record's place in the tree into account, before it is read."""
        uuid, parent = text(value.get("uuid")), value.get("parentUuid")
        if uuid:
            self.index_of[uuid] = len(self.draft.messages)
            if isinstance(parent, str):
                self._parents[uuid] = parent
        self._resuming = self._resuming or (is_resume(value) and not again)

    def check_root(self, value: Mapping[str, Any], line: int) -> None:
        """A new root in the main lane, after messages, is a cleared context."""
        if is_clear(value) and self._own(value, MAIN):
            self._rebuild(EventKind.RESET, value, line, trigger="clear")

    def user_turn(self, value: Mapping[str, Any], line: int, *, again: bool) -> None:
        """What a prompt of the person changes, before it is added.

        Two human prompts under one parent: the user went back and said something else. (Links alone
        prove nothing, parallel tool calls branch them too.) And older models lose the thinking of
        the turns before.
        """
        parent = value.get("parentUuid")
        if again:
            self._prompts[text(parent)] = len(self.draft.messages)
            return
        if self._resuming and isinstance(parent, str):
            self._resumed(parent, text(value.get("sessionId")), line)
        live = self.draft.live[MAIN]
        if isinstance(parent, str):
            earlier = self._prompts.get(parent)
            if earlier is not None and (dropped := [index for index in live if index >= earlier]):
                group = text(value.get("sessionId"))
                self.draft.event(EventKind.REWIND, line, drops=dropped, trigger="user", group=group)
                if earlier not in live:
                    self.draft.notes.append(
                        f"The user went back to before a compaction at line {line}: what it dropped is missing here."
                    )
            self._prompts[parent] = len(self.draft.messages)
        if strips_thinking(self.model):
            gone = self.draft.unstripped(PartKind.THINKING)
            if gone:
                self.draft.event(
                    EventKind.STRIP, line, clears=gone, trigger="new turn", group=text(value.get("sessionId"))
                )

    def _resumed(self, parent: str, session: str, line: int) -> None:
        """A resumed session sends only what lies on the path from its last record back to the root.

        Results of parallel calls lie beside it. Measured: 13.5 k of a fall by 15 k at such a place.
        """
        self._resuming = False
        path: set[int] = set()
        at: str | None = parent
        while at is not None:
            if at in self.message_of:
                path.add(self.message_of[at])
            at = self._parents.pop(at, None)
        drops = [index for index in self.draft.live[MAIN] if index not in path and path and index > min(path)]
        if drops:
            self.draft.event(EventKind.REWIND, line, drops=drops, trigger="resume", group=session)
            self._unanswered(drops, line, session)

    def _unanswered(self, drops: Iterable[int], line: int, session: str) -> None:
        """Calls whose results lie beside the path are not sent either: a provider would refuse them."""
        messages = self.draft.messages
        lost = {
            part.ref for index in drops for part in messages[index].parts if part.kind is PartKind.TOOL_RESULT
        }  # fmt: skip
        calls = [
            (index, number)
            for index in self.draft.live[MAIN]
            for number, part in enumerate(messages[index].parts)
            if part.kind is PartKind.TOOL_CALL and part.ref in lost
        ]
        if calls:
            self.draft.event(EventKind.STRIP, line, clears=calls, trigger="resume", group=session)

    def compacted(self, value: Mapping[str, Any], line: int, lane: str) -> None:
        """A compaction boundary: all that came before leaves, but for what it says it preserved."""
        facts = mapping(value.get("compactMetadata"))
        before, trigger = count(facts.get("preTokens")), text(facts.get("trigger"))
        bare = mapping(facts.get(BY_CTX)).get("summary") is False
        kind = EventKind.TRIM if bare else EventKind.SUMMARY
        event = self._rebuild(kind, value, line, trigger=trigger, lane=lane, kept=self._preserved(facts, line))
        self.draft.amend(event, tokens_before=before, tokens_after=count(facts.get("postTokens")))
        self._awaiting_summary = None if bare else event
        if lane == MAIN and trigger == "auto" and before and before < _USUAL_WINDOW:
            self._narrow_window(before)

    def _rebuild(
        self,
        kind: EventKind,
        value: Mapping[str, Any],
        line: int,
        *,
        trigger: str,
        lane: str = MAIN,
        kept: Container[int] = (),
    ) -> int:  # fmt: skip
        """Everything that this session has in the lane's context leaves it, but for what is kept."""
        drops = [index for index in self._own(value, lane) if index not in kept and index not in self.standing]
        self.segment += 1
        group = text(value.get("sessionId"))
        return self.draft.event(kind, line, lane=lane, drops=drops, trigger=trigger, group=group)

    def _own(self, value: Mapping[str, Any], lane: str) -> list[int]:
        """What a record's session, with those it is joined to, has in a lane's context."""
        root = self.sessions.root(text(value.get("sessionId")))
        messages = self.draft.messages
        return [index for index in self.draft.live[lane] if self.sessions.root(messages[index].group) == root]

    def unannounced(self, value: Mapping[str, Any], line: int, lane: str) -> None:
        """A summary without a boundary before it (older clients): it stands for all that came before."""
        if self._awaiting_summary is None:
            self._awaiting_summary = self._rebuild(EventKind.SUMMARY, value, line, trigger="", lane=lane)

    def summarised(self, index: int, *, opaque: bool) -> None:
        """The message at `index` is the summary that the last boundary announced."""
        if self._awaiting_summary is not None:
            self.draft.amend(self._awaiting_summary, summary=index, opaque=opaque)
            self._awaiting_summary = None

    def cleared(self, value: Mapping[str, Any], line: int, lane: str) -> None:
        """A micro-compaction: the results it names stay in the file and leave the context."""
        facts = mapping(value.get("microcompactMetadata"))
        refs = [text(item) for item in sequence(facts.get("compactedToolIds"))]
        gone = [self.index_of.get(text(uuid)) for uuid in sequence(facts.get("clearedAttachmentUUIDs"))]
        self.draft.event(
            EventKind.CLEAR,
            line,
            lane=lane,
            drops=[index for index in gone if index is not None],
            clears=self.draft.results(refs, lane),
            trigger=text(facts.get("trigger")),
            group=text(value.get("sessionId")),
        )

    def _preserved(self, facts: Mapping[str, Any], line: int) -> set[int]:
        """Indices of the earlier messages that a compaction says it kept."""
        named = [text(item) for item in sequence(mapping(facts.get("preservedMessages")).get("uuids"))]
        kept = {self.index_of[uuid] for uuid in named if uuid in self.index_of}
        segment = mapping(facts.get("preservedSegment"))
        if not segment:
            return kept
        head, tail = (self.index_of.get(text(segment.get(end))) for end in ("headUuid", "tailUuid"))
        if head is None:
            self.draft.notes.append(
                f"The compaction at line {line} kept a span of messages whose beginning is not in this file."
            )
            return kept
        kept.update(range(head, (len(self.draft.messages) - 1 if tail is None else tail) + 1))
        return kept

    def _narrow_window(self, before: int) -> None:
        """The client compacts by itself at the window less its reserve: 167 k of 200 k, 967 k of 1 M."""
        known = model_window(self.model)
        if self.draft.window is None and (known is None or known.context > _USUAL_WINDOW):
            self.draft.window = _USUAL_WINDOW
            self.draft.notes.append(
                f"The agent compacted by itself at {before:,} tokens: the window is taken to be "
                f"{_USUAL_WINDOW:,}" + (f", not the model's {known.context:,}." if known else ".")
            )
