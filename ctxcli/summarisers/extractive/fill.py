"""The four slots within a budget of tokens, by rank: what does not fit is left out whole, and counted."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from ctxcli.reports.slots import Decision, Slots
from ctxcli.shelf import Material
from ctxcli.slots import DECISIONS, IDENTIFIERS, render
from ctxcli.summarisers.extractive import brief
from ctxcli.summarisers.extractive.boundaries import constraints
from ctxcli.summarisers.extractive.decisions import decisions
from ctxcli.summarisers.extractive.pending import open_items
from ctxcli.summarisers.extractive.state import commands, files

_FOR_DECISIONS = 2
"""Decisions get half of what constraints, open items and required identifiers leave."""
_FOR_COMMANDS = 10
_BULLET = 8
"""Tokens of a bullet, its line number and its line end."""
ItemT = TypeVar("ItemT")
Named = tuple[str, str]
"""(kind, value)."""


def summarise(material: Material) -> Slots:
    """Fill the slots within the budget: boundaries and open items first, then what the guard requires.

    After that decisions (those with a reason first, the newest first), the newest commands, and the other identifiers
    by rank. What does not fit is left out whole, never cut; `left_out` says how much that is.
    """
    if material.tokens < brief.MOST:
        return brief.summarise(material)
    every = decisions(material)
    fixed = Slots(constraints=constraints(material), open=open_items(material), files=files(material))
    room = material.tokens - _weight(material, fixed)
    due = [(one.kind, one.value) for one in material.identifiers if one.required]
    others = _others(material, due)
    required, room = _fit(material, due, room, lambda one: one[1], _each_kind())
    chosen, rest = _fit(material, every, room // _FOR_DECISIONS, lambda one: one.text, lambda _: _BULLET)
    ran, left = _commands(material, room // _FOR_COMMANDS)
    more, _ = _fit(
        material, others, room - room // _FOR_DECISIONS - room // _FOR_COMMANDS + rest + left,
        lambda one: one[1], _each_kind(),
    )  # fmt: skip
    chosen.sort(key=lambda one: one.line or 0)
    whole = replace(fixed, decisions=tuple(chosen), commands=ran)
    while True:
        slots = replace(whole, identifiers=_grouped([*required, *more]))
        over = _weight(material, slots) - material.tokens
        if over <= 0 or not more:
            break
        del more[-max(1, over // 8) :]
    return replace(slots, left_out=_left_out(every, chosen, due, required))


def _others(material: Material, due: Sequence[Named]) -> list[Named]:
    """Identifiers that nothing requires: those carried over, then those of the material by rank."""
    known = frozenset(due)
    carried = [(kind, value) for kind, values in material.carried.identifiers.items() for value in values]
    ranked = [(one.kind, one.value) for one in material.identifiers if not one.required]
    return list(dict.fromkeys(one for one in (*carried, *ranked) if one not in known))


def _left_out(
    every: Sequence[Decision], chosen: Sequence[Decision], due: Sequence[Named], required: Sequence[Named]
) -> dict[str, int]:
    counts = {DECISIONS: len(every) - len(chosen), IDENTIFIERS: len(due) - len(required)}
    return {slot: count for slot, count in counts.items() if count}


def _grouped(values: Iterable[Named]) -> dict[str, tuple[str, ...]]:
    """By kind, in the order given."""
    kinds: dict[str, list[str]] = {}
    for kind, value in values:
        kinds.setdefault(kind, []).append(value)
    return {kind: tuple(found) for kind, found in kinds.items()}


def _weight(material: Material, slots: Slots) -> int:
    return material.weigh.count([render(slots)])[0]


def _each_kind() -> Callable[[Named], int]:
    """What a value costs beside itself: a comma and a blank, and the first of a kind its name."""
    seen: set[str] = set()

    def cost(one: Named) -> int:
        first = one[0] not in seen
        seen.add(one[0])
        return 4 if first else 1

    return cost


def _fit(
    material: Material,
    items: Sequence[ItemT],
    room: int,
    text: Callable[[ItemT], str],
    beside: Callable[[ItemT], int],
) -> tuple[list[ItemT], int]:
    """The items that fit, in order, and the room that is left."""
    weights = material.weigh.count([text(item) for item in items])
    found: list[ItemT] = []
    for item, weight in zip(items, weights, strict=True):
        cost = weight + beside(item)
        if cost <= room:
            room -= cost
            found.append(item)
    return found, room


def _commands(material: Material, room: int) -> tuple[dict[str, tuple[str, ...]], int]:
    """The newest commands that fit, by how they ended, and the room that is left."""
    ran = [(how, command) for how, some in commands(material).items() for command in some]
    kept, left = _fit(material, ran[::-1], room, lambda one: one[1], _each_kind())
    return _grouped(kept[::-1]), left
