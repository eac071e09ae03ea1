"""Times that a target demands, where the source may know none."""

from datetime import UTC, datetime

from ctxcli.model import Message

_NEVER = "1970-01-01T00:00:00.000Z"
"""What stands for a time that nobody recorded: the same input gives the same bytes."""


def time_of(message: Message | None) -> str:
    """When a message was said, as ISO 8601; the beginning of the epoch where nothing tells."""
    return message.time if message is not None and _read(message.time) is not None else _NEVER


def epoch_ms(time: str) -> int:
    """Milliseconds since 1970; 0 for a time that is none."""
    found = _read(time)
    return round(found.timestamp() * 1000) if found is not None else 0


def _read(time: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
