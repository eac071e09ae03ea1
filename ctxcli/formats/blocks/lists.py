"""Sources that hold lists of messages: an array, an object with the list, many of either, or a message a line."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ctxcli.formats.blocks.draft import JSON_NAMES, Draft
from ctxcli.formats.blocks.values import mapping
from ctxcli.model import Record, Skip, Transcript


class Reader(Protocol):
    """Reads one conversation, message by message."""

    draft: Draft

    def take(self, value: Any, line: int) -> None:
        """One message, or whatever stands where one should."""
        ...

    def close(self) -> Transcript:
        """The finished conversation."""
        ...


@dataclass(frozen=True, slots=True)
class Lists:
    """How a format's messages look, and where a list of them stands in an object that owns one."""

    is_item: Callable[[Any], bool]
    """Whether a value is a message; needs not tell it from those of other formats."""
    is_mark: Callable[[Any], bool]
    """Whether a value is a message that only this format has."""
    paths: tuple[tuple[str, ...], ...] = (("messages",),)

    def claim(self, records: Sequence[Record]) -> bool:
        """Whether a message of this format's own stands in the records, and half of them hold messages."""
        found = [self._items(record) for record in records]
        return any(any(map(self.is_mark, items)) for items in found) and 2 * sum(map(bool, found)) >= len(found)

    def _items(self, record: Record) -> list[Any]:
        lists = self.of(record, [])
        items = [value for one in lists for value, _ in one.items] if lists else [record.value]
        return [value for value in items if self.is_item(value)]

    def of(self, record: Record, skips: list[Skip]) -> list["Conversation"]:
        """The conversations that a record holds; none where it is a message itself, or something else."""
        value = record.value
        if not isinstance(value, list):
            one = None if self.is_item(value) else self._owned(value, record, ())
            return [one] if one else []
        if any(map(self.is_item, value)):
            return [Conversation(_placed(value, record, ()), {}, record.line)]
        found = [self._owned(item, record, (number,)) for number, item in enumerate(value)]
        if any(found):
            for number, item in enumerate(found):
                if item is None:
                    line = _line(record, (number,))
                    skips.append(Skip(line, f"element {number + 1} of the array is no conversation: skipped"))
        return [one for one in found if one]

    def _owned(self, value: Any, record: Record, at: tuple[str | int, ...]) -> "Conversation | None":
        """The conversation of an object that owns a list, or of a list in a list."""
        for path in self.paths if isinstance(value, dict) else ((),):
            found: Any = value
            for key in path:
                found = mapping(found).get(key)
            if isinstance(found, list) and any(map(self.is_item, found)):
                return Conversation(_placed(found, record, (*at, *path)), mapping(value), _line(record, at))
        return None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A list of messages with their lines, and the object that owns it."""

    items: tuple[tuple[Any, int], ...]
    owner: Mapping[str, Any]
    line: int
    """Where the owner stands."""


def _line(record: Record, at: tuple[str | int, ...]) -> int:
    """The line of an element, or of what it stands in where lines of elements as deep as it are not known."""
    while at:
        lines = (record.lines or {}).get(at[:-1], ())
        if isinstance(at[-1], int) and at[-1] < len(lines):
            return lines[at[-1]]
        at = at[:-1]
    return record.line


def _placed(values: Sequence[Any], record: Record, at: tuple[str | int, ...]) -> tuple[tuple[Any, int], ...]:
    return tuple((value, _line(record, (*at, number))) for number, value in enumerate(values))


def no_message(value: Any, line: int) -> Skip:
    """The skip for a value that stands where a message should."""
    kind = JSON_NAMES.get(type(value).__name__, "a value")
    return Skip(line, f"{kind} stands where a message should: skipped")


def read_lists(
    records: Iterable[Record], lists: Lists, open_: Callable[[Mapping[str, Any], int], Reader]
) -> Iterator[Transcript]:
    """Each conversation of a source; messages on lines of their own are one together, which comes last."""
    loose: Reader | None = None
    held: Transcript | None = None
    for record in records:
        skips: list[Skip] = []
        found = lists.of(record, skips)
        for number, one in enumerate(found):
            if held is not None:
                yield held
            reader = open_(one.owner, one.line)
            reader.draft.records += number == 0
            reader.draft.size += record.size // len(found)
            reader.draft.skips += skips if number == 0 else []
            for value, line in one.items:
                reader.take(value, line)
            held = reader.close()
        if not found:
            loose = loose or open_({}, record.line)
            loose.draft.saw(record)
            loose.take(record.value, record.line)
    last = loose.close() if loose else None
    if held is not None and last is not None and not last.messages:
        held, last = (
            replace(
                held,
                skips=(*held.skips, *last.skips),
                records=held.records + last.records,
                bookkeeping=tuple(sorted((*held.bookkeeping, *last.bookkeeping))),
            ),
            None,
        )
    yield from (one for one in (held, last) if one is not None)
