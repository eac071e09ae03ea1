"""OpenAI Chat Completions: messages a line, conversations a line, arrays, request / response dumps."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.chain import Chain, Said, Spoken
from ctxcli.formats.blocks.exchange import Exchange, chat_exchanges, is_anthropic
from ctxcli.formats.blocks.openai import chat_calls, content_parts, result_parts, usage_of
from ctxcli.formats.blocks.reading import read_exchanges
from ctxcli.formats.blocks.values import dump, mapping, sequence, text
from ctxcli.model import Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
_THINKING_KEYS = ("reasoning_content", "reasoning")


def _said(message: Mapping[str, Any], line: int) -> Said:
    role = _ROLES.get(text(message.get("role")), Role.USER)
    if role is Role.TOOL:
        ref = text(message.get("tool_call_id")) or text(message.get("name"))
        return Said(role, tuple(result_parts(message.get("content"), line, ref, text(message.get("name")))), line)
    parts = [
        Part(PartKind.THINKING, text(message.get(key)), line)
        for key in _THINKING_KEYS
        if isinstance(message.get(key), str) and message.get(key)
    ][:1]
    parts += content_parts(message.get("content"), line)
    parts += content_parts(message.get("refusal"), line)
    parts += content_parts(mapping(message.get("audio")).get("transcript"), line)
    parts += chat_calls(message, line)
    return Said(role, tuple(parts), line)


def _tools(value: Any, line: int) -> Iterator[Part]:
    """Tool definitions are part of the prompt; some files hold them as a JSON string."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            yield Part(PartKind.TOOLS, text(value), line)
            return
    for tool in sequence(value):
        function = mapping(mapping(tool).get("function")) or mapping(tool)
        yield Part(PartKind.TOOLS, dump(tool), line, name=text(function.get("name")))


def _speak(exchange: Exchange) -> Spoken:
    sent = [_said(message, line) for message, line in exchange.messages]
    tools = tuple(_tools(exchange.tools, exchange.line))
    if tools:
        sent.insert(0, Said(Role.SYSTEM, tools, exchange.line))
    answer = None
    choices = sequence(mapping(exchange.response).get("choices"))
    if choices:
        answer = _said({"role": "assistant", **mapping(mapping(choices[0]).get("message"))}, exchange.line)
    return Spoken(tuple(sent), answer, usage_of(exchange.usage))


def claims(records: Sequence[Record]) -> bool:
    """Chat messages, alone or in conversations, without the marks of the Messages API."""
    found = chat_exchanges(records)
    return bool(found) and not any(map(is_anthropic, found))


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a source, one after the other."""
    return read_exchanges(records, Chain("openai-chat", "openai", _speak))


FORMAT = Format(
    name="openai-chat",
    title="OpenAI Chat Completions (messages, conversations, request / response dumps)",
    recognised_by="messages with role and content, alone, in an array, or under `messages`; `choices`",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt"}),
)
