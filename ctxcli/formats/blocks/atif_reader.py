"""A trajectory of ATIF, its continuations and its sub-agents, read into one draft; see formats/atif.py."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.agents import odd_message, provider_of
from ctxcli.formats.blocks.atif_steps import (
    answer_parts,
    base,
    boundary_of,
    content_of,
    references,
    result_parts_of,
    usage_of,
)
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.values import count, dump, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Lane, Part, PartKind, Record, Role

Said = tuple[Role, tuple[str, ...]]


class Trajectory:
    """Reads a trajectory, its continuations and its sub-agents into one draft."""

    def __init__(self, record: Record) -> None:
        agent = mapping(record.value.get("agent"))
        self.draft = Draft("atif", provider_of(text(agent.get("model_name"))), text(agent.get("name")))
        self.draft.id = text(record.value.get("session_id")) or text(record.value.get("trajectory_id")) or None
        self.file = record.file
        self._next = ""
        """The file that goes on where this one ends."""
        self._index = _continuation(record.value)
        self._names: dict[str, str] = {}
        """From each name of a sub-agent's trajectory to its lane."""
        self._seen: dict[str, set[Said]] = {}
        self._tools: dict[str, list[Any]] = {}
        self._waiting: dict[str, int] = {}
        """By lane, the compaction whose summary is still to come."""
        self.take(record, MAIN)

    def lane_of(self, record: Record) -> str | None:
        """The lane that another document of the same source belongs to; None where it is a conversation of its own."""
        value, file = record.value, base(record.file)
        for name in (text(value.get("trajectory_id")), text(value.get("session_id"))):
            if name in self._names and name != self.draft.id:
                return self._names[name]
        if lane := next((lane for name, lane in self._names.items() if name and file.endswith(name)), None):
            return lane
        named = bool(self._next) and file.endswith(base(self._next))
        same = value.get("session_id") == self.draft.id and _continuation(value) == self._index + 1
        return MAIN if file and (named or (same and _is_copy(value))) else None

    def join(self, record: Record, lane: str) -> None:
        """Add a continuation of the main trajectory, or the trajectory of a sub-agent."""
        if lane == MAIN:
            self._index = _continuation(record.value)
        elif record.file:
            self.draft.lanes[lane] = replace(self.draft.lanes[lane], file=record.file)
        self.take(record, lane)

    def take(self, record: Record, lane: str) -> None:
        """All steps of a document."""
        self.draft.saw(record)
        if lane == MAIN:
            self._next = text(record.value.get("continued_trajectory_ref"))
        self._document(record.value, record, (), lane)

    def _document(self, value: Mapping[str, Any], record: Record, at: tuple[str | int, ...], lane: str) -> None:
        steps = sequence(value.get("steps"))
        self._define(value, line_of(record, at), lane)
        boundaries = [number for number, step in enumerate(steps) if boundary_of(mapping(step))]
        reader = _Steps(self, value, lane, any(usage_of(mapping(step)) for step in steps))
        for number, step in enumerate(steps):
            line = line_of(record, (*at, "steps", number))
            known = isinstance(step, dict) and step.get("source") in ("system", "user", "agent")
            if not known:
                odd_message(
                    self.draft, {"role": text(mapping(step).get("source"))} if isinstance(step, dict) else step, line
                )
                continue
            self._refer(step)
            copy = step.get("is_copied_context") is True and not any(number < other for other in boundaries)
            reader.take(step, line, copy=copy)
        reader.tell()
        for number, inner in enumerate(sequence(value.get("subagent_trajectories"))):
            if is_steps(inner):
                name = text(inner.get("trajectory_id")) or text(inner.get("session_id")) or f"{lane}.{number + 1}"
                self.draft.lanes.setdefault(name, Lane(name, text(mapping(inner.get("agent")).get("name"))))
                self._document(inner, record, (*at, "subagent_trajectories", number), name)
            else:
                odd_message(self.draft, inner, line_of(record, (*at, "subagent_trajectories", number)))

    def _define(self, value: Mapping[str, Any], line: int, lane: str) -> None:
        """The tools, once: a continuation repeats them."""
        tools = sequence(mapping(value.get("agent")).get("tool_definitions"))
        if tools and self._tools.get(lane) != tools:
            self._tools[lane] = tools
            names = [mapping(mapping(tool).get("function")) or mapping(tool) for tool in tools]
            parts = [
                Part(PartKind.TOOLS, dump(tool), line, name=text(named.get("name")))
                for tool, named in zip(tools, names, strict=True)
            ]
            self.draft.add(Role.SYSTEM, parts, line, lane=lane)

    def _refer(self, step: Mapping[str, Any]) -> None:
        for call, ref in references(step):
            path = text(ref.get("trajectory_path"))
            names = [name for name in (text(ref.get("trajectory_id")), text(ref.get("session_id")), base(path)) if name]
            if not names:
                continue
            if names[0] not in self.draft.lanes:
                title = text(mapping(ref.get("extra")).get("summary"))
                self.draft.lanes[names[0]] = Lane(names[0], title, call)
            elif call:
                self.draft.lanes[names[0]] = replace(self.draft.lanes[names[0]], spawned_by=call)
            self._names.update(dict.fromkeys(names, names[0]))

    def say(self, role: Role, parts: Sequence[Part], line: int, lane: str, **facts: Any) -> int | None:
        """Add what was said; a copy of what is still in the context is none, and one of what was dropped says so."""
        key = (role, tuple(part.text for part in parts))
        seen, copy = self._seen.setdefault(lane, set()), facts.pop("copy")
        known = copy and key in seen
        if known and any(self._key(index) == key for index in self.draft.live[lane]):
            self.draft.duplicates += 1
            return None
        seen.add(key)
        if role is Role.USER and not known and lane in self._waiting and parts:
            self.draft.amend(self._waiting.pop(lane), summary=len(self.draft.messages))
            parts = [replace(part, kind=PartKind.SUMMARY) if part.kind is PartKind.TEXT else part for part in parts]
            facts["harness"] = True
        return self.draft.add(role, parts, line, lane=lane, copied=known, **facts)

    def _key(self, index: int) -> Said:
        message = self.draft.messages[index]
        return message.role, tuple(part.text for part in message.parts)

    def compacted(self, line: int, lane: str, trigger: str, parts: Sequence[Part], *, here: bool = True) -> None:
        """Everything but the system prompt leaves the context; the summary is here, or the next thing that is said."""
        live = self.draft.live[lane]
        drops = [index for index in live if self.draft.messages[index].role is not Role.SYSTEM] if here else []
        event = self.draft.event(EventKind.SUMMARY, line, lane=lane, drops=drops, trigger=trigger)
        if parts:
            self.draft.amend(event, summary=len(self.draft.messages))
            told = [replace(part, kind=PartKind.SUMMARY) if part.media is None else part for part in parts]
            self.draft.add(Role.USER, told, line, lane=lane, harness=True)
        else:
            self._waiting[lane] = event


