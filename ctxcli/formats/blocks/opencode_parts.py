"""The parts of opencode's messages in neutral form, as the model is sent them.

Source: `toModelMessages` of packages/opencode/src/session/message-v2.ts and `getUsage` of session.ts,
https://github.com/anomalyco/opencode.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.media import media_part
from ctxcli.formats.blocks.moments import number
from ctxcli.formats.blocks.opencode_store import Stored
from ctxcli.formats.blocks.values import address_of, count, mapping, sequence, text
from ctxcli.model import Part, PartKind, Usage

ASKED = "What did we do so far?"
"""What the model is sent in the place of a compaction mark."""
_RAN = "The following tool was executed by the user"
_INTERRUPTED = "[Tool execution was interrupted]"
_READ_AS_TEXT = frozenset({"text/plain", "application/x-directory"})
"""Files whose content stands in text parts beside them."""
_BOOKS = frozenset({"step-start", "step-finish", "snapshot", "patch", "agent", "retry"})


@dataclass(slots=True)
class Step:
    """One call of the model: what it said, what its tools gave back, what it used."""

    said: list[Part] = field(default_factory=list)
    results: list[Part] = field(default_factory=list)
    cleared: dict[str, float] = field(default_factory=dict)
    """By call id: when a result was cleared, in milliseconds."""
    finish: Mapping[str, Any] | None = None
    spawned: dict[str, str] = field(default_factory=dict)
    """By the id of a session that a tool started: the call's id."""


def of_user(stored: Stored, draft: Draft) -> list[tuple[bool, list[Part]]]:
    """What went to the model under the user's name, in runs: (written by the client, parts)."""
    runs: list[tuple[bool, list[Part]]] = []
    for part, line in stored.in_order():
        ours = bool(part.get("synthetic")) or part.get("type") in ("compaction", "subtask")
        for found in _user_part(part, line, draft):
            if not runs or (runs[-1][0] != ours and found.media is None):
                runs.append((ours, []))
            runs[-1][1].append(found)
    return runs


def _user_part(part: Mapping[str, Any], line: int, draft: Draft) -> Iterator[Part]:
    kind = text(part.get("type"))
    if kind == "text" and not part.get("ignored"):
        yield Part(PartKind.TEXT, text(part.get("text")), line)
    elif kind == "file" and text(part.get("mime")) not in _READ_AS_TEXT:
        yield media_part(text(part.get("url")), text(part.get("mime")), line)
    elif kind == "compaction":
        yield Part(PartKind.TEXT, ASKED, line)
    elif kind == "subtask":
        yield Part(PartKind.TEXT, _RAN, line)
    elif kind in ("text", "file") or kind in _BOOKS:
        draft.bookkeep(f"part/{kind}")
    else:
        draft.unknown(f"part/{kind}", line)


def steps_of(stored: Stored, draft: Draft) -> list[Step]:
    """The calls that an answer was made in: old clients write several into one message."""
    steps = [Step()]
    for part, line in stored.in_order():
        kind, step = text(part.get("type")), steps[-1]
        if step.finish is not None or (kind == "step-start" and (step.said or step.results)):
            step = Step()
            steps.append(step)
        if kind == "step-finish":
            step.finish = part
        _answer_part(part, kind, step, line, draft)
    return [step for step in steps if step.said or step.finish is not None]


def _answer_part(part: Mapping[str, Any], kind: str, step: Step, line: int, draft: Draft) -> None:
    if kind == "text":
        step.said.append(Part(PartKind.TEXT, text(part.get("text")), line))
    elif kind == "reasoning":
        step.said.append(_reasoning(part, line))
    elif kind == "tool":
        _tool(part, step, line)
    elif kind == "file":
        step.said.append(media_part(text(part.get("url")), text(part.get("mime")), line))
    elif kind in _BOOKS:
        draft.bookkeep(f"part/{kind}")
    else:
        draft.unknown(f"part/{kind}", line)


def _reasoning(part: Mapping[str, Any], line: int) -> Part:
    said = text(part.get("text"))
    return Part(PartKind.THINKING, said, line) if said else Part(PartKind.OPAQUE, "", line)


def _tool(part: Mapping[str, Any], step: Step, line: int) -> None:
    """A call and its result, which are one part. A cleared result stays in the store; the model no longer sees it."""
    state, name, ref = mapping(part.get("state")), text(part.get("tool")), text(part.get("callID"))
    arguments = state.get("input")
    said = text(arguments) if arguments is not None else text(state.get("raw")) or "{}"
    step.said.append(Part(PartKind.TOOL_CALL, said, line, name=name, ref=ref, address=address_of(arguments)))
    status, metadata = text(state.get("status")), mapping(state.get("metadata"))
    if status == "completed":
        result, failed = text(state.get("output")), False
    elif status == "error":
        kept = metadata.get("output") if metadata.get("interrupted") is True else None
        result, failed = (kept, False) if isinstance(kept, str) else (text(state.get("error")), True)
    else:
        result, failed = _INTERRUPTED, True
    step.results.append(Part(PartKind.TOOL_RESULT, result, line, name=name, ref=ref, failed=failed))
    for file in sequence(state.get("attachments")):
        url, mime = text(mapping(file).get("url")), text(mapping(file).get("mime"))
        step.results.append(media_part(url, mime, line, ref=ref, name=name))
    if when := number(mapping(state.get("time")).get("compacted")):
        step.cleared[ref] = when
    if child := text(metadata.get("sessionId") or metadata.get("sessionID")):
        step.spawned[child] = ref


def usage_of(value: Any) -> Usage | None:
    """Tokens of one step: input, cache reads and cache writes are disjoint; None where nothing was reported.

    Reasoning stands beside the output, not in it; only where `total` says that old clients left it in is it not added.
    """
    raw = mapping(value)
    cache = mapping(raw.get("cache"))
    uncached, read, write = count(raw.get("input")), count(cache.get("read")), count(cache.get("write"))
    output, reasoning = count(raw.get("output")), count(raw.get("reasoning"))
    prompt = (uncached or 0) + (read or 0) + (write or 0)
    if uncached is None or not (prompt or output):
        return None
    whole = count(raw.get("total")) == prompt + (output or 0)
    return Usage(
        prompt=prompt,
        uncached=uncached,
        cache_read=read or 0,
        cache_write=write or 0,
        output=output if whole or output is None else output + (reasoning or 0),
        reasoning=reasoning,
    )
