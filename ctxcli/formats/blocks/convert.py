"""A conversation in the shape that a chat API takes, whatever it was read from, and what that shape cannot hold."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ctxcli.errors import UnreadableError
from ctxcli.formats.blocks.pairs import Answer, Pairs, pair
from ctxcli.formats.blocks.splice import escaped
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.model import MAIN, Message, Part, PartKind, Role

CHAT, ANTHROPIC = TARGETS = ("openai-chat", "anthropic")
"""What can be converted to."""
_CONTINUED = "(continued)"
_SAID = (PartKind.TEXT, PartKind.SUMMARY, PartKind.DOCUMENT)


class _Call(NamedTuple):
    """A call that a provider takes: its id, and what came back."""

    id: str
    part: Part
    answer: Answer | None


class _Turn(NamedTuple):
    """What one side says in one go."""

    role: Role
    texts: list[str]
    calls: list[_Call]


def convert(messages: Sequence[Message], target: str, *, one_line: bool = False) -> tuple[bytes, list[str]]:
    """The messages as a JSON document that ends with a line feed, and a sentence for each thing that it leaves out.

    Raises UnreadableError for a target that is none of TARGETS. The same messages give the same bytes.
    """
    if target not in TARGETS:
        raise UnreadableError(f"{target}: conversations are converted to {' or '.join(TARGETS)}")
    document, remarks = (to_chat if target == CHAT else to_anthropic)(messages)
    separators = (",", ":") if one_line else None
    dumped = json.dumps(document, ensure_ascii=False, indent=None if one_line else 2, separators=separators)
    return escaped(dumped + "\n").encode("utf-8"), remarks


def to_chat(messages: Sequence[Message]) -> tuple[dict[str, Any], list[str]]:
    """`messages`, and `tools` where there are any, for Chat Completions: a result is a message of its own."""
    lost: Counter[str] = Counter()
    tools = [{"type": "function", "function": _definition(one, "parameters")} for one in _definitions(messages)]
    sent: list[dict[str, Any]] = []
    for turn in _turns(messages, lost):
        said: dict[str, Any] = {"role": turn.role.value, "content": _chat_content(turn.texts)}
        if turn.calls:
            said["tool_calls"] = [_chat_call(call) for call in turn.calls]
        sent.append(said)
        for call in turn.calls:
            if call.answer is not None:
                lost["failed"] += call.answer.part.failed
                body = "\n".join(_answer_texts(call.answer, lost))
                sent.append({"role": "tool", "tool_call_id": call.id, "content": body})
    return {**({"tools": tools} if tools else {}), "messages": sent}, _remarks(lost)


def _chat_content(texts: list[str]) -> Any:
    if len(texts) < 2:
        return texts[0] if texts else None
    return [{"type": "text", "text": body} for body in texts]


def _chat_call(call: _Call) -> dict[str, Any]:
    function = {"name": call.part.name or "tool", "arguments": call.part.text}
    return {"id": call.id, "type": "function", "function": function}


def to_anthropic(messages: Sequence[Message]) -> tuple[dict[str, Any], list[str]]:
    """`messages`, with `system` and `tools` where there are any, for the Messages API.

    User and assistant take turns, the user begins, and results stand first in the turn after their calls.
    """
    lost: Counter[str] = Counter()
    tools = [_definition(one, "input_schema") for one in _definitions(messages)]
    turns = list(_turns(messages, lost))
    head = next((at for at, turn in enumerate(turns) if turn.role is not Role.SYSTEM), len(turns))
    system = [body for turn in turns[:head] for body in turn.texts]
    sent: list[dict[str, Any]] = []
    for turn in turns[head:]:
        lost["moved"] += turn.role is Role.SYSTEM
        answering = turn.role is Role.ASSISTANT
        if not sent and answering:
            _say(sent, "user", [_text_block(_CONTINUED)])
            lost["continued"] += 1
        calls = [_use_block(call) for call in turn.calls]
        _say(sent, "assistant" if answering else "user", [*map(_text_block, turn.texts), *calls])
        _say(sent, "user", [_result_block(call, call.answer, lost) for call in turn.calls if call.answer])
    document = {"system": "\n\n".join(system)} if system else {}
    return {**document, **({"tools": tools} if tools else {}), "messages": sent}, _remarks(lost)


def _say(sent: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """Add blocks to the turn of a side, a new one where the other side spoke last."""
    if blocks and sent and sent[-1]["role"] == role:
        sent[-1]["content"] += blocks
    elif blocks:
        sent.append({"role": role, "content": blocks})


def _text_block(body: str) -> dict[str, Any]:
    return {"type": "text", "text": body}


def _use_block(call: _Call) -> dict[str, Any]:
    try:
        arguments = json.loads(call.part.text) if call.part.text.strip() else {}
    except (ValueError, RecursionError):
        arguments = None
    given = arguments if isinstance(arguments, dict) else {"input": call.part.text}
    return {"type": "tool_use", "id": call.id, "name": call.part.name or "tool", "input": given}


def _result_block(call: _Call, answer: Answer, lost: Counter[str]) -> dict[str, Any]:
    body = "\n".join(_answer_texts(answer, lost))
    block = {"type": "tool_result", "tool_use_id": call.id, "content": body}
    return {**block, "is_error": True} if answer.part.failed else block


# -- what both have in common


def _definitions(messages: Sequence[Message]) -> Iterator[Part]:
    return (part for message in messages for part in message.parts if part.kind is PartKind.TOOLS)


def _definition(part: Part, schema: str) -> dict[str, Any]:
    """A tool's definition, from any of the shapes that providers give it."""
    try:
        value = mapping(json.loads(part.text))
    except (ValueError, RecursionError):
        value = {}
    inner = mapping(value.get("function")) or value
    shape = next((inner[key] for key in ("parameters", "input_schema", "inputSchema") if mapping(inner.get(key))), None)
    said = {"description": text(inner["description"])} if inner.get("description") else {}
    return {"name": part.name or "tool", **said, schema: shape or {"type": "object"}}


