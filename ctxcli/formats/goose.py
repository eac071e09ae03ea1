"""goose: session files of JSON lines, `goose session export`, and the database that has taken the files' place.

Source of the shapes: https://github.com/block/goose, crates/goose/src/session/session_manager.rs and legacy.rs (where
the messages stand), crates/goose/src/context_mgmt/mod.rs (compaction).

goose deletes nothing when it compacts: each message says whether the agent still sees it. What it does not see any more
was seen before the summary that follows; what stands behind the last summary and is not for the agent never was.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.agents import odd_message, provider_of, shaped_parts
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.goose_content import GooseMessage, shape
from ctxcli.formats.blocks.moments import from_milliseconds, number
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Part, PartKind, Record, Role, Transcript, Usage
from ctxcli.shelf import Format

_GOES_ON = "previous message contains a summary"
"""What the client says for the model behind a summary."""
_COMMANDS = ("/compact", "/summarize", "/clear")


@dataclass(slots=True)
class _Session:
    """One session while it is being read."""

    info: dict[str, Any] = field(default_factory=dict)
    messages: list[GooseMessage] = field(default_factory=list)
    records: int = 0
    size: int = 0
    _hidden: set[int] = field(default_factory=set)
    """Messages of the draft that the agent does not see any more."""
    _gone: set[str] = field(default_factory=set)
    """What the last compaction took out of the context, until the model answers: some of it is written again."""

    def read(self, draft: Draft, id_: str = "") -> Transcript:
        """The conversation, each compaction where it took place."""
        draft.id = text(self.info.get("id")) or id_ or None
        draft.works_in(text(self.info.get("working_dir")))
        draft.records, draft.size = draft.records + self.records, draft.size + self.size
        setup = mapping(self.info.get("model_config") or self.info.get("model_config_json"))
        model = text(setup.get("model_name"))
        draft.window = count(setup.get("context_limit"))
        draft.provider = provider_of(text(self.info.get("provider_name"))) or provider_of(model)
        summaries = self._summaries()
        last = max(summaries, default=-1)
        for at, message in enumerate(self.messages):
            if at in summaries:
                self._summary(draft, message, told=summaries[at])
            elif message.seen or (at < last and message.said.strip() not in _COMMANDS):
                self._message(draft, message, model)
            else:
                draft.bookkeep("message/not for the agent")
        self._figures(draft)
        return draft.finish()

    def _summaries(self) -> dict[int, bool]:
        """Messages that stand for others: not shown, under the user's name; whether the client goes on from them.

        One that it does not go on from stands for a single call and its result, and is seen after some that are not.
        """
        found: dict[int, bool] = {}
        unseen = False
        for at, message in enumerate(self.messages):
            after = self.messages[at + 1] if at + 1 < len(self.messages) else None
            told = after is not None and after.value.get("role") == "assistant" and _GOES_ON in after.said
            hidden = not message.shown and message.value.get("role") == "user" and bool(message.said.strip())
            if hidden and (told or (message.seen and unseen)):
                found[at], unseen = told, False
            elif not message.seen:
                unseen = True
        return found

    def _summary(self, draft: Draft, message: GooseMessage, *, told: bool) -> None:
        drops = [at for at in draft.live[MAIN] if told or at in self._hidden]
        kind = PartKind.SUMMARY if told or drops else PartKind.TEXT
        if kind is PartKind.SUMMARY:
            event = draft.event(EventKind.SUMMARY, message.line, drops=drops)
            draft.amend(event, summary=len(draft.messages))
            self._gone = {_said(draft.messages[at].parts) for at in drops}
        self._add(draft, Role.USER, [Part(kind, message.said, message.line)], message, harness=True)

    def _message(self, draft: Draft, message: GooseMessage, model: str) -> None:
        value, line = message.value, message.line
        if value.get("role") not in ("user", "assistant"):
            odd_message(draft, value, line)
            return
        parts = list(shaped_parts(value.get("content"), line, shape, draft))
        if not parts and value.get("content"):
            draft.bookkeep("message/not for the agent")
        elif value.get("role") == "assistant":
            self._answer(draft, message, parts, model)
        else:
            kinds = {part.kind for part in parts}
            tool = PartKind.TOOL_RESULT in kinds and kinds <= {PartKind.TOOL_RESULT, PartKind.MEDIA}
            client = not tool and not message.shown and message.seen
            self._add(draft, Role.TOOL if tool else Role.USER, parts, message, harness=client)

    def _answer(self, draft: Draft, message: GooseMessage, parts: Sequence[Part], model: str) -> None:
        """An answer is a call, but for what the client says for the model, and for the rest of an answer cut in two.

        The former is the same behind each summary, and part of what the compaction put in the place of the rest.
        """
        before = draft.messages[draft.live[MAIN][-1]] if draft.live[MAIN] else None
        goes_on = before is not None and before.role is Role.ASSISTANT and not before.harness
        harness = not message.shown and _GOES_ON in message.said
        at = self._add(draft, Role.ASSISTANT, parts, message, harness=harness, copied=harness)
        if not harness:
            self._gone = set()
        if not harness and not goes_on:
            draft.call(at, message.line, id=draft.messages[at].id, time=draft.messages[at].time, model=model)

    def _add(
        self,
        draft: Draft,
        role: Role,
        parts: Sequence[Part],
        message: GooseMessage,
        *,
        harness: bool,
        copied: bool = False,
    ) -> int:
        """Add a message; a prompt that a compaction writes again behind its summary is a copy."""
        time, id_ = from_milliseconds(number(message.value.get("created")) * 1_000), text(message.value.get("id"))
        copied = copied or (role is Role.USER and not harness and _said(parts) in self._gone)
        at = draft.add(role, parts, message.line, id=id_, time=time, harness=harness, copied=copied)
        if not message.seen:
            self._hidden.add(at)
        return at

    def _figures(self, draft: Draft) -> None:
        """Figures stand with the session alone: those of the last call, and the sums.

        After a compaction the former are those of the summary, and say nothing of an output.
        """
        sent, given = count(self.info.get("input_tokens")), count(self.info.get("output_tokens"))
        after = draft.events[-1].at if draft.events else -1
        if sent is not None and given is not None and draft.calls and draft.calls[-1].at > after:
            last = draft.calls.pop()
            usage = Usage(prompt=sent, output=given)
            draft.call(last.at, last.line, id=last.id, time=last.time, model=last.model, usage=usage)
        sums = [count(self.info.get(f"accumulated_{kind}_tokens")) for kind in ("input", "output")]
        if sums[0] is not None and sums[1] is not None:
            draft.notes.append(
                "goose records what the last call used, and the sum of all calls, compactions included: "
                f"{sums[0]:,} input and {sums[1]:,} output tokens."
            )


def _said(parts: Sequence[Part]) -> str:
    return "\n".join(part.text for part in parts if part.kind is PartKind.TEXT)


def _is_header(value: Mapping[str, Any]) -> bool:
    return "working_dir" in value and "role" not in value and ("message_count" in value or "description" in value)


def _is_message(value: Mapping[str, Any]) -> bool:
    created = value.get("created")
    timed = isinstance(created, (int, float)) and not isinstance(created, bool)
    return value.get("role") in ("user", "assistant") and timed and isinstance(value.get("content"), list)


def _is_export(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("conversation"), list) and "working_dir" in value


def claims(records: Sequence[Record]) -> bool:
    """A session's facts and messages with `created` and `content`; an export; tables of sessions and messages."""
    values = [record.value for record in records if isinstance(record.value, dict)]
    if not values:
        return False
    if isinstance(tables := values[0].get("tables"), dict):
        held = sequence(tables.get("messages"))
        return "content_json" in held and "session_id" in held and "working_dir" in sequence(tables.get("sessions"))
    return any(_is_header(one) or _is_export(one) for one in values[:3]) or _is_message(values[0])


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The session of a file, or each session of a database."""
    sessions: dict[str, _Session] = {}
    rest = Draft("goose", agent="goose")
    for record in records:
        if not isinstance(record.value, dict):
            rest.saw(record)
            rest.not_a_record(record)
        elif "table" in record.value or "tables" in record.value:
            _row(record, sessions, rest)
        else:
            _line(record, sessions.setdefault("", _Session()), rest)
    some = [(id_, one) for id_, one in sessions.items() if one.messages] or [("", _Session())]
    for number_, (id_, session) in enumerate(some):
        yield session.read(rest if not number_ else Draft("goose", agent="goose"), id_)


def _line(record: Record, session: _Session, rest: Draft) -> None:
    """A line of a session file, or an export as a whole."""
    value = record.value
    session.records += 1
    session.size += record.size
    if isinstance(value.get("conversation"), list):
        session.info = value
        for at, message in enumerate(value["conversation"]):
            line = line_of(record, ("conversation", at))
            if isinstance(message, dict):
                session.messages.append(GooseMessage(message, line))
            else:
                odd_message(rest, message, line)
    elif "role" in value:
        session.messages.append(GooseMessage(value, record.line))
    elif _is_header(value):
        session.info = session.info or value
        rest.bookkeep("session")
    else:
        rest.unknown(text(value.get("type")), record.line)


def _row(record: Record, sessions: dict[str, _Session], rest: Draft) -> None:
    """A row of the database; the messages of all sessions come before the sessions."""
    table, row = record.value.get("table"), mapping(record.value.get("row"))
    if table == "messages":
        session = sessions.setdefault(text(row.get("session_id")), _Session())
        message = {
            "id": row.get("message_id"), "role": row.get("role"), "created": row.get("created_timestamp"),
            "content": row.get("content_json"), "metadata": row.get("metadata_json"),
        }  # fmt: skip
        session.messages.append(GooseMessage(message, record.line))
        session.records += 1
        return
    rest.saw(record)
    rest.bookkeep(text(table) or "tables")
    if table == "sessions":
        sessions.setdefault(text(row.get("id")), _Session()).info = dict(row)


FORMAT = Format(
    name="goose",
    title="goose session (JSONL, export, sessions.db)",
    recognised_by="working_dir and message_count, then role, created and content; tables sessions and messages",
    claims=claims,
    read=read,
    knows=frozenset({"model", "compaction", "timestamps"}),
)
