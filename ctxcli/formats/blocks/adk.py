"""The shapes that Google ADK stores its events in: session files, and the tables of its database.

Source: src/google/adk/events and src/google/adk/sessions of https://github.com/google/adk-python; fields stand in
snake case or in camel case.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ctxcli.formats.blocks.google import field
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import Record

_ROW = ("event_data", "invocation_id")
"""Columns of the table of events, in the database's new shape and in its old one."""


def is_event(value: Any) -> bool:
    """Whether a value is an event: an author, and the invocation that it belongs to."""
    raw = mapping(value)
    return isinstance(raw.get("author"), str) and isinstance(field(raw, "invocationId"), str)


def seconds(value: Any) -> float | None:
    """A time in seconds since 1970; a database may hold it in words."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e11:
        return None
    return float(value)


def is_database(records: Sequence[Record]) -> bool:
    """Whether the records are those of a database of sessions."""
    tables = mapping(mapping(records[0].value).get("tables")) if records else {}
    columns = sequence(tables.get("events"))
    return "sessions" in tables and "session_id" in columns and any(name in columns for name in _ROW)


def database_sessions(
    records: Iterable[Record],
) -> Iterator[tuple[Mapping[str, Any], list[tuple[Record, Mapping[str, Any]]]]]:
    """Each session of a database, with its events in the order of their times."""
    found: dict[str, list[tuple[Record, Mapping[str, Any]]]] = {}
    for record in records:
        row = mapping(mapping(record.value).get("row"))
        if mapping(record.value).get("table") == "events":
            event = mapping(row.get("event_data")) or row
            found.setdefault(text(row.get("session_id")), []).append((record, event))
    for name, events in found.items():
        yield {"id": name}, sorted(events, key=lambda pair: seconds(pair[1].get("timestamp")) or 0.0)
