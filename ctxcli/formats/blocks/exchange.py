"""Requests to a chat API, and conversations written as one: the shapes that people store them in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxcli.formats.blocks.anthropic import MARKS
from ctxcli.formats.blocks.values import blocks, mapping, text
from ctxcli.model import Record, Skip

_ROLES = frozenset(
    {"system", "developer", "user", "human", "assistant", "ai", "model", "bot", "chatbot", "tool", "function"}
)
"""In lower case, with the names that those give who write messages of their own."""
_OTHER_FORMATS = frozenset({"trajectory", "eval", "kwargs", "parts"})
_MESSAGE_KEYS = ("messages", "traj")
_REQUEST_KEYS = ("request", "req", "request_body")
_RESPONSE_KEYS = ("response", "resp", "response_body", "output", "completion")
CONVERSATION_KEYS = ("conversation_id", "thread_id", "chat_id")
"""Under which a log says what belongs together."""
_DISPLAY = re.compile(r"^(user|assistant|tool|system): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One stored conversation or request, and the response to it where there is one."""

    messages: tuple[tuple[Mapping[str, Any], int], ...]
    """(message, its line)."""
    line: int
    system: Any = None
    tools: Any = None
    model: str = ""
    response: Mapping[str, Any] | None = None
    usage: Any = None
    id: str = ""
    conversation: str = ""
    """An id by which a log says what belongs together."""
    time: str = ""
    loose: bool = False
    """A single message that stands on a line of its own."""
    unanswered: bool = False
    """A request to a model, stored without its response."""
    size: int = 0
    """Bytes of the source that it takes."""
    opens_record: bool = True
    """The first of the exchanges that one record holds."""


def is_message(value: Any) -> bool:
    """Whether a value is one chat message by itself: a known role and what it says."""
    return (
        _has_role(value)
        and value["role"].lower() in _ROLES
        and ("content" in value or "tool_calls" in value or "function_call" in value)
        and not _OTHER_FORMATS & value.keys()
    )


def _has_role(value: Any) -> bool:
    """Whether a value among messages is one: whatever its role is called, and even if it says nothing."""
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _is_chat(values: Any) -> bool:
    """Whether a list holds a conversation: messages for the most part."""
    return isinstance(values, list) and any(map(is_message, values)) and 2 * sum(map(_has_role, values)) > len(values)


def exchanges(record: Record) -> tuple[list[Exchange], list[Skip]]:
    """The exchanges that a record holds, and what in it is none; no exchange where it is of no known shape."""
    skips: list[Skip] = []
    found = list(_exchanges(record, skips))
    size = record.size // max(1, len(found))
    return [replace(one, size=size, opens_record=at == 0) for at, one in enumerate(found)], skips if found else []


def _exchanges(record: Record, skips: list[Skip]) -> Iterator[Exchange]:
    value, line = record.value, record.line
    if isinstance(value, list):
        if _is_chat(value):
            yield Exchange(_placed(value, record, (), skips), line)
            return
        for number, item in enumerate(value):
            one = _exchange(item, record, (number,), skips)
            if one is not None:
                yield one
            else:
                where = line_of(record, (number,))
                skips.append(Skip(where, f"element {number + 1} of the array is no conversation: skipped"))
    elif is_message(value) and value.get("type") != "message":
        yield Exchange(((value, line),), line, model=text(value.get("model")), loose=True)
    elif (one := _exchange(value, record, (), skips)) is not None:
        yield one


def _exchange(value: Any, record: Record, at: tuple[str | int, ...], skips: list[Skip]) -> Exchange | None:
    if not isinstance(value, dict) or _OTHER_FORMATS & value.keys():
        return None
    inside, answer = request_path(value), response_path(value)
    request = mapping({} if answer == () else value[inside[0]] if inside else value)
    response = None if answer is None else value[answer[0]] if answer else value
    messages, key = _messages(request)
    if response is None and messages is None:
        return None
    return Exchange(
        messages=_placed(messages or [], record, (*at, *inside, key), skips),
        line=line_of(record, at),
        system=request.get("system"),
        tools=request.get("tools") or request.get("functions"),
        model=text(mapping(response).get("model")) or text(request.get("model")),
        response=response,
        usage=mapping(response).get("usage") or value.get("usage"),
        id=text(value.get("id") or value.get("task_id")),
        conversation=next((text(value[key]) for key in CONVERSATION_KEYS if value.get(key)), ""),
        time=text(value.get("timestamp") or value.get("created_at")),
        unanswered=response is None and "model" in request,
    )


