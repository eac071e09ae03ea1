"""Google ADK sessions: events with the author, the content and the actions of each step of an invocation.

What a model saw of them follows `flows/llm_flows/contents.py` of https://github.com/google/adk-python: a rewind
annuls the events from an invocation on, a compaction stands for the events of a span of time, and requests for
credentials and confirmations are left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ctxcli.formats.blocks.adk import database_sessions, is_database, is_event, seconds
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.google import field as of
from ctxcli.formats.blocks.google import parts_of, role_of, unknown_in, usage_of
from ctxcli.formats.blocks.langchain import provider_of
from ctxcli.formats.blocks.lists import Lists, no_message, read_lists
from ctxcli.formats.blocks.moments import from_milliseconds
from ctxcli.formats.blocks.synthetic import BY_CTX, told_by_ctx
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Part, PartKind, Record, Role, Skip, Transcript
from ctxcli.shelf import Format

_NOT_SENT = frozenset({"adk_request_credential", "adk_request_confirmation", "adk_request_input"})
"""Calls by which the client asks the user; no model sees them."""


@dataclass(slots=True)
class _Reader:
    """Reads one session."""

    owner: Mapping[str, Any]
    line: int
    draft: Draft = field(default_factory=lambda: Draft("adk", "google"))
    _moments: dict[int, tuple[float | None, float | None]] = field(default_factory=dict)
    """For each message the time that it stands for: its own, or the span of a summary."""
    _invocations: dict[int, str] = field(default_factory=dict)
    _open: dict[str, list[str]] = field(default_factory=dict)
    """References of calls without an id that have no answer yet, by the tool's name."""
    _called: int = 0
    _seen: set[str] = field(default_factory=set)
    _branches: set[str] = field(default_factory=set)
    _stood_for: dict[int, list[int]] = field(default_factory=dict)
    """For each summary the messages that it took out."""

    def __post_init__(self) -> None:
        self.draft.id = text(self.owner.get("id")) or None
        for value in sequence(of(self.owner, "pastEvents")):
            self.take(value, self.line)

    def take(self, value: Any, line: int) -> None:
        """One event, or what stands where one should."""
        if not is_event(value):
            self.draft.skips.append(no_message(value, line))
            return
        name = text(value.get("id"))
        if name and name in self._seen:
            self.draft.duplicates += 1
            return
        self._seen.add(name)
        actions = mapping(value.get("actions"))
        if of(actions, "rewindBeforeInvocationId"):
            self._rewind(text(of(actions, "rewindBeforeInvocationId")), line)
        elif of(actions, "compaction"):
            self._compact(mapping(of(actions, "compaction")), value, line)
        elif value.get("partial") is True:
            self.draft.bookkeep("partial event")
        else:
            self._say(value, line)

    def _say(self, event: Mapping[str, Any], line: int) -> None:
        content = mapping(event.get("content")) or _transcribed(event)
        for name in unknown_in(content.get("parts")):
            self.draft.unknown(name, line)
        parts = [self._tied(part) for part in parts_of(content.get("parts"), line)]
        names = {part.name for part in parts}
        if names & _NOT_SENT or not parts:
            self.draft.bookkeep("request to the user" if parts else "event without content")
            return
        role = role_of(content, parts)
        if role is Role.USER and event.get("author") != "user" and content.get("role") != "user":
            role = Role.ASSISTANT
        self._answered_again(parts, line)
        told, ours = told_by_ctx(role, parts)
        if any(part.sums_up for part in told):
            summary = self.draft.event(EventKind.SUMMARY, line, trigger=BY_CTX)
            self.draft.amend(summary, summary=len(self.draft.messages))
        at = self._add(role, told, event, line, harness=ours)
        moment = seconds(event.get("timestamp"))
        self._moments[at] = moment, moment
        if role is Role.ASSISTANT:
            model = text(of(event, "modelVersion"))
            self.draft.provider = provider_of("", model) or self.draft.provider
            usage = usage_of(of(event, "usageMetadata"))
            time = self.draft.messages[at].time
            self.draft.call(at, line, id=text(event.get("id")), time=time, model=model, usage=usage)

    def _add(
        self, role: Role, parts: Iterable[Part], event: Mapping[str, Any], line: int, *, harness: bool = False
    ) -> int:
        moment = seconds(event.get("timestamp"))
        time = from_milliseconds(moment * 1000) if moment is not None else ""
        at = self.draft.add(role, parts, line, id=text(event.get("id")), time=time, harness=harness)
        self._invocations[at] = text(of(event, "invocationId"))
        if isinstance(event.get("branch"), str) and event["branch"]:
            self._branches.add(event["branch"])
        return at

    def _tied(self, part: Part) -> Part:
        """Calls and results that have no id are tied by the tool's name, in order."""
        if part.ref or part.kind not in (PartKind.TOOL_CALL, PartKind.TOOL_RESULT):
            return part
        waiting = self._open.setdefault(part.name, [])
        if part.kind is PartKind.TOOL_RESULT:
            return replace(part, ref=waiting.pop(0)) if waiting else part
        self._called += 1
        waiting.append(f"{part.name}/{self._called}")
        return replace(part, ref=waiting[-1])

    def _answered_again(self, parts: Sequence[Part], line: int) -> None:
        """The answer of a long-running tool takes the place of the one that said it had begun."""
        refs = {part.ref for part in parts if part.kind is PartKind.TOOL_RESULT and part.ref}
        before = {index for index, _ in self.draft.results(refs)}
        drops = [at for at in before if {part.ref for part in self.draft.messages[at].parts} <= refs]
        if drops:
            self.draft.event(EventKind.REWRITE, line, drops=drops, trigger="client")

    def _rewind(self, invocation: str, line: int) -> None:
        start = next((at for at, name in self._invocations.items() if name == invocation), None)
        if start is None:
            reason = "a rewind names no invocation before it: nothing to take out"
            self.draft.skips.append(Skip(line, reason, recovered=True))
            return
        drops = [at for at in self.draft.live[MAIN] if at >= start]
        self.draft.event(EventKind.REWIND, line, drops=drops, trigger="user")
        back = [at for summary in drops for at in self._stood_for.get(summary, ()) if at < start]
        for at in sorted(back):
            self._give_back(at, line)

    def _give_back(self, at: int, line: int) -> None:
        """A summary that a rewind annuls stands for nothing: what it took out is in the context again."""
        before = self.draft.messages[at]
        facts = {"id": before.id, "time": before.time}
        again = self.draft.add(before.role, before.parts, line, harness=before.harness, copied=True, **facts)
        self._moments[again], self._invocations[again] = self._moments[at], self._invocations[at]

    def _compact(self, compaction: Mapping[str, Any], event: Mapping[str, Any], line: int) -> None:
        """A summary stands for the events of its span, and for summaries of spans inside it."""
        first, last = seconds(of(compaction, "startTimestamp")), seconds(of(compaction, "endTimestamp"))
        said = "\n".join(
            part.text for part in parts_of(mapping(of(compaction, "compactedContent")).get("parts"), line) if part.text
        )
        if first is None or last is None or not said:
            self.draft.bookkeep("compaction that failed")
            return
        drops = [at for at in self.draft.live[MAIN] if _inside(self._moments.get(at), first, last)]
        at = self.draft.event(EventKind.SUMMARY, line, drops=drops, trigger="client")
        index = self._add(Role.USER, [Part(PartKind.SUMMARY, said, line)], event, line, harness=True)
        self._moments[index], self._stood_for[index] = (first, last), drops
        self.draft.amend(at, summary=index)

    def close(self) -> Transcript:
        """The finished session."""
        for value in sequence(of(self.owner, "pendingEvents")):
            self.take(value, self.line)
        if len(self._branches) > 1:
            self.draft.notes.append(
                "agents ran side by side: their events stand in one context here, though none of them saw the others'"
            )
        return self.draft.finish()


