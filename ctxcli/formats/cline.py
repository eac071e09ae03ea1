"""Cline SDK sessions: `<id>.messages.json`, and beside it `<id>.compaction.json` where the session was compacted.

Source of the shapes: https://github.com/cline/cline/tree/main/sdk/packages/core/docs (messages-contract-v1.md,
compaction.md) and src/session/models/session-compaction.ts there. What was measured on a real session: `inputTokens`
holds the cached tokens; `usageBefore` of a basic compaction is the sum over all calls, no size of a context.

The messages stay as they are when a session is compacted: the new context stands in the file beside them and covers
the first `source_message_count` of them. Earlier versions rewrote the messages, so that what was dropped is gone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.agents import (
    API_TYPES,
    file_block,
    image_block,
    odd_message,
    provider_of,
    result_block,
    shaped_parts,
)
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.moments import from_milliseconds
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Part, PartKind, Record, Role, Transcript, Usage
from ctxcli.shelf import Format

_SUMMARY, _FOLDED = "compaction_summary", "compaction"
_NOTICE = "<SYSTEM_NOTICE>"
_FOLD = f"{_NOTICE}\nEarlier context was compacted"
_NOT_SENT = ("error",)
"""Roles of entries that are shown, and sent to no model."""


def _shape(kind: str, block: Mapping[str, Any]) -> list[Any] | None:
    """A block as the Messages API has it; images and files are written in a way of Cline's own."""
    if kind == "file":
        path, content = text(block.get("path")), text(block.get("content"))
        return [file_block(path, f"{path}\n{content}")]
    if kind == "image" and "source" not in block:
        return [image_block(block.get("data"), block.get("mediaType"))]
    if kind == "media":
        media = mapping(block.get("media"))
        return [image_block(media.get("data") or media.get("url"), media.get("mediaType"))]
    if kind == "tool_result":
        failed = block.get("is_error") is True
        return [result_block(block.get("tool_use_id"), block.get("content"), failed=failed, shape=_shape)]
    return [block] if kind in API_TYPES else None


def _usage(metrics: Mapping[str, Any]) -> Usage | None:
    """Cached tokens are part of the input; where they are more than it, the input was written without them."""
    sent = count(metrics.get("inputTokens"))
    if sent is None:
        return None
    read, write = count(metrics.get("cacheReadTokens")), count(metrics.get("cacheWriteTokens"))
    cached = (read or 0) + (write or 0)
    known = read is not None or write is not None
    return Usage(
        prompt=sent if cached <= sent else sent + cached,
        uncached=(sent - cached if cached <= sent else sent) if known else None,
        cache_read=read,
        cache_write=write,
        output=count(metrics.get("outputTokens")),
    )


