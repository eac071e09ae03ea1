"""Events of the OpenHands agent SDK (V1), in one file or one file each beside `base_state.json`.

The context is what the events say, less those that a condensation forgot. The calls of one response share its id;
the action beside a call is a copy of its arguments, and so is the reasoning that a thought repeats. Usage stands in
reports of the state just before the answer it belongs to (older versions: after it). Source of the shape:
openhands-sdk/openhands/sdk/event of https://github.com/OpenHands/software-agent-sdk.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ctxcli.formats.blocks.agents import provider_of
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.openhands_parts import (
    REJECTED,
    action_parts,
    content_parts,
    outcome_parts,
    system_parts,
    thinking_parts,
)
from ctxcli.formats.blocks.openhands_usage import Sums, by_response
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Part, PartKind, Record, Role, Usage

KINDS = frozenset({"Condensation", "CondensationRequest", REJECTED})
"""Kinds of events whose names do not end in Event."""
_BOOKS = frozenset(
    {"PauseEvent", "InterruptEvent", "TokenEvent", "LLMCompletionLogEvent", "StreamingDeltaEvent", "HookExecutionEvent",
     "ConversationErrorEvent", "ServerErrorEvent", "ACPToolCallEvent", "CondensationRequest"}
)  # fmt: skip


@dataclass(slots=True)
class _Lane:
    """What is open in one lane."""

    answers: dict[str, int] = field(default_factory=dict)
    """Messages by the id of the response."""
    pending: list[Usage] = field(default_factory=list)
    """Usage that was reported before its answer."""
    uncovered: int | None = None
    """The call whose usage is still to be reported."""
    sums: Sums = field(default_factory=Sums)
    summary: int | None = None


class V1:
    """Reads the events of one conversation into one draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._lanes: defaultdict[str, _Lane] = defaultdict(_Lane)
        self._root: str | None = None
        self._model = ""
        self._trigger = ""
        self._listed: dict[str, Usage] = {}
        self._messages: defaultdict[str, list[int]] = defaultdict(list)
        """The messages that an event is part of, by its id."""
        self._events: defaultdict[int, set[str]] = defaultdict(set)
        self._unanswered = 0
        self._stated = False
        self._whole = Sums()
        """The sums at the end, where a state is stored beside the events."""

    def read(self, record: Record) -> None:
        """One event, or the state beside the events. The caller has counted the record."""
        value, line = record.value, record.line
        kind = text(value.get("kind"))
        if not kind and ("stats" in value or "agent" in value):
            self._state(value, own=not self._stated)
            self.draft.bookkeep("base_state")
            return
        lane, id_ = self._lane(record.file), text(value.get("id"))
        facts: dict[str, Any] = {"lane": lane, "id": id_, "time": text(value.get("timestamp"))}
        if kind == "SystemPromptEvent":
            self._note(id_, self.draft.add(Role.SYSTEM, system_parts(value, line), line, **facts))
        elif kind == "MessageEvent":
            self._message(value, line, facts)
        elif kind == "ActionEvent":
            self._answer(value, line, facts, list(action_parts(value, line)))
        elif kind in ("ObservationEvent", "AgentErrorEvent", REJECTED):
            self._flush(lane, line)
            self._note(id_, self.draft.add(Role.TOOL, outcome_parts(value, line), line, **facts))
        elif kind == "Condensation":
            self._condensed(value, line, facts)
        elif kind == "ConversationStateUpdateEvent":
            self._update(value, lane)
        elif kind in _BOOKS:
            self._trigger = (
                text(value.get("reason")) or self._trigger if kind == "CondensationRequest" else self._trigger
            )
            self.draft.bookkeep(kind)
        else:
            self.draft.unknown(kind, line)

    def _lane(self, file: str) -> str:
        """The lane that a file belongs to: events of a sub-agent stand in a folder of its own."""
        folder = file.rsplit("/", 1)[0].removesuffix("events").strip("/") if "/" in file else ""
        self._root = folder if self._root is None else self._root
        return MAIN if folder == self._root else folder.removeprefix(self._root).strip("/") or MAIN

    def _note(self, id_: str, index: int) -> None:
        self._messages[id_].append(index)
        self._events[index].add(id_)

    # -- what is said

    def _message(self, value: Mapping[str, Any], line: int, facts: Mapping[str, Any]) -> None:
        message = mapping(value.get("llm_message"))
        role = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM}.get(text(message.get("role")), Role.USER)
        parts = [*thinking_parts(message, line), *content_parts(message.get("content"), line)]
        if role is Role.ASSISTANT:
            self._answer(value, line, facts, parts)
        else:
            self._flush(facts["lane"], line)
            harness = role is Role.USER and value.get("source") != "user"
            self._note(facts["id"], self.draft.add(role, parts, line, harness=harness, **facts))
        if extra := list(content_parts(value.get("extended_content"), line)):
            self._note(facts["id"], self.draft.add(Role.USER, extra, line, harness=True, **facts))

    def _answer(self, value: Mapping[str, Any], line: int, facts: Mapping[str, Any], parts: list[Part]) -> None:
        """A response of the model: each of its calls is an event of its own."""
        lane, response = self._lanes[facts["lane"]], text(value.get("llm_response_id"))
        known = lane.answers.get(response) if response else None
        if known is not None:
            said = {(part.kind, part.text) for part in self.draft.messages[known].parts}
            new = [part for part in parts if part.kind is PartKind.TOOL_CALL or (part.kind, part.text) not in said]
            self.draft.extend(known, new, line)
            self._note(facts["id"], known)
            return
        usage = self._listed.get(response)
        if usage is None and lane.pending:
            usage = lane.pending.pop()
            self._flush(facts["lane"], line)
        at = lane.answers[response] = self.draft.add(Role.ASSISTANT, parts, line, **facts)
        self._note(facts["id"], at)
        call = self.draft.call(at, line, id=response, time=facts["time"], model=self._model, usage=usage)
        lane.uncovered = call if usage is None else None

    def _flush(self, lane: str, line: int) -> None:
        """Usage that was reported, though nothing of the answer is in the source: an answer that is empty."""
        for usage in self._lanes[lane].pending:
            at = self.draft.add(Role.ASSISTANT, (), line, lane=lane)
            self.draft.call(at, line, model=self._model, usage=usage)
            self._unanswered += 1
        self._lanes[lane].pending.clear()

    def _condensed(self, value: Mapping[str, Any], line: int, facts: Mapping[str, Any]) -> None:
        """Events that are forgotten, and the summary that stands for them; it takes the place of the one before."""
        lane, name = self._lanes[facts["lane"]], facts["lane"]
        self._flush(name, line)
        forgotten = {text(id_) for id_ in sequence(value.get("forgotten_event_ids"))}
        gone = {at for id_ in forgotten for at in self._messages.get(id_, ()) if self._events[at] <= forgotten}
        summary = text(value.get("summary"))
        if summary and lane.summary is not None:
            gone.add(lane.summary)
        drops = gone & set(self.draft.live[name])
        kind = EventKind.SUMMARY if summary else EventKind.TRIM
        event = self.draft.event(kind, line, lane=name, drops=drops, trigger=self._trigger or "condenser")
        self._trigger = ""
        self.draft.bookkeep("Condensation")
        if summary:
            lane.summary = self.draft.add(
                Role.USER, [Part(PartKind.SUMMARY, summary, line)], line, harness=True, **facts
            )
            self.draft.amend(event, summary=lane.summary)
            self._note(f"{facts['id']}-summary", lane.summary)

    # -- state and usage

    def _update(self, value: Mapping[str, Any], lane: str) -> None:
        key, state = text(value.get("key")), value.get("value")
        self.draft.bookkeep(f"state/{key}")
        if key == "full_state":
            self._state(mapping(state), own=lane == MAIN)
            state = mapping(state).get("stats")
        if key not in ("stats", "full_state"):
            return
        open_ = self._lanes[lane]
        usages = list(open_.sums.take(state))
        self._model = self._model or open_.sums.model
        self.draft.provider = self.draft.provider or provider_of(self._model)
        for usage in usages:
            if self._listed:
                continue
            if open_.uncovered is not None:
                self.draft.calls[open_.uncovered] = replace(self.draft.calls[open_.uncovered], usage=usage)
                open_.uncovered = None
            else:
                open_.pending.append(usage)
        self.draft.window = self.draft.window or open_.sums.window

    def _state(self, state: Mapping[str, Any], *, own: bool) -> None:
        """The model, the folder and the figures call by call, as far as the state holds them."""
        self._listed.update(by_response(state.get("stats")))
        if own:
            self._stated = True
            llm = mapping(mapping(state.get("agent")).get("llm"))
            self._model = text(llm.get("model")) or self._model
            self.draft.provider = self.draft.provider or provider_of(self._model)
            self.draft.id = self.draft.id or text(state.get("id")) or None
            self.draft.works_in(text(mapping(state.get("workspace")).get("working_dir")))
            self._whole = Sums()
            list(self._whole.take(state.get("stats")))

    def finish(self) -> None:
        """What is left open, the models beside the conversation's own, and what a reader has to know."""
        mixed = sum(lane.sums.mixed for lane in self._lanes.values())
        for name in list(self._lanes):
            self._flush(name, self.draft.messages[-1].line if self.draft.messages else 0)
        beside = {name: tokens for name, tokens in self._beside().items() if tokens}
        if self._unanswered:
            many = f"{self._unanswered} calls are" if self._unanswered > 1 else "One call is"
            self.draft.notes.append(f"{many} reported whose answer is not in the source.")
        if beside:
            listed = ", ".join(f"{name} {tokens:,}" for name, tokens in beside.items())
            self.draft.notes.append(f"Other models beside the conversation, in tokens sent and received: {listed}.")
        if mixed:
            self.draft.notes.append(
                "Usage was reported after several calls at once: their prompts cannot be told apart."
            )
        if self._whole.last and not any(call.usage for call in self.draft.calls):
            sent = f"{self._whole.last.prompt or 0:,} tokens sent"
            self.draft.notes.append(f"Usage is recorded for the conversation as a whole, not per call: {sent}.")

    def _beside(self) -> dict[str, int]:
        """Tokens in all of each model that does not answer in the conversation."""
        sums = [*(lane.sums for lane in self._lanes.values()), self._whole]
        return {name: max(one.beside.get(name, 0) for one in sums) for each in sums for name in each.beside}
