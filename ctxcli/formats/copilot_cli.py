"""GitHub Copilot CLI: the events of a session, one a line, `~/.copilot/session-state/<id>/events.jsonl`.

Each event is `{type, data, id, parentId, timestamp}`; `parentId` is the event before, so order in the file decides. Of
a call only the output is recorded; the sums of a session stand in `session.shutdown`. Source of the shapes:
nodejs/src/generated/session-events.ts, https://github.com/github/copilot-sdk.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.agents import provider_of
from ctxcli.formats.blocks.copilot_context import CopilotContext, Handler, time_of
from ctxcli.formats.blocks.copilot_events import (
    BOOKS,
    answer_parts,
    attached,
    is_event,
    result_parts,
    totals_note,
    usage_of,
)
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.values import count, mapping, most, text
from ctxcli.formats.blocks.wrapped import own_words
from ctxcli.model import MAIN, EventKind, Lane, Part, PartKind, Record, Role, Transcript, Usage
from ctxcli.shelf import Format

_HUMAN = frozenset({"", "user"})
_NOTE = "Copilot CLI does not record what a call sent, only what came back."


class _Reader:
    """Reads one file of events into one draft."""

    def __init__(self) -> None:
        self.draft = Draft("copilot-cli", agent="copilot-cli")
        self._context = context = CopilotContext(self.draft)
        self._agents: dict[str, str] = {}
        """By a sub-agent's id: the call that started it."""
        self._calls: dict[tuple[str, str], int] = {}
        self._notices: list[tuple[str, Part, str]] = []
        """(lane, text, time) of notices that no prompt has held so far."""
        self._totals = ""
        self.handlers: dict[str, Handler] = {
            "session.start": self._start,
            "session.model_change": self._switch,
            "system.message": self._system,
            "system.notification": self._notice,
            "user.message": self._user,
            "assistant.message": self._answer,
            "assistant.usage": self._used,
            "tool.execution_complete": self._result,
            "subagent.started": self._subagent,
            "subagent.completed": self._subagent,
            "subagent.failed": self._subagent,
            "session.compaction_start": context.begin,
            "session.compaction_complete": context.compacted,
            "session.truncation": context.truncated,
            "session.snapshot_rewind": context.rewound,
            "session.context_cleared": context.cleared,
            "session.usage_info": self._window,
            "session.shutdown": self._shutdown,
        }

    def read(self, record: Record) -> None:
        """Take one event in."""
        self.draft.saw(record)
        value = record.value
        if not isinstance(value, dict):
            self.draft.not_a_record(record)
            return
        type_, name = text(value.get("type")), text(value.get("id"))
        if name and name in self._context.starts:
            self.draft.duplicates += 1
            return
        if name:
            self._context.starts[name] = len(self.draft.messages)
        handler, data = self.handlers.get(type_), mapping(value.get("data"))
        if handler is not None:
            handler(data, record, self._lane(value, data))
        elif type_ in BOOKS:
            self.draft.bookkeep(type_)
        else:
            self.draft.unknown(type_, record.line)

    def finish(self) -> Transcript:
        """The finished conversation."""
        self._flush()
        self.draft.provider = provider_of(
            next((call.model for call in self.draft.calls if call.model), self._context.model)
        )
        unknown = any(call.usage is None or call.usage.prompt is None for call in self.draft.calls)
        self.draft.notes += filter(None, [_NOTE if unknown else "", self._totals])
        return self.draft.finish()

    def _lane(self, value: Mapping[str, Any], data: Mapping[str, Any]) -> str:
        """The conversation itself, or the sub-agent that an event belongs to, by the call that started it."""
        agent, parent = text(value.get("agentId")), text(data.get("parentToolCallId"))
        if agent and parent:
            self._agents.setdefault(agent, parent)
        return parent or self._agents.get(agent, agent) or MAIN

    # -- what is said

    def _start(self, data: Mapping[str, Any], _: Record, __: str) -> None:
        self.draft.id = self.draft.id or text(data.get("sessionId")) or None
        self.draft.works_in(text(mapping(data.get("context")).get("cwd")))
        self._context.model = text(data.get("selectedModel")) or self._context.model
        self.draft.bookkeep("session.start")

    def _switch(self, data: Mapping[str, Any], _: Record, __: str) -> None:
        self._context.model = text(data.get("newModel")) or self._context.model
        self.draft.bookkeep("session.model_change")

    def _system(self, data: Mapping[str, Any], record: Record, lane: str) -> None:
        """The system prompt; a resumed session writes it again, and another one takes the place of the one before."""
        said, messages = text(data.get("content")), self.draft.messages
        known = [index for index in self.draft.live[lane] if messages[index].role is Role.SYSTEM]
        if any(messages[index].parts[0].text == said for index in known):
            self.draft.duplicates += 1
            return
        if known:
            self.draft.event(EventKind.RENEW, record.line, lane=lane, drops=known, trigger="client")
        self._context.add(Role.SYSTEM, [Part(PartKind.TEXT, said, record.line)], record, lane)

    def _notice(self, data: Mapping[str, Any], record: Record, lane: str) -> None:
        """A notice for the model; where the next prompt holds it, it is not said twice."""
        self._notices.append((lane, Part(PartKind.TEXT, text(data.get("content")), record.line), time_of(record)))

    def _flush(self, sent: str = "") -> None:
        for lane, part, time in self._notices:
            if part.text and part.text in sent:
                self.draft.duplicates += 1
            else:
                self.draft.add(Role.USER, [part], part.line, lane=lane, time=time, harness=True)
        self._notices = []

    def _user(self, data: Mapping[str, Any], record: Record, lane: str) -> None:
        """A prompt as it was sent: what the client wrote around the user's words is told apart."""
        typed = text(data.get("content"))
        sent = text(data.get("transformedContent")) or typed
        self._flush(sent)
        ours = data.get("isAutopilotContinuation") is True or text(data.get("source")) not in _HUMAN
        pieces = [(True, sent)] if ours else own_words(sent, typed)
        media = list(attached(data, record.line))
        for harness, said in pieces:
            parts = [Part(PartKind.TEXT, said, record.line), *([] if harness and not ours else media)]
            self._context.add(Role.USER, parts, record, lane, harness=harness)

    def _answer(self, data: Mapping[str, Any], record: Record, lane: str) -> None:
        """What the model said; a call that was written as several events is one message."""
        self._flush()
        parts = list(answer_parts(data, record.line))
        output = count(data.get("outputTokens"))
        key = (lane, text(data.get("apiCallId")) or text(data.get("messageId")) or f"line {record.line}")
        known = self._calls.get(key)
        if known is not None:
            call = self.draft.calls[known]
            self.draft.extend(call.at, parts, record.line)
            if output is not None:
                usage = call.usage or Usage()
                self.draft.calls[known] = replace(call, usage=replace(usage, output=most(usage.output, output)))
            return
        at = self._context.add(Role.ASSISTANT, parts, record, lane)
        usage_ = Usage(output=output) if output is not None else None
        model = text(data.get("model")) or ("" if lane != MAIN else self._context.model)
        self._calls[key] = self.draft.call(at, record.line, id=key[1], time=time_of(record), model=model, usage=usage_)

    def _used(self, data: Mapping[str, Any], _: Record, lane: str) -> None:
        """Figures of a call, which clients seldom write down: they are of the call of that id, or of the last one."""
        self.draft.bookkeep("assistant.usage")
        usage, last = usage_of(data), len(self.draft.calls) - 1
        at = self._calls.get((lane, text(data.get("apiCallId"))), last)
        if usage is not None and at >= 0 and self.draft.calls[at].lane == lane:
            call = self.draft.calls[at]
            if call.usage is None or call.usage.prompt is None:
                self.draft.calls[at] = replace(call, usage=usage, model=call.model or text(data.get("model")))

    def _result(self, data: Mapping[str, Any], record: Record, lane: str) -> None:
        self._context.add(Role.TOOL, result_parts(data, record.line), record, lane)

    def _subagent(self, data: Mapping[str, Any], record: Record, _: str) -> None:
        """A sub-agent that starts or ends: its lane goes by the call that started it."""
        call, agent = text(data.get("toolCallId")), text(mapping(record.value).get("agentId"))
        self.draft.bookkeep(text(mapping(record.value).get("type")))
        if not call:
            return
        if agent:
            self._agents.setdefault(agent, call)
        title = text(data.get("agentDisplayName")) or text(data.get("agentName"))
        known = self.draft.lanes.get(call, Lane(call))
        tokens = most(known.tokens, count(data.get("totalTokens")))
        self.draft.lanes[call] = Lane(call, known.title or title, call, known.file, tokens)

    def _window(self, data: Mapping[str, Any], _: Record, __: str) -> None:
        self.draft.window = count(data.get("tokenLimit")) or self.draft.window
        self.draft.bookkeep("session.usage_info")

    def _shutdown(self, data: Mapping[str, Any], _: Record, __: str) -> None:
        self._totals = totals_note(data.get("modelMetrics")) or self._totals
        self.draft.bookkeep("session.shutdown")


_TYPES = frozenset(_Reader().handlers)


def claims(records: Sequence[Record]) -> bool:
    """An event in its envelope, of a type that the client writes."""
    return any(is_event(record.value, _TYPES) for record in records)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The one conversation of a file of events."""
    reader = _Reader()
    for record in records:
        reader.read(record)
    yield reader.finish()


FORMAT = Format(
    name="copilot-cli",
    title="GitHub Copilot CLI session (events.jsonl)",
    recognised_by="events with type, data, id and timestamp, of types such as assistant.message",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "system prompt", "compaction", "sub-agents", "timestamps"}),
)
