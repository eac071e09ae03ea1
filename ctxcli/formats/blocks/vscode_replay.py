"""VS Code's `*.chatreplay.json`: the requests of each prompt, each with the whole prompt, and what the model said.

A request's answer has its text only; its calls stand in the next request that goes on from it, or in the entries of the
tools behind it. Source: src/extension/replay/common/chatReplayTypes.ts and src/platform/requestLogger,
https://github.com/microsoft/vscode-copilot-chat.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ctxcli.formats.blocks.agents import provider_of
from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.exchange import Exchange, line_of
from ctxcli.formats.blocks.openai import usage_of
from ctxcli.formats.blocks.said import Said, Spoken
from ctxcli.formats.blocks.values import blocks, count, dump, mapping, sequence, text
from ctxcli.formats.blocks.vscode_parts import call_parts, prompt_pieces, raw_parts
from ctxcli.model import Part, PartKind, Record, Role, Skip, Transcript

_SYSTEM, _USER, _ASSISTANT, _TOOL = range(4)
"""Roles of messages."""
_BOOKS = frozenset({"element", "toolCall", "error"})
_OWN_ID = "__vscode-"
"""What the client puts behind the id of a call."""


@dataclass(slots=True)
class _Request:
    """One request, with the calls of tools that follow it in the log."""

    log: Mapping[str, Any]
    line: int
    sent: tuple[Said, ...]
    calls: list[Part] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    """Those of what was sent."""

    def __post_init__(self) -> None:
        self.keys = [said.key for said in self.sent]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the log says about it."""
        return mapping(self.log.get("metadata"))

    @property
    def failed(self) -> bool:
        """Whether nothing came back."""
        return text(mapping(self.log.get("response")).get("type")) not in ("", "success")


