"""What opencode keeps of its sessions, gathered from whichever of four shapes a source has.

`opencode export` writes a document of `{info, parts}`, `opencode run --format json` a line for each finished part, the
old storage a JSON file for each session, message and part, and the current one a SQLite database whose tables hold the
same objects in a column `data`. Source of the shapes: packages/opencode/src/session/{message-v2,session.sql}.ts and
packages/opencode/src/cli/cmd/run.ts, https://github.com/anomalyco/opencode.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.moments import number
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.model import Record

_EVENTS = frozenset({"step_start", "step_finish", "text", "tool_use", "reasoning"})
"""Lines of `opencode run` that hold a part."""
_ENDS = frozenset({"error", "done"})
_OTHER_TABLES = frozenset({
    "project", "todo", "permission", "session_share", "session_message", "session_entry", "event", "event_sequence",
    "account", "account_state", "control_account", "workspace", "__drizzle_migrations",
})  # fmt: skip
_OTHER_FILES = frozenset({"project", "todo", "permission", "share", "session_share", "session_diff", "migration"})


@dataclass(slots=True)
class Stored:
    """One message: what is known of it, and its parts by id."""

    info: Mapping[str, Any]
    line: int
    parts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """Of each part."""

    def in_order(self) -> list[tuple[Mapping[str, Any], int]]:
        """The parts as they were said, with their lines: their ids ascend with time."""
        names = list(self.parts)
        if all(name.startswith("prt_") for name in names):
            names.sort()
        return [(self.parts[name], self.lines[name]) for name in names]

    def put(self, name: str, part: Mapping[str, Any], line: int) -> None:
        """Take in a part, or what it has become."""
        self.parts[name], self.lines[name] = part, line

    @property
    def created(self) -> float:
        """When it was begun, in milliseconds; 0 where nothing says."""
        return number(mapping(self.info.get("time")).get("created"))


@dataclass(slots=True)
class Session:
    """One session with its messages by id."""

    id: str
    info: Mapping[str, Any] = field(default_factory=dict)
    messages: dict[str, Stored] = field(default_factory=dict)
    records: int = 0
    size: int = 0
    duplicates: int = 0

    @property
    def parent(self) -> str:
        """The session that started this one as a sub-agent; empty where nothing did."""
        return text(self.info.get("parentID") or self.info.get("parent_id"))

    def in_order(self) -> list[tuple[str, Stored]]:
        """The messages as they were said. Ids ascend too, but begin anew every two years: the time decides."""
        found = list(self.messages.items())
        if all(stored.created for _, stored in found):
            found.sort(key=lambda one: (one[1].created, one[0]))
        return found


class Store:
    """Takes the records of one source, each once."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.books: Counter[str] = Counter()
        self.unknown: list[tuple[str, int]] = []
        self.strays: list[Record] = []
        self.loose = Session("")
        """Counts the records that belong to no session."""
        self.is_stream = False
        """Whether it is what `opencode run` printed."""

    def put(self, record: Record) -> None:
        """Take one record in."""
        value = record.value
        if isinstance(value, list) and any(map(_is_whole, value)):
            owner = self._messages(value, record, (), "")
        elif not isinstance(value, dict):
            owner = self._other(value, record)
        elif "tables" in value or "table" in value:
            owner = self._row(value, record)
        elif isinstance(value.get("info"), dict) and isinstance(value.get("messages"), list):
            name = text(value["info"].get("id"))
            self._session(name, value["info"])
            owner = self._messages(value["messages"], record, ("messages",), name)
        elif _is_whole(value):
            owner = self._messages([value], record, (), "")
        elif isinstance(value.get("part"), dict) or text(value.get("type")) in _ENDS:
            owner = self._event(value, record)
        else:
            owner = self._file(value, record)
        owner.records += 1
        owner.size += record.size

    def _other(self, value: Any, record: Record) -> Session:
        top = record.file.split("/", 1)[0]
        if top in _OTHER_FILES:
            self.books[f"file/{top}"] += 1
        elif isinstance(value, dict):
            self.unknown.append(
                (text(value.get("type")) or f"file/{top}" if top else text(value.get("type")), record.line)
            )
        else:
            self.strays.append(record)
        return self.loose

    def _session(self, name: str, info: Mapping[str, Any] | None = None) -> Session:
        found = self.sessions.setdefault(name, Session(name))
        if info is not None:
            found.info = info
        return found

    def _message(self, info: Mapping[str, Any], line: int, session: str) -> tuple[Session, str]:
        owner = self._session(text(info.get("sessionID")) or session)
        name = text(info.get("id")) or f"message {len(owner.messages) + 1}"
        known = owner.messages.get(name)
        if known is None:
            owner.messages[name] = Stored(info, line)
        else:
            owner.duplicates += bool(known.info.get("time"))
            known.info, known.line = info, line
        return owner, name

    def _part(self, part: Mapping[str, Any], line: int, session: str, time: Any = None) -> Session:
        """Parts may come before the message that they belong to."""
        owner = self._session(text(part.get("sessionID")) or session)
        message = text(part.get("messageID"))
        stored = owner.messages.setdefault(message, Stored({"role": "assistant", "time": {"created": time}}, line))
        name = text(part.get("id")) or f"part {len(stored.parts) + 1}"
        owner.duplicates += name in stored.parts
        stored.put(name, part, line)
        return owner

    def _messages(self, values: list[Any], record: Record, at: tuple[str, ...], session: str) -> Session:
        owner = self._session(session) if session else self.loose
        for place, value in enumerate(values):
            line = line_of(record, (*at, place))
            if not _is_whole(value):
                self.unknown.append((f"message/{text(mapping(value).get('type'))}", line))
                continue
            owner, name = self._message(value["info"], line, session)
            for number_of, part in enumerate(value["parts"]):
                known = part if isinstance(part, dict) else {"type": "none"}
                place_of = line_of(record, (*at, place, "parts", number_of)) if at else line
                owner.messages[name].put(text(known.get("id")) or f"part {number_of}", known, max(line, place_of))
        return owner

    def _row(self, value: Mapping[str, Any], record: Record) -> Session:
        table, row = text(value.get("table")), mapping(value.get("row"))
        data, name = row.get("data"), text(row.get("session_id"))
        if table == "session":
            return self._session(text(row.get("id")), row)
        if table == "message" and isinstance(data, dict):
            return self._message({**data, "id": row.get("id"), "sessionID": name}, record.line, name)[0]
        if table == "part" and isinstance(data, dict):
            ids = {"id": row.get("id"), "messageID": row.get("message_id"), "sessionID": name}
            return self._part({**data, **ids}, record.line, name)
        if "tables" in value or table in _OTHER_TABLES:
            self.books[f"table/{table}" if table else "tables"] += 1
        else:
            self.unknown.append((f"table/{table}", record.line))
        return self.loose

    def _event(self, value: Mapping[str, Any], record: Record) -> Session:
        """A line of `opencode run`."""
        type_, name = text(value.get("type")), text(value.get("sessionID"))
        self.is_stream = True
        if type_ in _EVENTS:
            return self._part(mapping(value.get("part")), record.line, name, value.get("timestamp"))
        if type_ in _ENDS:
            self.books[type_] += 1
        else:
            self.unknown.append((type_, record.line))
        return self._session(name)

    def _file(self, value: Mapping[str, Any], record: Record) -> Session:
        """A file of the old storage."""
        if is_part(value):
            return self._part(value, record.line, "")
        if is_message(value):
            return self._message(value, record.line, "")[0]
        if text(value.get("id")).startswith("ses"):
            return self._session(text(value.get("id")), value)
        return self._other(value, record)

    def roots(self) -> Iterator[tuple[Session, list[Session]]]:
        """Each session that nothing in the source started, with all that it started, directly or not."""
        children: dict[str, list[Session]] = {}
        for session in self.sessions.values():
            if session.parent in self.sessions and session.parent != session.id:
                children.setdefault(session.parent, []).append(session)
        below = {session.id for some in children.values() for session in some}
        for session in self.sessions.values():
            if session.id not in below:
                found, open_ = list[Session](), children.pop(session.id, [])
                while open_:
                    found.append(open_.pop(0))
                    open_ = children.pop(found[-1].id, []) + open_
                yield session, found


def _is_whole(value: Any) -> bool:
    """Whether a value is a message with its parts."""
    return isinstance(value, dict) and isinstance(value.get("info"), dict) and isinstance(value.get("parts"), list)


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether an object is a message without its parts."""
    return (
        value.get("role") in ("user", "assistant") and text(value.get("id")).startswith("msg_") and "sessionID" in value
    )


def is_part(value: Mapping[str, Any]) -> bool:
    """Whether an object is a part of a message."""
    return (
        isinstance(value.get("type"), str) and text(value.get("messageID")).startswith("msg_") and "sessionID" in value
    )
