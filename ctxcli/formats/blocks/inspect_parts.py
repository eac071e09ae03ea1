"""The pieces of a log of Inspect: messages, usage, attachments and the pool of messages.

Source of the shapes: inspect_ai/model/_chat_message.py, inspect_ai/_util/content.py, inspect_ai/model/_model_output.py,
inspect_ai/log/_condense.py and inspect_ai/event/_pool.py of https://github.com/UKGovernmentBEIS/inspect_ai.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.media import media_part
from ctxcli.formats.blocks.values import address_of, blocks, count, dump, mapping, sequence, text
from ctxcli.model import COMPACTION, Part, PartKind, Role, Usage

ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{8,64})")


def resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    """A value with the long texts put back that stand beside the messages under their hash."""
    if isinstance(value, str):
        if not attachments or "attachment://" not in value:
            return value
        return _ATTACHMENT.sub(lambda match: text(attachments.get(match[1], match[0])), value)
    if isinstance(value, dict):
        return {key: resolved(item, attachments) for key, item in value.items()}
    if isinstance(value, list):
        return [resolved(item, attachments) for item in value]
    return value


def input_of(event: Mapping[str, Any], pool: list[Any]) -> list[Any]:
    """What a call was given: its messages, or ranges (from, to) of the sample's pool of messages."""
    given = sequence(event.get("input"))
    if given or not sequence(event.get("input_refs")):
        return given
    found: list[Any] = []
    for ref in sequence(event.get("input_refs")):
        ends = [count(end) for end in ref] if isinstance(ref, list) else [count(ref), (count(ref) or 0) + 1]
        if len(ends) == 2 and ends[0] is not None and ends[1] is not None:
            found += pool[ends[0] : ends[1]]
    return found


def message_parts(message: Mapping[str, Any], line: int, draft: Draft) -> Iterator[Part]:
    """The parts of a message; what a tool shows to people (`view`) is not among them."""
    pieces = [part for piece in blocks(message.get("content")) for part in _piece(piece, line, draft)]
    if message.get("role") != "tool":
        yield from pieces
        for call in map(mapping, sequence(message.get("tool_calls"))):
            yield _call(call, line)
        return
    error = mapping(message.get("error"))
    body = "\n".join(part.text for part in pieces if part.media is None)
    ref, name = text(message.get("tool_call_id")), text(message.get("function"))
    said = text(error.get("message")) or body
    yield Part(PartKind.TOOL_RESULT, said, line, name=name, ref=ref, failed=bool(error))
    yield from (replace(part, ref=ref, name=name) for part in pieces if part.media is not None)


def _call(call: Mapping[str, Any], line: int) -> Part:
    arguments = call.get("arguments")
    said = arguments if isinstance(arguments, str) else dump({} if arguments is None else arguments)
    name, ref = text(call.get("function", call.get("name"))), text(call.get("id"))
    return Part(PartKind.TOOL_CALL, said, line, name=name, ref=ref, address=address_of(arguments))


def _piece(piece: Any, line: int, draft: Draft) -> Iterator[Part]:
    if not isinstance(piece, dict):
        if piece not in ("", None):
            yield Part(PartKind.TEXT, text(piece), line)
        return
    kind = text(piece.get("type"))
    if kind == "text":
        yield Part(PartKind.TEXT, text(piece.get("text")), line)
    elif kind == "reasoning":
        yield from _reasoning(piece, line)
    elif kind in ("image", "audio", "video", "document"):
        type_ = text(piece.get("mime_type")) or "/".join(filter(None, (kind, text(piece.get("format")))))
        yield media_part(text(piece.get(kind)), "application/pdf" if type_ == "document" else type_, line)
    elif kind == "tool_use":
        yield _call(piece, line)
        failed = bool(piece.get("error"))
        said = text(piece.get("error")) or text(piece.get("result"))
        yield Part(
            PartKind.TOOL_RESULT, said, line, name=text(piece.get("name")), ref=text(piece.get("id")), failed=failed
        )
    elif kind == "data":
        compaction = any("compaction" in str(key) for key in mapping(piece.get("data")))
        yield Part(PartKind.OPAQUE, "", line, name=COMPACTION if compaction else "data")
    else:
        draft.unknown(f"content/{kind}", line)


def _reasoning(piece: Mapping[str, Any], line: int) -> Iterator[Part]:
    """What the model thought; where that is encrypted, its summary."""
    hidden = piece.get("redacted") is True
    said = text(piece.get("summary")) if hidden else text(piece.get("reasoning"))
    if said or not hidden:
        yield Part(PartKind.THINKING, said, line, signed=bool(piece.get("signature")) or None)
    if hidden:
        yield Part(PartKind.OPAQUE, "", line, name="reasoning")


def usage_of(value: Any, model: str) -> Usage | None:
    """One call's figures. Whether cached tokens are inside `input_tokens` depends on the provider: the total tells."""
    raw = mapping(value)
    sent, output = count(raw.get("input_tokens")), count(raw.get("output_tokens"))
    if sent is None:
        return None
    read, write = count(raw.get("input_tokens_cache_read")), count(raw.get("input_tokens_cache_write"))
    cached, whole = (read or 0) + (write or 0), count(raw.get("total_tokens"))
    outside = "anthropic" in model or "claude" in model
    if cached and whole in (sent + (output or 0), sent + (output or 0) + cached):
        outside = whole != sent + (output or 0)
    prompt = sent + cached if outside else sent
    known = read is not None or write is not None
    return Usage(
        prompt=prompt,
        uncached=max(0, prompt - cached) if known else None,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=count(raw.get("reasoning_tokens")),
    )
