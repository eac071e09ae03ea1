"""opencode: its export, the lines of `opencode run --format json`, its old folder of files and its database.

All four hold the same messages and parts; a session that another one started is a lane of that one.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.opencode_session import SessionReader, lane_of
from ctxcli.formats.blocks.opencode_store import Session, Store, is_message, is_part
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import MAIN, Record, Transcript
from ctxcli.shelf import Format

_STREAM_NOTE = "These are the lines of `opencode run`: the prompt and the model are not among them."


def claims(records: Sequence[Record]) -> bool:
    """Tables of sessions, messages and parts; messages of info and parts; ids that begin with `ses_` and `msg_`."""
    return any(_is_ours(record.value) for record in records)


def _is_ours(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_is_whole, value))
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("tables"), dict):
        tables = value["tables"]
        return "data" in sequence(tables.get("message")) and "message_id" in sequence(tables.get("part"))
    if isinstance(value.get("messages"), list) and isinstance(value.get("info"), dict):
        return text(value["info"].get("id")).startswith("ses") or any(map(_is_whole, value["messages"]))
    part = value.get("part")
    if isinstance(part, dict):
        return "sessionID" in value and is_part(part)
    return _is_whole(value) or is_message(value) or is_part(value)


def _is_whole(value: Any) -> bool:
    """A message with its parts, named as opencode names them."""
    info = mapping(mapping(value).get("info"))
    named = text(info.get("id")).startswith("msg_") or "sessionID" in info
    return named and isinstance(mapping(value).get("parts"), list)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """Each session that no other one started, in the order of their appearance."""
    store = Store()
    for record in records:
        store.put(record)
    waiting = True
    for root, children in store.roots():
        draft = Draft("opencode", agent="opencode", id=root.id or None)
        if waiting:
            _count_rest(store, draft)
        _read_session(draft, root, children)
        if store.is_stream:
            draft.notes.append(_STREAM_NOTE)
        if draft.messages or draft.calls or not waiting:
            waiting = False
        yield draft.finish()


def _read_session(draft: Draft, root: Session, children: Sequence[Session]) -> None:
    spawned: dict[str, str] = {}
    for session in (root, *children):
        if session is not root:
            draft.lanes[session.id] = lane_of(session, spawned.get(session.id, ""))
        reader = SessionReader(draft, session, MAIN if session is root else session.id)
        reader.read()
        spawned.update(reader.spawned)
        draft.records += session.records
        draft.size += session.size
        draft.duplicates += session.duplicates


def _count_rest(store: Store, draft: Draft) -> None:
    """What belongs to no session is accounted for in the first one."""
    draft.records += store.loose.records
    draft.size += store.loose.size
    for name, many in store.books.items():
        for _ in range(many):
            draft.bookkeep(name)
    for name, line in store.unknown:
        draft.unknown(name, line)
    for record in store.strays:
        draft.not_a_record(record)


FORMAT = Format(
    name="opencode",
    title="opencode session (export, run output, storage folder, opencode.db)",
    recognised_by="messages of info and parts with ids msg_ and prt_; tables session, message and part",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "compaction", "sub-agents", "timestamps"}),
    folder=("message/*/msg_*.json", "session/message/*/msg_*.json"),
)
