"""Requests to a chat API, and conversations written as one: the shapes that people store them in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxcli.formats.blocks.anthropic import MARKS
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import Record

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_OTHER_FORMATS = frozenset({"sessionId", "session_id", "uuid", "parentUuid", "trajectory", "eval", "kwargs", "parts"})
_MESSAGE_KEYS = ("messages", "traj")
_REQUEST_KEYS = ("request", "req", "request_body")
_RESPONSE_KEYS = ("response", "resp", "response_body", "output", "completion")
_CONVERSATION_KEYS = ("conversation_id", "thread_id", "chat_id")
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
    """Whether a value is one chat message: a role and what it says."""
    return (
        isinstance(value, dict)
        and value.get("role") in _ROLES
        and ("content" in value or "tool_calls" in value or "function_call" in value)
        and not _OTHER_FORMATS & value.keys()
    )


def exchanges(record: Record) -> list[Exchange]:
    """The exchanges that a record holds; none where it is of no known shape."""
    found = list(_exchanges(record))
    size = record.size // max(1, len(found))
    return [replace(one, size=size, opens_record=at == 0) for at, one in enumerate(found)]


def _exchanges(record: Record) -> Iterator[Exchange]:
    value, line = record.value, record.line
    if isinstance(value, list):
        if value and all(map(is_message, value)):
            yield Exchange(_placed(value, record, ()), line)
            return
        for number, item in enumerate(value):
            yield from _exchange(item, record, (number,))
    elif is_message(value) and value.get("type") != "message":
        yield Exchange(((value, line),), line, model=text(value.get("model")), loose=True)
    else:
        yield from _exchange(value, record, ())


def _exchange(value: Any, record: Record, at: tuple[str | int, ...]) -> Iterator[Exchange]:
    if not isinstance(value, dict) or _OTHER_FORMATS & value.keys():
        return
    request, response = value, None
    for key in _REQUEST_KEYS:
        if isinstance(value.get(key), dict):
            request, at = value[key], (*at, key)
            break
    for key in _RESPONSE_KEYS:
        if isinstance(value.get(key), dict) and _answers(value[key]):
            response = value[key]
            break
    if response is None and _answers(value):
        response, request = value, {}
    messages, key = _messages(request)
    if response is None and messages is None:
        return
    yield Exchange(
        messages=_placed(messages or [], record, (*at, key)),
        line=_line(record, at),
        system=request.get("system"),
        tools=request.get("tools") or request.get("functions"),
        model=text(mapping(response).get("model")) or text(request.get("model")),
        response=response,
        usage=mapping(response).get("usage") or value.get("usage"),
        id=text(value.get("id") or value.get("task_id")),
        conversation=next((text(value[key]) for key in _CONVERSATION_KEYS if value.get(key)), ""),
        time=text(value.get("timestamp") or value.get("created_at")),
        unanswered=response is None and "model" in request,
    )


def _messages(request: Mapping[str, Any]) -> tuple[list[Any] | None, str]:
    for key in _MESSAGE_KEYS:
        found = request.get(key)
        if isinstance(found, list) and found and all(map(is_message, found)):
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


def _line(record: Record, at: tuple[str | int, ...]) -> int:
    lines = (record.lines or {}).get(at[:-1]) if at else None
    number = at[-1] if at else None
    return lines[number] if lines and isinstance(number, int) and number < len(lines) else record.line


def _placed(
    messages: Sequence[Mapping[str, Any]], record: Record, at: tuple[str | int, ...]
) -> tuple[tuple[Mapping[str, Any], int], ...]:
    lines = (record.lines or {}).get(at, ())
    start = _line(record, at[:-1])
    return tuple((message, lines[number] if number < len(lines) else start) for number, message in enumerate(messages))


def is_anthropic(exchange: Exchange) -> bool:
    """Whether an exchange follows the Messages API: a top-level system prompt, its blocks, its response."""
    if mapping(exchange.response).get("type") == "message":
        return True
    if exchange.response is not None:
        return False
    if exchange.system is not None:
        return True
    return any(
        mapping(block).get("type") in MARKS
        for message, _ in exchange.messages
        for block in sequence(message.get("content"))
    )
