"""The content blocks and the usage object of the Anthropic Messages API.

Claude Code's session records hold the same blocks. Source of the shapes: the Messages API
reference, https://platform.claude.com/docs/en/api/messages.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.media import media_part, readable
from ctxcli.formats.blocks.splice import Piece
from ctxcli.formats.blocks.values import address_of, blocks, count, mapping, most, sequence, text, total
from ctxcli.model import COMPACTION, Iteration, Part, PartKind, Usage

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_PROMPT_KEYS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
MARKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "compaction"})
"""Block types that no other chat API has."""


def parts_of(content: Any, line: int) -> Iterator[Part]:
    """The parts of a message's content: a string, or blocks. Signatures and encrypted data are left out."""
    for block in blocks(content):
        yield from _piece(block, line)


def pieces_of(content: Any, line: int) -> Iterator[Piece]:
    """The parts of each block of a message's content, with the path to it."""
    for number, block in enumerate(blocks(content)):
        yield (number,) if isinstance(content, list) else (), tuple(_piece(block, line))


def _piece(block: Any, line: int) -> Iterator[Part]:
    if isinstance(block, dict):
        yield from _block(block, line)
    elif block not in ("", None):
        yield Part(PartKind.TEXT, text(block), line)


def _block(block: dict[str, Any], line: int) -> Iterator[Part]:
    kind = text(block.get("type"))
    if kind == "text":
        yield Part(PartKind.TEXT, text(block.get("text")), line)
    elif kind == "thinking":
        yield Part(PartKind.THINKING, text(block.get("thinking")), line, signed=bool(block.get("signature")))
    elif kind in ("redacted_thinking", "container_upload"):
        yield Part(PartKind.OPAQUE, "", line)
    elif kind in _CALLS:
        arguments = block.get("input")
        yield Part(
            PartKind.TOOL_CALL,
            text(arguments) if arguments is not None else "{}",
            line,
            name=text(block.get("name")),
            ref=text(block.get("id")),
            address=address_of(arguments),
        )
    elif kind == "tool_result" or str(kind).endswith("_tool_result"):
        yield from _result(block, line)
    elif kind == "image":
        yield _image(block, line)
    elif kind == "document":
        yield from _document(block, line)
    elif kind == "compaction":
        yield compaction_part(block, line)
    else:
        said, media = readable(block, line)
        yield Part(PartKind.DOCUMENT if kind == "search_result" else PartKind.TEXT, said, line)
        yield from media


def _result(block: dict[str, Any], line: int) -> Iterator[Part]:
    """A tool's answer as one text, and the images and files in it."""
    ref, content = text(block.get("tool_use_id")), block.get("content")
    pieces: list[str] = []
    media: list[Part] = []
    items: list[Any] = content if isinstance(content, list) else [content]
    for item in items:
        kind = text(mapping(item).get("type"))
        if kind == "image":
            media.append(_image(item, line, ref))
        elif kind == "text":
            pieces.append(text(item.get("text")))
        elif kind == "document":
            parts = tuple(_document(item, line))
            pieces += [part.text for part in parts if part.media is None]
            media += [part for part in parts if part.media is not None]
        else:
            said, found = readable(item, line, ref=ref)
            pieces.append(said)
            media += found
    failed = block.get("is_error") is True
    yield Part(PartKind.TOOL_RESULT, "\n".join(pieces), line, ref=ref, failed=failed)
    yield from media


def media_in(item: Any) -> int:
    """How many images and files one item of a tool's answer holds."""
    return sum(part.media is not None for part in _result({"content": [item]}, 0))


def _image(block: dict[str, Any], line: int, ref: str = "") -> Part:
    source = mapping(block.get("source"))
    data = source.get("data") or source.get("url") or ""
    return media_part(text(data), text(source.get("media_type")) or "image", line, ref=ref)


def _document(block: dict[str, Any], line: int) -> Iterator[Part]:
    source = mapping(block.get("source"))
    kind = source.get("type")
    if kind == "text":
        yield Part(PartKind.DOCUMENT, text(source.get("data")), line, address=text(block.get("title")))
    elif kind == "content":
        for part in parts_of(source.get("content"), line):
            yield Part(PartKind.DOCUMENT, part.text, line) if part.kind is PartKind.TEXT else part
    else:
        data = source.get("data") or source.get("url") or ""
        yield media_part(text(data), text(source.get("media_type")) or "application/pdf", line)


def compaction_part(block: dict[str, Any], line: int) -> Part:
    """A server-side compaction block: a summary, opaque where it is encrypted; with null content it failed.

    The provider ignores a block of a compaction that failed, and refuses one whose content is "" (vercel/ai#13335).
    """
    content = block.get("content")
    if isinstance(content, list):
        content = "\n".join(text(mapping(item).get("text")) for item in content)
    if block.get("encrypted_content") and not content:
        return Part(PartKind.OPAQUE, "", line, name=COMPACTION)
    if isinstance(content, str):
        return Part(PartKind.SUMMARY, content, line)
    return Part(PartKind.OPAQUE, "", line, name="failed compaction")


def usage_of(value: Any, *, final: bool = True) -> Usage | None:
    """Usage as the API reports it: input, cache reads and cache writes are disjoint and add up to the prompt.

    With server-side compaction the top-level figures leave the compaction steps out, and are all
    zero where the reply is only a compaction block; the last message step tells the context. The
    other steps are billed beside it and become `iterations`.
    """
    raw = mapping(value)
    steps = [mapping(step) for step in sequence(raw.get("iterations"))]
    messages = [step for step in steps if step.get("type") == "message"]
    alone = "input_tokens" not in raw and bool(messages)
    figures = messages[-1] if len(messages) > 1 or alone else raw
    uncached = count(figures.get("input_tokens"))
    read = count(figures.get("cache_read_input_tokens"))
    write = count(figures.get("cache_creation_input_tokens"))
    prompt = total(uncached, read, write)
    if prompt is None:
        return None
    beside = [step for step in steps if step is not figures and (step.get("type") != "message" or messages[1:])]
    iterations = tuple(map(_iteration, beside))
    if prompt == 0 and iterations:
        return Usage(output=count(raw.get("output_tokens")), output_final=final, iterations=iterations)
    return Usage(
        prompt=prompt,
        uncached=uncached or 0,
        cache_read=read or 0,
        cache_write=write or 0,
        cache_write_1h=count(mapping(figures.get("cache_creation")).get("ephemeral_1h_input_tokens")),
        output=most(count(raw.get("output_tokens")), total(*(count(step.get("output_tokens")) for step in messages))),
        output_final=final,
        iterations=iterations,
    )


def _iteration(step: Mapping[str, Any]) -> Iteration:
    sent = total(*(count(step.get(key)) for key in _PROMPT_KEYS))
    return Iteration(text(step.get("type")), sent or 0, count(step.get("output_tokens")) or 0)


def merge_usage(first: Usage | None, second: Usage | None) -> Usage | None:
    """The maximum of each field: one response is written on several lines, some of them placeholders."""
    if first is None or second is None:
        return second if first is None else first
    uncached = most(first.uncached, second.uncached)
    read, write = most(first.cache_read, second.cache_read), most(first.cache_write, second.cache_write)
    return Usage(
        prompt=total(uncached, read, write),
        uncached=uncached,
        cache_read=read,
        cache_write=write,
        cache_write_1h=most(first.cache_write_1h, second.cache_write_1h),
        output=most(first.output, second.output),
        output_final=first.output_final or second.output_final,
        iterations=max(first.iterations, second.iterations, key=len),
    )