def request_path(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Where the request stands in an exchange; empty where the exchange is the request."""
    return next(((key,) for key in _REQUEST_KEYS if isinstance(value.get(key), dict)), ())


def response_path(value: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Where the response stands in an exchange; empty where the exchange is the response, None where there is none."""
    for key in _RESPONSE_KEYS:
        if isinstance(value.get(key), dict) and _answers(value[key]):
            return (key,)
    return () if _answers(value) else None


def _messages(request: Mapping[str, Any]) -> tuple[list[Any] | None, str]:
    for key in _MESSAGE_KEYS:
        found = request.get(key)
        if _is_chat(found):
            return found, key
    shown = request.get("messages_display")
    if isinstance(shown, str) and _DISPLAY.match(shown):
        return _displayed(shown), "messages_display"
    return None, ""


def _displayed(shown: str) -> list[dict[str, Any]]:
    """A conversation printed as `role: text` paragraphs; `None` stands for the text of a tool call."""
    marks = [*_DISPLAY.finditer(shown)]
    ends = [mark.start() for mark in marks[1:]] + [len(shown)]
    bodies = [shown[mark.end() : end].strip("\n") for mark, end in zip(marks, ends, strict=True)]
    return [
        {"role": mark.group(1), "content": None if body == "None" else body}
        for mark, body in zip(marks, bodies, strict=True)
    ]


def _answers(value: Mapping[str, Any]) -> bool:
    """Whether a value is the response of a chat API."""
    if value.get("type") == "message" and value.get("role") == "assistant":
        return isinstance(value.get("content"), list) and ("stop_reason" in value or "usage" in value)
    choices = value.get("choices")
    return isinstance(choices, list) and bool(choices) and "message" in mapping(choices[0])


def line_of(record: Record, at: tuple[str | int, ...]) -> int:
    """The line of the array's element at a path of a document; too deep for that, of the element that it stands in."""
    while at:
        lines, number = (record.lines or {}).get(at[:-1], ()), at[-1]
        if isinstance(number, int) and number < len(lines):
            return lines[number]
        at = at[:-1]
    return record.line


def _placed(
    messages: Sequence[Any], record: Record, at: tuple[str | int, ...], skips: list[Skip]
) -> tuple[tuple[Mapping[str, Any], int], ...]:
    """The messages with their lines; what stands among them and is none becomes a skip."""
    lines = (record.lines or {}).get(at, ())
    start = line_of(record, at[:-1])
    placed = []
    for number, message in enumerate(messages):
        line = lines[number] if number < len(lines) else start
        if _has_role(message):
            placed.append((message, line))
        else:
            skips.append(Skip(line, f"element {number + 1} of the messages is no message: skipped"))
    return tuple(placed)


def chat_exchanges(records: Sequence[Record]) -> list[Exchange]:
    """The exchanges of the first records; none where most of them hold none, so that they are something else."""
    found = [exchanges(record)[0] for record in records]
    readable = [exchange for some in found for exchange in some]
    return readable if 2 * sum(map(bool, found)) >= len(found) else []


def is_anthropic(exchange: Exchange) -> bool:
    """Whether an exchange follows the Messages API: a top-level system prompt, its blocks, its response."""
    if mapping(exchange.response).get("type") == "message":
        return True
    if exchange.response is not None:
        return False
    if exchange.system is not None:
        return True
    return any(
        text(mapping(block).get("type")) in MARKS
        for message, _ in exchange.messages
        for block in blocks(message.get("content"))
    )
