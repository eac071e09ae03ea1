"""What several coding agents store alike: blocks like those of the Messages API, and models of any house."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.anthropic import parts_of
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.values import blocks, text
from ctxcli.model import Part, PartKind, Record

Shape = Callable[[str, Mapping[str, Any]], list[Any] | None]
"""From a block's type and the block to blocks of the Messages API: none where no model sees it, None where the type is
not known."""

API_TYPES = frozenset(
    {"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "tool_result", "image", "document"}
)
"""Blocks that need no change."""
_HOUSES = (
    ("claude", "anthropic"), ("anthropic", "anthropic"), ("gpt", "openai"), ("openai", "openai"), ("codex", "openai"),
    ("gemini", "google"), ("google", "google"),
)  # fmt: skip


def shaped_parts(content: Any, line: int, shape: Shape, draft: Draft) -> Iterator[Part]:
    """The parts of a message's content; blocks of a type that nobody knows are counted by the draft."""
    for block in blocks(content):
        if not isinstance(block, dict):
            if block not in ("", None):
                yield Part(PartKind.TEXT, text(block), line)
            continue
        kind = text(block.get("type"))
        found = shape(kind, block)
        if found is None:
            draft.unknown(f"content/{kind}", line)
        for one in found or ():
            yield from parts_of([one], line)


def image_block(data: Any, type_: Any) -> dict[str, Any]:
    """An image or a file given by its bytes or its address, as the Messages API writes it."""
    return {"type": "image", "source": {"data": text(data), "media_type": text(type_) or "image"}}


def file_block(path: Any, said: str) -> dict[str, Any]:
    """A file that the user attached, as the model saw it."""
    return {"type": "document", "title": text(path), "source": {"type": "text", "data": said}}


def result_block(ref: Any, content: Any, *, failed: bool, shape: Shape | None = None) -> dict[str, Any]:
    """What a tool gave back, each item of it in the shape of the Messages API."""
    if isinstance(content, list) and shape is not None:
        content = [one for item in content for one in _items(item, shape)]
    return {"type": "tool_result", "tool_use_id": text(ref), "content": content, "is_error": failed}


def _items(item: Any, shape: Shape) -> list[Any]:
    found = shape(text(item.get("type")), item) if isinstance(item, dict) else None
    return [item] if found is None else found


def provider_of(model: str) -> str:
    """Whose rules for media hold for a model; empty where its name does not tell."""
    name = model.lower()
    return next((house for word, house in _HOUSES if word in name), "")


def odd_message(draft: Draft, value: Any, line: int) -> None:
    """Count something that stands where a message should, and is none."""
    if isinstance(value, dict):
        draft.unknown(f"message/{text(value.get('role')) or text(value.get('type'))}", line)
    else:
        draft.not_a_record(Record(line, value))
