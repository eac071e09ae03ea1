"""LangChain messages as they are dumped: three forms of one message, content blocks of any provider, usage.

Source of the shapes: langchain_core/messages and langchain_core/load of
https://github.com/langchain-ai/langchain, whose standard blocks stand beside the providers' own.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks import anthropic, openai
from ctxcli.formats.blocks.media import media_part, readable
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.synthetic import told_by_ctx
from ctxcli.formats.blocks.values import address_of, blocks, count, dump, mapping, most, sequence, text, total
from ctxcli.model import Part, PartKind, Role, Usage

_ROLES = {
    "human": Role.USER, "user": Role.USER, "ai": Role.ASSISTANT, "assistant": Role.ASSISTANT, "system": Role.SYSTEM,
    "developer": Role.SYSTEM, "tool": Role.TOOL, "function": Role.TOOL,
}  # fmt: skip
TYPES = frozenset({"human", "ai", "system", "tool", "function", "chat", "remove"})
"""The types of message; a chat message names a role of its own."""
_CALLS = frozenset({"tool_call", "tool_call_chunk", "server_tool_call", "invalid_tool_call", "function_call"})
_ANTHROPIC = anthropic.MARKS | {"mcp_tool_use", "document", "search_result"}
_MEDIA = frozenset({"image", "audio", "video", "file", "media"})


def unwrapped(value: Any) -> tuple[str, Mapping[str, Any]] | None:
    """The type and the fields of a dumped message, whatever its form; None for what is no message."""
    raw = mapping(value)
    if "lc" in raw and isinstance(raw.get("id"), list):
        name = text(raw["id"][-1]) if raw["id"] else ""
        fields = mapping(raw.get("kwargs"))
        return _plain(name) if "Message" in name else name or text(raw.get("type")), fields
    kind = raw.get("type")
    if not isinstance(kind, str) or not kind:
        return None
    fields = raw.get("data", raw)
    return (_plain(kind), fields) if isinstance(fields, dict) else None


def _plain(name: str) -> str:
    """The type that a class's name says: HumanMessage and HumanMessageChunk are human."""
    stem = name.removesuffix("Chunk")
    return stem.removesuffix("Message").lower() if stem.endswith("Message") else name


def said(kind: str, fields: Mapping[str, Any], line: int) -> Said:
    """A message in neutral parts; one that stands for a summarised history is a summary of its client."""
    role = _ROLES.get(text(fields.get("role")) if kind == "chat" else kind, Role.USER)
    if text(mapping(fields.get("additional_kwargs")).get("__openai_role__")) == "developer":
        role = Role.SYSTEM
    parts = tuple(_result(fields, line) if role is Role.TOOL else _parts(fields, line))
    results = [part for part in parts if part.kind is PartKind.TOOL_RESULT]
    if results and role is Role.USER and all(part.media or part.kind is PartKind.TOOL_RESULT for part in parts):
        role = Role.TOOL
    if is_summary(fields):
        return Said(role, tuple(map(_summed, parts)), line, harness=True)
    told, ours = told_by_ctx(role, parts)
    return Said(role, told, line, ours)


def is_summary(fields: Mapping[str, Any]) -> bool:
    """Whether the summarization middleware wrote it in the place of the messages before."""
    return mapping(fields.get("additional_kwargs")).get("lc_source") == "summarization"


def _summed(part: Part) -> Part:
    return Part(PartKind.SUMMARY, part.text, part.line) if part.kind is PartKind.TEXT else part


def _result(fields: Mapping[str, Any], line: int) -> Iterator[Part]:
    """A tool's answer; `artifact` never reaches the model."""
    name = text(fields.get("name"))
    ref = text(fields.get("tool_call_id")) or name
    yield from result_parts(fields.get("content"), line, ref, name, failed=fields.get("status") == "error")


