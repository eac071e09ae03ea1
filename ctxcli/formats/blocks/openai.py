"""The content and usage shapes of the OpenAI APIs: Chat Completions and Responses items.

Source: the API reference, https://platform.openai.com/docs/api-reference/chat and /responses.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.media import media_part, readable
from ctxcli.formats.blocks.splice import Path, Piece
from ctxcli.formats.blocks.values import address_of, blocks, count, dump, mapping, sequence, text
from ctxcli.model import Part, PartKind, Usage

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "summary_text"})
_THINKING_TYPES = frozenset({"reasoning", "reasoning_text", "thinking"})
_IMAGE_TYPES = frozenset({"image_url", "input_image", "image"})
_HIDDEN = frozenset(
    {"type", "id", "call_id", "status", "encrypted_content", "internal_chat_message_metadata_passthrough"}
)


def content_parts(content: Any, line: int, kind: PartKind = PartKind.TEXT) -> Iterator[Part]:
    """The parts of a message's content: a string, null, or a list of typed pieces."""
    for piece in blocks(content):
        yield from _parts(piece, line, kind)


def content_pieces(content: Any, line: int, at: Path) -> Iterator[Piece]:
    """The parts of each piece of the content that stands at a path, with the path to it."""
    for number, piece in enumerate(blocks(content)):
        yield (*at, number) if isinstance(content, list) else at, tuple(_parts(piece, line, PartKind.TEXT))


def _parts(piece: Any, line: int, kind: PartKind) -> Iterator[Part]:
    if isinstance(piece, dict):
        yield from _piece(piece, line, kind)
    elif piece not in ("", None):
        yield Part(kind, text(piece), line)


def _piece(piece: dict[str, Any], line: int, kind: PartKind) -> Iterator[Part]:
    type_ = text(piece.get("type"))
    body = piece.get("text", piece.get("value", piece.get("refusal")))
    if type_ in _THINKING_TYPES:
        yield Part(PartKind.THINKING, text(body), line)
    elif type_ in _TEXT_TYPES or (not type_ and body is not None):
        yield Part(kind, text(body), line)
    elif type_ in _IMAGE_TYPES:
        source = piece.get("image_url", piece.get("image", ""))
        yield media_part(text(mapping(source).get("url", source)), "image", line)
    elif type_ == "input_audio":
        audio = mapping(piece.get("input_audio"))
        yield media_part(text(audio.get("data")), f"audio/{text(audio.get('format'))}", line)
    elif type_ in ("file", "input_file"):
        file = mapping(piece.get("file")) or piece
        yield media_part(text(file.get("file_data")), "application/pdf", line)
    elif "encrypted_content" in piece:
        yield Part(PartKind.OPAQUE, "", line)
    else:
        said, media = readable(piece, line)
        yield Part(kind, said, line)
        yield from media


def plain(content: Any) -> str:
    """The text of a result: a string, or the text pieces of a list, one a line."""
    if isinstance(content, list):
        return "\n".join(part.text for part in content_parts(content, 0) if part.media is None)
    return text(content)


def result_parts(output: Any, line: int, ref: str, name: str = "") -> Iterator[Part]:
    """A tool's answer and the images in it."""
    said, media = (plain(output), []) if isinstance(output, list) else readable(output, line, ref=ref)
    yield Part(PartKind.TOOL_RESULT, said, line, ref=ref, name=name)
    yield from media
    if isinstance(output, list):
        for part in content_parts(output, line):
            if part.media is not None:
                yield Part(PartKind.MEDIA, "", line, name=name, ref=ref, media=part.media)


def item_call(item: Mapping[str, Any], line: int) -> Part:
    """A Responses item by which the model calls a tool, of any kind; arguments stay their text."""
    arguments = item.get("arguments", item.get("input"))
    if arguments is None:
        arguments = item.get("action") or {key: value for key, value in item.items() if key not in _HIDDEN}
    type_ = text(item.get("type"))
    name = text(item.get("name")) or type_.removesuffix("_call")
    ref = text(item.get("call_id")) or text(item.get("id"))
    said, _ = readable(arguments, line)
    return Part(PartKind.TOOL_CALL, said, line, name=name, ref=ref, address=address_of(arguments))


def media_in(item: Any) -> int:
    """How many images and files one item of a tool's answer holds."""
    return sum(part.media is not None for part in result_parts([item], 0, ""))


_THINKING_KEYS = ("reasoning_content", "reasoning")


def message_pieces(message: Mapping[str, Any], line: int) -> Iterator[Piece]:
    """The parts of a chat message by the place that they stand at in it, in order."""
    if message.get("role") in ("tool", "function"):
        name = text(message.get("name"))
        ref = text(message.get("tool_call_id")) or name
        yield ("content",), tuple(result_parts(message.get("content"), line, ref, name))
        return
    for key in _THINKING_KEYS:
        if isinstance(message.get(key), str) and message.get(key):
            yield (key,), (Part(PartKind.THINKING, text(message.get(key)), line),)
            break
    yield from content_pieces(message.get("content"), line, ("content",))
    yield from content_pieces(message.get("refusal"), line, ("refusal",))
    yield from content_pieces(mapping(message.get("audio")).get("transcript"), line, ("audio", "transcript"))
    yield from _calls(message, line)


def _calls(message: Mapping[str, Any], line: int) -> Iterator[Piece]:
    """The tool calls of a chat message, the legacy single `function_call` included."""
    for number, call in enumerate(sequence(message.get("tool_calls"))):
        function = mapping(mapping(call).get("function")) or mapping(mapping(call).get("custom")) or mapping(call)
        arguments = function.get("arguments", function.get("args", function.get("input")))
        part = Part(
            PartKind.TOOL_CALL,
            text(arguments),
            line,
            name=text(function.get("name")),
            ref=text(mapping(call).get("id")),
            address=address_of(arguments),
        )
        yield ("tool_calls", number), (part,)
    legacy = mapping(message.get("function_call"))
    if legacy:
        arguments = legacy.get("arguments")
        name = text(legacy.get("name"))
        part = Part(PartKind.TOOL_CALL, text(arguments), line, name=name, ref=name, address=address_of(arguments))
        yield ("function_call",), (part,)


def tool_parts(value: Any, line: int) -> Iterator[Part]:
    """Tool definitions are part of the prompt; some files hold them as a JSON string. Hosted tools have only a type."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            yield Part(PartKind.TOOLS, text(value), line)
            return
    for tool in sequence(value):
        function = mapping(mapping(tool).get("function")) or mapping(tool)
        name = text(function.get("name")) or text(function.get("type"))
        yield Part(PartKind.TOOLS, dump(tool), line, name=name)


def usage_of(value: Any) -> Usage | None:
    """Usage of Chat Completions or Responses: cached tokens are in the prompt, reasoning is in the output."""
    raw = mapping(value)
    prompt = count(raw.get("prompt_tokens", raw.get("input_tokens")))
    if prompt is None:
        return None
    inside = mapping(raw.get("prompt_tokens_details") or raw.get("input_tokens_details"))
    outside = mapping(raw.get("completion_tokens_details") or raw.get("output_tokens_details"))
    read = count(inside.get("cached_tokens", raw.get("cached_input_tokens")))
    write = count(inside.get("cache_write_tokens", raw.get("cache_write_input_tokens"))) or 0
    return Usage(
        prompt=prompt,
        uncached=None if read is None else max(0, prompt - read - write),
        cache_read=read,
        cache_write=None if read is None else write,
        output=count(raw.get("completion_tokens", raw.get("output_tokens"))),
        reasoning=count(outside.get("reasoning_tokens", raw.get("reasoning_output_tokens"))),
    )
