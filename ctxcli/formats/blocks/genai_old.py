"""What a span says of a model call in the conventions before 1.37 and beside them.

Sources: span events of https://github.com/open-telemetry/semantic-conventions/tree/v1.36.0/docs/gen-ai, OpenLLMetry's
gen_ai.prompt.N, and https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.genai_parts import decoded, message_of
from ctxcli.formats.blocks.langchain import said
from ctxcli.formats.blocks.media import readable
from ctxcli.formats.blocks.otlp import Span, listed, under
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.values import blocks, mapping, sequence
from ctxcli.model import Part, PartKind, Role


@dataclass(slots=True)
class Heard:
    """What one span says of its call."""

    sent: list[Said] = field(default_factory=list)
    answer: list[Said] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Types of parts that are not known."""


def indexed(span: Span, found: Heard) -> None:
    """gen_ai.prompt.N and gen_ai.completion.N."""
    for raw in listed(span.attributes, "gen_ai.prompt"):
        found.sent.append(_chat(raw, "user", span.line))
    for raw in listed(span.attributes, "gen_ai.completion")[:1]:
        found.answer.append(_chat(raw, "assistant", span.line))


def _chat(raw: Mapping[str, Any], role: str, line: int) -> Said:
    """A message whose fields stand one by one: blocks and calls may be JSON text."""
    content = decoded(raw.get("content"))
    typed = isinstance(content, list) and all("type" in mapping(block) for block in content)
    calls = listed(raw, "tool_calls") or sequence(decoded(raw.get("tool_calls")))
    fields = {
        "role": raw.get("role") or role,
        "content": content if typed else raw.get("content"),
        "tool_calls": [_call(mapping(call)) for call in calls],
        "tool_call_id": raw.get("tool_call_id"),
        "name": raw.get("name"),
    }
    return said("chat", fields, line)


def _call(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A call whose function is an object, dotted names, or the call itself."""
    inside = mapping(raw.get("function"))
    name = inside.get("name") or raw.get("function.name") or raw.get("name")
    found = (inside.get("arguments"), raw.get("function.arguments"), raw.get("arguments"))
    return {"id": raw.get("id"), "name": name, "args": next((one for one in found if one is not None), None)}


def span_events(span: Span, found: Heard) -> None:
    """gen_ai.user.message and its like, with gen_ai.choice for the answer; gen_ai.content.* before them."""
    for name, attributes in span.events:
        inside = decoded(attributes.get("gen_ai.event.content") or attributes.get("body"))
        raw = {**attributes, **mapping(inside)}
        role = name.removeprefix("gen_ai.").removesuffix(".message")
        if name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            key, side = (
                ("gen_ai.prompt", found.sent) if name.endswith("prompt") else ("gen_ai.completion", found.answer)
            )
            for message in blocks(decoded(attributes.get(key))):
                side.append(
                    message_of(message, "user" if side is found.sent else "assistant", span.line, found.unknown)
                )
        elif name == "gen_ai.choice" and not found.answer:
            message = decoded(raw.get("message"))
            inner = {key.removeprefix("message."): value for key, value in raw.items()}
            fields = message if isinstance(message, dict) else {**inner, "content": inner.get("content", message)}
            found.answer.append(_chat({**fields, "role": "assistant"}, "assistant", span.line))
        elif name.endswith(".message") and role in ("system", "user", "assistant", "tool"):
            ref = raw.get("id") if role == "tool" else None
            found.sent.append(_chat({"tool_call_id": ref, **raw, "role": raw.get("role") or role}, role, span.line))


def openinference(span: Span, found: Heard) -> None:
    """llm.input_messages.N.message.* and llm.output_messages.N.message.*."""
    for raw in under(listed(span.attributes, "llm.input_messages"), "message"):
        found.sent.append(_flat_message(raw, "user", span.line))
    for raw in under(listed(span.attributes, "llm.output_messages"), "message")[:1]:
        found.answer.append(_flat_message(raw, "assistant", span.line))


def _flat_message(raw: Mapping[str, Any], role: str, line: int) -> Said:
    contents = under(listed(raw, "contents"), "message_content")
    calls = under(listed(raw, "tool_calls"), "tool_call")
    if raw.get("function_call_name") and not calls:
        calls = [{"name": raw["function_call_name"], "arguments": raw.get("function_call_arguments_json")}]
    fields = {**raw, "tool_calls": calls}
    if contents:
        fields["content"] = [_content(one) for one in contents]
    return said("chat", {**fields, "role": raw.get("role") or role, "tool_calls": [*map(_call, calls)]}, line)


def _content(raw: Mapping[str, Any]) -> dict[str, Any]:
    image = raw.get("image.image.url") or raw.get("image.url")
    return {"type": "image_url", "image_url": {"url": image}} if image else {**raw, "type": raw.get("type") or "text"}


def whole_values(span: Span, found: Heard) -> None:
    """The input and output of a span as a whole, where its messages are not told apart."""
    for key, side, role in (("input.value", found.sent, Role.USER), ("output.value", found.answer, Role.ASSISTANT)):
        body, media = readable(span.attributes.get(key), span.line)
        if body:
            side.append(Said(role, (Part(PartKind.TEXT, body, span.line), *media), span.line))
