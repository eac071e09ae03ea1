"""Claude Code's `--output-format stream-json` (and the SDK's messages): a line for each block, and a result at the end.

The lines hold the messages of a session under other names (`session_id`, `parent_tool_use_id`, `compact_metadata`), so
that the reader of sessions reads them. The usage of a line is that of the response's start; the result's is the sum
of a whole run and is never added. The prompt that a run was started with is not among the lines. Sources:
https://code.claude.com/docs/en/agent-sdk/typescript (SDKMessage) and recorded streams of 2.1.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.anthropic import parts_of, usage_of
from ctxcli.formats.blocks.claude_records import SYNTHETIC
from ctxcli.formats.blocks.claude_session import ClaudeSession
from ctxcli.formats.blocks.values import blocks, count, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Lane, Part, PartKind, Record, Role, Transcript, Usage
from ctxcli.shelf import Format

_BOOKS = frozenset(
    {
        "auth_status", "control_cancel_request", "control_request", "control_response", "keep_alive",
        "prompt_suggestion", "rate_limit_event", "tool_progress", "tool_use_summary",
    }
)  # fmt: skip
"""Types of lines that are between the client and whoever started it."""
_SUMMARY = "This session is being continued from a previous conversation"
_METADATA = {"compact_metadata": "compactMetadata", "microcompact_metadata": "microcompactMetadata"}


class _Stream:
    """Reads one stream, which may be that of several runs."""

    def __init__(self) -> None:
        self.session = ClaudeSession("claude-stream-json")
        self.draft = self.session.draft
        self._init: dict[str, tuple[int, list[str]]] = {}
        """For each session: where its tools stand, and their names."""
        self._tasks: dict[str, str] = {}
        """What the calls of sub-agents say about them."""
        self._speaking: dict[str, str] = {}
        """The response that is being streamed, by the sub-agent's call."""
        self._compacted = False
        """The summary of a compaction is to come."""
        self._result: Mapping[str, Any] = {}

    def read(self, record: Record) -> None:
        """Take one line, or one element of the array that stands for the lines."""
        value = mapping(record.value)
        type_ = text(value.get("type"))
        if type_ in ("user", "assistant") or (type_ == "system" and value.get("subtype") != "init"):
            self._message(value, record)
            return
        if not isinstance(record.value, dict):
            self.session.read(record)
            return
        self.draft.saw(record)
        if type_ == "system":
            self._begin(value, record.line)
        elif type_ == "result":
            self._result = value
            self._window(mapping(value.get("modelUsage")))
            self.draft.bookkeep("result")
        elif type_ == "stream_event":
            self._event(mapping(value.get("event")), text(value.get("parent_tool_use_id")))
            self.draft.bookkeep("stream_event")
        elif type_ in _BOOKS:
            self.draft.bookkeep(type_)
        else:
            self.draft.unknown(type_, record.line)

    def _message(self, value: Mapping[str, Any], record: Record) -> None:
        """A message, or what changes the context, as the session's reader knows it."""
        parent = text(value.get("parent_tool_use_id"))
        if parent:
            known = self.draft.lanes.get(parent, Lane(parent))
            title = known.title or self._tasks.get(parent, "")
            self.draft.lanes[parent] = Lane(parent, title, parent, known.file, known.tokens)
        for block in blocks(mapping(value.get("message")).get("content")):
            if mapping(block).get("type") == "tool_use" and isinstance(block.get("input"), dict):
                told = block["input"].get("subagent_type") or block["input"].get("description")
                self._tasks[text(block.get("id"))] = text(told)
        events = len(self.draft.events)
        self.session.read(record._replace(value=self._as_session_record(value, parent)))
        if value.get("subtype") == "compact_boundary" and len(self.draft.events) > events:
            self.draft.amend(len(self.draft.events) - 1, opaque=True)
            self._compacted = True

    def _as_session_record(self, value: Mapping[str, Any], parent: str) -> dict[str, Any]:
        record = {**value, "sessionId": value.get("session_id")}
        if parent:
            record |= {"isSidechain": True, "agentId": parent}
        for key, name in _METADATA.items():
            if isinstance(value.get(key), dict):
                record[name] = _camel(value[key])
        message = mapping(value.get("message"))
        if message.get("model") == SYNTHETIC and value.get("error"):
            record["isApiErrorMessage"] = True
        if value.get("type") == "user":
            record |= self._as_prompt(value, message, parent)
        return record

    def _as_prompt(self, value: Mapping[str, Any], message: Mapping[str, Any], parent: str) -> dict[str, Any]:
        """What the session's reader knows of a user's line by other names: summaries, the client's words, totals."""
        said = blocks(message.get("content"))
        start = said[0] if said and isinstance(said[0], str) else text(mapping(said[0] if said else None).get("text"))
        synthetic = value.get("isSynthetic") is True
        told: dict[str, Any] = {"isMeta": synthetic}
        if self._compacted and not parent and (synthetic or start.startswith(_SUMMARY)):
            self._compacted = False
            told["isCompactSummary"] = True
        outcome = mapping(value.get("tool_use_result"))
        results = [mapping(block) for block in said if mapping(block).get("type") == "tool_result"]
        if outcome.get("agentId") and len(results) == 1:
            told["toolUseResult"] = {**outcome, "agentId": text(results[0].get("tool_use_id"))}
        return told

    def _begin(self, value: Mapping[str, Any], line: int) -> None:
        """The head of a run, which stands again before each of its turns: the tools, by name only."""
        session = text(value.get("session_id"))
        self.draft.works_in(text(value.get("cwd")))
        names = [text(name) for name in sequence(value.get("tools"))]
        at, known = self._init.get(session, (-1, []))
        if names == known:
            self.draft.bookkeep("system/init")
            return
        if at in self.draft.live[MAIN]:
            self.draft.event(EventKind.RENEW, line, drops=[at], trigger="client", group=session)
            self.session.context.standing.discard(at)
        parts = [Part(PartKind.TOOLS, name, line, name=name) for name in names]
        at = self.draft.add(Role.SYSTEM, parts, line, harness=True, group=session)
        self.session.context.standing.add(at)
        self._init[session] = at, names

    def _event(self, event: Mapping[str, Any], parent: str) -> None:
        """Of the pieces that a response is streamed in, the last tells its usage."""
        if event.get("type") == "message_start":
            self._speaking[parent] = text(mapping(event.get("message")).get("id"))
        elif event.get("type") == "message_delta":
            usage = usage_of(event.get("usage")) or Usage(
                output=count(mapping(event.get("usage")).get("output_tokens"))
            )
            self.session.told_later(self._speaking.get(parent, ""), usage)

    def _window(self, models: Mapping[str, Any]) -> None:
        """The window of the model that answers in the main lane; others answer beside it."""
        main = next((call.model for call in reversed(self.draft.calls) if call.lane == MAIN and call.model), "")
        for name, facts in models.items():
            if name.split("[", 1)[0] == main or len(models) == 1:
                self.draft.window = count(mapping(facts).get("contextWindow")) or self.draft.window

    def finish(self) -> Iterator[Transcript]:
        """The conversations, session by session."""
        if not any(one.role is not Role.SYSTEM for one in self.draft.messages) and self._result:
            self._only_result()
        self.draft.notes += self._notes()
        yield from self.session.finish()

    def _only_result(self) -> None:
        """A run of which only the result was kept: its answer is there, its usage is that of a call if it made one."""
        parts = parts_of(self._result.get("result"), 1)
        at = self.draft.add(Role.ASSISTANT, parts, 1, group=text(self._result.get("session_id")))
        usage = usage_of(self._result.get("usage")) if self._result.get("num_turns") == 1 else None
        self.draft.call(at, 1, usage=usage)

    def _notes(self) -> Iterator[str]:
        draft = self.draft
        main = [message for message in draft.messages if message.lane == MAIN and message.role is not Role.SYSTEM]
        if main and main[0].role is Role.ASSISTANT:
            yield "The prompt that the run was started with is not in this stream; the usage of its calls holds it."
        if any(self._init.values()):
            yield "The tools stand here by name only: the size of their definitions is in the usage, not in the text."
        if any(event.kind is EventKind.SUMMARY and event.summary is None for event in draft.events):
            yield "The summary of a compaction is not in this stream: what it kept cannot be told."
        said = count(mapping(self._result.get("usage")).get("output_tokens"))
        placeholders = any(call.usage is not None and not call.usage.output_final for call in draft.calls)
        if said and placeholders:
            yield f"The last result reports {said:,} output tokens for its run; the calls report only their start."


