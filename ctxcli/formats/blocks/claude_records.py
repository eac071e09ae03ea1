"""What the records of a Claude Code session are, by type: which a model saw, and which none did."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ctxcli.formats.blocks.anthropic import parts_of
from ctxcli.formats.blocks.media import readable
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.model import MAIN, Part, PartKind

SYNTHETIC = "<synthetic>"
"""The model name of answers that the client made up itself; no call stands behind them."""

BOOKS = frozenset(
    {
        "agent-name", "ai-title", "bridge-session", "cost-state", "custom-title", "file-history-delta",
        "file-history-snapshot", "last-prompt", "mode", "permission-mode", "pr-link", "queue-operation",
        "summary", "tag", "worktree-state",
    }
)  # fmt: skip
"""Record types that are the client's own. `summary` records title other sessions; they compact nothing."""

_FREE_ATTACHMENTS = frozenset(
    {"hook_success", "hook_cancelled", "hook_system_message", "command_permissions", "date_change"}
)
"""Attachments that cost no tokens, by regression over real sessions (date changes: a few)."""

_FILE_ATTACHMENTS = frozenset(
    {"file", "new_file", "edited_text_file", "directory", "nested_memory", "compact_file_reference",
     "opened_file_in_ide", "selected_lines_in_ide", "already_read_file", "pdf_reference"}
)  # fmt: skip

_HARNESS_TAGS = (
    "<command-name>", "<command-message>", "<local-command-stdout>", "<local-command-stderr>",
    "<local-command-caveat>", "<task-notification>", "<system-reminder>", "<bash-stdout>", "<bash-stderr>",
    "[Request interrupted by user",
)  # fmt: skip
_TEXT_KEYS = ("prompt", "content", "snippet", "addedLines", "text", "message", "stdout")
_META_KEYS = frozenset({"type", "timestamp", "toolUseID", "hookName", "hookEvent", "commandMode", "origin"})


_BOOK_KEYS = frozenset({"sessionId", "leafUuid", "messageId", "snapshot"})
_QWEN_KEYS = frozenset({"systemPayload", "usageMetadata", "toolCallResult"})
"""What only Qwen Code writes into records of the same envelope."""
_STRIPS_THINKING = re.compile(r"claude-(3|2|instant|haiku|opus-4(-0|-1)?(-20|$)|sonnet-4(-0|-5)?(-20|$))")


class Row(NamedTuple):
    """A record that may hold a message, in its lane."""

    value: Mapping[str, Any]
    line: int
    lane: str
    again: bool
    """A record that a compaction by ctx wrote into the session a second time."""

    @property
    def message(self) -> Mapping[str, Any]:
        """What was sent or received."""
        return mapping(self.value.get("message"))

    def text(self, key: str) -> str:
        """A field of the record."""
        return text(self.value.get(key))

    def parts(self) -> tuple[Part, ...]:
        """The parts of its message."""
        return tuple(parts_of(self.message.get("content"), self.line))


def is_session_record(value: Any) -> bool:
    """Whether a record has a type of its own and a session, a parent link or the client's bookkeeping."""
    if not isinstance(value, dict) or is_of_qwen(value):
        return False
    if text(value.get("type")) in ("user", "assistant", "system", "progress", "attachment"):
        return "sessionId" in value and ("parentUuid" in value or "uuid" in value)
    return text(value.get("type")) in BOOKS and bool(_BOOK_KEYS & value.keys())


def is_of_qwen(value: Any) -> bool:
    """Whether a record of the same envelope is Qwen Code's: its message has parts, or it has a key of that client's."""
    return isinstance(value, dict) and ("parts" in mapping(value.get("message")) or bool(_QWEN_KEYS & value.keys()))


def strips_thinking(model: str) -> bool:
    """Whether a user turn drops the thinking of the turns before: so up to Opus 4.1 and Sonnet 4.5.

    Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking (Opus 4.5 and
    later keep it), and the same seen in the measured growth of sessions.
    """
    return _STRIPS_THINKING.match(model) is not None


