"""What the entries of a pi session do to its context: say something, cut it off, edit it, go elsewhere.

Source: https://github.com/earendil-works/pi packages/coding-agent/docs/session-format.md and compaction.md;
https://github.com/openclaw/openclaw for `leaf` and `reset`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.pi_messages import content_parts
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.tree import ROOT, Tree
from ctxcli.formats.blocks.values import count, text
from ctxcli.model import MAIN, EventKind, Part, PartKind, Role


@dataclass(slots=True)
class PiContext:
    """Records the messages and events of one session in its draft, each at its place in the tree."""

    draft: Draft
    tree: Tree
    keys: list[str] = field(default_factory=list)
    """The entries by their place in the file, the header included."""

    def parent(self, value: Mapping[str, Any]) -> str:
        """The entry that this one hangs on: the one before it where it does not say, or names one that is not here."""
        parent = value.get("parentId", self.tree.leaf)
        if parent is None:
            return ROOT
        known = isinstance(parent, str) and self.tree.knows(parent)
        return parent if known else self.tree.leaf

    def book(self, value: Mapping[str, Any], key: str, type_: str) -> None:
        """An entry that no model sees."""
        self.tree.pass_by(key, self.parent(value))
        self.draft.bookkeep(type_)

    def say(self, said: Said, value: Mapping[str, Any], key: str) -> int:
        """Add a message where its parent stands in the tree; returns its index."""
        self.tree.go_to(self.parent(value), said.line)
        index = self._add(said, value)
        self.tree.say(key, index)
        return index

    def compaction(self, value: Mapping[str, Any], key: str, line: int) -> None:
        """All before the first kept entry leaves; the summary takes its place."""
        self.tree.go_to(self.parent(value), line)
        summary = text(value.get("summary"))
        trigger = "extension" if value.get("fromHook") is True or value.get("fromExtension") is True else ""
        event = self.tree.cut(key, self._first_kept(value), EventKind.SUMMARY, line, trigger)
        parts = (Part(PartKind.SUMMARY, summary, line),) if summary.strip() else ()
        index = self._add(Said(Role.USER, parts, line, harness=True), value)
        self.tree.sums_up(key, index)
        before = count(value.get("tokensBefore"))
        self.draft.amend(event, summary=index, tokens_before=before, opaque=not parts)

    def branch_summary(self, value: Mapping[str, Any], key: str, line: int) -> None:
        """The user went to another branch; the summary tells what was done on the one that he left."""
        event = self.tree.go_to(self.parent(value), line)
        summary = text(value.get("summary"))
        if not summary.strip():
            self.book(value, key, "branch_summary")
            return
        index = self.say(Said(Role.USER, (Part(PartKind.SUMMARY, summary, line),), line, harness=True), value, key)
        if event is not None:
            self.draft.amend(event, summary=index)

    def context_edit(self, value: Mapping[str, Any], key: str, line: int) -> None:
        """From here on one earlier message is gone, or says something else; a tool's answer is a placeholder then."""
        self.tree.go_to(self.parent(value), line)
        self.draft.bookkeep("context_edit")
        target, replacement = text(value.get("targetId")), value.get("replacement")
        index = self.tree.message_of(target)
        if index is None or index not in self.draft.live[MAIN]:
            self.tree.pass_by(key, self.parent(value))
            return
        if not isinstance(replacement, dict):
            self.tree.edit(key, target, None, line)
            return
        said = self.draft.messages[index]
        results = [number for number, part in enumerate(said.parts) if part.kind is PartKind.TOOL_RESULT]
        if results:
            self.draft.event(EventKind.CLEAR, line, clears=[(index, number) for number in results], trigger="client")
            self.tree.pass_by(key, self.parent(value))
            return
        parts = tuple(content_parts(replacement.get("content"), line))
        self.tree.edit(key, target, self._add(Said(said.role, parts, line, said.harness), value), line)

    def reset(self, value: Mapping[str, Any], key: str, line: int) -> None:
        """The conversation starts afresh in the same session."""
        self.tree.go_to(self.parent(value), line)
        self.tree.cut(key, self._first_kept(value), EventKind.RESET, line, text(value.get("reason")))
        self.draft.bookkeep("reset")

    def leaf(self, value: Mapping[str, Any], key: str, _line: int) -> None:
        """The user went to another entry; what comes next hangs on it."""
        target = value.get("targetId")
        self.tree.pass_by(key, target if isinstance(target, str) else ROOT)
        self.draft.bookkeep("leaf")

    def _add(self, said: Said, value: Mapping[str, Any]) -> int:
        id_, time = text(value.get("id")), text(value.get("timestamp"))
        return self.draft.add(said.role, said.parts, said.line, id=id_, time=time, harness=said.harness)

    def _first_kept(self, value: Mapping[str, Any]) -> str | None:
        """The first entry that stays; version 1 tells its place in the file."""
        if isinstance(kept := value.get("firstKeptEntryId"), str):
            return kept
        place = count(value.get("firstKeptEntryIndex"))
        return self.keys[place] if place is not None and place < len(self.keys) else None
