"""The slots where there is room for next to nothing: each thing once, in its last state, the weightiest first."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ctxcli.reports.slots import Brief, Decision, Entry
from ctxcli.shelf import Material
from ctxcli.slots import CONSTRAINTS, DECISIONS, IDENTIFIERS, OPEN, render
from ctxcli.summarisers.extractive.boundaries import constraints
from ctxcli.summarisers.extractive.decisions import decisions
from ctxcli.summarisers.extractive.facts import FACT, asks, terse, told, unlabelled
from ctxcli.summarisers.extractive.pending import REQUEST, TASK, open_items
from ctxcli.summarisers.extractive.subjects import last_states

MOST = 300
"""Tokens below which a summary is brief: ctx itself never asks for less, so that only a hard limit of a user does."""


class Item(NamedTuple):
    """One thing that may stand in brief slots."""

    slot: str
    text: str
    kind: str = ""
    """Of an identifier."""


def summarise(material: Material) -> Brief:
    """Fill the slots item by item, by rank, as far as they fit; nothing is cut, `left_out` counts the rest.

    Boundaries come first, then what is asked for or unfinished, what the user told, what the guard requires, decisions,
    and the other identifiers. What something later overtook is no item.
    """
    chosen: list[Item] = []
    left: Counter[str] = Counter()
    every = list(dict.fromkeys(_ranked(material)))
    for item in every:
        if item.kind not in ("", FACT) and any(_stands(item.text, one) for one in chosen):
            continue
        if material.weigh.count([render(_slots([*chosen, item]))])[0] <= material.tokens:
            chosen.append(item)
        else:
            left[item.slot] += 1
    slots = _slots(chosen)
    return Brief(slots.constraints, slots.decisions, slots.identifiers, slots.open, left_out=dict(left))


def _stands(value: str, item: Item) -> bool:
    return value in item.text


def _ranked(material: Material) -> Iterator[Item]:
    """What there is, the weightiest first; of equals the shorter, so that more of them fit."""
    standing, overtaken = _states(material)
    stated = [item for item in standing if item.slot == CONSTRAINTS]
    pending = [one.text for one in open_items(material)]
    idle = [text for text in pending if text.startswith((REQUEST, TASK)) and not asks(text.partition(": ")[2])]
    yield from _within(material, stated, material.tokens // 2)
    yield from (Item(OPEN, text) for text in pending if text not in idle)
    yield from standing
    ids = [one for one in material.identifiers if not _only_in(one.value, overtaken, standing)]
    yield from (Item(IDENTIFIERS, one.value, one.kind) for one in ids if one.required)
    yield from (Item(DECISIONS, one.text) for one in decisions(material))
    yield from (Item(OPEN, text) for text in idle)
    carried = ((kind, value) for kind, values in material.carried.identifiers.items() for value in values)
    yield from (Item(IDENTIFIERS, value, kind) for kind, value in carried if kind != FACT)
    yield from (Item(IDENTIFIERS, one.value, one.kind) for one in ids if not one.required)


def _only_in(value: str, overtaken: Iterable[str], standing: Iterable[Item]) -> bool:
    """Whether a value stands in what was overtaken, and in nothing that holds."""
    return any(value in text for text in overtaken) and not any(value in item.text for item in standing)


def _within(material: Material, items: Sequence[Item], room: int) -> Sequence[Item]:
    """The first of the items, as many as fit into the room."""
    for place, weight in enumerate(material.weigh.count([item.text for item in items])):
        room -= weight
        if room < 0:
            return items[:place]
    return items


def _states(material: Material) -> tuple[list[Item], list[str]]:
    """Boundaries and facts that hold, the shorter first; and the texts of those that something later overtook."""
    boundaries = constraints(material)
    marked = [one for one in boundaries if "(superseded" in one.text]
    stated = [one for one in boundaries if one not in marked]
    lined = [
        *((one.line or 0, Item(CONSTRAINTS, unlabelled(one.text))) for one in stated),
        *((one.line or 0, Item(IDENTIFIERS, terse(one.text), FACT)) for one in told(material)),
    ]
    every = [item for _, item in sorted(lined, key=lambda one: one[0])]
    last = last_states(every, lambda item: item.text)
    overtaken = [*(one.text for one in marked), *(item.text for item in every if item not in last)]
    return sorted(last, key=lambda item: len(item.text)), overtaken


def _slots(chosen: Sequence[Item]) -> Brief:
    """The items in their slots."""
    kinds: dict[str, list[str]] = {}
    for item in chosen:
        if item.slot == IDENTIFIERS:
            kinds.setdefault(item.kind, []).append(item.text)
    return Brief(
        constraints=tuple(Entry(item.text) for item in chosen if item.slot == CONSTRAINTS),
        decisions=tuple(Decision(item.text) for item in chosen if item.slot == DECISIONS),
        identifiers={kind: tuple(values) for kind, values in kinds.items()},
        open=tuple(Entry(item.text) for item in chosen if item.slot == OPEN),
    )