class _Steps:
    """Reads the steps of one document into its lane."""

    def __init__(self, whole: Trajectory, value: Mapping[str, Any], lane: str, measured: bool) -> None:
        self._whole, self._draft, self._lane, self._measured = whole, whole.draft, lane, measured
        self._model = text(mapping(value.get("agent")).get("model_name"))
        self._totals = mapping(value.get("final_metrics"))
        self._alone = not self._draft.messages and _is_copy(value)
        """A continuation whose beginning is not in the source."""
        self._given = self._calls = self._summed = self._remarks = 0

    def take(self, step: Mapping[str, Any], line: int, *, copy: bool) -> None:
        """One step, and what came back in it."""
        facts = {"id": text(step.get("step_id")), "time": text(step.get("timestamp")), "copy": copy}
        source, boundary = step.get("source"), boundary_of(step)
        if boundary is not None:
            self._bound(step, line, boundary.kind, boundary.trigger)
            return
        if source == "agent":
            self._answer(step, line, facts)
        elif source == "user":
            if copy and self._alone:
                self._given += 1
                if self._given == 2:
                    self._whole.compacted(line, self._lane, "continuation", (), here=False)
            self._whole.say(Role.USER, [*content_of(step.get("message"), line, self._draft)], line, self._lane, **facts)
        else:
            late = any(self._draft.messages[index].role is not Role.SYSTEM for index in self._draft.live[self._lane])
            self._remarks += late
            parts = [*content_of(step.get("message"), line, self._draft)]
            self._whole.say(Role.SYSTEM, parts, line, self._lane, harness=late, **facts)
        results = result_parts_of(step, line, self._draft)
        if results:
            named = any(part.kind is PartKind.TOOL_RESULT for part in results)
            facts["id"] = ""
            self._whole.say(Role.TOOL if named else Role.USER, results, line, self._lane, harness=not named, **facts)

    def _answer(self, step: Mapping[str, Any], line: int, facts: Mapping[str, Any]) -> None:
        at = self._whole.say(Role.ASSISTANT, [*answer_parts(step, line, self._draft)], line, self._lane, **facts)
        usage, calls = usage_of(step), count(step.get("llm_call_count"))
        if at is None or facts["copy"] or calls == 0 or (usage is None and self._measured):
            return
        self._calls += 1
        self._summed += (calls or 1) > 1
        model = text(step.get("model_name")) or self._model
        self._draft.provider = self._draft.provider or provider_of(model)
        self._draft.call(at, line, id=text(step.get("step_id")), time=facts["time"], model=model, usage=usage)

    def _bound(self, step: Mapping[str, Any], line: int, kind: str, trigger: str) -> None:
        """A step of the client that changes the context; its own message is a remark on that."""
        self._draft.bookkeep("context management")
        parts = [replace(part, kind=PartKind.TEXT, ref="") for part in result_parts_of(step, line, self._draft)]
        if kind == "replace":
            self._whole.compacted(line, self._lane, trigger, parts)
            return
        if kind == "truncate":
            self._draft.event(EventKind.TRIM, line, lane=self._lane, trigger=trigger)
        if parts:
            self._whole.say(Role.USER, parts, line, self._lane, harness=True, copy=False)

    def tell(self) -> None:
        """What a reader has to know about the figures of the document."""
        notes = self._draft.notes
        if self._calls and not self._measured:
            sent = count(self._totals.get("total_prompt_tokens"))
            whole = f" The trajectory as a whole: {sent:,} tokens sent." if sent else ""
            notes.append(f"Usage is not recorded step by step: calls are told by the agent's steps.{whole}")
        if self._summed:
            notes.append("A step that sums several calls tells no context size: its prompt tokens are left out.")
        if self._remarks:
            notes.append(
                "System steps after the first turn stand in the context here; some clients only log with them."
            )


def _continuation(value: Mapping[str, Any]) -> int:
    return count(mapping(mapping(value.get("agent")).get("extra")).get("continuation_index")) or 0


def _is_copy(value: Mapping[str, Any]) -> bool:
    """Whether a document begins with what an earlier one said."""
    steps = sequence(value.get("steps"))
    bound = any(boundary_of(mapping(step)) for step in steps)
    return bool(steps) and mapping(steps[0]).get("is_copied_context") is True and not bound


def is_steps(value: Any) -> bool:
    """Whether a value is an object with steps."""
    return isinstance(value, dict) and isinstance(value.get("steps"), list)
