"""The content of goose's messages, item by item, and what of it no model sees.

Source of the shapes: https://github.com/block/goose, crates/goose/src/conversation/message.rs and tool_result_serde.rs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ctxcli.formats.blocks.agents import image_block, result_block
from ctxcli.formats.blocks.values import mapping, sequence, text

_SHOWN = frozenset(
    {
        "toolConfirmationRequest", "actionRequired", "systemNotification", "conversationCompacted", "error",
        "summarizationRequested", "contextLengthExceeded", "jsonRenderSpec",
    }
)  # fmt: skip
"""Items that are for the user's eyes, or for the client itself."""


def shape(kind: str, item: Mapping[str, Any]) -> list[Any] | None:
    """An item as the Messages API has it: none where it is not for the model."""
    if kind in _SHOWN or not _for_the_model(item):
        return []
    if kind == "text":
        return [{"type": "text", "text": item.get("text")}]
    if kind in ("image", "document", "audio"):
        return [image_block(item.get("data"), item.get("mimeType"))]
    if kind in ("thinking", "reasoning"):
        said = item.get("thinking", item.get("text"))
        return [{"type": "thinking", "thinking": said, "signature": item.get("signature")}]
    if kind == "redactedThinking":
        return [{"type": "redacted_thinking"}]
    if kind in ("toolRequest", "frontendToolRequest"):
        call = mapping(mapping(item.get("toolCall")).get("value"))
        return [{"type": "tool_use", "id": item.get("id"), "name": call.get("name"), "input": call.get("arguments")}]
    if kind == "toolResponse":
        return [_result(item)]
    return None


def _result(item: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool gave back: a list of items, or an object that holds one; the complaint where the call failed."""
    outcome = mapping(item.get("toolResult"))
    value = outcome.get("value")
    content = value.get("content") if isinstance(value, dict) and "content" in value else value
    failed = outcome.get("status") == "error" or mapping(value).get("isError") is True
    said = outcome.get("error") if outcome.get("status") == "error" else content
    return result_block(item.get("id"), said, failed=failed, shape=_within)


def _within(kind: str, item: Mapping[str, Any]) -> list[Any] | None:
    """An item of a result; many tools give one for the model and another for the user."""
    if not _for_the_model(item):
        return []
    if kind in ("image", "audio"):
        return [image_block(item.get("data"), item.get("mimeType"))]
    if kind == "resource":
        resource = mapping(item.get("resource"))
        if "blob" in resource:
            return [image_block(resource.get("blob"), resource.get("mimeType"))]
        return [{"type": "text", "text": resource.get("text")}]
    return None


def _for_the_model(item: Mapping[str, Any]) -> bool:
    audience = mapping(item.get("annotations")).get("audience")
    return not isinstance(audience, list) or not audience or "assistant" in audience


@dataclass(frozen=True, slots=True)
class GooseMessage:
    """One message as it is stored."""

    value: Mapping[str, Any]
    line: int

    @property
    def seen(self) -> bool:
        """Whether the agent sees it now."""
        return mapping(self.value.get("metadata")).get("agentVisible") is not False

    @property
    def shown(self) -> bool:
        """Whether the user sees it."""
        return mapping(self.value.get("metadata")).get("userVisible") is not False

    @property
    def said(self) -> str:
        """Its plain text."""
        return "\n".join(text(item.get("text")) for item in self._items if item.get("type") == "text")

    @property
    def _items(self) -> list[Mapping[str, Any]]:
        return [mapping(item) for item in sequence(self.value.get("content"))]
