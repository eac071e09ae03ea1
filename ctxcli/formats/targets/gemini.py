"""To a session of Gemini CLI: one document of messages, results inside the answer that called for them.

Source of the shape: https://github.com/google-gemini/gemini-cli packages/core/src/services/chatRecordingTypes.ts.
"""

from typing import Any

from ctxcli.formats.targets.clock import time_of
from ctxcli.formats.targets.turns import Lost, Turn, TurnCall, definitions, head_of, turns
from ctxcli.model import Role
from ctxcli.shelf import Conversation, Target


def write(said: Conversation, lost: Lost) -> list[Any]:
    """One document."""
    system, spoken = head_of(list(turns(said.messages, lost)))
    lost["system"] += len(system)
    lost["tools"] += sum(1 for _ in definitions(said.messages))
    messages = [_record(turn, number, said, lost) for number, turn in enumerate(spoken, 1)]
    first, last = (time_of(spoken[at].message if spoken else None) for at in (0, -1))
    named = {"sessionId": said.id or "ctx", "projectHash": ""}
    return [{**named, "startTime": first, "lastUpdated": last, "messages": messages}]


def _record(turn: Turn, number: int, said: Conversation, lost: Lost) -> dict[str, Any]:
    lost["thinking"] += len(turn.thinking)
    time = time_of(turn.message)
    record: dict[str, Any] = {"id": f"{number:08x}", "timestamp": time}
    if turn.role is not Role.ASSISTANT:
        lost["moved"] += turn.role is Role.SYSTEM
        return {**record, "type": "user", "content": turn.text}
    record |= {"type": "gemini", "content": turn.text, "model": said.model or "unknown"}
    if turn.calls:
        record["toolCalls"] = [_call(call, time, lost) for call in turn.calls]
    return record


def _call(call: TurnCall, time: str, lost: Lost) -> dict[str, Any]:
    found: dict[str, Any] = {"id": call.id, "name": call.name, "args": call.arguments}
    if call.answer is None:
        return {**found, "status": "executing", "timestamp": time}
    response = {"id": call.id, "name": call.name, "response": {"output": call.result(lost)}}
    status = "error" if call.answer.part.failed else "success"
    return {**found, "result": [{"functionResponse": response}], "status": status, "timestamp": time}


TARGET = Target("gemini", "Gemini CLI session (JSON)", write)
