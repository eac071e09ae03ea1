"""What a span says of a model call, in the conventions that were and are in use.

Source: https://github.com/open-telemetry/semantic-conventions/blob/v1.37.0/docs/gen-ai/gen-ai-spans.md.
"""

from collections.abc import Iterator
from typing import Any

from ctxcli.formats.blocks.genai_old import Heard, indexed, openinference, span_events, whole_values
from ctxcli.formats.blocks.genai_parts import decoded, message_of, parts_of
from ctxcli.formats.blocks.langchain import tool_parts
from ctxcli.formats.blocks.otlp import Span, listed
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.values import blocks, count, sequence, text
from ctxcli.model import Role, Usage

_OPERATIONS = frozenset({"chat", "text_completion", "generate_content", "completion"})
_DETAILS = "gen_ai.client.inference.operation.details"


def operation(span: Span) -> str:
    """What a span is: `call` for a model call, else the name of what it does."""
    named = span.attributes.get("gen_ai.operation.name")
    if isinstance(named, str) and named:
        return "call" if named in _OPERATIONS else named
    kind = text(span.attributes.get("openinference.span.kind")).lower()
    if kind:
        return "call" if kind == "llm" else kind
    if text(span.attributes.get("llm.request.type")) in _OPERATIONS:
        return "call"
    kind = text(span.attributes.get("traceloop.span.kind"))
    marks = ("gen_ai.prompt.", "gen_ai.completion.", "gen_ai.input.messages", "gen_ai.usage.")
    return kind or ("call" if any(str(key).startswith(marks) for key in span.attributes) else "span")


def heard(span: Span) -> Heard:
    """Prompt and answer of a call, from the first convention that holds any; tools and instructions first."""
    found = Heard()
    for way in (_messages, indexed, span_events, openinference, whole_values):
        way(span, found)
        if found.sent or found.answer:
            break
    found.sent[:0] = _head(span)
    return found


def _attribute(span: Span, name: str) -> Any:
    """An attribute of a span, or of the event that holds the details of a call."""
    if span.attributes.get(name) is not None:
        return decoded(span.attributes[name])
    found = (attributes.get(name) for event, attributes in span.events if event == _DETAILS)
    return decoded(next((value for value in found if value is not None), None))


def _head(span: Span) -> Iterator[Said]:
    tools = sequence(_attribute(span, "gen_ai.tool.definitions"))
    tools = tools or [decoded(one.get("tool.json_schema")) for one in listed(span.attributes, "llm.tools")]
    functions = listed(span.attributes, "llm.request.functions")
    tools = tools or [{key: decoded(value) for key, value in one.items()} for one in functions]
    parts = tuple(tool_parts(tools, span.line))
    if parts:
        yield Said(Role.SYSTEM, parts, span.line)
    system = _attribute(span, "gen_ai.system_instructions")
    if system:
        yield Said(Role.SYSTEM, tuple(parts_of(blocks(system), span.line, [])), span.line)


def _messages(span: Span, found: Heard) -> None:
    """Messages as JSON, in one attribute."""
    for message in blocks(_attribute(span, "gen_ai.input.messages")):
        found.sent.append(message_of(message, "user", span.line, found.unknown))
    for message in blocks(_attribute(span, "gen_ai.output.messages"))[:1]:
        found.answer.append(message_of(message, "assistant", span.line, found.unknown))


def usage_of(span: Span) -> Usage | None:
    """What a call took; what the cache read and wrote is in the input, but for those who report it beside."""
    prompt = _figure(span, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
    if not prompt:
        return None
    read = _figure(
        span, "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.input_tokens.cached", "gen_ai.usage.cached_tokens", "llm.token_count.prompt_details.cache_read",
    )  # fmt: skip
    write = _figure(
        span, "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
    )  # fmt: skip
    cached = (read or 0) + (write or 0)
    known = read is not None or write is not None
    whole = prompt if cached <= prompt else prompt + cached
    return Usage(
        prompt=whole,
        uncached=whole - cached if known else None,
        cache_read=(read or 0) if known else None,
        cache_write=(write or 0) if known else None,
        output=_figure(
            span, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
        ),
        reasoning=_figure(
            span, "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens",
            "gen_ai.usage.output_tokens.reasoning", "llm.token_count.completion_details.reasoning",
        ),
    )  # fmt: skip


def _figure(span: Span, *names: str) -> int | None:
    found = (span.attributes.get(name) for name in names)
    values = (int(one) if isinstance(one, str) and one.isdecimal() and len(one) < 13 else one for one in found)
    return next((figure for figure in map(count, values) if figure is not None), None)