def _camel(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Keys as the session file writes them: pre_tokens is preTokens there."""
    found = {}
    for key, value in facts.items():
        head, *rest = str(key).split("_")
        name = (head + "".join(word[:1].upper() + word[1:] for word in rest)).replace("Uuids", "UUIDs")
        found[name] = _camel(value) if isinstance(value, dict) else value
    return found


def _is_line(value: Any) -> bool:
    """A line names its session as no session file does, and holds a message, or is of the client's own sub-types."""
    if not isinstance(value, dict) or "sessionId" in value or not isinstance(value.get("session_id"), str):
        return False
    type_ = value.get("type")
    if type_ in ("user", "assistant"):
        return isinstance(value.get("message"), dict) and "parts" not in value["message"]
    return type_ in ("system", "result") and isinstance(value.get("subtype"), str)


def _elements(record: Record) -> Iterator[Record]:
    """The lines of a record: itself, or the elements of the array that `--output-format json` gives."""
    if not isinstance(record.value, list) or not any(map(_is_line, record.value)):
        yield record
        return
    lines = (record.lines or {}).get((), ())
    for number, value in enumerate(record.value):
        line = lines[number] if number < len(lines) else record.line
        yield Record(line, value, record.size // len(record.value), record.file)


def claims(records: Sequence[Record]) -> bool:
    """Lines with session_id, and a message or a sub-type."""
    return any(_is_line(one.value) for record in records for one in _elements(record))


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a stream, session by session."""
    stream = _Stream()
    for record in records:
        for one in _elements(record):
            stream.read(one)
    yield from stream.finish()


FORMAT = Format(
    name="claude-stream-json",
    title="Claude Code stream-json output, Claude Agent SDK messages",
    recognised_by="lines with type and session_id: system (init), assistant, user, result",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "compaction", "sub-agents"}),
)
