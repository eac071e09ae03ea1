"""Claude Code session records: one JSON object a line, several lines per model response.

What the pitfalls in here rest on was measured on sessions of 2.0.64 to 2.1.218: one response is
written as one line per content block, each repeating the whole usage, and not always without
other lines in between; old history stays in the file after a compaction; `toolUseResult` is a
copy for the client's own use; parallel tool calls make the parent links a tree although nothing
branched, so order in the file decides, not the links.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.anthropic import merge_usage, parts_of, usage_of
from ctxcli.formats.blocks.claude_records import (
    BOOKS,
    SYNTHETIC,
    attachment_parts,
    is_clear,
    is_harness_text,
    record_type,
    sidechain_lane,
    strips_thinking,
)
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.sessions import Sessions, only_lane_as_main, split_sessions
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import (
    MAIN,
    EventKind,
    Lane,
    Part,
    PartKind,
    Record,
    Role,
    Transcript,
)
from ctxcli.shelf import Format

_USUAL_WINDOW = 200_000
_BOOK_KEYS = frozenset({"sessionId", "leafUuid", "messageId", "snapshot"})


class _Reader:
    """Reads one file of records into one draft."""

    def __init__(self) -> None:
        self.draft = Draft("claude-code", "anthropic", "claude-code")
        self.sessions = Sessions()
        self._seen: set[tuple[str, str]] = set()
        self._responses: dict[tuple[str, str], int] = {}
        self._call_of: dict[str, int] = {}
        self._lane_of: dict[str, str] = {}
        self._index_of: dict[str, int] = {}
        self._prompts: dict[str, int] = {}
        self._awaiting_summary: int | None = None
        self._model = ""

    def read(self, record: Record) -> None:
        self.draft.saw(record)
        value = record.value
        if not isinstance(value, dict):
            kind = type(value).__name__
            self.draft.skip(record.line, f"a JSON {kind} stands where a record should: skipped", record.file)
            return
        self.sessions.link(value)
        handler = {
            "assistant": self._assistant,
            "user": self._user,
            "system": self._system,
            "progress": self._progress,
            "attachment": self._attachment,
        }.get(text(value.get("type")))
        if handler is not None:
            if not self._is_copy(value, record):
                self._check_root(value, record)
                handler(value, record, self._lane(value, record))
        elif value.get("type") in BOOKS:
            self.draft.bookkeep(text(value.get("type")))
        else:
            self.draft.unknown(text(value.get("type")), record.line)

    # -- lanes, copies and roots

    def _lane(self, value: Mapping[str, Any], record: Record) -> str:
        lane = sidechain_lane(value, record.file, self._lane_of)
        if uuid := text(value.get("uuid")):
            self._lane_of[uuid] = lane
        if lane != MAIN and lane not in self.draft.lanes:
            self.draft.lanes[lane] = Lane(lane, file=record.file)
        return lane

    def _is_copy(self, value: Mapping[str, Any], record: Record) -> bool:
        uuid = text(value.get("uuid"))
        key = (sidechain_lane(value, record.file, self._lane_of), uuid)
        if uuid and key in self._seen:
            self.draft.duplicates += 1
            return True
        self._seen.add(key)
        return False

    def _check_root(self, value: Mapping[str, Any], record: Record) -> None:
        """A new root in the main lane, after messages, is a cleared context."""
        if self.draft.live[MAIN] and not record.file and is_clear(value):
            self.draft.event(EventKind.RESET, record.line, drops=self.draft.live[MAIN], trigger="clear")

    def _check_rewind(self, value: Mapping[str, Any], line: int) -> None:
        """Two human prompts under one parent: the user went back and said something else."""
        parent = value.get("parentUuid")
        if not isinstance(parent, str):
            return
        earlier = self._prompts.get(parent)
        live = self.draft.live[MAIN]
        if earlier is not None and earlier in live:
            dropped = [index for index in live if index >= earlier]
            self.draft.event(EventKind.REWIND, line, drops=dropped, trigger="user")
        self._prompts[parent] = len(self.draft.messages)

    def _check_thinking(self, line: int) -> None:
        """At a user turn, older models lose the thinking of the turns before."""
        if strips_thinking(self._model):
            gone = self.draft.unstripped(PartKind.THINKING)
            if gone:
                self.draft.event(EventKind.STRIP, line, clears=gone, trigger="new turn")

    # -- messages

    def _assistant(self, value: Mapping[str, Any], record: Record, lane: str) -> None:
        message = mapping(value.get("message"))
        response = text(message.get("id")) or text(value.get("requestId")) or text(value.get("uuid"))
        parts = tuple(parts_of(message.get("content"), record.line))
        synthetic = message.get("model") == SYNTHETIC or value.get("isApiErrorMessage") is True
        known = self._responses.get((lane, response))
        if known is not None and response:
            self.draft.extend(known, parts, record.line)
            self._register(value, known)
        else:
            known = self._add(Role.ASSISTANT, parts, value, record, lane, id_=response)
            self._responses[lane, response] = known
        if synthetic:
            self.draft.messages[known].harness = True
            return
        self._count_call(known, response, value, record)

    def _count_call(self, at: int, response: str, value: Mapping[str, Any], record: Record) -> None:
        message = mapping(value.get("message"))
        usage = usage_of(message.get("usage"), final=message.get("stop_reason") is not None)
        position = self._call_of.get(response)
        if position is None:
            if self.draft.messages[at].lane == MAIN:
                self._model = text(message.get("model"))
            model, time = text(message.get("model")), text(value.get("timestamp"))
            self._call_of[response] = self.draft.call(
                at, record.line, id=response, model=model, time=time, usage=usage
            )
        elif self.draft.calls[position].at != at:
            self.draft.messages[at].copied = True
        else:
            call = self.draft.calls[position]
            self.draft.calls[position] = replace(call, usage=merge_usage(call.usage, usage))

    def _user(self, value: Mapping[str, Any], record: Record, lane: str) -> None:
        message = mapping(value.get("message"))
        parts = tuple(parts_of(message.get("content"), record.line))
        if value.get("isCompactSummary") is True:
            self._summary(parts, value, record, lane)
            return
        results = [part for part in parts if part.kind is PartKind.TOOL_RESULT]
        if results:
            self._returned(value, results, parts)
        only_results = bool(results) and not any(part.kind is PartKind.TEXT for part in parts)
        harness = value.get("isMeta") is True or is_harness_text(parts)
        if lane == MAIN and not results and not harness:
            self._check_rewind(value, record.line)
            self._check_thinking(record.line)
        role = Role.TOOL if only_results else Role.USER
        self._add(role, parts, value, record, lane, harness=harness)

    def _summary(
        self, parts: Sequence[Part], value: Mapping[str, Any], record: Record, lane: str
    ) -> None:
        body = "\n".join(part.text for part in parts)
        kind = PartKind.SUMMARY if body.strip() else PartKind.OPAQUE
        index = self._add(Role.USER, [Part(kind, body, record.line)], value, record, lane, harness=True)
        if self._awaiting_summary is not None:
            self.draft.amend(self._awaiting_summary, summary=index, opaque=kind is PartKind.OPAQUE)
            self._awaiting_summary = None

    def _returned(self, value: Mapping[str, Any], results: Sequence[Part], parts: Sequence[Part]) -> None:
        """What a sub-agent used in all, where the client wrote it beside the tool result."""
        outcome = mapping(value.get("toolUseResult"))
        agent = text(outcome.get("agentId"))
        if not agent or len(results) != 1:
            return
        lane = self.draft.lanes.get(agent, Lane(agent))
        title = lane.title or text(outcome.get("agentType")) or text(outcome.get("description"))
        self.draft.lanes[agent] = Lane(
            agent, title, results[0].ref, lane.file, count(outcome.get("totalTokens"))
        )

    def _attachment(self, value: Mapping[str, Any], record: Record, lane: str) -> None:
        attachment = mapping(value.get("attachment"))
        parts = tuple(attachment_parts(attachment, record.line))
        if not parts:
            self.draft.bookkeep(record_type(value))
            return
        human = mapping(attachment.get("origin")).get("kind") == "human"
        self._add(Role.USER, parts, value, record, lane, harness=not human)

    def _progress(self, value: Mapping[str, Any], record: Record, lane: str) -> None:
        data = mapping(value.get("data"))
        inner = mapping(data.get("message"))
        agent = text(data.get("agentId"))
        if data.get("type") != "agent_progress" or not agent or inner.get("type") not in ("user", "assistant"):
            self.draft.bookkeep(record_type(value))
            return
        spawned_by = text(value.get("parentToolUseID"))
        self.draft.lanes.setdefault(agent, Lane(agent, spawned_by=spawned_by))
        if (agent, text(inner.get("uuid"))) in self._seen:
            self.draft.duplicates += 1
            return
        self._seen.add((agent, text(inner.get("uuid"))))
        read = self._assistant if inner.get("type") == "assistant" else self._user
        read({**inner, "sessionId": value.get("sessionId")}, record, agent)

    # -- what changes the context

    def _system(self, value: Mapping[str, Any], record: Record, lane: str) -> None:
        subtype = value.get("subtype")
        if subtype == "compact_boundary":
            self._compacted(value, record, lane)
        elif subtype == "microcompact_boundary":
            self._cleared(value, record, lane)
        self.draft.bookkeep(record_type(value))

    def _compacted(self, value: Mapping[str, Any], record: Record, lane: str) -> None:
        facts = mapping(value.get("compactMetadata"))
        before = count(facts.get("preTokens"))
        kept = self._preserved(facts)
        drops = [index for index in self.draft.live[lane] if index not in kept]
        self._awaiting_summary = self.draft.event(
            EventKind.SUMMARY,
            record.line,
            lane=lane,
            drops=drops,
            trigger=text(facts.get("trigger")),
            tokens_before=before,
            tokens_after=count(facts.get("postTokens")),
        )
        if facts.get("trigger") == "auto" and before and before < _USUAL_WINDOW:
            # the client compacts by itself at the window less its reserve: 167 k of 200 k, 967 k of 1 M
            self.draft.window = _USUAL_WINDOW

    def _preserved(self, facts: Mapping[str, Any]) -> set[int]:
        """Indices of the earlier messages that a compaction says it kept."""
        named = [text(item) for item in sequence(mapping(facts.get("preservedMessages")).get("uuids"))]
        kept = {self._index_of[uuid] for uuid in named if uuid in self._index_of}
        segment = mapping(facts.get("preservedSegment"))
        head, tail = (self._index_of.get(text(segment.get(end))) for end in ("headUuid", "tailUuid"))
        if head is not None:
            kept.update(range(head, (len(self.draft.messages) - 1 if tail is None else tail) + 1))
        return kept

    def _cleared(self, value: Mapping[str, Any], record: Record, lane: str) -> None:
        facts = mapping(value.get("microcompactMetadata"))
        refs = [text(item) for item in sequence(facts.get("compactedToolIds"))]
        gone = [self._index_of.get(text(uuid)) for uuid in sequence(facts.get("clearedAttachmentUUIDs"))]
        self.draft.event(
            EventKind.CLEAR,
            record.line,
            lane=lane,
            drops=[index for index in gone if index is not None],
            clears=self.draft.results(refs, lane),
            trigger=text(facts.get("trigger")),
        )

    def _add(
        self,
        role: Role,
        parts: Iterable[Part],
        value: Mapping[str, Any],
        record: Record,
        lane: str,
        *,
        harness: bool = False,
        id_: str = "",
    ) -> int:  # fmt: skip
        index = self.draft.add(
            role,
            parts,
            record.line,
            lane=lane,
            id=id_ or text(value.get("uuid")),
            time=text(value.get("timestamp")),
            harness=harness,
            group=text(value.get("sessionId")),
        )
        self._register(value, index)
        return index

    def _register(self, value: Mapping[str, Any], index: int) -> None:
        if uuid := text(value.get("uuid")):
            self._index_of[uuid] = index


def claims(records: Sequence[Record]) -> bool:
    """A session record has a type of its own and a session, a parent link or the client's bookkeeping."""
    return any(_is_session_record(record.value) for record in records)


def _is_session_record(value: Any) -> bool:
    if not isinstance(value, dict) or "parts" in mapping(value.get("message")):
        return False
    if value.get("type") in ("user", "assistant", "system", "progress", "attachment"):
        return "sessionId" in value and ("parentUuid" in value or "uuid" in value)
    return value.get("type") in BOOKS and bool(_BOOK_KEYS & value.keys())


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of one session file; a file of a single sub-agent is that agent's main lane."""
    reader = _Reader()
    for record in records:
        reader.read(record)
    for transcript in split_sessions(reader.draft, reader.sessions):
        lanes = {message.lane for message in transcript.messages}
        yield only_lane_as_main(transcript) if lanes and MAIN not in lanes and len(lanes) == 1 else transcript


FORMAT = Format(
    name="claude-code",
    title="Claude Code session (JSONL)",
    recognised_by="records with type, sessionId and uuid / parentUuid, or the client's own record types",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "compaction", "sub-agents", "timestamps"}),
    companions=("{stem}/subagents/agent-*.jsonl", "agent-*.jsonl"),
)
