"""Anthropic Messages API: requests, responses and dumps of both; server-side compaction and clearing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.anthropic import parts_of, usage_of
from ctxcli.formats.blocks.chain import Chain, Said, Spoken
from ctxcli.formats.blocks.exchange import Exchange, chat_exchanges, is_anthropic
from ctxcli.formats.blocks.reading import read_exchanges
from ctxcli.formats.blocks.values import count, dump, mapping, sequence, text
from ctxcli.model import Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format


def _said(message: Mapping[str, Any], line: int) -> Said:
    parts = tuple(parts_of(message.get("content"), line))
    role = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM}.get(text(message.get("role")), Role.USER)
    if parts and all(part.kind in (PartKind.TOOL_RESULT, PartKind.MEDIA) for part in parts):
        role = Role.TOOL if any(part.kind is PartKind.TOOL_RESULT for part in parts) else role
    return Said(role, parts, line)


def _head(exchange: Exchange) -> Iterator[Said]:
    """The system prompt and the tool definitions, which stand before every message."""
    tools = tuple(
        Part(PartKind.TOOLS, dump(tool), exchange.line, name=text(mapping(tool).get("name")))
        for tool in sequence(exchange.tools)
    )
    if tools:
        yield Said(Role.SYSTEM, tools, exchange.line)
    system = tuple(parts_of(exchange.system, exchange.line))
    if system:
        yield Said(Role.SYSTEM, system, exchange.line)


def _speak(exchange: Exchange) -> Spoken:
    sent = (*_head(exchange), *(_said(message, line) for message, line in exchange.messages))
    response = mapping(exchange.response)
    answer = _said({**response, "role": "assistant"}, exchange.line) if response else None
    cleared = stripped = 0
    for edit in sequence(mapping(response.get("context_management")).get("applied_edits")):
        cleared += count(mapping(edit).get("cleared_tool_uses")) or 0
        stripped += count(mapping(edit).get("cleared_thinking_turns")) or 0
    final = response.get("stop_reason") is not None
    return Spoken(sent, answer, usage_of(exchange.usage, final=final), cleared, stripped)


def claims(records: Sequence[Record]) -> bool:
    """A top-level system prompt, the API's own block types, or its response object."""
    return any(map(is_anthropic, chat_exchanges(records)))


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a source, one after the other."""
    return read_exchanges(records, Chain("anthropic", "anthropic", _speak))


FORMAT = Format(
    name="anthropic",
    title="Anthropic Messages (requests, responses, dumps of both)",
    recognised_by="`system` beside `messages`, tool_use / tool_result / thinking blocks, type: message",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt", "compaction"}),
)