def result_parts(content: Any, line: int, ref: str, name: str = "", *, failed: bool = False) -> Iterator[Part]:
    """A tool's answer as one text, and the media in it."""
    inside = tuple(content_parts(content, line))
    body = "\n".join(part.text for part in inside if part.media is None)
    yield Part(PartKind.TOOL_RESULT, body, line, name=name, ref=ref, failed=failed)
    for part in inside:
        if part.media is not None:
            yield Part(PartKind.MEDIA, "", line, name=name, ref=ref, address=part.address, media=part.media)


def _parts(fields: Mapping[str, Any], line: int) -> Iterator[Part]:
    """What a message says, its thinking first; calls that stand in the content and in `tool_calls` once."""
    extra = mapping(fields.get("additional_kwargs"))
    thinking = extra.get("reasoning_content") or fields.get("reasoning_content")
    if isinstance(thinking, str):
        yield Part(PartKind.THINKING, thinking, line)
    listed = [*sequence(fields.get("tool_calls")), *sequence(fields.get("invalid_tool_calls"))]
    calls = [call_part(call, line) for call in map(mapping, listed) if call]
    refs = {call.ref for call in calls}
    for part in content_parts(fields.get("content"), line):
        calls_again = part.kind is PartKind.TOOL_CALL and (part.ref in refs or (not part.ref and calls))
        if not calls_again:
            refs.add(part.ref)
            yield part
    yield from calls
    if not calls:
        native = {key: extra.get(key) or fields.get(key) for key in ("tool_calls", "function_call")}
        for _, pieces in openai.message_pieces(native, line):
            yield from (part for part in pieces if part.ref not in refs)


def call_part(call: Mapping[str, Any], line: int) -> Part:
    """A tool call: `{name, args, id}`, or OpenAI's `{function: {name, arguments}}`."""
    raw = mapping(call.get("function")) or call
    arguments = _first(raw, "args", "arguments", "input")
    return Part(
        PartKind.TOOL_CALL,
        text(arguments) or "{}",
        line,
        name=text(raw.get("name")),
        ref=text(call.get("call_id") or call.get("id")),
        address=address_of(arguments),
    )


def tool_parts(tools: Any, line: int) -> Iterator[Part]:
    """Tool definitions of any API."""
    for tool in sequence(tools):
        function = mapping(mapping(tool).get("function")) or mapping(tool)
        yield Part(PartKind.TOOLS, dump(tool), line, name=text(function.get("name")))


def content_parts(content: Any, line: int) -> Iterator[Part]:
    """The parts of a content: a string, or blocks of Anthropic, OpenAI, Google or LangChain's own."""
    for block in blocks(content):
        if isinstance(block, dict):
            yield from _block(block, line)
        elif block not in ("", None):
            yield Part(PartKind.TEXT, text(block), line)


def _block(block: dict[str, Any], line: int) -> Iterator[Part]:
    kind = text(block.get("type"))
    if kind in _CALLS:
        yield call_part(block, line)
    elif kind == "server_tool_result":
        said_, media = readable(block.get("output"), line)
        ref = text(block.get("tool_call_id"))
        yield Part(PartKind.TOOL_RESULT, said_, line, ref=ref, failed=block.get("status") == "error")
        yield from media
    elif (
        kind in _ANTHROPIC
        or kind.endswith("_tool_result")
        or (kind in _MEDIA and isinstance(block.get("source"), dict))
    ):
        yield from anthropic.parts_of([block], line)
    elif kind == "reasoning":
        yield _reasoning(block, line)
    elif kind == "text-plain":
        yield Part(PartKind.DOCUMENT, text(block.get("text")), line, address=text(block.get("title")))
    elif kind in _MEDIA and not {"image", "image_url"} & block.keys() and not isinstance(block.get("file"), dict):
        yield _media(block, kind, line)
    elif kind == "non_standard":
        said_, media = readable(block.get("value"), line)
        yield Part(PartKind.TEXT, said_, line)
        yield from media
    else:
        yield from openai.content_parts([block], line)


