"""Claude Code session records, however they are stored: one object a line, or the elements of one document.

What the pitfalls in here rest on was measured on sessions of 2.0.64 to 2.1.218: one response is
written as one line per content block, each repeating the whole usage, and not always without
other lines in between; old history stays in the file after a compaction; `toolUseResult` is a
copy for the client's own use; parallel tool calls make the parent links a tree although nothing
branched, so order in the file decides, not the links.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.anthropic import merge_usage, usage_of
from ctxcli.formats.blocks.claude_context import ClaudeContext
from ctxcli.formats.blocks.claude_records import (
    BOOKS,
    SYNTHETIC,
    Row,
    attachment_parts,
    is_harness_text,
    record_type,
    sidechain_lane,
)
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.sessions import Sessions, only_lane_as_main, split_sessions
from ctxcli.formats.blocks.values import count, mapping, text
from ctxcli.model import MAIN, Lane, Part, PartKind, Record, Role, Transcript, Usage


class ClaudeSession:
    """Reads one source of records, and its companions, into one draft."""

    def __init__(self, name: str) -> None:
        self.draft = Draft(name, "anthropic", "claude-code")
        self.sessions = Sessions()
        self.context = ClaudeContext(self.draft, self.sessions)
        self._seen: set[tuple[str, str]] = set()
        self._responses: dict[tuple[str, str, str, int], int] = {}
        self._call_of: dict[str, int] = {}
        self._lane_of: dict[str, str] = {}
        self._unnamed = 0
        self._handlers = {
            "assistant": self._assistant,
            "user": self._user,
            "system": self._system,
            "progress": self._progress,
            "attachment": self._attachment,
        }

    def read(self, record: Record) -> None:
        """Take one record, whatever it is."""
        self.draft.saw(record)
        value = record.value
        if not isinstance(value, dict):
            self.draft.not_a_record(record)
            return
        self.sessions.link(value)
        self.draft.works_in(text(value.get("cwd")))
        type_ = text(value.get("type"))
        if type_ in self._handlers:
            row = Row(value, record.line, self._lane(value, record.file), self.context.is_again(value))
            if not self._is_copy(row.lane, row.text("uuid")):
                if row.lane == MAIN:
                    self.context.check_root(value, record.line)
                self.context.saw(value, again=row.again)
                self._handlers[type_](row)
        elif type_ in BOOKS:
            self.draft.bookkeep(type_)
        else:
            self.draft.unknown(type_, record.line)

    def _lane(self, value: Mapping[str, Any], file: str) -> str:
        lane = sidechain_lane(value, file, self._lane_of)
        if uuid := text(value.get("uuid")):
            self._lane_of[uuid] = lane
        if lane != MAIN:
            known = self.draft.lanes.get(lane, Lane(lane))
            self.draft.lanes[lane] = replace(known, file=known.file or file)
        return lane

    def _is_copy(self, lane: str, uuid: str) -> bool:
        """Whether a record repeats one already read (a resumed session, a file joined to itself)."""
        if not uuid:
            return False
        if (lane, uuid) in self._seen:
            self.draft.duplicates += 1
            return True
        self._seen.add((lane, uuid))
        return False

    def _assistant(self, row: Row) -> None:
        """One line of a response: the lines of one response become one message, however far apart."""
        if row.value.get("isApiErrorMessage") is True:
            self.draft.bookkeep("assistant/api error")
            return
        response = text(row.message.get("id")) or row.text("requestId") or row.text("uuid") or self._nameless(row)
        key = (row.lane, row.text("sessionId"), response, self.context.segment)
        known = self._responses.get(key)
        if known is None:
            known = self._responses[key] = self._add(Role.ASSISTANT, row.parts(), row, id_=response)
        else:
            said = {(part.kind, part.text, part.ref) for part in self.draft.messages[known].parts}
            new = [part for part in row.parts() if (part.kind, part.text, part.ref) not in said]
            self.draft.extend(known, new, row.line)
            self._register(row, known)
        if row.message.get("model") == SYNTHETIC:
            self.draft.messages[known].harness = True
        else:
            self._count_call(known, response, row)

    def _nameless(self, row: Row) -> str:
        """A name for a response whose lines have none: those that nobody has answered are one."""
        lane = self.draft.live[row.lane]
        if not lane or self.draft.messages[lane[-1]].role is not Role.ASSISTANT:
            self._unnamed += 1
        return f"response {self._unnamed}"

    def _count_call(self, at: int, response: str, row: Row) -> None:
        """A response is one call. Its usage stands on each of its lines: the maximum of each field counts."""
        usage = usage_of(row.message.get("usage"), final=row.message.get("stop_reason") is not None)
        position = self._call_of.get(response)
        if position is None:
            model = text(row.message.get("model"))
            if row.lane == MAIN:
                self.context.model = model
            self._call_of[response] = self.draft.call(
                at, row.line, id=response, model=model, time=row.text("timestamp"), usage=usage
            )
        elif self.draft.calls[position].at != at:
            self.draft.messages[at].copied = True
        else:
            self.told_later(response, usage)

    def told_later(self, response: str, usage: Usage | None) -> None:
        """More about the usage of a response that has been read."""
        position = self._call_of.get(response)
        if position is not None:
            call = self.draft.calls[position]
            self.draft.calls[position] = replace(call, usage=merge_usage(call.usage, usage))

    def _user(self, row: Row) -> None:
        """A prompt, tool results, a summary that looks like a user, or the client's own words."""
        parts = row.parts()
        if row.value.get("isCompactSummary") is True:
            self._summary(parts, row)
            return
        results = [part for part in parts if part.kind is PartKind.TOOL_RESULT]
        if len(results) == 1:
            self._returned(row, results[0])
        harness = row.value.get("isMeta") is True or is_harness_text(parts)
        if row.lane == MAIN and not results and not harness:
            self.context.user_turn(row.value, row.line, again=row.again)
        only_results = bool(results) and not any(part.kind is PartKind.TEXT for part in parts)
        self._add(Role.TOOL if only_results else Role.USER, parts, row, harness=harness)

    def _summary(self, parts: Sequence[Part], row: Row) -> None:
        if not row.again:
            self.context.unannounced(row.value, row.line, row.lane)
        body = "\n".join(part.text for part in parts)
        kind = PartKind.SUMMARY if body.strip() else PartKind.OPAQUE
        index = self._add(Role.USER, [Part(kind, body, row.line)], row, harness=True)
        if not row.again:
            self.context.summarised(index, opaque=kind is PartKind.OPAQUE)

    def _returned(self, row: Row, result: Part) -> None:
        """What a sub-agent used in all, where the client wrote it beside the tool result."""
        outcome = mapping(row.value.get("toolUseResult"))
        agent = text(outcome.get("agentId"))
        if agent:
            lane = self.draft.lanes.get(agent, Lane(agent))
            title = lane.title or text(outcome.get("agentType")) or text(outcome.get("description"))
            tokens = count(outcome.get("totalTokens"))
            self.draft.lanes[agent] = Lane(agent, title, result.ref, lane.file, tokens)

    def _attachment(self, row: Row) -> None:
        attachment = mapping(row.value.get("attachment"))
        parts = tuple(attachment_parts(attachment, row.line))
        if parts:
            human = mapping(attachment.get("origin")).get("kind") == "human"
            self._add(Role.USER, parts, row, harness=not human)
        else:
            self.draft.bookkeep(record_type(row.value))

    def _progress(self, row: Row) -> None:
        """A sub-agent's messages, written as progress of the tool that runs it; other progress is display."""
        data = mapping(row.value.get("data"))
        inner, agent = mapping(data.get("message")), text(data.get("agentId"))
        handler = {"user": self._user, "assistant": self._assistant}.get(text(inner.get("type")))
        if data.get("type") != "agent_progress" or not agent or handler is None:
            self.draft.bookkeep(record_type(row.value))
            return
        self.draft.lanes.setdefault(agent, Lane(agent, spawned_by=row.text("parentToolUseID")))
        if not self._is_copy(agent, text(inner.get("uuid"))):
            handler(Row({**inner, "sessionId": row.value.get("sessionId")}, row.line, agent, again=False))

    def _system(self, row: Row) -> None:
        if row.value.get("subtype") == "compact_boundary":
            self.context.compacted(row.value, row.line, row.lane)
        elif row.value.get("subtype") == "microcompact_boundary":
            self.context.cleared(row.value, row.line, row.lane)
        self.draft.bookkeep(record_type(row.value))

    def _add(self, role: Role, parts: Iterable[Part], row: Row, *, harness: bool = False, id_: str = "") -> int:
        index = self.draft.add(
            role,
            parts,
            row.line,
            lane=row.lane,
            id=id_ or row.text("uuid"),
            time=row.text("timestamp"),
            harness=harness,
            copied=row.again,
            group=row.text("sessionId"),
        )
        self._register(row, index)
        return index

    def _register(self, row: Row, index: int) -> None:
        if uuid := row.text("uuid"):
            self.context.index_of[uuid] = self.context.message_of[uuid] = index

    def finish(self) -> Iterator[Transcript]:
        """The conversations, session by session; the records of a single sub-agent are its main lane."""
        for transcript in split_sessions(self.draft, self.sessions):
            lanes = {message.lane for message in transcript.messages}
            alone = len(lanes) == 1 and MAIN not in lanes
            yield only_lane_as_main(transcript) if alone else transcript


def read_session(records: Iterable[Record], name: str) -> Iterator[Transcript]:
    """The conversations of a source of session records, as transcripts of the format named."""
    reader = ClaudeSession(name)
    for record in records:
        reader.read(record)
    yield from reader.finish()
