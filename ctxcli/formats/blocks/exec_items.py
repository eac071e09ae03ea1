"""The items of `codex exec --json`: what the model saw of each.

Source of the shape: https://github.com/openai/codex, codex-rs/exec/src/exec_events.rs.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.media import media_part, readable
from ctxcli.formats.blocks.values import address_of, blocks, count, dump, mapping, text
from ctxcli.model import Part, PartKind

SAID = frozenset({"agent_message", "reasoning", "plan"})
"""Items that the model wrote."""
CALLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"})
"""Items that are a call and its result."""
_FAILED = ("failed", "declined")


def said_part(kind: str, item: Mapping[str, Any], line: int) -> Part:
    """What the model said; of its reasoning people see a summary, and the model what is encrypted."""
    if kind == "reasoning":
        return Part(PartKind.OPAQUE, "", line, name="reasoning")
    return Part(PartKind.TEXT, text(item.get("text")), line)


def call_part(kind: str, item: Mapping[str, Any], ref: str, line: int) -> Part:
    """The call of an item; of a change of files the paths are told, and not always the patch."""
    name, arguments = _arguments(kind, item)
    address = address_of({"paths": item.get("changes")} if kind == "file_change" else arguments)
    return Part(PartKind.TOOL_CALL, dump(arguments), line, name=name, ref=ref, address=address)


def _arguments(kind: str, item: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of a call, and what it was given."""
    if kind == "mcp_tool_call":
        given = item.get("arguments")
        return (
            f"mcp__{text(item.get('server'))}__{text(item.get('tool'))}",
            given if isinstance(given, dict) else {} if given is None else {"arguments": given},
        )
    keys = {
        "command_execution": ("command",),
        "file_change": ("changes",),
        "web_search": ("query", "action"),
        "collab_tool_call": ("prompt", "receiver_thread_ids"),
    }[kind]
    name = text(item.get("tool")) or kind if kind == "collab_tool_call" else kind
    return name, {key: item[key] for key in keys if item.get(key)}


def result_parts(kind: str, item: Mapping[str, Any], ref: str, line: int) -> Iterator[Part]:
    """What the model got back, as far as the item tells it."""
    failed = text(item.get("status")) in _FAILED or bool(count(item.get("exit_code")))
    said = ""
    media: list[Part] = []
    if kind == "command_execution":
        said = text(item.get("aggregated_output"))
    elif kind == "collab_tool_call":
        said = dump(item["agents_states"]) if item.get("agents_states") else ""
    elif kind == "mcp_tool_call":
        said, media = _mcp_result(item, ref, line)
        failed = failed or item.get("error") is not None
    yield Part(PartKind.TOOL_RESULT, said, line, ref=ref, failed=failed)
    yield from media


def _mcp_result(item: Mapping[str, Any], ref: str, line: int) -> tuple[str, list[Part]]:
    """What an MCP server answered: Codex sends the structured content alone where there is one."""
    result = mapping(item.get("result"))
    structured = result.get("structured_content")
    if structured is not None:
        return readable(structured, line, ref=ref)
    pieces: list[str] = []
    media: list[Part] = []
    for block in blocks(result.get("content")):
        type_ = mapping(block).get("type")
        if type_ == "text":
            pieces.append(text(block.get("text")))
        elif type_ in ("image", "audio"):
            media.append(media_part(text(block.get("data")), text(block.get("mimeType")) or type_, line, ref=ref))
        else:
            said, found = readable(block, line, ref=ref)
            pieces.append(said)
            media += found
    if not pieces:
        pieces.append(text(mapping(item.get("error")).get("message")))
    return "\n".join(pieces), media