def _inside(moment: tuple[float | None, float | None] | None, first: float, last: float) -> bool:
    start, end = moment or (None, None)
    return start is not None and end is not None and first <= start and end <= last


def _transcribed(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was said aloud, as a content."""
    for key, role in (("inputTranscription", "user"), ("outputTranscription", "model")):
        said = mapping(of(event, key)).get("text")
        if isinstance(said, str) and said:
            return {"role": role, "parts": [{"text": said}]}
    return {}


_LISTS = Lists(is_event, is_event, (("events",),))


def claims(records: Sequence[Record]) -> bool:
    """Events with an author and an invocation, alone, in an array or in a session; or a database of them."""
    return is_database(records) or _LISTS.claim(records)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The sessions of a source, one after the other."""
    stream = iter(records)
    head = next(stream, None)
    if head is None:
        return
    if is_database([head]):
        for owner, rows in database_sessions(stream):
            reader = _Reader(owner, 0)
            if any("event_data" not in mapping(mapping(record.value).get("row")) for record, _ in rows):
                reader.draft.notes.append(
                    "the actions of these events are pickled: rewinds and compactions of the session cannot be seen"
                )
            for record, value in rows:
                reader.draft.saw(record)
                reader.take(value, record.line)
            yield reader.close()
        return
    yield from read_lists(chain([head], stream), _LISTS, _Reader)


FORMAT = Format(
    name="adk",
    title="Google ADK sessions (JSON, JSONL, SQLite)",
    recognised_by="`events` with `author` and `invocation_id`",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "compaction", "timestamps"}),
)
