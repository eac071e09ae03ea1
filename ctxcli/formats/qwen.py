"""Qwen Code sessions: records in a tree by `uuid` and `parentUuid`, each with a Content of Google's API.

The envelope is Claude Code's; a message holds `parts`, and the model's role is `model`. The context is the path to the
last record; a rewind hangs the next record on an earlier one, a compression stores the whole new history.
`ui_telemetry` repeats usage, `toolCallResult` and what a user record's `systemPayload` says are for the screen. Source:
https://github.com/QwenLM/qwen-code packages/core/src/services/chatRecordingService.ts, session-api-history.ts and
packages/core/src/agents/agent-transcript.ts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.google import unknown_in, usage_of
from ctxcli.formats.blocks.qwen_history import bootstrap_of, compression_of, said_of
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.sessions import only_lane_as_main
from ctxcli.formats.blocks.tree import ROOT, Tree
from ctxcli.formats.blocks.values import count, mapping, text
from ctxcli.model import MAIN, EventKind, Lane, Record, Role, Transcript
from ctxcli.shelf import Format

_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_OWN_KEYS = frozenset({"systemPayload", "usageMetadata", "toolCallResult"})
_TYPED = frozenset({"", "mid_turn_user_message"})
"""Subtypes of what the user typed; other records under his name are the client's."""
_UNSENT = frozenset({"realtime_message", "code_mode_tool_result"})
"""Subtypes of messages that are never sent."""
_BOOKS = frozenset(
    {
        "slash_command", "ui_telemetry", "at_command", "attribution_snapshot", "background_task_completed",
        "custom_title", "parent_session", "session_source", "session_execution_engine", "session_model",
        "session_notes", "session_approval_mode", "session_artifact_event", "session_artifact_snapshot",
        "session_sources_snapshot", "agent_retry", "agent_session_ready", "file_history_snapshot",
        "user_text_elements", "branch_checkpoint", "goal_state", "goal_turn_end", "turn_result", "turn_attempt",
        "omni_recall", "managed_session_header_v1", "managed_session_event_v1", "managed_session_commit_v1",
    }
)  # fmt: skip
"""Subtypes of system records that change nothing for the model."""


