"""OpenHands: events of the agent SDK (V1) and of the versions before it (V0), whatever holds them.

V1: a line or a file each, beside `base_state.json`. V0: a list, a line or a file each, or the `history` of an instance
in `output.jsonl`, in which older versions pair each action with its observation. Shapes: see blocks/openhands_v1.py and
blocks/openhands_v0.py.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.agents import odd_message
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.openhands_v0 import V0
from ctxcli.formats.blocks.openhands_v1 import KINDS, V1
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import Record, Transcript
from ctxcli.shelf import Format

_SOURCES = frozenset({"agent", "user", "environment", "hook"})
_INSTANCE = ("instance_id", "issue", "instruction")


def _is_v1(value: Any) -> bool:
    one = mapping(value)
    kind = text(one.get("kind"))
    return (kind.endswith("Event") or kind in KINDS) and text(one.get("source")) in _SOURCES and "id" in one


def _is_v0(value: Any) -> bool:
    one = mapping(value)
    named = isinstance(one.get("action"), str) or isinstance(one.get("observation"), str)
    return named and bool({"args", "extras", "content"} & one.keys()) and bool({"source", "timestamp"} & one.keys())


def _is_event(value: Any) -> bool:
    return _is_v1(value) or _is_v0(value)


def _is_instance(value: Any) -> bool:
    one = mapping(value)
    return any(key in one for key in _INSTANCE) and _is_list(one.get("history"))


def _is_list(value: Any) -> bool:
    """Whether a value is a list of events, or of pairs of them."""
    return any(map(_is_event, _flat(sequence(value)[:8])))


def _flat(history: Sequence[Any]) -> list[Any]:
    return [one for item in history for one in (item if isinstance(item, list) else [item])]


class _Reader:
    """Reads one conversation of either kind."""

    def __init__(self) -> None:
        self.draft = Draft("openhands", agent="openhands")
        self._v1, self._v0 = V1(self.draft), V0(self.draft)

    def event(self, value: Any, record: Record, line: int) -> None:
        """One event, or what stands where one should."""
        state = isinstance(value, dict) and "kind" not in value and record.file.endswith("base_state.json")
        if state or (isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"]):
            self._v1.read(Record(line, value, file=record.file))
        elif isinstance(value, dict) and ("action" in value or "observation" in value):
            self._v0.read(value, line)
        elif isinstance(value, dict) and record.file:
            self.draft.bookkeep(record.file.rsplit("/", 1)[-1])
        elif isinstance(value, dict):
            odd_message(self.draft, value, line)
        else:
            self.draft.not_a_record(Record(line, value, file=record.file))

    def events(self, values: Any, record: Record, at: tuple[str, ...]) -> None:
        """A list of events, or of pairs of them."""
        for number, item in enumerate(sequence(values)):
            for one in item if isinstance(item, list) else [item]:
                self.event(one, record, line_of(record, (*at, number)))

    def finish(self) -> Transcript:
        """The finished conversation."""
        self._v1.finish()
        return self.draft.finish()


def _whole(record: Record) -> _Reader | None:
    """The conversation that a record holds in full: an instance, or a list of events."""
    if _is_instance(record.value):
        return _instance(record)
    if not _is_list(_listed(record.value)):
        return None
    reader = _Reader()
    reader.draft.saw(record)
    reader.events(record.value, record, ())
    return reader


def _instance(record: Record) -> _Reader:
    """One line of an evaluation's output: what was to be done, what happened, and how it was judged."""
    value, reader = mapping(record.value), _Reader()
    reader.draft.saw(record)
    reader.draft.id = text(value.get("instance_id")) or text(mapping(value.get("issue")).get("number")) or None
    reader.events(value.get("history"), record, ("history",))
    for key in ("metrics", "test_result", "git_patch"):
        if value.get(key):
            reader.draft.bookkeep(key)
    figures = mapping(mapping(value.get("metrics")).get("accumulated_token_usage"))
    sent = count(figures.get("prompt_tokens"))
    if sent and not any(call.usage for call in reader.draft.calls):
        note = f"Usage is recorded for the instance as a whole, not per call: {sent:,} tokens sent."
        reader.draft.notes.append(note)
    return reader


def _number(record: Record) -> tuple[int, int]:
    """Where a file of one event stands: V0 names them 0.json, 1.json, … 10.json."""
    value: Mapping[str, Any] = mapping(record.value)
    id_ = count(value.get("id")) if "action" in value or "observation" in value else None
    return (0, 0) if id_ is None else (1, id_)


def claims(records: Sequence[Record]) -> bool:
    """Events with the kinds and sources of the SDK, actions and observations, or an instance with a history of them."""
    return any(_is_event(one.value) or _is_instance(one.value) or _is_list(_listed(one.value)) for one in records)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """Each instance or list by itself; events on lines, or in files, of their own are one conversation."""
    held: _Reader | None = None
    loose = _Reader()
    files: list[Record] = []
    for record in records:
        reader = _whole(record)
        if reader is not None:
            if held is not None:
                yield held.finish()
            held = reader
        elif record.file:
            files.append(record)
        else:
            near = loose if held is None or _is_event(record.value) else held
            near.draft.saw(record)
            near.event(record.value, record, record.line)
    for record in sorted(files, key=_number):
        loose.draft.saw(record)
        loose.event(record.value, record, record.line)
    if held is not None:
        yield held.finish()
    if loose.draft.records:
        yield loose.finish()


FORMAT = Format(
    name="openhands",
    title="OpenHands events (JSONL, a folder of events, output.jsonl)",
    recognised_by="events with kind …Event and source, or with action / observation and args / extras",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt", "compaction", "sub-agents", "timestamps"}),
    folder=("events/event-*.json", "event-*.json", "events/[0-9]*.json"),
)