@dataclass(slots=True)
class _Session:
    """One session while it is being read."""

    main: Record
    state: Record | None = None
    """The compacted context beside it."""
    draft: Draft = field(default_factory=lambda: Draft("cline", "", "cline"))
    _folded: bool = False
    """A fold of this context has been told of."""

    def read(self) -> Transcript:
        """The conversation, with the compaction where it took place."""
        value = mapping(self.main.value)
        self.draft.id = text(value.get("sessionId")) or text(value.get("conversation_id")) or None
        self._system(value, self.main.line)
        carried = "source_message_count" in value
        messages = sequence(value.get("messages"))
        place = self._boundary(messages)
        for number, message in enumerate(messages):
            line = line_of(self.main, ("messages", number))
            if number == place:
                self._compacted(line)
            self._message(message, line, carried=carried)
        if place == len(messages):
            self._compacted(line_of(self.main, ("messages", len(messages) - 1)))
        if carried:
            self.draft.notes.append(
                "This is the compacted context of a session: the calls stand in its .messages.json."
            )
        self.draft.provider = next((house for call in self.draft.calls if (house := provider_of(call.model))), "")
        return self.draft.finish()

    def _boundary(self, messages: Sequence[Any]) -> int | None:
        """How many of the messages the compacted context stands for; None where it is none of this session's."""
        state = mapping(self.state.value) if self.state else {}
        place = count(state.get("source_message_count"))
        if place is None or not state:
            return None
        key = text(state.get("source_last_message_key"))
        last = text(mapping(messages[place - 1]).get("id")) if 0 < place <= len(messages) else ""
        legacy = "source_prefix_hash" not in state and key.startswith("id:") and key != f"id:{last}"
        if place > len(messages) or legacy:
            self.draft.notes.append("The .compaction.json beside this session belongs to other messages: not applied.")
            return None
        return place

    def _system(self, value: Mapping[str, Any], line: int) -> None:
        prompt = text(value.get("system_prompt"))
        if prompt:
            self.draft.add(Role.SYSTEM, [Part(PartKind.TEXT, prompt, line)], line)

    def _compacted(self, line: int) -> None:
        """The context is from here on what stands in the file beside the messages; `line` is where here is."""
        state = mapping(self.state.value) if self.state else {}
        messages = sequence(state.get("messages"))
        folds = [mapping(mapping(message).get("metadata")) for message in messages]
        facts = next((one for one in folds if one.get("kind") in (_SUMMARY, _FOLDED)), {})
        drops = [at for at in self.draft.live[MAIN] if self.draft.messages[at].role is not Role.SYSTEM]
        before, reason = count(facts.get("tokensBefore")), text(facts.get("reason"))
        event = self.draft.event(EventKind.SUMMARY, line, drops=drops, trigger=reason, tokens_before=before)
        self._folded = True
        start = len(self.draft.messages)
        for message in messages:
            self._message(message, line, carried=True, copied=True)
        said = enumerate(self.draft.messages[start:], start)
        folded = [at for at, one in said if any(part.kind is PartKind.SUMMARY for part in one.parts)]
        self.draft.amend(event, summary=folded[0] if folded else None)
        self.draft.notes.append(
            "The last compaction stands in the .compaction.json beside this file; none before it does."
        )

    def _message(self, value: Any, line: int, *, carried: bool, copied: bool = False) -> None:
        """One message. Of those carried over by a compaction the calls stand elsewhere."""
        role = value.get("role") if isinstance(value, dict) else None
        if role in _NOT_SENT:
            self.draft.bookkeep(f"message/{role}")
            return
        if role not in ("user", "assistant"):
            odd_message(self.draft, value, line)
            return
        metadata, time, id_ = mapping(value.get("metadata")), from_milliseconds(value.get("ts")), text(value.get("id"))
        parts = list(shaped_parts(value.get("content"), line, _shape, self.draft))
        if metadata.get("kind") == _SUMMARY:
            self._fold(parts, line, time, metadata, carried=carried)
            return
        notices = [part for part in parts if role == "user" and part.text.startswith(_NOTICE)]
        own = [part for part in parts if part not in notices]
        if own or not notices:
            client = metadata.get("displayRole") == "system" and metadata.get("kind") != _FOLDED
            kinds = {part.kind for part in own}
            tool = PartKind.TOOL_RESULT in kinds and kinds <= {PartKind.TOOL_RESULT, PartKind.MEDIA}
            as_ = Role.ASSISTANT if role == "assistant" else Role.TOOL if tool else Role.USER
            at = self.draft.add(as_, own, line, id=id_, time=time, harness=client and as_ is Role.USER, copied=copied)
            if as_ is Role.ASSISTANT and not carried and metadata.get("compaction") != "preserved":
                self._call(at, line, id_, time, value)
        self._notices(notices, line, time, metadata, carried=carried)

    def _call(self, at: int, line: int, id_: str, time: str, value: Mapping[str, Any]) -> None:
        """Each answer is a call; of several in one turn the last alone may carry the figures."""
        model, usage = text(mapping(value.get("modelInfo")).get("id")), _usage(mapping(value.get("metrics")))
        self.draft.call(at, line, id=id_, time=time, model=model, usage=usage)

    def _notices(
        self, notices: Sequence[Part], line: int, time: str, metadata: Mapping[str, Any], *, carried: bool
    ) -> None:
        """What the client put behind a prompt: what a compaction took out there, or a word of its own."""
        for part in notices:
            if part.text.startswith(_FOLD):
                self._fold([part], line, time, metadata, carried=carried)
            else:
                self.draft.add(Role.USER, [part], line, time=time, harness=True)

    def _fold(self, parts: Sequence[Part], line: int, time: str, metadata: Mapping[str, Any], *, carried: bool) -> None:
        """A summary, or one of the notices that a basic compaction left: one event for all that it left."""
        if not self._folded:
            before, reason = count(metadata.get("tokensBefore")), text(metadata.get("reason"))
            event = self.draft.event(EventKind.SUMMARY, line, trigger=reason, tokens_before=before)
            self.draft.amend(event, summary=len(self.draft.messages))
            if not carried:
                self._gone(metadata)
        self._folded = True
        said = [Part(PartKind.SUMMARY, part.text, line) if part.kind is PartKind.TEXT else part for part in parts]
        self.draft.add(Role.USER, said, line, time=time, harness=True)

    def _gone(self, metadata: Mapping[str, Any]) -> None:
        """What a rewritten file no longer holds."""
        used, many = mapping(metadata.get("usageBefore")), count(metadata.get("messagesRemoved"))
        sums = ", ".join(
            f"{figure:,} {word} tokens"
            for key, word in (("inputTokens", "input"), ("outputTokens", "output"))
            if (figure := count(used.get(key))) is not None
        )
        what = f"{many:,} messages" if many else "the messages that it dropped"
        spent = f" The calls before it used {sums} in all, which is no size of a context." if sums else ""
        self.draft.notes.append(f"A compaction rewrote these messages: {what} stand here no more.{spent}")


def claims(records: Sequence[Record]) -> bool:
    """A session's messages under a version, or the compacted context of one."""
    value = mapping(records[0].value) if records else {}
    if not isinstance(value.get("messages"), list) or "version" not in value:
        return False
    return ("sessionId" in value and "updated_at" in value) or "source_message_count" in value


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The session of a file; what stands beside it is the context that it was compacted to."""
    draft, mains, state = Draft("cline", "", "cline"), [], None
    for record in records:
        draft.saw(record)
        if not isinstance(record.value, dict):
            draft.not_a_record(record)
        elif not isinstance(record.value.get("messages"), list):
            draft.unknown(text(record.value.get("type")), record.line)
        elif record.file:
            state = record
        else:
            mains.append(record)
    for number, main in enumerate(mains or [Record(1, {})]):
        last = number == len(mains) - 1
        yield _Session(
            main, state if last else None, draft if last or not mains else Draft("cline", "", "cline")
        ).read()


FORMAT = Format(
    name="cline",
    title="Cline session (messages.json)",
    recognised_by="version, updated_at, sessionId and messages in one object",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "system prompt", "compaction", "timestamps"}),
    companions=("{name}.compaction.json",),
)
