"""A message of the OpenTelemetry GenAI conventions: a role and typed parts.

Source: https://github.com/open-telemetry/semantic-conventions/blob/v1.37.0/docs/gen-ai/gen-ai-input-messages.json;
a `compaction` part is newer (https://github.com/open-telemetry/semantic-conventions-genai).
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ctxcli.formats.blocks.langchain import call_part, content_parts, result_parts, said
from ctxcli.formats.blocks.media import media_part, readable
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.synthetic import told_by_ctx
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.model import COMPACTION, Part, PartKind, Role

_CALLS = frozenset({"tool_call", "server_tool_call"})
_RESULTS = frozenset({"tool_call_response", "server_tool_call_response"})
_ROLES = {
    "system": Role.SYSTEM, "developer": Role.SYSTEM, "assistant": Role.ASSISTANT, "model": Role.ASSISTANT,
    "tool": Role.TOOL,
}  # fmt: skip


def decoded(value: Any) -> Any:
    """JSON text as what it says; other text as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def message_of(value: Any, role: str, line: int, unknown: list[str]) -> Said:
    """A message of the current convention, or one with a `content`."""
    raw = value if isinstance(value, dict) else {"content": value}
    if not isinstance(raw.get("parts"), list):
        return said("chat", {"role": role, **raw}, line)
    parts = tuple(parts_of(raw["parts"], line, unknown))
    speaker = _ROLES.get(text(raw.get("role") or role), Role.USER)
    results = [part for part in parts if part.kind is PartKind.TOOL_RESULT]
    if results and all(part.kind is PartKind.TOOL_RESULT or part.ref for part in parts):
        speaker = Role.TOOL
    told, ours = told_by_ctx(speaker, parts)
    return Said(speaker, told, line, ours or any(part.sums_up for part in told))


def parts_of(values: Sequence[Any], line: int, unknown: list[str]) -> Iterator[Part]:
    """The parts of a message; types that are not known are added to those unknown."""
    for value in values:
        raw = mapping(value)
        kind = text(raw.get("type"))
        if not raw:
            yield from content_parts(value, line)
        elif kind in ("text", "reasoning") and isinstance(raw.get("content", ""), str):
            body = text(raw.get("content") or raw.get("text"))
            if body:
                yield Part(PartKind.TEXT if kind == "text" else PartKind.THINKING, body, line)
        elif kind in _CALLS:
            inside = raw.get("server_tool_call")
            yield call_part({**raw, "arguments": raw.get("arguments", inside)}, line)
        elif kind in _RESULTS:
            answer = next((raw[key] for key in ("response", "result", "server_tool_call_response") if key in raw), None)
            yield from tool_answer(answer, line, text(raw.get("id")))
        elif kind == "compaction":
            body = text(raw.get("content") or raw.get("summary"))
            yield Part(PartKind.SUMMARY, body, line) if body else Part(PartKind.OPAQUE, "", line, name=COMPACTION)
        elif kind in ("blob", "uri", "file"):
            data = text(raw.get("content") or raw.get("data") or raw.get("uri"))
            yield media_part(data, text(raw.get("mime_type") or raw.get("modality")), line)
        else:
            unknown.append(f"part {kind or '+'.join(sorted(map(str, raw)))}")


def tool_answer(answer: Any, line: int, ref: str) -> Iterator[Part]:
    """A tool's answer: a text, content blocks, or a value that the model sees as JSON."""
    typed = isinstance(answer, list) and bool(answer) and all("type" in mapping(one) for one in answer)
    if typed or not isinstance(answer, (dict, list)):
        yield from result_parts(answer, line, ref)
        return
    body, media = readable(answer, line, ref=ref)
    yield Part(PartKind.TOOL_RESULT, body, line, ref=ref)
    yield from media
