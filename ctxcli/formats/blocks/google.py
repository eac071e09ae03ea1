"""The content and usage shapes of Google's Gen AI API: Content, Part, usageMetadata.

Gemini CLI and Qwen Code store them in camel case, ADK in snake case too, with null for what a part
is not. Source of the shapes: https://ai.google.dev/api/caching#Content and
https://ai.google.dev/api/generate-content#UsageMetadata.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ctxcli.formats.blocks.media import media_part, readable
from ctxcli.formats.blocks.values import address_of, blocks, count, dump, mapping, sequence, text, total
from ctxcli.model import Part, PartKind, Role, Usage

_ROLES = {
    "model": Role.ASSISTANT, "assistant": Role.ASSISTANT, "user": Role.USER, "system": Role.SYSTEM,
    "function": Role.TOOL, "tool": Role.TOOL,
}  # fmt: skip
_KINDS = (
    "text", "thought", "inlineData", "fileData", "functionCall", "functionResponse", "toolCall", "toolResponse",
    "executableCode", "codeExecutionResult",
)  # fmt: skip
_BESIDE = ("thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata")
"""What stands beside the text or the data of a part and says nothing by itself."""
_PLAIN_KEYS = ("output", "result", "error")
"""The key of an answer that is only a string: the wrapping is the client's."""
CODE = "code_execution"
"""The name under which code that the provider runs for the model is a tool."""


@cache
def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name)


def field(value: Any, name: str) -> Any:
    """A field under its name in camel case, else in snake case; None where neither holds anything."""
    found = mapping(value).get(name)
    return found if found is not None else mapping(value).get(_snake(name))


def is_content(value: Any) -> bool:
    """Whether a value is a Content: a role of this API's own and a list of parts."""
    return isinstance(value, dict) and value.get("role") in ("user", "model") and isinstance(value.get("parts"), list)


def role_of(content: Any, parts: Sequence[Part]) -> Role:
    """Who speaks: the user's name stands over tool results too."""
    results = [part for part in parts if part.kind is PartKind.TOOL_RESULT]
    if results and all(part.kind is PartKind.TOOL_RESULT or (part.media and part.ref) for part in parts):
        return Role.TOOL
    role = mapping(content).get("role")
    return _ROLES.get(role, Role.USER) if isinstance(role, str) else Role.USER


def parts_of(content: Any, line: int) -> Iterator[Part]:
    """The parts of a Content's `parts`: a string, one part, or a list of either. Signatures are left out."""
    for piece in blocks(content):
        if isinstance(piece, dict):
            yield from _piece(piece, line)
        elif piece not in ("", None):
            yield Part(PartKind.TEXT, text(piece), line)


def unknown_in(content: Any) -> Iterator[str]:
    """The fields of each part that is none of the known kinds: `parts_of` gives nothing for it."""
    for piece in blocks(content):
        if isinstance(piece, dict) and all(field(piece, kind) is None for kind in _KINDS):
            beside = {*_BESIDE, *map(_snake, _BESIDE)}
            names = [str(key) for key, value in piece.items() if value is not None and key not in beside]
            if names:
                yield "part " + "+".join(sorted(names))


def _piece(piece: dict[str, Any], line: int) -> Iterator[Part]:
    thought, said = piece.get("thought"), text(piece.get("text"))
    if thought:
        signed = bool(field(piece, "thoughtSignature"))
        yield Part(PartKind.THINKING, said or (thought if isinstance(thought, str) else ""), line, signed=signed)
    elif said:
        yield Part(PartKind.TEXT, said, line)
    for name in ("inlineData", "fileData"):
        if data := mapping(field(piece, name)):
            yield _media(data, line)
    for name in ("functionCall", "toolCall"):
        if called := field(piece, name):
            yield call_part(called, line)
    for name in ("functionResponse", "toolResponse"):
        if given := field(piece, name):
            yield from response_parts(given, line)
    yield from _code_run(piece, line)


