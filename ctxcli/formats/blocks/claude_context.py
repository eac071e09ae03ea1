"""What changes the context in a Claude Code session: compactions, clears, rewinds, dropped thinking."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.budget import model_window
from ctxcli.formats.blocks.claude_records import is_clear, strips_thinking
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, PartKind

_USUAL_WINDOW = 200_000


@dataclass(slots=True)
class ClaudeContext:
    """Records the events of one session in its draft."""

    draft: Draft
    model: str = ""
    """The model that answered last in the main lane."""
    index_of: dict[str, int] = field(default_factory=dict)
    """The message that a record's uuid belongs to."""
    _prompts: dict[str, int] = field(default_factory=dict)
    _awaiting_summary: int | None = None

    def check_root(self, value: Mapping[str, Any], line: int) -> None:
        """A new root in the main lane, after messages, is a cleared context."""
        if self.draft.live[MAIN] and is_clear(value):
            self.draft.event(EventKind.RESET, line, drops=self.draft.live[MAIN], trigger="clear")

    def user_turn(self, value: Mapping[str, Any], line: int) -> None:
        """What a prompt of the person changes, before it is added.

        Two human prompts under one parent: the user went back and said something else. (Links alone
        prove nothing, parallel tool calls branch them too.) And older models lose the thinking of
        the turns before.
        """
        parent = value.get("parentUuid")
        live = self.draft.live[MAIN]
        if isinstance(parent, str):
            earlier = self._prompts.get(parent)
            if earlier is not None and earlier in live:
                dropped = [index for index in live if index >= earlier]
                self.draft.event(EventKind.REWIND, line, drops=dropped, trigger="user")
            self._prompts[parent] = len(self.draft.messages)
        if strips_thinking(self.model):
            gone = self.draft.unstripped(PartKind.THINKING)
            if gone:
                self.draft.event(EventKind.STRIP, line, clears=gone, trigger="new turn")

    def compacted(self, value: Mapping[str, Any], line: int, lane: str) -> None:
        """A compaction boundary: all that came before leaves, but for what it says it preserved."""
        facts = mapping(value.get("compactMetadata"))
        before, trigger = count(facts.get("preTokens")), text(facts.get("trigger"))
        kept = self._preserved(facts)
        self._awaiting_summary = self.draft.event(
            EventKind.SUMMARY,
            line,
            lane=lane,
            drops=[index for index in self.draft.live[lane] if index not in kept],
            trigger=trigger,
            tokens_before=before,
            tokens_after=count(facts.get("postTokens")),
        )
        if trigger == "auto" and before and before < _USUAL_WINDOW:
            self._narrow_window(before)

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
        )

    def _preserved(self, facts: Mapping[str, Any]) -> set[int]:
        """Indices of the earlier messages that a compaction says it kept."""
        named = [text(item) for item in sequence(mapping(facts.get("preservedMessages")).get("uuids"))]
        kept = {self.index_of[uuid] for uuid in named if uuid in self.index_of}
        segment = mapping(facts.get("preservedSegment"))
        head, tail = (self.index_of.get(text(segment.get(end))) for end in ("headUuid", "tailUuid"))
        if head is not None:
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
