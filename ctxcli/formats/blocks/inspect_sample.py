"""A sample of a log of Inspect: its conversation, as the calls that were made tell it.

Each call repeats the messages that it was given; what a call no longer holds has left the context. Source of the shape:
inspect_ai/log/_log.py and inspect_ai/event of https://github.com/UKGovernmentBEIS/inspect_ai.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.agents import odd_message, provider_of
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.inspect_context import Contexts, Given
from ctxcli.formats.blocks.inspect_parts import ROLES, input_of, message_parts, resolved, usage_of
from ctxcli.formats.blocks.inspect_spans import Spans
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.values import count, dump, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Lane, Part, PartKind, Role

_BOOKS = frozenset(
    {"sample_init", "sample_limit", "state", "store", "span_begin", "span_end", "step", "subtask", "sandbox", "info",
     "input", "error", "logger", "approval", "score", "score_edit", "tool", "interrupt", "branch", "checkpoint",
     "anchor", "review"}
)  # fmt: skip
_TOLD = "[CONTEXT COMPACTION SUMMARY]"
"""How the agents of Inspect begin a summary (inspect_ai/model/_compaction/summary.py)."""


class Sample:
    """Reads one sample into one draft."""

    def __init__(self, sample: Mapping[str, Any], model: str) -> None:
        self.draft = Draft("inspect-ai", provider_of(model), "inspect")
        self.draft.id = f"{text(sample.get('id'))}_epoch_{text(sample.get('epoch'))}"
        self._sample, self._model = sample, model
        old = mapping(sample.get("transcript"))
        self._events = sequence(sample.get("events")) or sequence(old.get("events"))
        self._attachments = {**mapping(old.get("content")), **mapping(sample.get("attachments"))}
        pooled = sequence(mapping(sample.get("events_data")).get("messages"))
        self._pool = pooled or sequence(sample.get("message_pool"))
        self._spans = Spans(self._events)
        self._contexts = Contexts(self.draft)
        self._scopes: defaultdict[str, list[str]] = defaultdict(list)
        """By lane, it and the conversations beside it that share nothing with it."""
        self._known: dict[str, Given | None] = {}

    def read(self, lines: Sequence[int], message_lines: Sequence[int], start: int) -> Draft:
        """All events, then what the final state holds beyond them."""
        for number, event in enumerate(self._events):
            self._event(event, lines[number] if number < len(lines) else start, None)
        for scope in list(self._contexts.pending):
            self._contexts.change(scope, self._scopes[scope][0] if self._scopes[scope] else MAIN, [], [], start)
        self._rest(message_lines, start)
        whole = [mapping(one) for one in mapping(self._sample.get("model_usage")).values()]
        if self.draft.calls and not any(call.usage for call in self.draft.calls) and whole:
            sent = sum(count(one.get("input_tokens")) or 0 for one in whole)
            self.draft.notes.append(f"Usage is recorded for the sample as a whole, not per call: {sent:,} tokens sent.")
        return self.draft

    def _event(self, event: Any, line: int, inside: Lane | None) -> None:
        if not isinstance(event, dict):
            odd_message(self.draft, event, line)
            return
        kind, nested = text(event.get("event")), sequence(event.get("events"))
        lane = inside or self._spans.lane(event)
        if kind == "model":
            self._called(event, line, lane)
        elif kind == "compaction":
            self._contexts.pending.setdefault(lane.name, []).append((event, line))
            self.draft.bookkeep("event/compaction")
        elif kind in _BOOKS:
            self.draft.bookkeep(f"event/{kind}")
        else:
            self.draft.unknown(f"event/{kind}", line)
        if nested:  # older logs keep the events of a tool or a subtask inside its own
            id_, title = text(event.get("id")), text(event.get("function")) or text(event.get("name"))
            own = Lane(id_ or f"{kind} {title}", title, id_ if kind == "tool" else "")
            for one in nested:
                self._event(one, line, own)

    # -- calls

    def _called(self, event: Mapping[str, Any], line: int, lane: Lane) -> None:
        given = [one for value in input_of(event, self._pool) if (one := self._give(value, line)) is not None]
        name = self._choose(lane, given)
        self._equip(event, line, name)
        self._contexts.sync(lane.name, name, given, line, text(event.get("timestamp")))
        output = mapping(event.get("output"))
        choices = sequence(output.get("choices"))
        answer = self._give(mapping(choices[0]).get("message"), line) if choices else None
        if answer is None:
            self.draft.bookkeep("event/model without an answer")
            return
        time, model = text(event.get("timestamp")), text(output.get("model")) or text(event.get("model"))
        at = self._contexts.add(name, replace(answer, said=replace(answer.said, role=Role.ASSISTANT)), line, time)
        usage = usage_of(output.get("usage"), f"{text(event.get('model'))} {model} {self._model}")
        self.draft.call(at, line, id=answer.id, time=time, model=model, usage=usage)

    def _give(self, value: Any, line: int) -> Given | None:
        """A message with its attachments; the same one is read once, however many calls repeat it."""
        key = dump(value)
        if key not in self._known:
            message = mapping(resolved(value, self._attachments))
            role = ROLES.get(text(message.get("role")))
            if role is None:
                odd_message(self.draft, value, line)
                self._known[key] = None
            else:
                parts = tuple(message_parts(message, line, self.draft))
                told = mapping(message.get("metadata")).get("summary") is True
                told = told or any(part.sums_up or part.text.startswith(_TOLD) for part in parts)
                said = Said(role, parts, line)
                self._known[key] = Given(said, text(message.get("id")), text(message.get("source")), told)
        return self._known[key]

    def _choose(self, lane: Lane, given: Sequence[Given]) -> str:
        """The conversation of a lane that a call goes on with: it shares a message, or is the only one so far."""
        names = self._scopes[lane.name]
        keys = {one.said.key for one in given if one.said.role is not Role.SYSTEM}
        shared = [(len(keys & set(self._contexts.lanes[name].keys.values())), name) for name in names]
        best = max(shared, default=(0, ""), key=lambda one: one[0])
        if best[0] or (names and (not keys or lane.name in self._contexts.pending)):
            return best[1] or names[0]
        name = lane.name if not names else f"{lane.name} beside {len(names)}"
        names.append(name)
        self.draft.lanes.setdefault(name, replace(lane, name=name))
        return name

    def _equip(self, event: Mapping[str, Any], line: int, lane: str) -> None:
        """The tools of a call, where they are others than before."""
        tools, context = resolved(sequence(event.get("tools")), self._attachments), self._contexts.lanes[lane]
        if tools == context.tools:
            return
        if context.tools_at is not None:
            self.draft.event(EventKind.RENEW, line, lane=lane, drops=[context.tools_at], trigger="tools")
            context.tools_at = None
        context.tools = tools
        if tools:
            parts = [Part(PartKind.TOOLS, dump(tool), line, name=text(mapping(tool).get("name"))) for tool in tools]
            context.tools_at = self.draft.add(Role.SYSTEM, parts, line, lane=lane)

    def _rest(self, lines: Sequence[int], start: int) -> None:
        """The messages at the end that no call was given; all of them where no call is recorded."""
        alone = not self.draft.calls
        held, ids = (
            set(self._contexts.lanes[MAIN].keys.values()),
            {message.id for message in self.draft.messages} - {""},
        )
        values = sequence(self._sample.get("messages"))
        known = [self._give(value, lines[at] if at < len(lines) else start) for at, value in enumerate(values)]
        last = max((at for at, one in enumerate(known) if one and (one.said.key in held or one.id in ids)), default=-1)
        for number, one in enumerate(known[last + 1 :], last + 1):
            if one is None:
                continue
            line = lines[number] if number < len(lines) else start
            at = self._contexts.add(MAIN, one, line, "")
            if alone and one.said.role is Role.ASSISTANT:
                self.draft.call(at, line, id=one.id, model=text(mapping(values[number]).get("model")) or self._model)
