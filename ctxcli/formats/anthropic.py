"""Anthropic Messages API: requests, responses and dumps of both; server-side compaction and clearing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.anthropic import media_in, parts_of, pieces_of, usage_of
from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.exchange import Exchange, chat_exchanges, is_anthropic
from ctxcli.formats.blocks.reading import read_exchanges
from ctxcli.formats.blocks.said import Said, Spoken
from ctxcli.formats.blocks.splice import Piece, find
from ctxcli.formats.blocks.synthetic import told_by_ctx
from ctxcli.formats.blocks.values import count, dump, mapping, sequence, text
from ctxcli.formats.blocks.work import Work
from ctxcli.formats.blocks.write_chat import Dialect, write_exchanges
from ctxcli.model import Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format


def _said(message: Mapping[str, Any], line: int) -> Said:
    parts = tuple(parts_of(message.get("content"), line))
    role = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM}.get(text(message.get("role")), Role.USER)
    if parts and all(part.kind in (PartKind.TOOL_RESULT, PartKind.MEDIA) for part in parts):
        role = Role.TOOL if any(part.kind is PartKind.TOOL_RESULT for part in parts) else role
    told, ours = told_by_ctx(role, parts)
    return Said(role, told, line, ours)


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


def _chain(watch: Callable[[int, int], None] | None = None) -> Chain:
    return Chain("anthropic", "anthropic", _speak, watch)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a source, one after the other."""
    return read_exchanges(records, _chain())


def _answer(raw: str, response: Mapping[str, Any], at: int) -> str:
    """The content of a response under its role."""
    place = find(raw, at, ("content",)) if response else None
    return '{"role":"assistant","content":' + (raw[slice(*place)] if place else "[]") + "}"


def _pieces(message: Mapping[str, Any]) -> Iterator[Piece]:
    return ((("content", *path), parts) for path, parts in pieces_of(message.get("content"), 0))


def write(source: bytes, work: Work) -> bytes:
    """The source with its conversations changed; a log of requests becomes the last of them, on one line."""
    return write_exchanges(source, work, Dialect(_chain, _pieces, media_in, _answer))


FORMAT = Format(
    name="anthropic",
    title="Anthropic Messages (requests, responses, dumps of both)",
    recognised_by="`system` beside `messages`, tool_use / tool_result / thinking blocks, type: message",
    claims=claims,
    general=True,
    read=read,
    write=write,
    knows=frozenset({"usage", "model", "tools", "system prompt", "compaction"}),
)
