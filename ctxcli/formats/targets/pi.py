"""To a session of the pi coding agent, version 3: a header, then an entry a line, each the parent of the next.

Source of the shape: https://github.com/earendil-works/pi packages/coding-agent/docs/session-format.md.
"""

from collections.abc import Iterator
from typing import Any

from ctxcli.formats.targets.clock import epoch_ms, time_of
from ctxcli.formats.targets.turns import Lost, Turn, definition, definitions, turns
from ctxcli.model import Role
from ctxcli.shelf import Conversation, Target

_UNUSED = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}
"""An answer has to have figures; none were measured of it here, and of 0 none are read."""


def write(said: Conversation, lost: Lost) -> list[Any]:
    """The header and the entries."""
    spoken = list(turns(said.messages, lost))
    entries: list[dict[str, Any]] = []
    tools = [definition(one, "parameters") for one in definitions(said.messages)]
    for time, entry in _entries(said, spoken, tools, lost):
        parent = entries[-1]["id"] if entries else None
        named = {"id": f"{len(entries) + 1:08x}", "parentId": parent, "timestamp": time}
        entries.append({"type": entry.pop("type"), **named, **entry})
    start = time_of(spoken[0].message) if spoken else time_of(None)
    return [{"type": "session", "version": 3, "id": said.id or "ctx", "timestamp": start, "cwd": said.folder}, *entries]


def _entries(
    said: Conversation, spoken: list[Turn], tools: list[dict[str, Any]], lost: Lost
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each entry with its time."""
    if tools:
        time = time_of(spoken[0].message if spoken else None)
        yield time, _message({"role": "system", "content": "", "toolsAdded": tools}, time)
    for turn in spoken:
        time = time_of(turn.message)
        yield time, _said(turn, time, said.model)
        for call in turn.calls:
            if call.answer is not None:
                body = [{"type": "text", "text": call.result(lost)}]
                named = {"role": "toolResult", "toolCallId": call.id, "toolName": call.name}
                yield time, _message({**named, "content": body, "isError": call.answer.part.failed}, time)


def _said(turn: Turn, time: str, model: str) -> dict[str, Any]:
    texts = [{"type": "text", "text": body} for body in turn.texts]
    if turn.role is Role.SYSTEM:
        return _message({"role": "system", "content": texts}, time)
    if turn.role is Role.ASSISTANT:
        thoughts = [{"type": "thinking", "thinking": body} for body in turn.thinking]
        calls = [
            {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments} for call in turn.calls
        ]
        stop = "toolUse" if calls else "stop"
        named = {"api": "", "provider": "", "model": model, "usage": _UNUSED, "stopReason": stop}
        return _message({"role": "assistant", "content": [*thoughts, *texts, *calls], **named}, time)
    if turn.sums_up:
        return _message({"role": "compactionSummary", "summary": turn.text, "tokensBefore": 0}, time)
    if turn.message.harness:
        return {"type": "custom_message", "customType": "ctx", "content": texts, "display": False}
    return _message({"role": "user", "content": texts}, time)


def _message(message: dict[str, Any], time: str) -> dict[str, Any]:
    return {"type": "message", "message": {**message, "timestamp": epoch_ms(time)}}


TARGET = Target("pi", "pi session, version 3 (JSONL)", write, lines=True)
