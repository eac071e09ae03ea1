"""To the Anthropic Messages API: `messages`, with `system` and `tools` where there are any.

User and assistant take turns, the user begins, and results stand first in the turn after their calls. Source of the
shape: https://platform.claude.com/docs/en/api/messages.
"""

from typing import Any

from ctxcli.formats.targets.turns import CONTINUED, Lost, TurnCall, definition, definitions, head_of, turns
from ctxcli.model import Role
from ctxcli.shelf import Conversation, Target


def write(said: Conversation, lost: Lost) -> list[Any]:
    """One document."""
    tools = [definition(one, "input_schema") for one in definitions(said.messages)]
    system, spoken = head_of(list(turns(said.messages, lost)))
    sent: list[dict[str, Any]] = []
    for turn in spoken:
        lost["moved"] += turn.role is Role.SYSTEM
        lost["thinking"] += len(turn.thinking)
        answering = turn.role is Role.ASSISTANT
        if not sent and answering:
            _say(sent, "user", [_text(CONTINUED)])
            lost["continued"] += 1
        _say(sent, "assistant" if answering else "user", [*map(_text, turn.texts), *map(use_block, turn.calls)])
        _say(sent, "user", [result_block(call, lost) for call in turn.calls if call.answer])
    document = {"system": "\n\n".join(system)} if system else {}
    return [{**document, **({"tools": tools} if tools else {}), "messages": sent}]


def _say(sent: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """Add blocks to the turn of a side, a new one where the other side spoke last."""
    if blocks and sent and sent[-1]["role"] == role:
        sent[-1]["content"] += blocks
    elif blocks:
        sent.append({"role": role, "content": blocks})


def _text(body: str) -> dict[str, Any]:
    return {"type": "text", "text": body}


def use_block(call: TurnCall) -> dict[str, Any]:
    """A tool_use block."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}


def result_block(call: TurnCall, lost: Lost) -> dict[str, Any]:
    """A tool_result block."""
    block = {"type": "tool_result", "tool_use_id": call.id, "content": call.result(lost)}
    return {**block, "is_error": True} if call.answer is not None and call.answer.part.failed else block


TARGET = Target("anthropic", "Anthropic Messages: system, tools, messages", write, many=True)
