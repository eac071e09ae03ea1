"""SWE-agent trajectories (`.traj`): one object in which `history` is the conversation and `trajectory` repeats it.

Each step of `trajectory` embeds all that had been said (`messages`), or what was sent (`query`): of that only the old
outputs that a history processor cut out of the prompt are taken. The thought and the action beside a message are
copies of its text. Tokens are recorded for the whole run (`info.model_stats`), not per call. Source of the shape:
https://swe-agent.com/latest/usage/trajectories/ and sweagent/agent/agents.py of https://github.com/SWE-agent/SWE-agent.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.agents import odd_message, provider_of
from ctxcli.formats.blocks.anthropic import parts_of
from ctxcli.formats.blocks.documents import each_document
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.fenced import Fence, fences, with_call
from ctxcli.formats.blocks.openai import content_parts, message_pieces, plain, result_parts
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format

_CUT = re.compile(r"Old environment output: \(\d+ lines omitted\)")
"""What the processor of old observations leaves of one (sweagent/agent/history_processors.py)."""
_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_REST = ("info", "replay_config", "environment", "attempts")


class _Reader:
    """Reads one trajectory into one draft."""

    def __init__(self, record: Record) -> None:
        self.draft = Draft("swe-agent", agent="swe-agent")
        self._record = record
        self._value = mapping(record.value)
        self._model = text(_config(self._value, "agent", "model").get("name"))
        self.draft.provider = provider_of(self._model)
        self._agent: str | None = None
        self._pending = ""
        """The call in prose whose output is still to come."""
        self._views = self._shown()

    def read(self) -> Draft:
        self.draft.saw(self._record)
        self.draft.id = text(_config(self._value, "problem_statement").get("id")) or None
        for number, message in enumerate(sequence(self._value.get("history"))):
            self._message(message, line_of(self._record, ("history", number)))
        for step in sequence(self._value.get("trajectory")):
            self._step(step)
        for key in _REST:
            if key in self._value:
                self.draft.bookkeep(key)
        self._tell()
        return self.draft

    def _message(self, message: Any, line: int) -> None:
        role = _ROLES.get(text(mapping(message).get("role")))
        if role is None:
            odd_message(self.draft, message, line)
            return
        agent = text(message.get("agent"))
        self._agent = agent if self._agent is None else self._agent
        lane = MAIN if agent == self._agent else agent or MAIN
        shown = message.get("is_demo") is True or message.get("message_type") == "demonstration"
        if role is Role.ASSISTANT and not shown:
            self._answer(message, line, lane)
        elif role in (Role.USER, Role.TOOL) and not shown:
            self._said(message, role, line, lane)
        else:
            self.draft.add(role, content_parts(message.get("content"), line), line, lane=lane, harness=shown)

    def _answer(self, message: Mapping[str, Any], line: int, lane: str) -> None:
        if lane == MAIN:
            self._cut(line)
        self._pending = ""
        parts = list(self._answer_parts(message, line))
        at = self.draft.add(Role.ASSISTANT, parts, line, lane=lane)
        self.draft.call(at, line, model=self._model)

    def _answer_parts(self, message: Mapping[str, Any], line: int) -> Iterator[Part]:
        thinking = sequence(message.get("thinking_blocks"))
        yield from parts_of(thinking, line)
        content, action = message.get("content"), text(message.get("action")).strip()
        if action and isinstance(content, str) and not sequence(message.get("tool_calls")):
            fence = _fence(content, action)
            if fence is not None:
                self._pending = f"action-{len(self.draft.calls) + 1}"
                yield from with_call(content, fence, line, self._pending)
                return
        for _, parts in message_pieces({**message, "role": "assistant"}, line):
            yield from (part for part in parts if not (thinking and part.kind is PartKind.THINKING))

    def _said(self, message: Mapping[str, Any], role: Role, line: int, lane: str) -> None:
        """The task, the output of an action, or what the client says under the user's name."""
        content = message.get("content")
        refs = [text(ref) for ref in sequence(message.get("tool_call_ids"))]
        if role is Role.TOOL or refs:
            ref = refs[0] if refs else text(message.get("tool_call_id"))
            self.draft.add(Role.TOOL, result_parts(content, line, ref), line, lane=lane)
        elif self._pending and lane == MAIN:
            self.draft.add(Role.TOOL, result_parts(content, line, self._pending), line, lane=lane)
            self._pending = ""
        else:
            harness = any(call.lane == lane for call in self.draft.calls)
            self.draft.add(role, content_parts(content, line), line, lane=lane, harness=harness)

    # -- old outputs that were not sent again

    def _shown(self) -> dict[int, list[Any]]:
        """The prompt as it was sent, or would be sent next, by its length; none where nothing was cut out of any."""
        views: dict[int, list[Any]] = {}
        for step in sequence(self._value.get("trajectory")):
            view = mapping(step).get("query", mapping(step).get("messages"))
            if any(_CUT.search(plain(mapping(one).get("content"))) for one in sequence(view)):
                views[len(view)] = view
        return views

    def _cut(self, line: int) -> None:
        """The outputs that a placeholder stood for in the prompt of the call that comes now."""
        own = [at for at, message in enumerate(self.draft.messages) if message.lane == MAIN]
        done = {place for event in self.draft.events for place in event.clears}
        new = [
            (at, number)
            for at, shown in zip(own, self._views.get(len(own), ()), strict=False)
            if _CUT.search(plain(mapping(shown).get("content")))
            for number, part in enumerate(self.draft.messages[at].parts)
            if part.kind is PartKind.TOOL_RESULT and not _CUT.search(part.text) and (at, number) not in done
        ]
        if new:
            self.draft.event(EventKind.CLEAR, line, clears=new, trigger="history processor")

    # -- the rest

    def _step(self, step: Any) -> None:
        if not isinstance(step, dict):
            odd_message(self.draft, step, self._record.line)
            return
        state = step.get("state")
        if isinstance(state, str):
            try:
                state = json.loads(state)
            except (ValueError, RecursionError):
                state = None
        self.draft.works_in(text(mapping(state).get("working_dir")))
        self.draft.bookkeep("trajectory")

    def _tell(self) -> None:
        stats = mapping(mapping(self._value.get("info")).get("model_stats"))
        sent, received = count(stats.get("tokens_sent")), count(stats.get("tokens_received"))
        if sent:
            calls = count(stats.get("api_calls")) or len(self.draft.calls)
            self.draft.notes.append(
                f"Usage is recorded for the whole run, not per call: {sent:,} tokens sent "
                f"and {received or 0:,} received in {calls:,} calls."
            )
        processors = sequence(_config(self._value, "agent").get("history_processors"))
        if not self._views and any(mapping(one).get("type") == "last_n_observations" for one in processors):
            self.draft.notes.append(
                "Old outputs were cut out of the prompt before it was sent: which ones is not recorded."
            )


