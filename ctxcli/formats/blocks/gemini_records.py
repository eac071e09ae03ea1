"""The message records of Gemini CLI, as it stores them in a session.

Source: https://github.com/google-gemini/gemini-cli packages/core/src/services/chatRecordingTypes.ts and
chatRecordingService.ts. An answer's record holds its tool calls with their results; the turn that sent the results to
the model may be recorded again as the user's. `displayContent`, `resultDisplay` and the summaries in `thoughts` are for
the screen: no model saw them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ctxcli.formats.blocks.google import call_part, field, parts_of, response_parts, role_of, usage
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.synthetic import told_by_ctx
from ctxcli.formats.blocks.values import blocks, mapping, sequence, text
from ctxcli.model import Part, PartKind, Role, Usage

ON_SCREEN = frozenset({"info", "error", "warning"})
"""Types of messages that only the user sees."""
TYPES = frozenset({"user", "gemini", *ON_SCREEN})
_CLIENT = ("<session_context>", "<hook_context>", "This is the Gemini CLI. We are setting up the context")
_SNAPSHOT = re.compile(r"<state_snapshot>.*</state_snapshot>", re.DOTALL)
_FAILED = ("error", "cancelled")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one record says: a message, and for an answer the results of its calls."""

    said: Said
    results: tuple[Part, ...] = ()
    is_call: bool = False
    """An answer that came from a model; the client writes some itself."""
    is_rest: bool = False
    """Only the tool calls of an answer: the client puts them into a record of their own where a notice came between."""
    usage: Usage | None = None
    model: str = ""


def turn_of(record: Mapping[str, Any], line: int) -> Turn:
    """What a record of the types user and gemini says."""
    parts = list(parts_of(record.get("content"), line))
    if record.get("type") != "gemini":
        return Turn(user_said(parts, line))
    calls = [mapping(call) for call in sequence(record.get("toolCalls"))]
    parts += _unsaid(parts, (call_part(call, line) for call in calls))
    figures = mapping(record.get("tokens"))
    used = usage(*(figures.get(key) for key in ("input", "output", "cached", "thoughts", "tool", "total")))
    called = any(part.kind is PartKind.TOOL_CALL for part in parts)
    is_rest = called and used is None and not record.get("thoughts") and not record.get("content")
    is_call = used is not None or called or bool(record.get("model"))
    said = Said(Role.ASSISTANT, tuple(parts), line, harness=not is_call)
    return Turn(said, tuple(_results(calls, line)), is_call, is_rest, used, text(record.get("model")))


def user_said(parts: list[Part], line: int) -> Said:
    """A turn under the user's name: his words, results of tools, a summary, or what the client tells."""
    told, ours = told_by_ctx(Role.USER, parts)
    told = tuple(replace(part, kind=PartKind.SUMMARY) if is_snapshot(part) else part for part in told)
    written = [part for part in told if part.kind in (PartKind.TEXT, PartKind.SUMMARY)]
    client = all(part.kind is PartKind.SUMMARY or part.text.lstrip().startswith(_CLIENT) for part in written)
    return Said(role_of({"role": "user"}, told), told, line, harness=ours or (bool(written) and client))


def is_snapshot(part: Part) -> bool:
    """Whether a text is the summary that the client's compression leaves."""
    return part.kind is PartKind.TEXT and _SNAPSHOT.search(part.text) is not None


def _unsaid(parts: list[Part], calls: Iterable[Part]) -> Iterator[Part]:
    """The calls that do not stand among the parts already."""
    refs = {part.ref for part in parts if part.kind is PartKind.TOOL_CALL}
    bare = {(part.name, part.text) for part in parts if part.kind is PartKind.TOOL_CALL and not part.ref}
    return (call for call in calls if call.ref not in refs and (call.name, call.text) not in bare)


def _results(calls: list[Mapping[str, Any]], line: int) -> Iterator[Part]:
    """The results of an answer's calls; each call may hold the whole turn that sent them, so each counts once."""
    refs = {text(call.get("id")) for call in calls}
    beside: set[tuple[object, ...]] = set()
    for call in calls:
        ref, name, failed = text(call.get("id")), text(call.get("name")), call.get("status") in _FAILED
        for piece in blocks(call.get("result")):
            given = field(piece, "functionResponse")
            if given is not None:
                parts = list(response_parts(given, line, ref))
                if parts[0].ref == ref or parts[0].ref not in refs:
                    yield replace(parts[0], name=parts[0].name or name, failed=parts[0].failed or failed)
                    yield from parts[1:]
            elif isinstance(piece, str):
                yield Part(PartKind.TOOL_RESULT, piece, line, name=name, ref=ref, failed=failed)
            else:
                for part in parts_of(piece, line):
                    if (part.kind, part.text, part.media) not in beside:
                        beside.add((part.kind, part.text, part.media))
                        yield part if part.media is None else replace(part, ref=ref, name=name)


def says_same(one: Turn, other: Turn) -> bool:
    """Whether two records are one turn, be it without its thoughts or with other texts of its results."""
    known = {part.ref for part in one.results}
    return _words(one.said) == _words(other.said) and all(part.ref in known for part in other.results)


def _words(said: Said) -> list[tuple[object, ...]]:
    return [
        (part.kind, part.ref, part.name, "" if part.kind is PartKind.TOOL_RESULT else part.text, part.media)
        for part in said.parts
        if part.kind is not PartKind.THINKING
    ]


def side_of(part: Part) -> tuple[object, ...]:
    """What a part says, whichever call it stands with."""
    return part.kind, part.text, part.media
