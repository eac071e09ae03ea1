"""Gemini CLI sessions: one JSON document, a log of operations in JSONL, or a saved checkpoint of the history.

In a log a message of a known id takes the place of the one before, `$set.messages` replaces the whole list, and
`$rewindTo` drops a message and all after it. A checkpoint of `/chat save` is the list of Contents that is sent to the
API. Source: https://github.com/google-gemini/gemini-cli packages/core/src/services/chatRecordingService.ts and
packages/core/src/core/logger.ts. Neither system prompt nor tools are stored; the figures of a call stand on its answer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.gemini_history import History
from ctxcli.formats.blocks.gemini_records import TYPES, user_said
from ctxcli.formats.blocks.google import is_content, parts_of, role_of, unknown_in, usage_of
from ctxcli.formats.blocks.lists import no_message
from ctxcli.formats.blocks.values import blocks, mapping, sequence, text
from ctxcli.model import EventKind, Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format

_ACKNOWLEDGED = "Got it. Thanks for the additional context!"
"""What the client lets the model say to a summary."""


class _Log:
    """Reads one session, a document or a log, into one draft."""

    def __init__(self) -> None:
        self.draft = Draft("gemini", "google", "gemini-cli")
        self._history = History(self.draft)

    def starts_another(self, value: Any) -> bool:
        """Whether a record is the head of another session than the one that is being read."""
        return _is_head(value) and bool(self.draft.messages) and value["sessionId"] != self.draft.id

    def read(self, record: Record) -> None:
        self.draft.saw(record)
        value, line = record.value, record.line
        if not isinstance(value, dict):
            self.draft.not_a_record(record)
        elif isinstance(value.get("$rewindTo"), str):
            self.draft.bookkeep("$rewindTo")
            self._history.rewind(value["$rewindTo"], line)
        elif isinstance(value.get("$set"), dict):
            self.draft.bookkeep("$set")
            self._know(value["$set"])
            if isinstance(value["$set"].get("messages"), list):
                self._history.replace_all(value["$set"]["messages"], line)
        elif isinstance(value.get("id"), str) and "type" in value:
            self._history.put(value, line)
        elif isinstance(value.get("sessionId"), str):
            self.draft.bookkeep("session")
            self._know(value)
            lines = (record.lines or {}).get(("messages",), ())
            for number, message in enumerate(sequence(value.get("messages"))):
                self._history.put(message, lines[number] if number < len(lines) else line)
        else:
            self.draft.unknown("+".join(sorted(map(str, value))), line)

    def _know(self, facts: Mapping[str, Any]) -> None:
        self.draft.id = self.draft.id or text(facts.get("sessionId")) or None
        for folder in sequence(facts.get("directories")):
            self.draft.works_in(text(folder))


class _Checkpoint:
    """Reads one saved history."""

    def __init__(self) -> None:
        self.draft = Draft("gemini", "google", "gemini-cli")
        self.draft.notes.append(
            "A saved checkpoint holds the history alone: neither the figures nor the models of its calls."
        )

    def read(self, record: Record) -> None:
        self.draft.saw(record)
        value = record.value
        path: tuple[str, ...] = () if isinstance(value, list) else ("history",)
        contents = value if isinstance(value, list) else mapping(value).get("history")
        if not isinstance(contents, list):
            self._content(value, record.line)
            return
        lines = (record.lines or {}).get(path, ())
        for number, content in enumerate(contents):
            self._content(content, lines[number] if number < len(lines) else record.line)

    def _content(self, content: Any, line: int) -> None:
        if not isinstance(content, dict):
            self.draft.skips.append(no_message(content, line))
            return
        if content.get("role") not in ("user", "model", "function"):
            self.draft.unknown(f"role {text(content.get('role'))}", line)
            return
        for name in unknown_in(content.get("parts")):
            self.draft.unknown(name, line)
        parts = list(parts_of(content.get("parts"), line))
        role = role_of(content, parts)
        if role is Role.ASSISTANT:
            client = [part.text for part in parts] == [_ACKNOWLEDGED]
            at = self.draft.add(role, parts, line, harness=client)
            if not client:
                self.draft.call(at, line)
            return
        said = user_said(parts, line)
        if any(part.kind is PartKind.SUMMARY for part in said.parts):
            event = self.draft.event(EventKind.SUMMARY, line, trigger="client")
            self.draft.amend(event, summary=len(self.draft.messages))
        self.draft.add(role, said.parts, line, harness=said.harness)


class _Answers:
    """Reads a log of the API's answers, as the client records them for replay: what was sent is not in it."""

    def __init__(self) -> None:
        self.draft = Draft("gemini", "google", "gemini-cli")
        self.draft.notes.append("A log of answers: what was sent to the model is known by its size alone.")

    def read(self, record: Record) -> None:
        self.draft.saw(record)
        if not _is_answer(record.value):
            self.draft.unknown("+".join(sorted(map(str, mapping(record.value)))), record.line)
            return
        chunks = [mapping(chunk) for chunk in blocks(record.value["response"])]
        contents = [mapping(one).get("content") for chunk in chunks for one in sequence(chunk.get("candidates"))[:1]]
        parts = [part for content in contents for part in parts_of(mapping(content).get("parts"), record.line)]
        told = "".join(part.text for part in parts if part.kind is PartKind.TEXT)
        rest = [part for part in parts if part.kind is not PartKind.TEXT]
        said = [Part(PartKind.TEXT, told, record.line), *rest] if told else rest
        usages = [used for chunk in chunks if (used := usage_of(chunk.get("usageMetadata"))) is not None]
        model = next((text(chunk["modelVersion"]) for chunk in chunks if chunk.get("modelVersion")), "")
        at = self.draft.add(Role.ASSISTANT, said, record.line)
        self.draft.call(at, record.line, model=model, usage=usages[-1] if usages else None)


