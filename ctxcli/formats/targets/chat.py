"""To OpenAI Chat Completions: `messages`, and `tools` where there are any; a result is a message of its own.

Source of the shape: https://platform.openai.com/docs/api-reference/chat/create.
"""

from typing import Any

from ctxcli.formats.targets.turns import Lost, TurnCall, definition, definitions, turns
from ctxcli.shelf import Conversation, Target


def write(said: Conversation, lost: Lost) -> list[Any]:
    """One document."""
    tools = [{"type": "function", "function": definition(one, "parameters")} for one in definitions(said.messages)]
    sent: list[dict[str, Any]] = []
    for turn in turns(said.messages, lost):
        lost["thinking"] += len(turn.thinking)
        message: dict[str, Any] = {"role": turn.role.value, "content": _content(turn.texts)}
        if turn.calls:
            message["tool_calls"] = [_call(call) for call in turn.calls]
        sent.append(message)
        for call in turn.calls:
            if call.answer is not None:
                lost["failed"] += call.answer.part.failed
                sent.append({"role": "tool", "tool_call_id": call.id, "content": call.result(lost)})
    return [{**({"tools": tools} if tools else {}), "messages": sent}]


def _content(texts: list[str]) -> Any:
    if len(texts) < 2:
        return texts[0] if texts else None
    return [{"type": "text", "text": body} for body in texts]


def _call(call: TurnCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.part.text}}


TARGET = Target("openai-chat", "OpenAI Chat Completions: messages, tools", write, many=True)
