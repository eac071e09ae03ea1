"""The parts of messages of the Vercel AI SDK: what of a UI message a model sees, and what a model message holds.

Sources: https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message and /model-message; `convertToModelMessages` in
packages/ai/src/ui of https://github.com/vercel/ai, and `convertToCoreMessages` of its version 4.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.media import media_part, readable
from ctxcli.formats.blocks.values import address_of, blocks, count, mapping, sequence, text
from ctxcli.model import Part, PartKind, Usage

_BOOKS = ("source", "source-url", "source-document", "tool-approval-request", "tool-approval-response")
"""Parts that the SDK shows and does not send."""
_REASONING = ("reasoning", "redacted-reasoning")
_MEDIA = ("file", "image", "media", "image-data", "file-data", "image-url", "file-url")
_WITH_RESULT = ("output-available", "output-error", "output-denied", "result")


@dataclass(slots=True)
class Step:
    """What one model call said, and the results of the tools that it called."""

    said: list[Part] = field(default_factory=list)
    results: list[Part] = field(default_factory=list)
    books: list[str] = field(default_factory=list)
    """Types of parts that are only shown."""
    unknown: list[str] = field(default_factory=list)


def is_tool(kind: str) -> bool:
    """Whether a part of a UI message is a tool's call with its result."""
    return kind in ("tool-invocation", "dynamic-tool") or (
        kind.startswith("tool-") and kind not in ("tool-call", "tool-result", *_BOOKS)
    )


def steps_of(parts: list[Any], line: int) -> list[Step]:
    """The model calls that a message of the assistant holds: a step-start begins one."""
    steps = [Step()]
    for part in parts:
        if mapping(part).get("type") == "step-start":
            steps.append(Step())
        else:
            take(part, steps[-1], line)
    return [step for step in steps if step.said or step.results or step.books or step.unknown]


def take(value: Any, step: Step, line: int) -> None:
    """One part of a message of either kind."""
    raw = mapping(value)
    kind = text(raw.get("type"))
    if isinstance(value, str):
        step.said += [Part(PartKind.TEXT, value, line)] if value else []
    elif kind == "text":
        step.said += [Part(PartKind.TEXT, text(raw["text"]), line)] if raw.get("text") else []
    elif kind in _REASONING:
        step.said.append(_reasoning(raw, kind, line))
    elif kind in _MEDIA:
        step.said.append(_media(raw, line))
    elif kind == "tool-call":
        step.said.append(_call(raw, line))
    elif kind == "tool-result":
        step.results += _model_result(raw, line)
    elif is_tool(kind):
        _tool(raw, kind, step, line)
    elif kind in _BOOKS or kind.startswith("data-"):
        step.books.append("part data" if kind.startswith("data-") else f"part {kind}")
    else:
        step.unknown.append(f"part {kind or type(value).__name__}")


def _reasoning(raw: Mapping[str, Any], kind: str, line: int) -> Part:
    if kind == "redacted-reasoning":
        return Part(PartKind.OPAQUE, "", line)
    about = mapping(raw.get("providerMetadata")) or mapping(raw.get("providerOptions"))
    marks = [mapping(one) for one in (*about.values(), *sequence(raw.get("details")))]
    signed = any(mark.get("signature") or mark.get("thoughtSignature") for mark in marks)
    return Part(PartKind.THINKING, text(raw.get("text") or raw.get("reasoning")), line, signed=signed)


def _media(raw: Mapping[str, Any], line: int, ref: str = "", name: str = "") -> Part:
    found = (raw.get(key) for key in ("url", "data", "image"))
    data = next((value for value in found if isinstance(value, str) and value), "")
    type_ = text(raw.get("mediaType") or raw.get("mimeType") or raw.get("contentType"))
    type_ = type_ or ("image" if "image" in text(raw.get("type")) else "file")
    return media_part(data, type_, line, ref=ref, name=name)


def attachments(values: Any, line: int) -> Iterator[Part]:
    """`experimental_attachments` of version 4."""
    return (_media(mapping(one), line) for one in sequence(values) if isinstance(one, dict))