class _Reader:
    """Reads one session, and the files of its sub-agents, into one draft."""

    def __init__(self) -> None:
        self.draft = Draft("qwen", agent="qwen-code")
        self._trees: dict[str, Tree] = {}
        self._index: dict[str, int] = {}
        """The message that a record is."""
        self._call_of: dict[int, int] = {}

    def starts_another(self, value: Any) -> bool:
        """Whether a record begins another session than the one that is being read."""
        if not isinstance(value, dict) or not self.draft.messages or value.get("parentUuid") is not None:
            return False
        return isinstance(value.get("sessionId"), str) and value["sessionId"] != self.draft.id

    def read(self, record: Record) -> None:
        self.draft.saw(record)
        value, line = record.value, record.line
        if not isinstance(value, dict):
            self.draft.not_a_record(record)
            return
        self.draft.id = self.draft.id or text(value.get("sessionId")) or None
        self.draft.works_in(text(value.get("cwd")))
        tree, key = self._tree(value, record.file), text(value.get("uuid")) or f"#{self.draft.records}"
        type_, subtype = text(value.get("type")), text(value.get("subtype"))
        name = f"{type_}/{subtype}" if subtype else type_
        if type_ == "system":
            self._system(value, tree, key, line)
        elif type_ not in _TYPES:
            tree.pass_by(key, self._parent(value, tree))
            self.draft.unknown(type_, line)
        elif subtype in _UNSENT or ("message" not in value and type_ != "assistant"):
            self._book(value, tree, key, name)
        else:
            self._message(value, tree, key, line)

    def finish(self) -> Transcript:
        """The transcript; a file of one sub-agent is that agent's main lane."""
        transcript = self.draft.finish()
        lanes = {message.lane for message in transcript.messages}
        return only_lane_as_main(transcript) if len(lanes) == 1 and MAIN not in lanes else transcript

    def _tree(self, value: Mapping[str, Any], file: str) -> Tree:
        """The tree of a record's lane; sub-agents have one each."""
        agent = text(value.get("agentId")) if value.get("isSidechain") is True else ""
        lane = agent or MAIN
        if lane not in self._trees:
            self._trees[lane] = Tree(self.draft, lane)
            if agent:
                self.draft.lanes[lane] = Lane(lane, text(value.get("agentName")), file=file)
        return self._trees[lane]

    def _parent(self, value: Mapping[str, Any], tree: Tree) -> str:
        """The record that this one hangs on: the one before it where it does not say, or names one that is lost."""
        parent = value.get("parentUuid", tree.leaf)
        if parent is None:
            return ROOT
        return parent if isinstance(parent, str) and tree.knows(parent) else tree.leaf

    def _book(self, value: Mapping[str, Any], tree: Tree, key: str, name: str) -> None:
        tree.pass_by(key, self._parent(value, tree))
        tree.leaf = key
        self.draft.bookkeep(name)

    def _system(self, value: Mapping[str, Any], tree: Tree, key: str, line: int) -> None:
        subtype, payload = text(value.get("subtype")), value.get("systemPayload")
        if tree.knows(key):
            self.draft.duplicates += 1
        elif subtype == "chat_compression":
            self._compression(value, tree, key, line)
        elif subtype == "rewind":
            self._book(value, tree, key, "system/rewind")
            tree.go_to(key, line)
        elif subtype == "agent_bootstrap":
            self._book(value, tree, key, "system/agent_bootstrap")
            for number, said in enumerate(bootstrap_of(payload, line)):
                again = said.role is not Role.SYSTEM
                self._say(said, value, tree, f"{key}/{number}", parent=tree.leaf, copied=again)
            tree.stands(key)
        elif subtype in _BOOKS:
            self._book(value, tree, key, f"system/{subtype}")
        else:
            tree.pass_by(key, self._parent(value, tree))
            self.draft.unknown(f"system/{subtype}", line)

    def _compression(self, value: Mapping[str, Any], tree: Tree, key: str, line: int) -> None:
        """One that failed changes nothing; of one without the new history only the fact is known."""
        payload = mapping(value.get("systemPayload"))
        info, compression = mapping(payload.get("info")), compression_of(payload, line)
        self._book(value, tree, key, "system/chat_compression")
        if compression is not None:
            tree.go_to(key, line)
            compression.put(tree, key, line)
        elif not payload.get("compressedHistory") and mapping(payload.get("info")).get("compressionStatus") in (
            None,
            1,
        ):
            info = mapping(payload.get("info"))
            before, after = count(info.get("originalTokenCount")), count(info.get("newTokenCount"))
            self.draft.event(
                EventKind.SUMMARY, line, lane=tree.lane, tokens_before=before, tokens_after=after, opaque=True
            )

    def _message(self, value: Mapping[str, Any], tree: Tree, key: str, line: int) -> None:
        said = said_of(value.get("message"), line)
        for name in unknown_in(mapping(value.get("message")).get("parts")):
            self.draft.unknown(name, line)
        if value["type"] == "assistant":
            self._answer(said, value, tree, key)
            return
        if key in self._index:
            self._again(said, key)
            return
        typed = tree.lane == MAIN and text(value.get("subtype")) in _TYPED
        self._say(replace(said, harness=said.role is Role.USER and not typed), value, tree, key)

    def _answer(self, said: Said, value: Mapping[str, Any], tree: Tree, key: str) -> None:
        """An answer is one call. A sub-agent's text, which tells the usage, and its tool calls are records apart."""
        said, usage = replace(said, role=Role.ASSISTANT), usage_of(value.get("usageMetadata"))
        self.draft.window = count(value.get("contextWindowSize")) or self.draft.window
        live = self.draft.live[tree.lane]
        goes_on = tree.lane != MAIN and usage is None and bool(live) and live[-1] in self._call_of
        if key in self._index:
            index = self._again(said, key)
        elif goes_on and self._parent(value, tree) == tree.leaf:
            index = self._index[key] = live[-1]
            self.draft.extend(index, said.parts, said.line)
            tree.pass_by(key, tree.leaf)
            tree.leaf = key
        else:
            index = self._say(said, value, tree, key)
        if index not in self._call_of:
            id_, time = text(value.get("uuid")), text(value.get("timestamp"))
            call = self.draft.call(index, said.line, id=id_, time=time, model=text(value.get("model")), usage=usage)
            self._call_of[index] = call
        elif usage is not None:
            at = self._call_of[index]
            self.draft.calls[at] = replace(self.draft.calls[at], usage=usage)

    def _again(self, said: Said, key: str) -> int:
        """A record of a known id: a repetition, or the rest of its message."""
        index = self._index[key]
        known = {(part.kind, part.text, part.ref) for part in self.draft.messages[index].parts}
        new = [part for part in said.parts if (part.kind, part.text, part.ref) not in known]
        self.draft.duplicates += not new
        if new:
            self.draft.extend(index, new, said.line)
        return index

    def _say(
        self, said: Said, value: Mapping[str, Any], tree: Tree, key: str, *, parent: str = "", copied: bool = False
    ) -> int:
        tree.go_to(parent or self._parent(value, tree), said.line)
        id_, time = text(value.get("uuid")), text(value.get("timestamp"))
        facts = {"lane": tree.lane, "id": id_, "time": time}
        index = self.draft.add(said.role, said.parts, said.line, harness=said.harness, copied=copied, **facts)
        tree.say(key, index)
        tree.leaf = key
        self._index[key] = index
        return index


def _is_own(value: Any) -> bool:
    """Whether a record is of this format: its message has parts, or it has a key that only this client writes."""
    if not isinstance(value, dict) or not (isinstance(value.get("type"), str) and value["type"] in _TYPES):
        return False
    identified = isinstance(value.get("uuid"), str) and isinstance(value.get("sessionId"), str)
    return identified and (
        isinstance(mapping(value.get("message")).get("parts"), list) or bool(_OWN_KEYS & value.keys())
    )


def claims(records: Sequence[Record]) -> bool:
    """Records with a session and an id of their own whose messages are Contents of Google's API."""
    return any(_is_own(record.value) for record in records)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversation of a session with its sub-agents; of several where sessions were joined to one file."""
    reader = _Reader()
    for record in records:
        if not record.file and reader.starts_another(record.value):
            yield reader.finish()
            reader = _Reader()
        reader.read(record)
    yield reader.finish()


FORMAT = Format(
    name="qwen",
    title="Qwen Code session (JSONL)",
    recognised_by="records with uuid, sessionId and message.parts, role model",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "compaction", "sub-agents", "timestamps"}),
    companions=("../subagents/{stem}/agent-*.jsonl",),
)
