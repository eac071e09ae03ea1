"""What a LangSmith run of type llm was asked and what it answered, in the shapes of its tracers and wrappers."""

from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.langchain import TYPES, content_parts, result_parts, said, unwrapped
from ctxcli.formats.blocks.media import readable
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.traces import answer_of
from ctxcli.formats.blocks.values import blocks, mapping, sequence, text
from ctxcli.model import Part, PartKind, Role

_ABOUT_ANSWER = frozenset({"usage", "usage_metadata", "llm_output", "model", "id", "type", "run", "object", "created"})
_ABOUT_PROMPT = frozenset({"model", "tools", "functions", "temperature", "max_tokens", "stream", "stop"})


def asked(inputs: Any, line: int) -> Iterator[Said]:
    """The prompt: messages of any API, lists of them, Responses items, or prompts in text."""
    raw = mapping(inputs)
    for key in ("system", "instructions"):
        if raw.get(key):
            yield Said(Role.SYSTEM, tuple(content_parts(raw[key], line)), line)
    for key in ("messages", "prompts", "prompt", "input"):
        found = raw.get(key)
        if found:
            values = blocks(found)
            yield from saids(values[0] if isinstance(values[0], list) else values, line)
            return
    rest = {key: value for key, value in raw.items() if key not in _ABOUT_PROMPT} if raw else inputs
    if rest:
        yield _plain(Role.USER, rest, line)


def message_of(outputs: Any) -> Mapping[str, Any]:
    """The fields of the answer's message; empty where it is none."""
    value = _message(outputs)
    found = unwrapped(value)
    return found[1] if found is not None and found[0] in TYPES else mapping(value)


def answered(outputs: Any, line: int) -> Said | None:
    """The answer: of a LangChain result, of a chat API, Responses items, or whatever the run gave back."""
    found = _message(outputs)
    if found is None:
        rest = {key: value for key, value in mapping(outputs).items() if key not in _ABOUT_ANSWER} or outputs
        return _plain(Role.ASSISTANT, rest, line) if rest else None
    return answer_of(saids(blocks(found), line), line)


def _message(outputs: Any) -> Any:
    """The message that a run gave back, or the items of it; None where it is of no known shape."""
    raw = mapping(outputs)
    generations = sequence(raw.get("generations"))
    first = generations[0] if generations else None
    if isinstance(first, list):
        first = first[0] if first else None
    if isinstance(first, dict):
        return first.get("message") or {"role": "assistant", "content": first.get("text")}
    choices = sequence(raw.get("choices"))
    if choices:
        return mapping(choices[0]).get("message") or {"role": "assistant", "content": mapping(choices[0]).get("text")}
    for key in ("message", "output"):
        if raw.get(key):
            return raw[key]
    if raw.get("messages"):
        return blocks(raw["messages"])[-1]
    return {"role": "assistant", **raw} if raw.get("content") or raw.get("tool_calls") else None


def saids(values: list[Any], line: int) -> Iterator[Said]:
    """Messages and Responses items; items of the assistant in a row are one message."""
    open_: list[Said] = []
    for value in values:
        one = _item(value, line) if isinstance(value, dict) else None
        if one is not None and one.role is Role.ASSISTANT:
            open_.append(one)
            continue
        yield from _joined(open_, line)
        open_ = []
        yield one or _said(value, line)
    yield from _joined(open_, line)


def _joined(items: list[Said], line: int) -> Iterator[Said]:
    if items:
        yield Said(Role.ASSISTANT, tuple(part for one in items for part in one.parts), line)


def _item(value: Mapping[str, Any], line: int) -> Said | None:
    """An item of the Responses API that is no plain message."""
    kind = text(value.get("type"))
    if kind in ("function_call_output", "custom_tool_call_output"):
        return Said(Role.TOOL, tuple(result_parts(value.get("output"), line, text(value.get("call_id")))), line)
    if kind == "message" and text(value.get("role")) == "assistant" and "status" in value:
        return Said(Role.ASSISTANT, tuple(content_parts(value.get("content"), line)), line)
    return Said(Role.ASSISTANT, tuple(content_parts([value], line)), line) if kind in _ITEMS else None


_ITEMS = frozenset({"function_call", "custom_tool_call", "reasoning"})


def _said(value: Any, line: int) -> Said:
    """A message of LangChain or of a chat API, a pair of role and text, or a text."""
    found = unwrapped(value)
    if found is not None and found[0] in TYPES:
        return said(*found, line)
    if isinstance(value, dict) and "role" in value:
        return said("chat", value, line)
    if isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value):
        return said("chat", {"role": value[0], "content": value[1]}, line)
    return said("human", {"content": value}, line) if isinstance(value, str) else _plain(Role.USER, value, line)


def _plain(role: Role, value: Any, line: int) -> Said:
    body, media = readable(value, line)
    return Said(role, (*((Part(PartKind.TEXT, body, line),) if body else ()), *media), line)
