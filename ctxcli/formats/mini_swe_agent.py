"""mini-swe-agent trajectories (`.traj.json`): a bare array of messages (v1), or `{info, messages, trajectory_format}`.

An array of messages says little by itself: it is claimed where its first messages hold words that only this agent's
prompts have. The response of the API stands under `extra` with its usage; the commands that were taken out of the
answer, and the output as it came, are copies. Source of the shape: https://mini-swe-agent.com/latest/usage/output_files/
and src/minisweagent/agents/default.py of https://github.com/SWE-agent/mini-swe-agent.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ctxcli.formats.blocks.agents import odd_message, provider_of
from ctxcli.formats.blocks.documents import each_document
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.fenced import fences, with_call
from ctxcli.formats.blocks.openai import content_parts, item_call, message_pieces, plain, result_parts, usage_of
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format

_MARKS = ("mswea_bash_command", "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
"""Words of this agent's prompts, by which it knows an action and the end of the work."""
_ACTIONS = frozenset({"bash", "mswea_bash_command"})
_FAILED = re.compile(r"\s*<returncode>-?0*[1-9]")
_CLIENT = frozenset({"FormatError", "LimitsExceeded", "TimeExceeded", "ExecutionTimeoutError"})
_ROLES = {"system": Role.SYSTEM, "developer": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}


class _Reader:
    """Reads one trajectory into one draft."""

    def __init__(self, record: Record) -> None:
        value = record.value
        self._record = record
        self._inside: tuple[str, ...] = ("messages",) if isinstance(value, dict) else ()
        self._value = mapping(value)
        self._info = mapping(self._value.get("info"))
        config = mapping(self._info.get("config"))
        self._model = text(mapping(config.get("model")).get("model_name"))
        self.draft = Draft("mini-swe-agent", provider_of(self._model), "mini-swe-agent")
        self.draft.works_in(text(mapping(config.get("environment")).get("cwd")))
        self._pending = ""
        """The call in prose whose output is still to come."""

    def read(self) -> Draft:
        self.draft.saw(self._record)
        self.draft.id = text(self._value.get("instance_id")) or None
        messages = self._value.get("messages") if self._inside else self._record.value
        for place, message in enumerate(sequence(messages)):
            self._message(message, line_of(self._record, (*self._inside, place)))
        if self._info:
            self.draft.bookkeep("info")
        if self.draft.calls and all(call.usage is None for call in self.draft.calls):
            self.draft.notes.append("This trajectory reports no usage: its calls are told by the answers alone.")
        return self.draft

    def _message(self, message: Any, line: int) -> None:
        one = mapping(message)
        kind, extra = text(one.get("role")) or text(one.get("type")), mapping(one.get("extra"))
        time = _time(extra.get("timestamp"))
        if kind == "exit":
            self.draft.bookkeep("exit")
        elif kind == "assistant" or one.get("object") == "response":
            self._answer(one, extra, line, time)
        elif kind in ("tool", "function_call_output"):
            body = one.get("output") if kind == "function_call_output" else one.get("content")
            ref = text(one.get("tool_call_id")) or text(one.get("call_id"))
            self._result(body, ref, extra, line, time)
        elif kind == "user" and self._pending and extra.get("interrupt_type") is None:
            ref, self._pending = self._pending, ""
            self._result(one.get("content"), ref, extra, line, time)
        elif kind in _ROLES:
            harness = kind == "user" and (
                text(extra.get("interrupt_type")) in _CLIENT or bool(self.draft.calls and not extra)
            )
            self.draft.add(_ROLES[kind], content_parts(one.get("content"), line), line, time=time, harness=harness)
        else:
            odd_message(self.draft, message, line)

    def _answer(self, message: Mapping[str, Any], extra: Mapping[str, Any], line: int, time: str) -> None:
        self._pending = ""
        response = message if message.get("object") == "response" else mapping(extra.get("response"))
        at = self.draft.add(Role.ASSISTANT, self._answer_parts(message, line), line, time=time)
        model = text(response.get("model")) or self._model
        self.draft.provider = self.draft.provider or provider_of(model)
        usage = usage_of(response.get("usage"))
        self.draft.call(at, line, id=text(response.get("id")), time=time, model=model, usage=usage)

    def _answer_parts(self, message: Mapping[str, Any], line: int) -> Iterator[Part]:
        if message.get("object") == "response":
            for item in sequence(message.get("output")):
                yield from self._item(mapping(item), line)
            return
        content = message.get("content")
        if isinstance(content, str) and not sequence(message.get("tool_calls")):
            actions = [one for one in fences(content) if one.language in _ACTIONS]
            if len(actions) == 1:
                self._pending = f"action-{len(self.draft.calls) + 1}"
                yield from (part for _, parts in message_pieces({**message, "content": None}, line) for part in parts)
                yield from with_call(content, actions[0], line, self._pending)
                return
        for _, parts in message_pieces(message, line):
            yield from parts

    def _item(self, item: Mapping[str, Any], line: int) -> Iterator[Part]:
        """One item of the output of the Responses API."""
        kind = text(item.get("type"))
        if kind == "message":
            yield from content_parts(item.get("content"), line)
        elif kind == "reasoning":
            summary = plain(sequence(item.get("summary")))
            yield (
                Part(PartKind.THINKING, summary, line) if summary else Part(PartKind.OPAQUE, "", line, name="reasoning")
            )
        elif kind.endswith("_call"):
            yield item_call(item, line)
        else:
            self.draft.unknown(f"output/{kind}", line)

    def _result(self, content: Any, ref: str, extra: Mapping[str, Any], line: int, time: str) -> None:
        """The output of an action; the code that the command returned says whether it failed."""
        code = extra.get("returncode")
        for part in (parts := list(result_parts(content, line, ref))):
            if part.kind is PartKind.TOOL_RESULT and (_FAILED.match(part.text) or code not in (0, None, "")):
                parts[parts.index(part)] = Part(part.kind, part.text, line, name=part.name, ref=ref, failed=True)
        self.draft.add(Role.TOOL, parts, line, time=time)


def _time(seconds: Any) -> str:
    """The moment so many seconds after 1970, in ISO 8601; empty where there is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < 1e11:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_trajectory(record: Record) -> bool:
    value = record.value
    if isinstance(value, list):
        return all(isinstance(one, dict) and isinstance(one.get("role"), str) for one in value[:3]) and _is_marked(
            value
        )
    one = mapping(value)
    if not isinstance(one.get("messages"), list):
        return False
    return text(one.get("trajectory_format")).startswith("mini-swe-agent") or "mini_version" in mapping(one.get("info"))


def _is_marked(messages: Sequence[Any]) -> bool:
    """Whether the prompts that a conversation begins with hold the words of this agent."""
    heads = [plain(message.get("content")) for message in messages[:3] if message.get("role") in ("system", "user")]
    return any(mark in head for head in heads for mark in _MARKS)


def claims(records: Sequence[Record]) -> bool:
    """The format's own name, the version beside the messages, or the words of its prompts in an array of messages."""
    return any(map(_is_trajectory, records))


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversation of each trajectory."""
    return each_document(records, _is_trajectory, lambda record: [_Reader(record).read()])


FORMAT = Format(
    name="mini-swe-agent",
    title="mini-swe-agent trajectory (.traj.json)",
    recognised_by="`trajectory_format: mini-swe-agent…`, or an array of messages with its prompts' own words",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "system prompt", "timestamps"}),
)
