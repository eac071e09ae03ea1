"""A Codex rollout with one more compaction at its end: nothing that is there is changed, so that nothing is lost."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from ctxcli.change import Change
from ctxcli.formats.blocks.codex_items import ITEM_TYPES, OURS, item_pieces
from ctxcli.formats.blocks.edits import Fate, edited, fates_of
from ctxcli.formats.blocks.openai import media_in
from ctxcli.formats.blocks.scan import Place, Scan, scan
from ctxcli.formats.blocks.splice import find, written
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.formats.blocks.work import Work, found_again
from ctxcli.model import Message, PartKind, Record, Transcript


class _Item(NamedTuple):
    """An item of the new context."""

    text: str
    tokens: int | None = None
    """What it was reported to take, where that cannot be read from it."""


def write_rollout(source: bytes, work: Work, read: Callable[[Iterable[Record]], Iterator[Transcript]]) -> bytes:
    """The source with a compaction record after it, or as it is; see `Format.write`."""
    ((transcript, change),) = work
    if change is None:
        return source
    book = scan(source)
    own = found_again(transcript, iter(read(book.records)))
    line = _compacted(book, own, change).encode("utf-8", "surrogateescape")
    return source + (b"" if source.endswith(b"\n") else b"\n") + line + b"\n"


def _compacted(book: Scan, own: Transcript, change: Change) -> str:
    """The compaction record: the summary, and the new context in items."""
    items: list[_Item] = []
    sizes: list[int] = []
    summaries: list[int] = []
    for said, is_summary in _context(book, own, change):
        if said:
            summaries += [len(sizes)] if is_summary else []
            sizes.append(len(said))
            items += said
    time = next((row.time for row in reversed(own.messages) if row.time), "")
    tokens = {str(at): item.tokens for at, item in enumerate(items) if item.tokens}
    facts = written({"items": sizes, "summaries": summaries, "tokens": tokens})
    return (
        f'{{"timestamp":{written(time)},"type":"compacted","payload":{{"message":{written(change.summary)},'
        f'"replacement_history":[{",".join(item.text for item in items)}],"{OURS}":{facts}}}}}'
    )


def _context(book: Scan, own: Transcript, change: Change) -> Iterator[tuple[list[_Item], bool]]:
    """Each message of the new context as items, and whether it is a summary; the instructions stay by themselves."""
    waiting, fates = bool(change.summary), fates_of(change)
    for index in change.keep:
        if waiting and index >= change.at:
            yield [_Item(_summary_item(change.summary))], True
            waiting = False
        message = own.messages[index]
        yield _items(book, message, fates[index]), any(part.kind is PartKind.SUMMARY for part in message.parts)
    if waiting:
        yield [_Item(_summary_item(change.summary))], True


def _summary_item(said: str) -> str:
    return written({"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]})


def _items(book: Scan, message: Message, fate: Fate) -> list[_Item]:
    """The items of a message that stay, with what changes in them."""
    found: list[_Item] = []
    start = 0
    for mark, row in groupby(message.parts, lambda part: part.line):
        parts = list(row)
        own = fate.of(start, start + len(parts))
        start += len(parts)
        raw = _item(book, book.place(mark), parts[0].text)
        if raw is None or len(own.gone) == len(parts):
            continue
        value = Scan(raw).parsed(0, len(raw))
        tokens = next((part.tokens for part in parts if part.tokens), None)
        found.append(_Item(edited(raw, value, tuple(item_pieces(value, 0)), own, media_in), tokens))
    return found


def _item(book: Scan, place: Place, said: str) -> str | None:
    """The item that stands at a place: a record's, one of a compaction's, or the message of an old compaction."""
    if place.path:
        return book.raw(place)
    value: Mapping[str, Any] = mapping(book.records[place.record].value)
    inside = find(book.text, place.start, ("payload",)) if isinstance(value.get("payload"), dict) else None
    if inside is None:
        return book.raw(place) if value.get("type") in ITEM_TYPES else None
    if value.get("type") == "compacted":
        return _summary_item(said)
    return book.text[slice(*inside)] if text(value.get("type")) == "response_item" else None
