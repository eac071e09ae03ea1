"""The records of a Claude Code session as they are written again: what of each stays after a change."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.anthropic import media_in, pieces_of
from ctxcli.formats.blocks.claude_records import attachment_with
from ctxcli.formats.blocks.edits import Fate, edited, inseparable
from ctxcli.formats.blocks.splice import Path, Piece, find, written
from ctxcli.formats.blocks.values import mapping
from ctxcli.model import Message, Part


def edited_row(
    raw: str, value: Mapping[str, Any], message: Message, mark: int, fate: Fate
) -> dict[Path, str | None] | None:
    """The edits of one of the records that a message stands on; None where nothing of it stays, or ever was in it."""
    if value.get("type") == "attachment":
        return _attachment(value, message, fate)
    inner = mapping(value.get("message"))
    pieces = _pieces(value, inner, message)
    own = _fate(pieces, message, mark, fate)
    size = sum(len(parts) for _, parts in pieces)
    if len(own.gone) == size:
        return None
    place = find(raw, 0, ("message",))
    if not own or place is None:
        return {}
    return {("message",): edited(raw[slice(*place)], inner, pieces, own, media_in)}


def _pieces(value: Mapping[str, Any], inner: Mapping[str, Any], message: Message) -> Sequence[Piece]:
    if value.get("isCompactSummary") is True:
        return [(("content",), message.parts)]
    return [(("content", *path), parts) for path, parts in pieces_of(inner.get("content"), 0)]


def _fate(pieces: Sequence[Piece], message: Message, mark: int, fate: Fate) -> Fate:
    """What becomes of a record's parts. One that repeats a part of an earlier record shares that part's fate."""
    numbers: dict[tuple[str, str, str], int] = {}
    for number, part in enumerate(message.parts):
        numbers.setdefault(_key(part), number)
    own = [number for number, part in enumerate(message.parts) if part.line == mark]
    texts: dict[int, str] = {}
    gone: set[int] = set()
    for at, part in enumerate(part for _, parts in pieces for part in parts):
        is_next = bool(own) and _key(message.parts[own[0]]) == _key(part)
        number = own.pop(0) if is_next else numbers.get(_key(part), -1)
        if number in fate.gone or number < 0:
            gone.add(at)
        elif number in fate.texts:
            texts[at] = fate.texts[number]
    return Fate(texts, frozenset(gone))


def _key(part: Part) -> tuple[str, str, str]:
    return part.kind, part.text, part.ref


def _attachment(value: Mapping[str, Any], message: Message, fate: Fate) -> dict[Path, str | None] | None:
    if len(fate.gone) == len(message.parts):
        return None
    if not fate:
        return {}
    if len(message.parts) > 1:
        raise inseparable(message.line)
    return {("attachment",): written(attachment_with(mapping(value.get("attachment")), fate.texts[0]))}
