"""Codex CLI rollouts: one `{timestamp, type, payload}` a line, in two generations.

What the rules in here rest on was measured on rollouts of 0.60 to 0.145: `event_msg` records
repeat `response_item` records, so only the latter are context; `token_count` events repeat, are
reset by a resume, and hold an estimate instead of a call right after a compaction; whether they
stand before or after the outputs of the tools differs by version, so the items of the model
itself decide what belongs to a call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.codex_context import CodexContext
from ctxcli.formats.blocks.codex_items import (
    EVENTS_ONLY,
    ITEM_TYPES,
    is_model_item,
    keeps_reasoning,
    message_role,
    output_parts,
)
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.openai import usage_of
from ctxcli.formats.blocks.values import count, dump, mapping, sequence, text
from ctxcli.formats.blocks.work import Work
from ctxcli.formats.blocks.write_codex import write_rollout
from ctxcli.model import EventKind, Lane, Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format

_ENVELOPE = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})


class _Reader:
    """Reads one rollout into one draft."""

    def __init__(self) -> None:
        self.draft = Draft("codex", "openai", "codex")
        self._context = CodexContext(self.draft)
        self._open: int | None = None
        """Index of the answer that the model is giving."""
        self._answers: list[tuple[int, int]] = []
        """(index, line) of the answers that no usage has been reported for."""
        self._total: Any = None
        self._model = ""
        self._first_generation = False
        """Without usage, an answer ends where the outputs of its calls begin."""

    def read(self, record: Record) -> None:
        self.draft.saw(record)
        value = record.value
        if not isinstance(value, dict):
            self.draft.not_a_record(record)
            return
        payload, type_ = value.get("payload"), text(value.get("type"))
        time = text(value.get("timestamp"))
        if not isinstance(payload, dict):
            self._bare(value, type_, record.line)
        elif type_ == "response_item":
            self._item(payload, record.line, time)
        elif type_ == "event_msg":
            self._event(payload, record.line)
        elif type_ == "compacted":
            self._open = None
            places = (record.lines or {}).get(("payload", "replacement_history"), ())
            self._context.compacted(payload, record.line, time, places)
        elif type_ == "session_meta":
            self._meta(payload, record.line, time)
        else:
            if type_ == "turn_context":
                self.draft.works_in(text(payload.get("cwd")))
                self._model = text(payload.get("model")) or self._model
            known = type_ in EVENTS_ONLY
            self.draft.bookkeep(type_) if known else self.draft.unknown(type_, record.line)

    def _bare(self, value: Mapping[str, Any], type_: str, line: int) -> None:
        """The first generation: items without an envelope, after a line of facts about the session."""
        if type_ in ITEM_TYPES:
            self._first_generation = True
            self._item(value, line, text(value.get("timestamp")))
        elif "instructions" in value or ("id" in value and "timestamp" in value):
            self._meta(value, line, text(value.get("timestamp")))
        elif "record_type" in value:
            self.draft.bookkeep("state")
        else:
            self.draft.unknown(type_, line)

    # -- what is in the context

    def _meta(self, payload: Mapping[str, Any], line: int, time: str) -> None:
        """The head of a session. A resume repeats it; only one before every message is taken."""
        self.draft.works_in(text(payload.get("cwd")))
        again = self.draft.id is not None or bool(self.draft.messages)
        self.draft.id = self.draft.id or text(payload.get("id")) or text(payload.get("session_id"))
        if again:
            self.draft.bookkeep("session_meta")
            return
        base = mapping(payload.get("base_instructions")).get("text") or payload.get("instructions")
        parts = [Part(PartKind.TEXT, base, line)] if isinstance(base, str) and base else []
        tools = [
            Part(PartKind.TOOLS, dump(tool), line, name=text(mapping(tool).get("name")))
            for tool in sequence(payload.get("dynamic_tools"))
        ]
        index = self.draft.add(Role.SYSTEM, [*parts, *tools], line, time=time, harness=True)
        self._context.instructions.add(index)

    def _item(self, item: Mapping[str, Any], line: int, time: str) -> None:
        kind = text(item.get("type"))
        if is_model_item(item):
            self._answer(item, line, time)
        elif kind == "message":
            self._message(item, line, time)
        elif kind.endswith("_output"):
            self.draft.add(Role.TOOL, output_parts(item, line), line, time=time)
            if self._first_generation:
                self._open = None
        elif kind == "agent_message":
            self._open = None
            self._context.add_mail(item, line, time)
        elif kind == "ghost_snapshot":
            self.draft.bookkeep("response_item/ghost_snapshot")
        else:
            self.draft.unknown(f"response_item/{kind}", line)

    def _message(self, item: Mapping[str, Any], line: int, time: str) -> None:
        role, harness = message_role(item)
        if role is Role.USER and not harness:
            self._new_turn(line)
        self._context.add_message(item, line, time)

    def _new_turn(self, line: int) -> None:
        """A user turn: an answer without usage was cut off, and older models get their reasoning no more."""
        self._open = None
        hidden = [] if not self._model or keeps_reasoning(self._model) else self.draft.unstripped(PartKind.OPAQUE)
        if hidden:
            self.draft.event(EventKind.STRIP, line, clears=hidden, trigger="new turn")

    def _answer(self, item: Mapping[str, Any], line: int, time: str) -> None:
        parts = output_parts(item, line)
        if self._open is None:
            self._open = self.draft.add(Role.ASSISTANT, parts, line, time=time)
            self._answers.append((self._open, line))
        else:
            self.draft.extend(self._open, parts, line)

    # -- usage

    def _event(self, payload: Mapping[str, Any], line: int) -> None:
        kind = text(payload.get("type"))
        if kind == "token_count" and isinstance(payload.get("info"), dict):
            if not self._token_count(payload["info"], line):
                self.draft.duplicates += 1
                return
        elif kind in ("task_started", "turn_started", "turn_aborted"):
            self._open, self._context.turn_start = None, len(self.draft.messages)
        elif kind == "thread_settings_applied":
            settings = mapping(payload.get("thread_settings"))
            self._model = text(settings.get("model")) or self._model
        elif kind == "thread_rolled_back":
            self._open = None
            self._context.rolled_back(count(payload.get("num_turns")) or 0, line)
        elif kind == "sub_agent_activity":
            self._sub_agent(payload)
        self.draft.bookkeep(f"event_msg/{kind}")

    def _token_count(self, info: Mapping[str, Any], line: int) -> bool:
        """The usage of a call; False where the event repeats one already seen."""
        last, whole = mapping(info.get("last_token_usage")), info.get("total_token_usage")
        self.draft.window = count(info.get("model_context_window")) or self.draft.window
        self.draft.window_is_usable = self.draft.window is not None
        if not count(last.get("input_tokens")):
            return self._context.estimated(count(last.get("total_tokens")))
        if whole == self._total:
            return False
        self._total = whole
        total = count(mapping(whole).get("total_tokens"))
        self._context.check_return(total, count(last.get("total_tokens")), line)
        at, self._open = self._answered(line), None
        answer, usage = self.draft.messages[at], usage_of(last)
        self._hide_reasoning(at, usage.reasoning if usage else None)
        self._context.counted(total)
        id_ = f"{total}:{last.get('input_tokens')}:{last.get('output_tokens')}"
        self.draft.call(at, answer.line, id=id_, time=answer.time, model=self._model, usage=usage)
        return True

    def _answered(self, line: int) -> int:
        """The answer that a count belongs to: the open one, else the last that has none, else an empty one."""
        counted = self.draft.calls[-1].at if self.draft.calls else -1
        if self._open is None and self._answers and self._answers[-1][0] > counted:
            self._open = self._answers[-1][0]
        if self._open is None:
            return self.draft.add(Role.ASSISTANT, (), line)
        if self._answers and self._answers[-1][0] == self._open:
            self._answers.pop()
        return self._open

    def _hide_reasoning(self, at: int, tokens: int | None) -> None:
        """The encrypted reasoning of an answer takes the size that the provider reports for it."""
        parts = self.draft.messages[at].parts
        places = [number for number, part in enumerate(parts) if part.kind is PartKind.OPAQUE]
        if places and tokens:
            parts[places[0]] = Part(PartKind.OPAQUE, "", parts[places[0]].line, name="reasoning", tokens=tokens)

    def _sub_agent(self, payload: Mapping[str, Any]) -> None:
        name = text(payload.get("agent_thread_id"))
        title = text(payload.get("agent_path")) or text(payload.get("agent_nickname"))
        if name and name not in self.draft.lanes:
            self.draft.lanes[name] = Lane(name, title)

    def finish(self) -> Transcript:
        """The transcript. Answers without usage are calls only where the file reports no usage at all."""
        if self._answers and not self.draft.calls:
            for at, line in self._answers:
                self.draft.call(at, line, model=self._model, time=self.draft.messages[at].time)
            self.draft.notes.append("This rollout reports no usage: its calls are told by the answers alone.")
        elif self._answers:
            many = f"{len(self._answers)} answers" if len(self._answers) > 1 else "One answer"
            lines = ", ".join(str(line) for _, line in self._answers[:5])
            self.draft.notes.append(
                f"{many} ended without a usage report (line {lines}): in the context, not among the calls."
            )
        return self.draft.finish()


def claims(records: Sequence[Record]) -> bool:
    """An envelope of Codex's own types, or the bare items of its first generation."""
    values = [record.value for record in records if isinstance(record.value, dict)]
    if any(text(value.get("type")) in _ENVELOPE and isinstance(value.get("payload"), dict) for value in values):
        return True
    head = values[0] if values else {}
    return "instructions" in head and "timestamp" in head and "git" in head


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The one conversation of a rollout."""
    reader = _Reader()
    for record in records:
        reader.read(record)
    yield reader.finish()


def write(source: bytes, work: Work) -> bytes:
    """The source as it is, and after it a compaction record that holds the new context."""
    return write_rollout(source, work, read)


FORMAT = Format(
    name="codex",
    title="Codex CLI rollout (JSONL)",
    recognised_by="records with type and payload: session_meta, response_item, event_msg …",
    claims=claims,
    read=read,
    write=write,
    knows=frozenset({"usage", "model", "tools", "system prompt", "compaction", "timestamps"}),
)