def _code_run(piece: dict[str, Any], line: int) -> Iterator[Part]:
    """Code that the provider runs for the model, and what it printed."""
    if code := field(piece, "executableCode"):
        said, _ = readable(code, line)
        yield Part(PartKind.TOOL_CALL, said, line, name=CODE, ref=text(mapping(code).get("id")), address=CODE)
    if given := field(piece, "codeExecutionResult"):
        raw = mapping(given)
        failed = text(raw.get("outcome")) not in ("OUTCOME_OK", "")
        ref = text(raw.get("id"))
        yield Part(PartKind.TOOL_RESULT, text(raw.get("output")), line, name=CODE, ref=ref, failed=failed)


def call_part(called: Any, line: int) -> Part:
    """A function call: its arguments as JSON text."""
    raw = mapping(called)
    arguments = raw.get("args")
    return Part(
        PartKind.TOOL_CALL,
        text(arguments) if arguments is not None else "{}",
        line,
        name=text(raw.get("name") or field(raw, "toolType")),
        ref=text(raw.get("id")),
        address=address_of(arguments),
    )


def response_parts(given: Any, line: int, ref: str = "") -> Iterator[Part]:
    """A function's answer, and the media that came with it; under the id of its call, or the one given.

    An answer `{"output": "…"}`, `{"result": "…"}` or `{"error": "…"}` is the string in it.
    """
    raw = mapping(given)
    ref = text(raw.get("id")) or ref
    name = text(raw.get("name") or field(raw, "toolType"))
    answer, pieces = raw.get("response"), sequence(raw.get("parts"))
    key = next(iter(answer)) if isinstance(answer, dict) and len(answer) == 1 else ""
    plain = mapping(answer).get(key) if key in _PLAIN_KEYS else answer
    said, media = readable(plain, line, ref=ref)
    texts = [said, *(part.text for part in parts_of(pieces, line) if part.kind is PartKind.TEXT)]
    body = "\n".join(filter(None, texts))
    yield Part(PartKind.TOOL_RESULT, body, line, name=name, ref=ref, failed=key == "error" and bool(plain))
    yield from media
    for piece in pieces:
        data = mapping(field(piece, "inlineData") or field(piece, "fileData"))
        if data:
            yield _media(data, line, ref=ref, name=name)


def _media(data: Mapping[str, Any], line: int, *, ref: str = "", name: str = "") -> Part:
    source = data.get("data") or field(data, "fileUri") or ""
    return media_part(text(source), text(field(data, "mimeType")) or "file", line, ref=ref, name=name)


def tool_parts(tools: Any, line: int) -> Iterator[Part]:
    """Tool definitions: a list of `{functionDeclarations: […]}`, of declarations, or of names."""
    for tool in sequence(tools):
        declared = field(tool, "functionDeclarations")
        for one in declared if isinstance(declared, list) else [tool]:
            name = one if isinstance(one, str) else text(mapping(one).get("name"))
            yield Part(PartKind.TOOLS, one if isinstance(one, str) else dump(one), line, name=name)


def usage_of(metadata: Any) -> Usage | None:
    """What a call took, from `usageMetadata`; see `usage`."""
    return usage(
        field(metadata, "promptTokenCount"),
        field(metadata, "candidatesTokenCount"),
        field(metadata, "cachedContentTokenCount"),
        field(metadata, "thoughtsTokenCount"),
        field(metadata, "toolUsePromptTokenCount"),
        field(metadata, "totalTokenCount"),
    )


def usage(prompt: Any, output: Any, cached: Any, thoughts: Any, tool: Any, whole: Any) -> Usage | None:
    """What a call took; None where the stream ended before the provider said so (no prompt at all).

    Cached tokens are in the prompt, those of the provider's own tools beside it. Thoughts are beside the output,
    but in it where the total shows so: clients in front of another API fill in the figures of that API.
    """
    sent, told, read = count(prompt), count(output), count(cached)
    if not sent:
        return None
    thinking, beside, summed = count(thoughts), count(tool) or 0, count(whole)
    inside = bool(thinking and told and summed and sent + told + beside >= summed)
    sent += beside
    return Usage(
        prompt=sent,
        uncached=None if read is None else max(0, sent - read),
        cache_read=read,
        cache_write=None if read is None else 0,
        output=told if inside else total(told, thinking),
        reasoning=thinking,
    )
