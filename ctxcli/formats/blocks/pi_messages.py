"""The messages of pi and its kin (openclaw, oh-my-pi): content blocks, roles and usage.

Source of the shapes: https://github.com/earendil-works/pi packages/coding-agent/docs/message-types.md and
packages/coding-agent/src/core/messages.ts; oh-my-pi's additions are in its docs/session.md.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.media import media_part
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.values import address_of, blocks, count, dump, mapping, sequence, text, total
from ctxcli.model import Part, PartKind, Role, Usage

_BLOCKS = frozenset({"text", "thinking", "toolCall", "image"})
ROLES = frozenset(
    {
        "user", "assistant", "toolResult", "bashExecution", "pythonExecution", "custom", "hookMessage", "branchSummary",
        "compactionSummary", "system", "developer", "fileMention",
    }
)  # fmt: skip
_RUNS = {"bashExecution": "command", "pythonExecution": "code"}
_SUMMARIES = frozenset({"branchSummary", "compactionSummary"})


def content_parts(content: Any, line: int, ref: str = "") -> Iterator[Part]:
    """The parts of a message's content: a string, or blocks. Signatures are left out."""
    for block in blocks(content):
        if not isinstance(block, dict):
            if block not in ("", None):
                yield Part(PartKind.TEXT, text(block), line)
        elif block.get("type") == "text":
            if block.get("text") not in ("", None):
                yield Part(PartKind.TEXT, text(block.get("text")), line)
        elif block.get("type") == "thinking":
            yield _thinking(block, line)
        elif block.get("type") == "toolCall":
            yield _call(block, line)
        elif block.get("type") == "image":
            yield _image(block, line, ref)


def unknown_in(content: Any) -> Iterator[str]:
    """The types of the blocks that `content_parts` gives nothing for."""
    for block in blocks(content):
        if isinstance(block, dict) and not (isinstance(block.get("type"), str) and block["type"] in _BLOCKS):
            yield f"block {text(block.get('type'))}"


def _thinking(block: Mapping[str, Any], line: int) -> Part:
    if block.get("redacted") is True:
        return Part(PartKind.OPAQUE, "", line)
    signed = bool(block.get("thinkingSignature"))
    return Part(PartKind.THINKING, text(block.get("thinking")), line, signed=signed)


def _call(block: Mapping[str, Any], line: int) -> Part:
    arguments = block.get("arguments")
    said = text(arguments) if arguments is not None else "{}"
    name, ref = text(block.get("name")), text(block.get("id"))
    return Part(PartKind.TOOL_CALL, said, line, name=name, ref=ref, address=address_of(arguments))


def _image(block: Mapping[str, Any], line: int, ref: str) -> Part:
    data = text(block.get("data"))
    stored_elsewhere = data.startswith("blob:")
    return media_part("" if stored_elsewhere else data, text(block.get("mimeType")) or "image", line, ref=ref)


def said_of(message: Mapping[str, Any], line: int) -> Said | None:
    """A message in neutral parts; None for a role that is not known."""
    role, content = text(message.get("role")), message.get("content")
    if role == "assistant":
        return Said(Role.ASSISTANT, tuple(content_parts(content, line)), line)
    if role == "toolResult":
        return Said(Role.TOOL, tuple(_result(message, line)), line)
    if role == "system":
        return Said(Role.SYSTEM, tuple(_system(message, line)), line, harness=True)
    if role in _RUNS:
        return Said(Role.USER, tuple(_run(message, text(message.get(_RUNS[role])), line)), line, harness=True)
    if role in _SUMMARIES:
        summary = (Part(PartKind.SUMMARY, text(message.get("summary")), line),)
        return Said(Role.USER, summary, line, harness=True)
    if role == "fileMention":
        return Said(Role.USER, tuple(_files(message.get("files"), line)), line, harness=True)
    if role in ROLES:
        return Said(Role.USER, tuple(content_parts(content, line)), line, harness=role != "user")
    return None


def _result(message: Mapping[str, Any], line: int) -> Iterator[Part]:
    """A tool's answer as one text, and the images in it; `details` is the client's."""
    ref = text(message.get("toolCallId"))
    parts = list(content_parts(message.get("content"), line, ref))
    said = "\n".join(part.text for part in parts if part.media is None)
    failed = message.get("isError") is True
    yield Part(PartKind.TOOL_RESULT, said, line, name=text(message.get("toolName")), ref=ref, failed=failed)
    yield from (part for part in parts if part.media is not None)


def _system(message: Mapping[str, Any], line: int) -> Iterator[Part]:
    yield from content_parts(message.get("content"), line)
    for section in mapping(message.get("sections")).values():
        yield from content_parts(section, line)
    for tool in sequence(message.get("toolsAdded")):
        yield Part(PartKind.TOOLS, dump(tool), line, name=text(mapping(tool).get("name")))


def _run(message: Mapping[str, Any], command: str, line: int) -> Iterator[Part]:
    """What the user ran by himself, as the client tells it to the model."""
    yield Part(PartKind.TEXT, f"Ran `{command}`", line)
    output = text(message.get("output"))
    yield Part(PartKind.DOCUMENT, output or "(no output)", line, address=address_of({"command": command}))
    code = message.get("exitCode")
    if message.get("cancelled") is True:
        yield Part(PartKind.TEXT, "(command cancelled)", line)
    elif isinstance(code, int) and code:
        yield Part(PartKind.TEXT, f"Command exited with code {code}", line)
    if message.get("truncated") is True and message.get("fullOutputPath"):
        yield Part(PartKind.TEXT, f"[Output truncated. Full output: {text(message['fullOutputPath'])}]", line)


def _files(files: Any, line: int) -> Iterator[Part]:
    for file in sequence(files):
        raw = mapping(file)
        yield Part(PartKind.DOCUMENT, text(raw.get("content")), line, address=text(raw.get("path")))
        if image := mapping(raw.get("image")):
            yield _image(image, line, "")


def usage_of(value: Any) -> Usage | None:
    """Usage of one answer: input, cache reads and cache writes are disjoint; None where all of them are 0."""
    raw = mapping(value)
    uncached, read, write = (count(raw.get(key)) for key in ("input", "cacheRead", "cacheWrite"))
    prompt = total(uncached, read, write)
    if not prompt:
        return None
    output, reasoning = count(raw.get("output")), count(raw.get("reasoning"))
    return Usage(prompt, uncached, read, write, output, reasoning)
