"""Sessions of the pi coding agent, and of openclaw and oh-my-pi, which write the same records.

A header, then one entry a line. From version 2 on entries form a tree by `id` and `parentId`; version 1 is a line. The
context is the path to the entry written last, from the last compaction on. Source of the shapes:
https://github.com/earendil-works/pi packages/coding-agent/docs/session-format.md and compaction.md. Answers that were
cut off or failed are never sent again (packages/ai/src/api/transform-messages.ts), and their usage is stale.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.pi_context import PiContext
from ctxcli.formats.blocks.pi_messages import ROLES, content_parts, said_of, unknown_in, usage_of
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.tree import Tree
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.model import Record, Role, Transcript
from ctxcli.shelf import Format

_BOOKS = frozenset(
    {
        "thinking_level_change", "label", "session_info", "custom", "usage", "mode_change", "ttsr_injection",
        "agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update",
        "tool_execution_start", "tool_execution_update", "tool_execution_end",
    }
)  # fmt: skip
"""Entries that no model sees, and the events around messages where the output of `pi --mode json` was kept."""
_UNFINISHED = ("aborted", "error")
_ECHOES = ("delivery-mirror", "gateway-injected")
"""Models under whose name openclaw repeats in the transcript what it delivered."""
_PROVIDERS = ("anthropic", "google", "openai")


class _Reader:
    """Reads one session into one draft."""

    def __init__(self) -> None:
        self.draft = Draft("pi", agent="pi")
        self.tree = Tree(self.draft)
        self._context = PiContext(self.draft, self.tree)
        self._model, self._line = "", 0
        self._handlers = {
            "session": self._header,
            "message": self._message,
            "message_end": self._message,
            "custom_message": self._custom,
            "session_init": self._session_init,
            "model_change": self._model_change,
            "compaction": self._context.compaction,
            "branch_summary": self._context.branch_summary,
            "context_edit": self._context.context_edit,
            "reset": self._context.reset,
            "leaf": self._context.leaf,
        }

    def starts_another(self, value: Any) -> bool:
        """Whether a record is the header of another session than the one that is being read."""
        if not isinstance(value, dict) or value.get("type") != "session":
            return False
        return bool(self.draft.messages) and text(value.get("id")) != (self.draft.id or "")

    def read(self, record: Record) -> None:
        keys, self._line = self._context.keys, record.line
        self.draft.saw(record)
        value = record.value
        if not isinstance(value, dict):
            keys.append("")
            self.draft.not_a_record(record)
            return
        type_, id_ = text(value.get("type")), value.get("id")
        has_id = isinstance(id_, str) and bool(id_) and type_ != "session"
        key = text(id_) if has_id else f"#{len(keys)}"
        keys.append(key)
        if self.tree.knows(key):
            self.draft.duplicates += 1
        elif type_ in self._handlers and value.get("appendMode") != "side":
            self._handlers[type_](value, key, record.line)
            self.tree.leaf = key
        elif type_ in _BOOKS:
            self._context.book(value, key, type_)
            self.tree.leaf = key
        elif type_ in self._handlers:
            self._context.book(value, key, f"{type_} beside the conversation")
        else:
            self.tree.pass_by(key, self._context.parent(value))
            self.draft.unknown(type_, record.line)

    def finish(self) -> Transcript:
        """The transcript; the context at its end is that of the entry written last."""
        self.tree.go_to(self.tree.leaf, self._line)
        return self.draft.finish()

    def _header(self, value: Mapping[str, Any], key: str, _line: int) -> None:
        self.draft.works_in(text(value.get("cwd")))
        self.draft.id = self.draft.id or text(value.get("id")) or None
        self._model = text(value.get("modelId")) or self._model
        if value.get("parentSession") or value.get("branchedFrom"):
            self.draft.notes.append(
                "This session was branched from another: messages and calls copied from there are counted here too."
            )
        self._context.book({}, key, "session")

    def _model_change(self, value: Mapping[str, Any], key: str, _line: int) -> None:
        self._model = text(value.get("modelId")) or text(value.get("model")) or self._model
        self._context.book(value, key, "model_change")

    def _session_init(self, value: Mapping[str, Any], key: str, line: int) -> None:
        """The system prompt that a sub-agent of oh-my-pi was started with."""
        parts = tuple(content_parts(value.get("systemPrompt"), line))
        self._context.say(Said(Role.SYSTEM, parts, line, harness=True), value, key)

    def _custom(self, value: Mapping[str, Any], key: str, line: int) -> None:
        """What an extension tells the model under the user's name."""
        self._name_unknown(value.get("content"), line)
        said = Said(Role.USER, tuple(content_parts(value.get("content"), line)), line, harness=True)
        self._context.say(said, value, key)

    def _message(self, value: Mapping[str, Any], key: str, line: int) -> None:
        message = mapping(value.get("message"))
        role = text(message.get("role"))
        said = said_of(message, line)
        if said is None:
            self.tree.pass_by(key, self._context.parent(value))
            self.draft.unknown(f"message/{role}", line)
            return
        self._name_unknown(message.get("content"), line)
        if role == "assistant":
            self._answer(message, said, value, key)
        elif message.get("excludeFromContext") is True:
            self._context.book(value, key, f"message/{role} kept from the model")
        else:
            self._context.say(said, value, key)

    def _name_unknown(self, content: Any, line: int) -> None:
        for type_ in unknown_in(content):
            self.draft.unknown(type_, line)

    def _answer(self, message: Mapping[str, Any], said: Said, value: Mapping[str, Any], key: str) -> None:
        """An answer is one call, unless it was cut off or failed, or only repeats what was delivered."""
        model, reason = text(message.get("model")), text(message.get("stopReason"))
        if reason in _UNFINISHED or model in _ECHOES:
            self._context.book(value, key, f"message/assistant {reason if reason in _UNFINISHED else model}")
            return
        index = self._context.say(said, value, key)
        names = f"{text(message.get('provider'))} {text(message.get('api'))}"
        self.draft.provider = self.draft.provider or next((name for name in _PROVIDERS if name in names), "")
        self._model = model or self._model
        id_ = text(message.get("responseId")) or text(value.get("id"))
        time, usage = text(value.get("timestamp")), usage_of(message.get("usage"))
        self.draft.call(index, said.line, id=id_, time=time, model=self._model, usage=usage)


def claims(records: Sequence[Record]) -> bool:
    """The header of a session with entries that are not of another agent's making, or messages in a tree."""
    values = [record.value for record in records if isinstance(record.value, dict)]
    if any("seq" in value or "/" in text(value.get("type")) for value in values):
        return False
    headers = [value for value in values if value.get("type") == "session" and isinstance(value.get("id"), str)]
    if any("cwd" in value for value in headers):
        return True
    return any(_is_entry(value) and (headers or "parentId" in value) for value in values)


def _is_entry(value: Mapping[str, Any]) -> bool:
    role = mapping(value.get("message")).get("role")
    return value.get("type") == "message" and isinstance(role, str) and role in ROLES


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversation of a session file; of several where sessions were joined to one file."""
    reader = _Reader()
    for record in records:
        if reader.starts_another(record.value):
            yield reader.finish()
            reader = _Reader()
        reader.read(record)
    yield reader.finish()


FORMAT = Format(
    name="pi",
    title="pi session, also openclaw and oh-my-pi (JSONL)",
    recognised_by="a header of type session with cwd, then entries: message, compaction, model_change …",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt", "compaction", "timestamps"}),
)
