"""What VS Code's Copilot Chat writes of messages: numbered parts, and results as trees of rendered elements.

Source: @vscode/prompt-tsx (Raw.ChatMessage, JSONTree), https://github.com/microsoft/vscode-prompt-tsx, and
src/extension/prompt/common/intents.ts (IToolCallRound), https://github.com/microsoft/vscode-copilot-chat.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.media import media_part, readable
from ctxcli.formats.blocks.values import address_of, blocks, count, mapping, sequence, text
from ctxcli.formats.blocks.wrapped import asked_in, own_words
from ctxcli.model import COMPACTION, Part, PartKind

_IMAGE, _TEXT, _OPAQUE, _BREAKPOINT, _DOCUMENT = range(5)
"""Kinds of a part of a message."""
_PIECE = 2
"""The kind of a node that holds text."""
_NO_WORDS = frozenset({"stateful_marker", "phase_data"})


def raw_parts(content: Any, line: int) -> Iterator[Part]:
    """The parts of a message's content; marks for the cache and for the server are nothing that is read."""
    for item in blocks(content):
        if not isinstance(item, dict):
            if item not in ("", None):
                yield Part(PartKind.TEXT, text(item), line)
            continue
        kind = item.get("type")
        if kind == _TEXT:
            if said := text(item.get("text")):
                yield Part(PartKind.TEXT, said, line)
        elif kind == _IMAGE:
            yield media_part(text(mapping(item.get("imageUrl")).get("url")), "image", line)
        elif kind == _DOCUMENT:
            file = mapping(item.get("documentData"))
            yield media_part(text(file.get("data")), text(file.get("mediaType")) or "application/pdf", line)
        elif kind == _OPAQUE:
            yield from _opaque(mapping(item.get("value")), line)
        elif kind != _BREAKPOINT:
            said, media = readable(item, line)
            yield Part(PartKind.TEXT, said, line)
            yield from media


def _opaque(value: Mapping[str, Any], line: int) -> Iterator[Part]:
    kind = text(value.get("type"))
    if kind == "thinking":
        yield from thinking_parts(value.get("thinking"), line)
    elif kind == "compaction" or "encrypted_content" in mapping(value.get(kind)):
        yield Part(PartKind.OPAQUE, "", line, name=COMPACTION)
    elif kind not in _NO_WORDS:
        yield Part(PartKind.OPAQUE, "", line)


def thinking_parts(value: Any, line: int) -> Iterator[Part]:
    """What the model thought: one text or several, or nothing that can be read."""
    thought = mapping(value)
    said = "\n".join(map(text, blocks(thought.get("text"))))
    if said:
        yield Part(PartKind.THINKING, said, line)
    elif thought:
        yield Part(PartKind.OPAQUE, "", line, tokens=count(thought.get("tokens")))


def call_parts(calls: Any, line: int) -> Iterator[Part]:
    """The calls of an answer; of a round or of a raw message."""
    for item in sequence(calls):
        call = mapping(item)
        function = mapping(call.get("function")) or call
        arguments = function.get("arguments")
        yield Part(
            PartKind.TOOL_CALL,
            "{}" if arguments is None else text(arguments),
            line,
            name=text(function.get("name")),
            ref=text(call.get("id")),
            address=address_of(arguments),
        )


def result_parts(result: Any, line: int, ref: str) -> Iterator[Part]:
    """What a tool gave back: texts, trees and images."""
    pieces: list[str] = []
    media: list[Part] = []
    for item in blocks(mapping(result).get("content")):
        value = item.get("value") if isinstance(item, dict) else item
        if isinstance(value, dict) and "node" in value:
            pieces.append(rendered(value["node"]))
        elif isinstance(item, dict) and "mimeType" in item:
            data = item.get("data")
            media.append(media_part(data if isinstance(data, str) else "", text(item.get("mimeType")), line, ref=ref))
        else:
            said, found = readable(item if value is None else value, line, ref=ref)
            pieces.append(said)
            media += found
    failed = mapping(result).get("isError") is True
    yield Part(PartKind.TOOL_RESULT, "\n".join(pieces), line, ref=ref, failed=failed)
    yield from media


def rendered(node: Any) -> str:
    """The text of a tree of elements, in order."""
    pieces: list[str] = []
    open_ = [node]
    while open_:
        here = mapping(open_.pop())
        if here.get("type") == _PIECE:
            if here.get("lineBreakBefore") and pieces and not pieces[-1].endswith("\n"):
                pieces.append("\n")
            pieces.append(text(here.get("text")))
        else:
            open_ += reversed(sequence(here.get("children")))
    return "".join(pieces)


def prompt_pieces(content: Any, line: int, typed: str | None = None) -> list[tuple[bool, list[Part]]]:
    """A prompt in runs: (written by the client, parts). The user's words are those typed, or stand in a tag."""
    runs: list[tuple[bool, list[Part]]] = []
    for part in raw_parts(content, line):
        if part.kind is not PartKind.TEXT:
            (runs[-1][1] if runs else _new_run(runs)).append(part)
            continue
        pieces = asked_in(part.text) if typed is None else own_words(part.text, typed)
        for ours, said in pieces:
            runs.append((ours, [Part(PartKind.TEXT, said, line)]))
    return runs


def _new_run(runs: list[tuple[bool, list[Part]]]) -> list[Part]:
    runs.append((False, []))
    return runs[-1][1]
