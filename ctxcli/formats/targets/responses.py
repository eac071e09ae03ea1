"""To the OpenAI Responses API: `input` items, with `instructions` and `tools` where there are any.

Source of the shape: https://platform.openai.com/docs/api-reference/responses/create.
"""

from collections.abc import Iterator
from typing import Any

from ctxcli.formats.targets.turns import Lost, Turn, definition, definitions, head_of, turns
from ctxcli.model import Role
from ctxcli.shelf import Conversation, Target


def write(said: Conversation, lost: Lost) -> list[Any]:
    """One document."""
    tools = [{"type": "function", **definition(one, "parameters")} for one in definitions(said.messages)]
    system, spoken = head_of(list(turns(said.messages, lost)))
    document: dict[str, Any] = {"model": said.model} if said.model else {}
    if system:
        document["instructions"] = "\n\n".join(system)
    if tools:
        document["tools"] = tools
    return [{**document, "input": [item for turn in spoken for item in _items(turn, lost)]}]


def _items(turn: Turn, lost: Lost) -> Iterator[dict[str, Any]]:
    lost["thinking"] += len(turn.thinking)
    kind = "output_text" if turn.role is Role.ASSISTANT else "input_text"
    if turn.texts:
        content = [{"type": kind, "text": body} for body in turn.texts]
        yield {"type": "message", "role": turn.role.value, "content": content}
    for call in turn.calls:
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.part.text or "{}"}
    for call in turn.calls:
        if call.answer is not None:
            lost["failed"] += call.answer.part.failed
            yield {"type": "function_call_output", "call_id": call.id, "output": call.result(lost)}


TARGET = Target("openai-responses", "OpenAI Responses: instructions, tools, input items", write, many=True)
