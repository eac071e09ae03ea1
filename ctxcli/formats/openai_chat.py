"""OpenAI Chat Completions: messages a line, conversations a line, arrays, request / response dumps."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.exchange import Exchange, chat_exchanges, is_anthropic
from ctxcli.formats.blocks.openai import media_in, message_pieces, tool_parts, usage_of
from ctxcli.formats.blocks.reading import read_exchanges
from ctxcli.formats.blocks.said import Said, Spoken
from ctxcli.formats.blocks.splice import find, written
from ctxcli.formats.blocks.synthetic import told_by_ctx
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.formats.blocks.work import Work
from ctxcli.formats.blocks.write_chat import Dialect, write_exchanges
from ctxcli.model import Record, Role, Transcript
from ctxcli.shelf import Format

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "chatbot": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}


def _said(message: Mapping[str, Any], line: int) -> Said:
    role = _ROLES.get(text(message.get("role")).lower(), Role.USER)
    parts = [part for _, piece in message_pieces(message, line) for part in piece]
    told, ours = told_by_ctx(role, parts)
    return Said(role, told, line, ours)


def _speak(exchange: Exchange) -> Spoken:
    sent = [_said(message, line) for message, line in exchange.messages]
    tools = tuple(tool_parts(exchange.tools, exchange.line))
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


def _chain(watch: Callable[[int, int], None] | None = None) -> Chain:
    return Chain("openai-chat", "openai", _speak, watch)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a source, one after the other."""
    return read_exchanges(records, _chain())


def _answer(raw: str, response: Mapping[str, Any], at: int) -> str:
    """The message of a response's first choice."""
    place = find(raw, at, ("choices", 0, "message"))
    message = raw[slice(*place)] if place else "{}"
    named = "role" in mapping(mapping(sequence(response.get("choices"))[0]).get("message"))
    return message if named else written({"role": "assistant"})[:-1] + "," + message.lstrip("{")


def write(source: bytes, work: Work) -> bytes:
    """The source with its conversations changed; a log of requests becomes the last of them, on one line."""
    return write_exchanges(source, work, Dialect(_chain, lambda message: message_pieces(message, 0), media_in, _answer))


FORMAT = Format(
    name="openai-chat",
    title="OpenAI Chat Completions (messages, conversations, request / response dumps)",
    recognised_by="messages with role and content, alone, in an array, or under `messages`; `choices`",
    claims=claims,
    general=True,
    read=read,
    write=write,
    knows=frozenset({"usage", "model", "tools", "system prompt"}),
)