def _fence(content: str, action: str) -> Fence | None:
    """Where the action stands in the answer: its own block, the last one, or the answer as a whole."""
    found = fences(content)
    own = [one for one in found if one.command.strip() == action]
    if own or found:
        return (own or found)[-1]
    return Fence(0, len(content), "", action) if content.strip() == action else None


def _config(value: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """A section of the configuration of the run, which some versions write as JSON text."""
    config = value.get("replay_config")
    if isinstance(config, str):
        try:
            config = json.loads(config)
        except (ValueError, RecursionError):
            config = None
    for key in path:
        config = mapping(config).get(key)
    return mapping(config)


def _is_trajectory(record: Record) -> bool:
    one = mapping(record.value)
    return isinstance(one.get("trajectory"), list) and isinstance(one.get("history"), list)


def claims(records: Sequence[Record]) -> bool:
    """An object that holds a trajectory and the history of what was said."""
    return any(map(_is_trajectory, records))


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversation of each trajectory."""
    return each_document(records, _is_trajectory, lambda record: [_Reader(record).read()])


FORMAT = Format(
    name="swe-agent",
    title="SWE-agent trajectory (.traj)",
    recognised_by="an object with `trajectory` and `history`",
    claims=claims,
    read=read,
    knows=frozenset({"model", "system prompt", "compaction"}),
)