def _turns(messages: Sequence[Message], lost: Counter[str]) -> Iterator[_Turn]:
    """What is said, message by message; a result stands with its call, an empty message nowhere."""
    own = [message for message in messages if message.lane == MAIN]
    lost["lanes"] += len(messages) - len(own)
    pairs = pair(own)
    for index, message in enumerate(own):
        texts = [
            body for number, part in enumerate(message.parts) for body in _texts(part, (index, number), pairs, lost)
        ]
        calls = [
            _Call(pairs.ids[at], part, pairs.answers.get(at))
            for at, part in (((index, number), part) for number, part in enumerate(message.parts))
            if part.kind is PartKind.TOOL_CALL and at in pairs.ids
        ]
        role = Role.USER if message.role is Role.TOOL else message.role
        if texts or calls:
            yield _Turn(role, texts, calls)


def _texts(part: Part, at: tuple[int, int], pairs: Pairs, lost: Counter[str]) -> Iterator[str]:
    """A part as text, where it is one or has to become one."""
    if part.kind in _SAID:
        yield from [part.text] if part.text.strip() else []
    elif part.kind is PartKind.MEDIA and at not in pairs.taken:
        yield _left_out(part, lost)
    elif part.kind is PartKind.TOOL_CALL and at not in pairs.ids:
        lost["calls"] += 1
        yield f"[{part.name or 'tool'} was called, without a result: {part.text}]"
    elif part.kind is PartKind.TOOL_RESULT and at not in pairs.taken:
        lost["results"] += 1
        yield f"[a result of {part.name or 'a tool'}: {part.text}]"
    elif part.kind is PartKind.THINKING:
        lost["thinking"] += 1
    elif part.kind is PartKind.OPAQUE:
        lost["opaque"] += 1


def _answer_texts(answer: Answer, lost: Counter[str]) -> Iterator[str]:
    if answer.part.text:
        yield answer.part.text
    yield from (_left_out(part, lost) for part in answer.media)


def _left_out(part: Part, lost: Counter[str]) -> str:
    lost["media"] += 1
    kind = part.media.type.split("/")[0] if part.media is not None else "file"
    return f"[{kind if kind in ('image', 'audio', 'video') else 'file'} left out]"


_LOST = {
    "thinking": "{0} of thinking left out: it cannot be sent to another API.",
    "opaque": "{0} that only the provider can read left out.",
    "media": "{0} of media left out; a text stands in the place of each.",
    "calls": "{0} of calls without a result written as text.",
    "results": "{0} of results without a call written as text.",
    "failed": "{0} of failed results without a mark: the target has none.",
    "moved": "{0} of system text within the conversation written under the user's name.",
    "lanes": "{0} of sub-agents left out.",
    "continued": f"“{_CONTINUED}” written before the first message, which is the assistant's.",
}


def _remarks(lost: Iterable[str] | Counter[str]) -> list[str]:
    counts = Counter(lost)
    unit = {"lanes": "message"}
    return [
        sentence.format(f"{counts[key]:,} {unit.get(key, 'part')}{'' if counts[key] == 1 else 's'}")
        for key, sentence in _LOST.items()
        if counts[key]
    ]