def read_replay(record: Record) -> Iterator[Transcript]:
    """The conversations of a log: each request says again what was said before it, and is counted once."""
    books: Counter[str] = Counter()
    skips: list[Skip] = []
    requests = list(_requests(record, books, skips))
    answers = [_answer(request, requests[at + 1 :]) for at, request in enumerate(requests)]
    pairs = list(zip(requests, answers, strict=True))
    spoken = iter([Spoken(one.sent, answer, usage_of(one.metadata.get("usage"))) for one, answer in pairs])
    chain = Chain("vscode-copilot-chat", "", lambda _: next(spoken))
    first = True
    for number, (request, answer) in enumerate(pairs):
        for transcript in chain.put(_exchange(request, answer, record.size // len(requests), first=number == 0)):
            yield _dressed(transcript, requests, books if first else Counter(), skips if first else [])
            first = False
    for transcript in chain.close():
        yield _dressed(transcript, requests, books if first else Counter(), skips if first else [])
        first = False
    if first:
        found = tuple(sorted(books.items()))
        yield Transcript("vscode-copilot-chat", bookkeeping=found, skips=tuple(skips), records=1, bytes=record.size)


def _dressed(transcript: Transcript, requests: list[_Request], books: Counter[str], skips: list[Skip]) -> Transcript:
    """A conversation with what the log says besides."""
    model = next(iter(transcript.models), "")
    windows = {
        count(one.metadata.get("maxPromptTokens")) for one in requests if text(one.metadata.get("model")) == model
    }
    window = windows.pop() if len(windows) == 1 else None
    return replace(
        transcript,
        agent="vscode-copilot-chat",
        provider=provider_of(model),
        window=window,
        window_is_usable=window is not None,
        bookkeeping=tuple(sorted(books.items())),
        skips=(*transcript.skips, *skips),
    )


def _exchange(request: _Request, answer: Said | None, size: int, *, first: bool) -> Exchange:
    return Exchange(
        messages=(),
        line=request.line,
        model=text(request.metadata.get("model")),
        response=None if answer is None else {},
        id=text(request.log.get("id")),
        time=text(request.metadata.get("startTime")),
        unanswered=answer is None,
        size=size,
        opens_record=first,
    )


def _requests(record: Record, books: Counter[str], skips: list[Skip]) -> Iterator[_Request]:
    """The requests in order. A log is of several prompts, of one, or one entry of it."""
    last: _Request | None = None
    for log, line in _logs(mapping(record.value), record):
        kind = text(log.get("kind"))
        if kind == "request" and _messages(log):
            if last is not None:
                yield last
            last = _Request(log, line, (*_tools(log, line), *_sent(log, line)))
        elif kind == "toolCall" and last is not None:
            last.calls.append(_called(log, last.line))
            books[kind] += 1
        elif kind in _BOOKS or kind == "request":
            books[kind] += 1
        else:
            skips.append(Skip(line, f"record type {kind!r} is not known: not counted"))
    if last is not None:
        yield last


def _logs(value: Mapping[str, Any], record: Record) -> Iterator[tuple[Mapping[str, Any], int]]:
    if isinstance(value.get("prompts"), list):
        for number, prompt in enumerate(value["prompts"]):
            logs = sequence(mapping(prompt).get("logs"))
            lines = (record.lines or {}).get(("prompts", number, "logs"), ())
            for place, log in enumerate(logs):
                line = lines[place] if place < len(lines) else line_of(record, ("prompts", number))
                yield mapping(log), line
    elif isinstance(value.get("logs"), list):
        for number, log in enumerate(value["logs"]):
            yield mapping(log), line_of(record, ("logs", number))
    else:
        yield value, record.line


def _messages(log: Mapping[str, Any]) -> list[Any]:
    return sequence(mapping(log.get("requestMessages")).get("messages"))


def _tools(log: Mapping[str, Any], line: int) -> Iterator[Said]:
    tools = sequence(mapping(log.get("metadata")).get("tools"))
    parts = tuple(Part(PartKind.TOOLS, dump(tool), line, name=text(mapping(tool).get("name"))) for tool in tools)
    if parts:
        yield Said(Role.SYSTEM, parts, line)


def _sent(log: Mapping[str, Any], line: int) -> Iterator[Said]:
    for item in _messages(log):
        message = mapping(item)
        role, content = message.get("role"), message.get("content")
        if role == _TOOL:
            ref = text(message.get("toolCallId"))
            parts = tuple(raw_parts(content, line))
            said = "\n".join(part.text for part in parts if part.media is None)
            media = (replace(part, ref=ref) for part in parts if part.media is not None)
            yield Said(Role.TOOL, (Part(PartKind.TOOL_RESULT, said, line, ref=ref), *media), line)
        elif role == _ASSISTANT:
            yield Said(Role.ASSISTANT, (*raw_parts(content, line), *call_parts(message.get("toolCalls"), line)), line)
        elif role == _SYSTEM:
            yield Said(Role.SYSTEM, tuple(raw_parts(content, line)), line)
        else:
            for ours, pieces in prompt_pieces(content, line):
                yield Said(Role.USER, tuple(pieces), line, ours)


def _called(log: Mapping[str, Any], line: int) -> Part:
    """A call of a tool, from the entry that says what it gave back."""
    ref = text(log.get("id")).split(_OWN_ID, 1)[0]
    (part,) = call_parts([{"id": ref, "name": log.get("tool"), "arguments": log.get("args")}], line)
    return part


def _answer(request: _Request, later: list[_Request]) -> Said | None:
    """What the model said: as the next request that goes on from it says again, else as the log has it."""
    if request.failed:
        return None
    size = len(request.sent)
    for other in later:
        again = other.sent[size] if len(other.sent) > size else None
        if again is not None and again.role is Role.ASSISTANT and other.keys[:size] == request.keys:
            placed = tuple(replace(part, line=request.line) for part in again.parts)
            return replace(again, parts=placed, line=request.line)
    words = blocks(mapping(request.log.get("response")).get("message"))
    said = "\n".join(text(word) for word in words if word not in ("", None))
    parts = [Part(PartKind.TEXT, said, request.line)] if said else []
    return Said(Role.ASSISTANT, (*parts, *request.calls), request.line)


def is_replay(value: Mapping[str, Any]) -> bool:
    """Whether an object is such a log, or an entry of one."""
    prompts = value.get("prompts")
    if isinstance(prompts, list):
        return "totalLogEntries" in value or any("logs" in mapping(prompt) for prompt in prompts)
    if isinstance(value.get("logs"), list):
        return "prompt" in value and "logCount" in value
    return value.get("kind") == "request" and isinstance(value.get("requestMessages"), dict)
