"""The parts of the events of the OpenHands agent SDK; see blocks/openhands_v1.py."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.anthropic import parts_of
from ctxcli.formats.blocks.media import media_part
from ctxcli.formats.blocks.values import address_of, blocks, dump, mapping, sequence, text
from ctxcli.model import Part, PartKind

REJECTED = "UserRejectObservation"


def content_parts(content: Any, line: int) -> Iterator[Part]:
    """Texts and images of a message, a thought or an observation."""
    for piece in blocks(content):
        if isinstance(piece, dict) and piece.get("type") == "image":
            yield from (media_part(text(url), "image", line) for url in sequence(piece.get("image_urls")))
        elif said := text(piece.get("text") if isinstance(piece, dict) else piece):
            yield Part(PartKind.TEXT, said, line)


def thinking_parts(value: Mapping[str, Any], line: int, said: Sequence[str] = ()) -> Iterator[Part]:
    """What the model thought: its blocks, else the text, unless the thought says the same."""
    thoughts = [*parts_of(sequence(value.get("thinking_blocks")), line)]
    item = mapping(value.get("responses_reasoning_item"))
    reasoning = text(value.get("reasoning_content")).strip()
    summary = "\n".join(part.text for part in content_parts(item.get("summary"), line))
    if thoughts:
        yield from thoughts
    elif not reasoning and summary:
        yield Part(PartKind.THINKING, summary, line)
    elif reasoning and not any(reasoning in one for one in said):
        yield Part(PartKind.THINKING, reasoning, line)
    if item.get("encrypted_content"):
        yield Part(PartKind.OPAQUE, "", line, name="reasoning")


def action_parts(value: Mapping[str, Any], line: int) -> Iterator[Part]:
    """The thought and the call; its arguments are those that the model wrote."""
    thought = [*content_parts(value.get("thought"), line)]
    yield from thinking_parts(value, line, [part.text for part in thought])
    yield from thought
    call = mapping(value.get("tool_call"))
    arguments = call.get("arguments", mapping(call.get("function")).get("arguments", value.get("action")))
    name = text(value.get("tool_name")) or text(call.get("name"))
    ref = text(value.get("tool_call_id")) or text(call.get("id"))
    yield Part(PartKind.TOOL_CALL, text(arguments), line, name=name, ref=ref, address=address_of(arguments))


def outcome_parts(value: Mapping[str, Any], line: int) -> Iterator[Part]:
    """What came back for a call: the observation, an error of the scaffold, or a refusal."""
    ref, name = text(value.get("tool_call_id")), text(value.get("tool_name"))
    seen = mapping(value.get("observation"))
    failed = value.get("kind") != "ObservationEvent" or seen.get("is_error") is True
    if "error" in value:
        parts = [Part(PartKind.TEXT, text(value.get("error")), line)]
    elif value.get("kind") == REJECTED:
        parts = [Part(PartKind.TEXT, f"Action rejected: {text(value.get('rejection_reason'))}", line)]
    elif "content" in seen or "output" in seen or not seen:
        parts = [*content_parts(seen.get("content", seen.get("output", value.get("observation"))), line)]
    else:
        parts = [Part(PartKind.TEXT, dump({key: item for key, item in seen.items() if key != "kind"}), line)]
    body = "\n".join(
        part.text for part in [*parts, *content_parts(value.get("extended_content"), line)] if part.media is None
    )
    yield Part(PartKind.TOOL_RESULT, body, line, name=name, ref=ref, failed=failed)
    yield from (replace(part, ref=ref) for part in parts if part.media is not None)


def system_parts(value: Mapping[str, Any], line: int) -> Iterator[Part]:
    """The tools, the system prompt, and what was added to it for this conversation."""
    for tool in map(mapping, sequence(value.get("tools"))):
        name = text(tool.get("name")) or text(tool.get("title")) or text(tool.get("kind"))
        yield Part(PartKind.TOOLS, dump(tool), line, name=name)
    yield from content_parts(value.get("system_prompt"), line)
    yield from content_parts(value.get("dynamic_context"), line)
