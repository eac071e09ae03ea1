"""The events of a Copilot CLI session: their types, and the parts of what is said in them.

Source: nodejs/src/generated/session-events.ts, https://github.com/github/copilot-sdk.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.media import media_part, readable
from ctxcli.formats.blocks.values import address_of, count, mapping, sequence, text
from ctxcli.model import Part, PartKind, Usage

BOOKS = frozenset({
    "abort", "assistant.idle", "assistant.intent", "assistant.message_delta", "assistant.message_start",
    "assistant.reasoning", "assistant.reasoning_delta", "assistant.server_tool_progress", "assistant.streaming_delta",
    "assistant.tool_call_delta", "assistant.turn_end", "assistant.turn_retry", "assistant.turn_start",
    "auto_mode.resolved", "auto_mode_switch.completed", "auto_mode_switch.requested", "capabilities.changed",
    "command.completed", "command.execute", "command.queued", "commands.changed", "elicitation.completed",
    "elicitation.requested", "exit_plan_mode.completed", "exit_plan_mode.requested", "external_tool.completed",
    "external_tool.requested", "hook.end", "hook.progress", "hook.start", "mcp.headers_refresh_completed",
    "mcp.headers_refresh_required", "mcp.oauth_completed", "mcp.oauth_required", "mcp.prompts.list_changed",
    "mcp.resources.list_changed", "mcp.tools.list_changed", "model.call_failure", "model.call_finished",
    "pending_messages.modified", "permission.completed", "permission.requested", "sampling.completed",
    "sampling.requested", "session.autopilot_objective_changed", "session.background_tasks_changed",
    "session.binary_asset", "session.checkpoint", "session.context_changed", "session.custom_agents_updated",
    "session.end", "session.error", "session.extensions_loaded", "session.handoff", "session.idle", "session.info",
    "session.limits_changed", "session.mcp_server_status_changed", "session.mcp_servers_loaded",
    "session.mode_changed", "session.mode_notice_delivered", "session.permissions_changed", "session.plan_changed",
    "session.remote_steerable_changed", "session.resume", "session.schedule_cancelled", "session.schedule_created",
    "session.schedule_rearmed", "session.skills_loaded", "session.task_complete", "session.title_changed",
    "session.todos_changed", "session.tools_updated", "session.usage_checkpoint", "session.warning",
    "session.workspace_file_changed", "skill.invoked", "subagent.configured", "subagent.deselected",
    "subagent.selected", "tool.execution_partial_result", "tool.execution_progress", "tool.execution_start",
    "tool.search_activated", "tool.user_requested", "user_input.completed", "user_input.requested",
})  # fmt: skip
"""What no model saw, or what another event holds in the form in which it was sent."""
_ENVELOPE = frozenset({"type", "data", "id", "timestamp"})


def is_event(value: Any, types: frozenset[str]) -> bool:
    """Whether a record is an event of one of these types, in its envelope."""
    return (
        isinstance(value, dict)
        and value.keys() >= _ENVELOPE
        and isinstance(value["data"], dict)
        and isinstance(value["type"], str)
        and (value["type"] in types or value["type"] in BOOKS)
    )


def answer_parts(data: Mapping[str, Any], line: int) -> Iterator[Part]:
    """What the model said: its thinking, its text and its calls. What is encrypted is no text."""
    sealed = bool(data.get("reasoningOpaque") or data.get("encryptedContent"))
    if thought := text(data.get("reasoningText")):
        yield Part(PartKind.THINKING, thought, line, signed=sealed)
    elif sealed:
        yield Part(PartKind.OPAQUE, "", line)
    if said := text(data.get("content")):
        yield Part(PartKind.TEXT, said, line)
    for request in sequence(data.get("toolRequests")):
        call = mapping(request)
        arguments = call.get("arguments")
        yield Part(
            PartKind.TOOL_CALL,
            "{}" if arguments is None else text(arguments),
            line,
            name=text(call.get("name") or call.get("toolName")),
            ref=text(call.get("toolCallId")),
            address=address_of(arguments),
        )


def result_parts(data: Mapping[str, Any], line: int) -> Iterator[Part]:
    """What a tool gave back, as the model saw it: `detailedContent` is for the screen."""
    ref, result = text(data.get("toolCallId")), data.get("result")
    failed = data.get("success") is False
    error = data.get("error")
    if isinstance(result, dict):
        said, media = readable(result.get("content"), line, ref=ref)
        for item in sequence(result.get("contents")):
            block = mapping(item)
            if text(block.get("type")) in ("image", "audio"):
                media.append(media_part(text(block.get("data")), text(block.get("mimeType")) or "image", line, ref=ref))
    else:
        said, media = readable(result, line, ref=ref)
    if not said and error is not None:
        said = text(mapping(error).get("message", error))
    yield Part(PartKind.TOOL_RESULT, said, line, ref=ref, failed=failed)
    yield from media


def attached(data: Mapping[str, Any], line: int) -> Iterator[Part]:
    """Images and files that went along as bytes; the others stand in the text that was sent."""
    for item in sequence(data.get("attachments")):
        blob = mapping(item)
        if blob.get("type") == "blob" and isinstance(blob.get("data"), str):
            yield media_part(blob["data"], text(blob.get("mimeType")), line)


def usage_of(data: Any) -> Usage | None:
    """A call's figures where a client wrote them down: what was read from the cache is among the input."""
    raw = mapping(data)
    sent = count(raw.get("inputTokens", raw.get("input")))
    read = count(raw.get("cacheReadTokens", raw.get("cachedInput")))
    write = count(raw.get("cacheWriteTokens"))
    output = count(raw.get("outputTokens", raw.get("output")))
    if sent is None:
        return Usage(output=output) if output is not None else None
    cached = (read or 0) + (write or 0)
    prompt = sent if cached <= sent else sent + cached
    known = read is not None or write is not None
    return Usage(
        prompt=prompt,
        uncached=prompt - cached if known else None,
        cache_read=(read or 0) if known else None,
        cache_write=(write or 0) if known else None,
        output=output,
        reasoning=count(raw.get("reasoningTokens")),
    )


def totals_note(metrics: Any) -> str:
    """What the client reported for the session as a whole, in a sentence; empty where it did not."""
    told = []
    for model, metric in mapping(metrics).items():
        usage = mapping(mapping(metric).get("usage"))
        sent, read, output = (count(usage.get(key)) for key in ("inputTokens", "cacheReadTokens", "outputTokens"))
        if sent is not None:
            cached = f" ({read:,} of them from the cache)" if read is not None else ""
            told.append(f"{sent:,} tokens sent{cached} and {output or 0:,} written by {model}")
    return f"At its last end the client reported for the whole session: {'; '.join(told)}." if told else ""