def record_type(value: Mapping[str, Any]) -> str:
    """The type of a record with its sub-type: `system/turn_duration`, `progress/hook_progress`."""
    kind = text(value.get("type"))
    subtype = {
        "system": value.get("subtype"),
        "progress": mapping(value.get("data")).get("type"),
        "attachment": mapping(value.get("attachment")).get("type"),
    }.get(kind)
    return f"{kind}/{subtype}" if subtype else kind


def is_harness_text(parts: Sequence[Part]) -> bool:
    """Whether a user record holds only what the client wrote: command echoes, notices, reminders."""
    texts = [part.text.lstrip() for part in parts if part.kind is PartKind.TEXT]
    return bool(texts) and all(body.startswith(_HARNESS_TAGS) for body in texts)


def is_clear(value: Mapping[str, Any]) -> bool:
    """Whether a record of the main lane opens a new, empty context (`/clear` leaves no other mark)."""
    if value.get("isSidechain") is True or value.get("parentUuid", "") is not None:
        return False
    if value.get("type") == "user":
        return value.get("isCompactSummary") is not True
    hook = mapping(value.get("data") or value.get("attachment")).get("hookName")
    return str(hook) in ("SessionStart:clear", "SessionStart:startup")


def is_resume(value: Mapping[str, Any]) -> bool:
    """Whether a record shows that the session was left, or has been taken up again."""
    hook = mapping(value.get("data") or value.get("attachment")).get("hookName")
    said = mapping(value.get("message")).get("content")
    return hook == "SessionStart:resume" or (isinstance(said, str) and said.startswith("<command-name>/exit<"))


def sidechain_lane(value: Mapping[str, Any], file: str, lane_of: Mapping[str, str]) -> str:
    """The lane of a record: main, or the sub-agent that it names or descends from."""
    if value.get("isSidechain") is not True and not file:
        return MAIN
    if agent := text(value.get("agentId")):
        return agent
    if file:
        return file.rsplit("/", 1)[-1].rsplit("\\", 1)[-1].removesuffix(".jsonl").removeprefix("agent-")
    parent = lane_of.get(text(value.get("parentUuid")), MAIN)
    return parent if parent != MAIN else f"sidechain-{text(value.get('uuid'))[:8]}"


def attachment_parts(attachment: Mapping[str, Any], line: int) -> Iterator[Part]:
    """What a model saw of an attachment; nothing for those that are free."""
    kind = text(attachment.get("type"))
    if kind in _FREE_ATTACHMENTS:
        return
    said, media = readable(_body(attachment), line)
    address = text(attachment.get("filename") or attachment.get("path") or attachment.get("displayPath"))
    if said:
        part = PartKind.DOCUMENT if kind in _FILE_ATTACHMENTS else PartKind.TEXT
        yield Part(part, said, line, name=kind, address=address if part is PartKind.DOCUMENT else "")
    yield from media


def _body(attachment: Mapping[str, Any]) -> Any:
    """What of an attachment the model sees: its text, or the rest of it."""
    for key in _TEXT_KEYS:
        value = attachment.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return _joined([_inner(item) for item in value])
        if isinstance(value, dict):
            return _inner(value)
    return {key: value for key, value in attachment.items() if key not in _META_KEYS and value} or None


def _inner(value: Any) -> Any:
    """The file inside a file attachment, or the text of a block."""
    found = mapping(value)
    inner = mapping(found.get("file")).get("content") or found.get("text") or found.get("content")
    if isinstance(inner, list):
        return _joined([_inner(item) for item in inner])
    return inner if isinstance(inner, str) else value


def _joined(pieces: list[Any]) -> Any:
    return "\n".join(pieces) if all(isinstance(piece, str) for piece in pieces) else pieces


def attachment_with(attachment: Mapping[str, Any], said: str) -> dict[str, Any]:
    """An attachment of which the model sees another text."""
    for key in _TEXT_KEYS:
        if isinstance(attachment.get(key), (str, list, dict)) and attachment[key]:
            return {**attachment, key: said}
    kept = {key: attachment[key] for key in ("type", "filename", "path", "displayPath", "origin") if key in attachment}
    return {**kept, "content": said}
