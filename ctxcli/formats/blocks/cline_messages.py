"""The messages of Cline and Roo tasks, block by block; see cline_legacy.py."""

from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.agents import API_TYPES, image_block, result_block
from ctxcli.formats.blocks.cline_text import failed
from ctxcli.formats.blocks.moments import number
from ctxcli.formats.blocks.values import blocks, mapping, sequence, text
from ctxcli.model import Part, PartKind

_MARKS = ("condenseParent", "condenseId", "truncationParent", "truncationId", "isSummary", "isTruncationMarker")
_WORDS = ("<task>", "<user_message>", "<environment_details>")
_LOOK_AT = 40


def shape(kind: str, block: Mapping[str, Any]) -> list[Any] | None:
    """A block as the Messages API has it; those of the AI SDK, which later versions store, included."""
    if kind == "reasoning":
        return [{"type": "thinking", "thinking": block.get("text"), "signature": block.get("signature")}]
    if kind == "tool-call":
        return [
            {
                "type": "tool_use",
                "id": block.get("toolCallId"),
                "name": block.get("toolName"),
                "input": block.get("input"),
            }
        ]
    if kind in ("tool-result", "tool_result"):
        output = block.get("output", block.get("content"))
        output = output.get("value", output) if isinstance(output, dict) else output
        said = output if isinstance(output, str) else ""
        bad = block.get("is_error") is True or said.lstrip().startswith("[ERROR]") or failed(said)
        return [result_block(block.get("tool_use_id") or block.get("toolCallId"), output, failed=bad, shape=shape)]
    if kind == "image" and "source" not in block:
        return [image_block(block.get("image") or block.get("data"), block.get("mediaType") or block.get("mimeType"))]
    if kind == "thoughtSignature":
        return []
    return [block] if kind in API_TYPES else None


def time_of(value: Any) -> float:
    """When a message was written, as a number; 0 where it does not say."""
    return number(mapping(value).get("ts"))


def is_mark(value: Any) -> bool:
    """Whether a message is a summary, or the marker of a cut."""
    return isinstance(value, dict) and (value.get("isSummary") is True or value.get("isTruncationMarker") is True)


def is_answer(value: Any) -> bool:
    """Whether a message is what a call to the model gave."""
    own = isinstance(value, dict) and value.get("role") == "assistant" and value.get("type") != "reasoning"
    return own and not is_mark(value)


def reasoning_parts(value: Mapping[str, Any], line: int) -> Iterator[Part]:
    """A reasoning item that stands in the row of messages: its summary can be read, the rest is encrypted."""
    said = "\n".join(text(mapping(one).get("text")) for one in sequence(value.get("summary")))
    if said or value.get("text"):
        yield Part(PartKind.THINKING, said or text(value.get("text")), line)
    if value.get("encrypted_content"):
        yield Part(PartKind.OPAQUE, "", line)


def is_task(value: Any) -> bool:
    """Whether a document is the messages of a task: by Roo's marks, or by the words that the clients put around one."""
    if isinstance(value, dict) and value.get("version") == 2 and "sessionId" not in value:
        value = value.get("messages")
    elif not isinstance(value, list):
        return False
    some = [
        one for one in sequence(value)[:_LOOK_AT] if isinstance(one, dict) and one.get("role") in ("user", "assistant")
    ]
    said = [
        text(mapping(block).get("text", block))
        for one in some
        if one["role"] == "user"
        for block in blocks(one.get("content"))
    ]
    return any(key in one for one in some for key in _MARKS) or any(
        one.lstrip().startswith(_WORDS) or f"\n{_WORDS[2]}" in one for one in said
    )