def _call(raw: Mapping[str, Any], line: int, name: str = "") -> Part:
    found = (raw.get(key) for key in ("input", "args", "rawInput"))
    arguments: Any = next((value for value in found if value is not None), {})
    said, _ = readable(arguments, line)
    return Part(
        PartKind.TOOL_CALL,
        said,
        line,
        name=name or text(raw.get("toolName")),
        ref=text(raw.get("toolCallId")),
        address=address_of(arguments),
    )


def _tool(raw: Mapping[str, Any], kind: str, step: Step, line: int) -> None:
    """Call and result in one part; a call that is still streaming is not sent."""
    inside = mapping(raw.get("toolInvocation")) if kind == "tool-invocation" else raw
    state = text(inside.get("state"))
    if state in ("input-streaming", "partial-call"):
        step.books.append("part of a call that is not whole")
        return
    name = text(inside.get("toolName")) or kind.removeprefix("tool-")
    call = _call(inside, line, name)
    step.said.append(call)
    if state in _WITH_RESULT:
        place = step.said if inside.get("providerExecuted") is True else step.results
        place += _ui_result(inside, state, call.ref, name, line)


def invocation(raw: Mapping[str, Any], step: Step, line: int) -> None:
    """One of `toolInvocations` of version 4."""
    _tool({"toolInvocation": raw}, "tool-invocation", step, line)


def _ui_result(raw: Mapping[str, Any], state: str, ref: str, name: str, line: int) -> Iterator[Part]:
    if state == "output-denied":
        reason = text(mapping(raw.get("approval")).get("reason")) or "Tool execution denied."
        yield Part(PartKind.TOOL_RESULT, reason, line, name=name, ref=ref, failed=True)
        return
    failed = state == "output-error"
    body, media = readable(raw.get("errorText") if failed else raw.get("output", raw.get("result")), line, ref=ref)
    yield Part(PartKind.TOOL_RESULT, body, line, name=name, ref=ref, failed=failed)
    yield from media


def _model_result(raw: Mapping[str, Any], line: int) -> Iterator[Part]:
    """A result in a model message: `output` with a type of its own, or `result` of version 4."""
    ref, name = text(raw.get("toolCallId")), text(raw.get("toolName"))
    output = mapping(raw.get("output"))
    kind = text(output.get("type"))
    failed = raw.get("isError") is True or kind.startswith("error") or kind == "execution-denied"
    value = output.get("reason", output.get("value")) if kind else raw.get("output", raw.get("result"))
    inside = Step()
    if kind == "content" or (not kind and isinstance(raw.get("experimental_content"), list)):
        for piece in blocks(value if kind else raw.get("experimental_content")):
            take(piece, inside, line)
        value = "\n".join(part.text for part in inside.said if part.media is None)
    body, media = readable(value, line, ref=ref)
    yield Part(PartKind.TOOL_RESULT, body, line, name=name, ref=ref, failed=failed)
    yield from media
    for part in inside.said:
        if part.media is not None:
            yield Part(PartKind.MEDIA, "", line, name=name, ref=ref, address=part.address, media=part.media)


def usage_of(metadata: Any) -> Usage | None:
    """What an application put into a message's metadata; cached tokens are in the input where they fit in it."""
    about = mapping(metadata)
    found = (mapping(about.get(key)) for key in ("usage", "totalUsage", "tokenUsage"))
    raw = next((one for one in found if one), about)
    prompt = count(raw.get("inputTokens", raw.get("promptTokens")))
    if not prompt:
        return None
    inside, outside = mapping(raw.get("inputTokenDetails")), mapping(raw.get("outputTokenDetails"))
    read = count(inside.get("cacheReadTokens", raw.get("cachedInputTokens")))
    write = count(inside.get("cacheWriteTokens")) or 0
    cached = (read or 0) + write
    whole = prompt if cached <= prompt else prompt + cached
    return Usage(
        prompt=whole,
        uncached=None if read is None else whole - cached,
        cache_read=read,
        cache_write=None if read is None else write,
        output=count(raw.get("outputTokens", raw.get("completionTokens"))),
        reasoning=count(outside.get("reasoningTokens", raw.get("reasoningTokens"))),
    )
