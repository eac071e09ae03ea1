"""Cline and Roo tasks: `api_conversation_history.json`, with the usage in `ui_messages.json` beside it.

Source of the shapes: https://github.com/RooCodeInc/Roo-Code, src/core/task-persistence/apiMessages.ts and rooMessage.ts
(messages), src/core/condense/index.ts and src/core/context-management/index.ts (what leaves the context);
https://github.com/cline/cline, src/shared/ExtensionMessage.ts.

Roo takes nothing out of the file: what a summary or a cut replaces names it as its parent, and is out of the context
as long as that parent is in the file. The parent stands before the messages that were kept, though it came after them.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from ctxcli.formats.blocks.agents import odd_message, provider_of, shaped_parts
from ctxcli.formats.blocks.cline_messages import is_answer, is_mark, is_task, reasoning_parts, shape, time_of
from ctxcli.formats.blocks.cline_text import CLIENT, HUMAN, TOOL, Turn, calls_in, facts_of
from ctxcli.formats.blocks.cline_usage import Answer, Display, usage_beside
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.moments import from_milliseconds
from ctxcli.formats.blocks.values import blocks, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format

_KEPT = 3
"""Messages that Roo keeps when it condenses into an answer of the model's."""


@dataclass(slots=True)
class _Task:
    """One task while it is being read."""

    main: Record
    display: Display
    draft: Draft
    _at: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Where the messages of the file stand in the draft."""
    _members: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """By id of a summary or a cut: the messages that it took out of the context."""
    _calls: list[Part] = field(default_factory=list)
    """The calls in text of the last answer."""
    _held: list[Part] = field(default_factory=list)
    """Reasoning that stands before its answer."""
    _model: str = ""

    def read(self) -> Transcript:
        """The conversation, each compaction where it took place."""
        value = self.main.value
        messages = sequence(value if isinstance(value, list) else mapping(value).get("messages"))
        self._find_members(messages)
        answers = [Answer(at, time_of(one)) for at, one in enumerate(messages) if is_answer(one)]
        requests, cuts = self.display.pair(answers), list(self.display.cuts)
        waiting: list[tuple[int, int]] = []
        for at, message in enumerate(messages):
            while cuts and cuts[0][0] <= at:
                self._cut(*cuts.pop(0), at)
            for place in sorted(one for one in waiting if one[0] <= at):
                waiting.remove(place)
                self._compacted(messages[place[1]], place[1])
            if is_mark(message):
                waiting.append((self._place_of(at, messages), at))
            else:
                self._message(message, at, requests)
        for _, at in sorted(waiting):
            self._compacted(messages[at], at)
        self._notes(len(answers), len(requests))
        self.draft.provider = next((house for call in self.draft.calls if (house := provider_of(call.model))), "")
        return self.draft.finish()

    def _find_members(self, messages: Sequence[Any]) -> None:
        """A parent that is gone from the file took nothing out: a rewind has brought back what it replaced."""
        there = {
            name
            for one in messages
            if is_mark(one)
            for name in (text(one.get("condenseId")), text(one.get("truncationId")))
        }
        for at, message in enumerate(messages):
            for key in ("condenseParent", "truncationParent"):
                if (name := text(mapping(message).get(key))) and name in there:
                    self._members[name].append(at)

    def _place_of(self, at: int, messages: Sequence[Any]) -> int:
        """Before which message a summary or a cut took place: after those that were kept, which stand behind it."""
        mark = messages[at]
        name = text(mark.get("condenseId")) or text(mark.get("truncationId"))
        last = next((n for n in range(at + 1, len(messages)) if is_mark(messages[n])), len(messages))
        if name in self.display.compacted and self.display.compacted[name][0]:
            times = [time_of(one) for one in messages[at + 1 : last]]
            return at + 1 + bisect_left(times, self.display.compacted[name][0])
        if mark.get("isTruncationMarker") is True:
            return min(last, at + 1 + len(self._members.get(name, ())))
        return min(last, at + 1 + _KEPT) if mark.get("role") == "assistant" else at + 1

    def _line(self, at: int) -> int:
        inside: tuple[str | int, ...] = () if isinstance(self.main.value, list) else ("messages",)
        return line_of(self.main, (*inside, at))

    def _compacted(self, mark: Mapping[str, Any], at: int) -> None:
        """A summary in the place of what names it as its parent, or the marker of a cut."""
        line, cut = self._line(at), mark.get("isTruncationMarker") is True
        name = text(mark.get("truncationId" if cut else "condenseId"))
        gone = {place for member in self._members.get(name, ()) for place in self._at[member]}
        _, before, after = self.display.compacted.get(name, (0.0, None, None))
        kind = EventKind.TRIM if cut else EventKind.SUMMARY
        drops = gone & set(self.draft.live[MAIN])
        event = self.draft.event(kind, line, drops=drops, tokens_before=before, tokens_after=after)
        parts = list(shaped_parts(mark.get("content"), line, shape, self.draft))
        if not cut:
            parts = [Part(PartKind.SUMMARY, part.text, line) if part.kind is PartKind.TEXT else part for part in parts]
            self.draft.amend(event, summary=len(self.draft.messages))
        role = Role.ASSISTANT if mark.get("role") == "assistant" else Role.USER
        time = from_milliseconds(mark.get("ts"))
        self._at[at].append(self.draft.add(role, parts, line, id=text(mark.get("id")) or name, time=time, harness=True))

    def _cut(self, _: int, first: int, last: int, at: int) -> None:
        """Cline leaves a row of the oldest messages out; the file still holds them."""
        gone = {place for member in range(first, last + 1) if member < at for place in self._at.get(member, ())}
        drops = gone & set(self.draft.live[MAIN])
        if drops:
            self.draft.event(EventKind.TRIM, self._line(at), drops=drops, trigger="truncation")

    def _message(self, value: Any, at: int, requests: Mapping[int, Any]) -> None:
        line, role = self._line(at), value.get("role") if isinstance(value, dict) else None
        if isinstance(value, dict) and value.get("type") == "reasoning":
            self._held += reasoning_parts(value, line)
        elif role == "assistant":
            self._answer(value, at, line, requests)
        elif role in ("user", "tool"):
            self._turn(value, at, line)
        else:
            odd_message(self.draft, value, line)

    def _answer(self, value: Mapping[str, Any], at: int, line: int, requests: Mapping[int, Any]) -> None:
        parts = list(shaped_parts(value.get("content"), line, shape, self.draft))
        if isinstance(value.get("reasoning_content"), str):
            parts.insert(0, Part(PartKind.THINKING, value["reasoning_content"], line))
        if not any(part.kind is PartKind.TOOL_CALL for part in parts):
            split = [
                calls_in(one.text, line, f"{at}.{n}") if one.kind is PartKind.TEXT else [one]
                for n, one in enumerate(parts)
            ]
            parts = [part for some in split for part in some]
            self._calls = [part for part in parts if part.kind is PartKind.TOOL_CALL]
        time, id_ = from_milliseconds(value.get("ts")), text(value.get("id"))
        index = self.draft.add(Role.ASSISTANT, [*self._held, *parts], line, id=id_, time=time)
        self._held = []
        self._at[at].append(index)
        request = requests.get(at)
        model = (
            (request.model if request else "") or text(mapping(value.get("modelInfo")).get("modelId")) or self._model
        )
        usage = self.display.usage_of(request) if request else usage_beside(mapping(value.get("metrics")))
        self.draft.call(index, line, id=id_, time=time, model=model, usage=usage)

    def _turn(self, value: Mapping[str, Any], at: int, line: int) -> None:
        """A message under the user's name: results, the user's words and the client's are messages of their own."""
        turn = Turn(line, self._calls)
        for block in blocks(value.get("content")):
            for part in shaped_parts([block], line, shape, self.draft):
                self._facts(part.text)
                if part.kind is PartKind.TEXT:
                    turn.text(part.text)
                elif part.kind is PartKind.TOOL_RESULT or part.ref:
                    turn.put(TOOL, part)
                elif part.kind is PartKind.MEDIA:
                    turn.media(part)
                else:
                    turn.put(HUMAN, part)
        time, id_ = from_milliseconds(value.get("ts")), text(value.get("id"))
        for who, parts in turn.said:
            role = Role.TOOL if who == TOOL else Role.USER
            self._at[at].append(self.draft.add(role, parts, line, id=id_, time=time, harness=who == CLIENT))

    def _facts(self, said: str) -> None:
        folder, model = facts_of(said)
        self.draft.works_in(folder)
        self._model = model or self._model

    def _notes(self, answers: int, found: int) -> None:
        if self._held:
            self.draft.add(Role.ASSISTANT, self._held, self._held[0].line)
        told = self.display.told
        if answers and not told:
            self.draft.notes.append("Usage stands in ui_messages.json beside this file; there is none that tells it.")
        elif told and not found:
            self.draft.notes.append(
                f"ui_messages.json tells of {told:,} requests, and nothing ties them to the {answers:,} answers."
            )
        elif told > found:
            self.draft.notes.append(f"{told - found:,} of {told:,} requests have no answer in this file: not counted.")


def claims(records: Sequence[Record]) -> bool:
    """An array of messages with Roo's marks, or with the words that the clients put around a task."""
    return bool(records) and is_task(records[0].value)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The task of a file; what stands beside it is its display."""
    draft, display, main = Draft("cline-legacy", "", "cline"), Display(), Record(1, [])
    for record in records:
        draft.saw(record)
        if record.file and isinstance(record.value, list):
            display.take(record.value)
            draft.id = PurePath(record.file).parent.name or None
            draft.bookkeep(PurePath(record.file).name)
        elif isinstance(record.value, list) or isinstance(mapping(record.value).get("messages"), list):
            main = record
        elif isinstance(record.value, dict):
            draft.unknown(text(record.value.get("type")), record.line)
        else:
            draft.not_a_record(record)
    yield _Task(main, display, draft).read()


FORMAT = Format(
    name="cline-legacy",
    title="Cline and Roo task (api_conversation_history.json)",
    recognised_by="an array of messages with condenseParent, isSummary … or with <task>, <environment_details>",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "compaction", "timestamps"}),
    companions=("ui_messages.json",),
)