def _is_answer(value: Any) -> bool:
    """Whether a value is a call of the API with what came back: one response, or the pieces of a stream."""
    if not isinstance(value, dict) or not isinstance(value.get("method"), str):
        return False
    return any(isinstance(mapping(chunk).get("candidates"), list) for chunk in blocks(value.get("response")))


def _is_head(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("sessionId", "projectHash"))


def _is_operation(value: Any) -> bool:
    return isinstance(value, dict) and (isinstance(value.get("$set"), dict) or isinstance(value.get("$rewindTo"), str))


def _is_message(value: Any) -> bool:
    known = isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] in TYPES
    return known and {"id", "timestamp", "content"} <= value.keys()


def _is_checkpoint(value: Any) -> bool:
    """Whether a value is a list of Contents, or holds one as its history."""
    contents = value if isinstance(value, list) else mapping(value).get("history")
    return isinstance(contents, list) and _is_history(contents)


def _is_history(contents: Sequence[Any]) -> bool:
    """Whether values are Contents for the most part, those of the model among them, and nothing but Contents."""
    found = [value for value in contents if is_content(value) and value.keys() <= {"role", "parts"}]
    answered = any(value["role"] == "model" for value in found)
    return answered and 2 * len(found) > len(contents) and not any(unknown_in(found[0]["parts"]))


def claims(records: Sequence[Record]) -> bool:
    """The head of a session, its operations or an answer of its kind; or a list of the API's Contents."""
    values = [record.value for record in records]
    if any(_is_head(one) or _is_operation(one) or _is_checkpoint(one) or _is_answer(one) for one in values):
        return True
    messages = [value for value in values if _is_message(value)]
    return any(value["type"] == "gemini" for value in messages) or _is_history(values)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversation of a session or a checkpoint; of several where files were joined."""
    log: _Log | None = None
    loose: _Checkpoint | None = None
    answers: _Answers | None = None
    for record in records:
        if _is_checkpoint(record.value):
            saved = _Checkpoint()
            saved.read(record)
            yield saved.draft.finish()
        elif _is_answer(record.value) or (answers is not None and log is None):
            answers = answers or _Answers()
            answers.read(record)
        elif is_content(record.value) and log is None:
            loose = loose or _Checkpoint()
            loose.read(record)
        else:
            if log is not None and log.starts_another(record.value):
                yield log.draft.finish()
                log = None
            log = log or _Log()
            log.read(record)
    for one in (loose, log, answers):
        if one is not None:
            yield one.draft.finish()


FORMAT = Format(
    name="gemini",
    title="Gemini CLI session (JSON or JSONL), saved chat, or log of answers",
    recognised_by="sessionId with projectHash, $set and $rewindTo, type gemini; lists of {role, parts}; candidates",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "compaction", "timestamps"}),
)
