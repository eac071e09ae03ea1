"""To ShareGPT: `conversations` of {from, value}, with `system` and `tools` where there are any.

A call is a function_call turn with a JSON text, its result the observation behind it. Source of the shape:
https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md.
"""

from collections.abc import Iterator
from typing import Any

from ctxcli.formats.blocks.values import dump
from ctxcli.formats.targets.turns import Lost, Turn, definition, definitions, head_of, turns
from ctxcli.model import Role
from ctxcli.shelf import Conversation, Target

_NAMES = {Role.USER: "human", Role.ASSISTANT: "gpt", Role.SYSTEM: "system"}


def write(said: Conversation, lost: Lost) -> list[Any]:
    """One document: an array of one conversation."""
    tools = [definition(one, "parameters") for one in definitions(said.messages)]
    system, spoken = head_of(list(turns(said.messages, lost)))
    document: dict[str, Any] = {"id": said.id} if said.id else {}
    document["conversations"] = [one for turn in spoken for one in _said(turn, lost)]
    if system:
        document["system"] = "\n\n".join(system)
    if tools:
        document["tools"] = dump(tools)
    return [document]


def _said(turn: Turn, lost: Lost) -> Iterator[dict[str, str]]:
    lost["thinking"] += len(turn.thinking)
    lost["ids"] += len(turn.calls)
    if turn.texts:
        yield {"from": _NAMES[turn.role], "value": turn.text}
    for call in turn.calls:
        yield {"from": "function_call", "value": dump({"name": call.name, "arguments": call.arguments})}
        if call.answer is not None:
            lost["failed"] += call.answer.part.failed
            yield {"from": "observation", "value": call.result(lost)}


TARGET = Target("sharegpt", "ShareGPT: conversations of from and value", write, many=True)
