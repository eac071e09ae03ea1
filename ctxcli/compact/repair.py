"""A model's summary made whole without the model: what it lost goes in word for word, what nobody said goes out."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ctxcli.compact.asking import Repaired
from ctxcli.compact.losses import Losses
from ctxcli.reports.slots import Entry, Slots
from ctxcli.slots import CONSTRAINTS, DECISIONS, IDENTIFIERS, OPEN

_ROUNDS = 5
"""What goes out may have held something that has to stay, so that a round may bring up the next."""


def repaired(
    slots: Slots, missing: Sequence[str], losses_of: Callable[[Slots], Losses], extracted: Callable[[], Slots]
) -> Repaired:
    """The slots as the guard wants them, as far as that can be done: the caller holds them to it once more.

    Sections that the answer misses are taken from extraction; identifiers and boundaries that it lost are added to
    their section; identifiers that nobody named go, with the items that hold them, and so do boundaries that nobody
    set and those that stand in the place of one.
    """
    added: dict[str, None] = {}
    removed: dict[str, None] = {}
    if missing:
        slots = _filled(slots, missing, extracted())
        added.update(dict.fromkeys(_items(slots, missing)))
    for _ in range(_ROUNDS):
        losses = losses_of(slots)
        if not losses.listed:
            break
        for value in losses.invented:
            slots = _without(slots, value)
        slots = replace(slots, constraints=_standing(slots.constraints, losses))
        due = [Entry(row.text, row.line) for row in losses.boundaries]
        slots = replace(slots, constraints=(*slots.constraints, *due))
        for one in losses.identifiers:
            known = dict(slots.identifiers)
            known[one.kind] = tuple(dict.fromkeys((*known.get(one.kind, ()), one.value)))
            slots = replace(slots, identifiers=known)
        added.update(
            dict.fromkeys([*(row.text for row in losses.boundaries), *(one.value for one in losses.identifiers)])
        )
        removed.update(dict.fromkeys([*losses.invented, *losses.unfounded, *losses.opposed]))
    return Repaired(slots, tuple(added), tuple(one for one in removed if one not in added))


def _filled(slots: Slots, missing: Sequence[str], extracted: Slots) -> Slots:
    """The slots with these sections as extraction has them."""
    slots = replace(slots, **{slot: getattr(extracted, slot) for slot in missing})
    return replace(slots, files=extracted.files, commands=extracted.commands) if IDENTIFIERS in missing else slots


def _items(slots: Slots, sections: Sequence[str]) -> Iterator[str]:
    for slot, entries in ((CONSTRAINTS, slots.constraints), (DECISIONS, slots.decisions), (OPEN, slots.open)):
        if slot in sections:
            yield from (entry.text for entry in entries)
    if IDENTIFIERS in sections:
        yield from (value for values in slots.identifiers.values() for value in values)


def _without(slots: Slots, value: str) -> Slots:
    """The slots without every item that holds a value that nobody named: as a word, or else at least as a piece."""
    word = re.compile(rf"(?<![\w/]){re.escape(value)}(?![\w/])")
    left = _kept(slots, lambda text: word.search(text) is None)
    return left if left != slots else _kept(slots, lambda text: value not in text)


def _kept(slots: Slots, stays: Callable[[str], bool]) -> Slots:
    def values(by_name: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        left = {name: tuple(filter(stays, every)) for name, every in by_name.items()}
        return {name: every for name, every in left.items() if every}

    return replace(
        slots,
        constraints=tuple(entry for entry in slots.constraints if stays(entry.text)),
        decisions=tuple(entry for entry in slots.decisions if stays(entry.text)),
        open=tuple(entry for entry in slots.open if stays(entry.text)),
        identifiers=values(slots.identifiers), files=values(slots.files), commands=values(slots.commands),
    )  # fmt: skip


def _standing(entries: Sequence[Entry], losses: Losses) -> tuple[Entry, ...]:
    """The boundaries without those that nobody set, and those that stand in the place of one."""

    def stays(entry: Entry) -> bool:
        flat = _flat(entry.text)
        return entry.text not in losses.unfounded and not any(_flat(one) in flat for one in losses.opposed)

    return tuple(filter(stays, entries))


def _flat(text: str) -> str:
    return " ".join(text.split())
