"""What a compression of Qwen Code puts in the place of the history, and what a sub-agent is started with.

Source: https://github.com/QwenLM/qwen-code packages/core/src/services/session-api-history.ts and
chatRecordingService.ts. A compression stores the whole new history: a summary, an answer to it, and what stays.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.gemini_records import is_snapshot
from ctxcli.formats.blocks.google import parts_of, role_of, tool_parts
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.tree import Tree
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import EventKind, Part, PartAt, PartKind, Role

Words = tuple[tuple[object, ...], ...]
_FAILED = (2, 3)
"""The new history weighed more, or could not be weighed."""


@dataclass(frozen=True, slots=True)
class Compression:
    """One compression that is in force."""

    history: tuple[Said, ...]
    before: int | None
    after: int | None
    trigger: str

    def put(self, tree: Tree, key: str, line: int) -> None:
        """Keep what stays, drop the rest, and add what is new; results that say less now are cleared."""
        draft, lane = tree.draft, tree.lane
        found = self._found(draft, draft.live[lane])
        kept = [at for at in draft.live[lane] if at in found or draft.messages[at].role is Role.SYSTEM]
        clears = [place for at, said in found.items() for place in _shortened(draft, at, said)]
        stays = {id(said) for said in found.values()}
        new = [said for said in self.history if id(said) not in stays]
        summary = _summary_of(new)
        if new or len(kept) < len(draft.live[lane]):
            kind = EventKind.TRIM if summary is None else EventKind.SUMMARY
            event = tree.replace(key, kept, kind, line, self.trigger)
            draft.amend(event, tokens_before=self.before, tokens_after=self.after)
            for said in new:
                parts = tuple(_as_summary(part) for part in said.parts) if said is summary else said.parts
                index = draft.add(said.role, parts, line, lane=lane, harness=True)
                tree.also_holds(key, index)
                if said is summary:
                    draft.amend(event, summary=index)
        if clears:
            cleared = draft.event(EventKind.CLEAR, line, lane=lane, clears=clears, trigger=self.trigger)
            if not new and len(kept) == len(draft.live[lane]):
                draft.amend(cleared, tokens_before=self.before, tokens_after=self.after)

    def _found(self, draft: Draft, live: Sequence[int]) -> dict[int, Said]:
        """The live messages that the new history holds too, in its order, found from the end: that is what stays."""
        found: dict[int, Said] = {}
        places: defaultdict[Words, list[int]] = defaultdict(list)
        for place, at in enumerate(live):
            places[_words(draft.messages[at].parts)].append(place)
        end = len(live)
        for said in reversed(self.history):
            own = _words(said.parts)
            same = places[own] if own else []
            while same and same[-1] >= end:
                same.pop()
            if same:
                end = same.pop()
                found[live[end]] = said
        return found


def compression_of(payload: Any, line: int) -> Compression | None:
    """The compression that a record tells of; None where it failed or holds no history."""
    raw, info = mapping(payload), mapping(mapping(payload).get("info"))
    status, history = info.get("compressionStatus"), raw.get("compressedHistory")
    failed = status in _FAILED if isinstance(status, int) else "FAILED" in text(status).upper()
    if failed or not isinstance(history, list) or not history:
        return None
    before, after = count(info.get("originalTokenCount")), count(info.get("newTokenCount"))
    trigger = text(info.get("triggerReason"))
    return Compression(tuple(said_of(content, line) for content in history), before, after, trigger)


def said_of(content: Any, line: int) -> Said:
    """A Content in neutral parts."""
    parts = tuple(parts_of(mapping(content).get("parts"), line))
    return Said(role_of(content, parts), parts, line)


def bootstrap_of(payload: Any, line: int) -> list[Said]:
    """What a sub-agent was started with: a system prompt, tools, and the turns that it inherits."""
    raw: Mapping[str, Any] = mapping(payload)
    prompt = raw.get("systemInstruction")
    system = [*parts_of(mapping(prompt).get("parts", prompt), line), *tool_parts(raw.get("tools"), line)]
    head = [Said(Role.SYSTEM, tuple(system), line, harness=True)] if system else []
    return [*head, *(said_of(content, line) for content in sequence(raw.get("history")))]


def _summary_of(new: Sequence[Said]) -> Said | None:
    """The turn that sums up: the one with a snapshot, else the first that is told under the user's name."""
    told = [said for said in new if said.role is Role.USER and any(part.kind is PartKind.TEXT for part in said.parts)]
    marked = [said for said in told if any(map(is_snapshot, said.parts))]
    return next(iter(marked or told), None)


def _as_summary(part: Part) -> Part:
    return replace(part, kind=PartKind.SUMMARY) if part.kind is PartKind.TEXT else part


def _words(parts: Sequence[Part]) -> Words:
    """What a turn says, but for its thoughts and the text of results."""
    return tuple(
        (part.kind, part.ref, part.name, "" if part.kind is PartKind.TOOL_RESULT and part.ref else part.text)
        for part in parts
        if part.kind is not PartKind.THINKING and part.media is None
    )


def _shortened(draft: Draft, at: int, said: Said) -> list[PartAt]:
    """The results of a message that stand with another text in the new history."""
    now = {part.ref: part.text for part in said.parts if part.kind is PartKind.TOOL_RESULT and part.ref}
    return [
        (at, number)
        for number, part in enumerate(draft.messages[at].parts)
        if part.kind is PartKind.TOOL_RESULT and now.get(part.ref, part.text) != part.text
    ]