def _is_anthropic(block: Mapping[str, Any], kind: str) -> bool:
    """Whether a block is one of the Messages API."""
    sourced = kind in _MEDIA and isinstance(block.get("source"), dict)
    return sourced or kind in _ANTHROPIC or kind.endswith("_tool_result")


def _first(raw: Mapping[str, Any], *keys: str) -> Any:
    """The first of these fields that holds anything."""
    return next((raw[key] for key in keys if raw.get(key) not in (None, "")), None)


def _reasoning(block: Mapping[str, Any], line: int) -> Part:
    """Thinking, in LangChain's form or OpenAI's; opaque where only the encrypted form is kept."""
    said_ = _first(block, "reasoning", "text", "content")
    body = said_ if isinstance(said_, str) else openai.plain(sequence(block.get("summary")))
    if not body and block.get("encrypted_content"):
        return Part(PartKind.OPAQUE, "", line)
    signed = bool(mapping(block["extras"]).get("signature")) if "extras" in block else None
    return Part(PartKind.THINKING, body, line, signed=signed)


def _media(block: Mapping[str, Any], kind: str, line: int) -> Part:
    data = text(_first(block, "base64", "data", "url", "file_data", "file_uri"))
    type_ = _first(block, "mime_type", "mimeType") or ("application/octet-stream" if kind == "media" else kind)
    return media_part(data, text(type_), line)


def usage_of(fields: Mapping[str, Any]) -> Usage | None:
    """What an answer took: LangChain's own figures, else the provider's copy of them; never both."""
    found = metadata_usage(fields.get("usage_metadata"))
    about = mapping(fields.get("response_metadata"))
    return found or native_usage(about.get("token_usage")) or native_usage(about.get("usage"))


def metadata_usage(value: Any) -> Usage | None:
    """`usage_metadata`: the prompt is whole, what the cache read and wrote is in it, reasoning is in the output."""
    raw = mapping(value)
    prompt = count(raw.get("input_tokens"))
    if not prompt:
        return None
    inside, outside = mapping(raw.get("input_token_details")), mapping(raw.get("output_token_details"))
    read = count(inside.get("cache_read"))
    # langchain-anthropic sets the sum to 0 where it tells the writes apart by how long they are kept
    short, hourly = (count(inside.get(f"ephemeral_{kept}_input_tokens")) for kept in ("5m", "1h"))
    write = most(count(inside.get("cache_creation")), total(short, hourly))
    known = read is not None or write is not None
    return Usage(
        prompt=prompt,
        uncached=max(0, prompt - (read or 0) - (write or 0)) if known else None,
        cache_read=(read or 0) if known else None,
        cache_write=(write or 0) if known else None,
        cache_write_1h=hourly,
        output=count(raw.get("output_tokens")),
        reasoning=count(outside.get("reasoning")),
    )


def native_usage(value: Any) -> Usage | None:
    """A provider's own usage object, whose keys say whose it is."""
    raw = mapping(value)
    if "cache_read_input_tokens" in raw or "cache_creation_input_tokens" in raw:
        return anthropic.usage_of(raw)
    return openai.usage_of(raw) if raw.get("prompt_tokens") or raw.get("input_tokens") else None


def model_of(fields: Mapping[str, Any]) -> str:
    """The model that wrote an answer."""
    about = mapping(fields.get("response_metadata"))
    return text(about.get("model_name") or about.get("model"))


def provider_of(named: str, model: str = "") -> str:
    """Whose rules a provider's or a model's name stands for; empty where it is none of those known."""
    names = f"{named} {model}".lower()
    if "anthropic" in names or "claude" in names:
        return "anthropic"
    if "openai" in names or "azure" in names or "gpt-" in names:
        return "openai"
    return "google" if any(name in names for name in ("google", "gemini", "vertex", "gcp")) else ""
