"""What a context that begins anew needs of the notes: the four slots, by importance where there is little room."""

from collections.abc import Sequence
from dataclasses import replace

from ctxcli.notes.book import Notebook, to_slots
from ctxcli.notes.note import Note
from ctxcli.shelf import Weigh
from ctxcli.slots import CONSTRAINTS, DECISIONS, IDENTIFIERS, NONE, OPEN, SLOTS, render

_PREFACE = """\
# Notes of earlier contexts

{standing} in {where}, which is only ever added to. They are a record, word for word: the boundaries
still hold, and what was decided stays decided unless the user says otherwise. `ctx notes show {where}` prints all of
them, `ctx notes add {where}` adds to them.
"""
_BULLET = 8
"""Tokens of a bullet, its marks and its line end."""
_RANKS = (CONSTRAINTS, OPEN, DECISIONS, IDENTIFIERS)
"""What goes in first."""


def resume(notebook: Notebook, where: str, weigh: Weigh | None = None, tokens: int | None = None) -> str:
    """The text that a fresh context begins with; within so many tokens, where a counter and a limit are given.

    Boundaries go in first, then open items, the newest decisions, and the newest identifiers; what was superseded comes
    last. What does not fit is left out whole, and how much that is stands in the text.
    """
    chosen = list(notebook.entries)
    if weigh is None or tokens is None:
        return _text(notebook, chosen, where)
    ranked = sorted(_standing(notebook), key=lambda one: (one[1].superseded, _RANKS.index(one[1].slot), one[0]))
    room = tokens - weigh.count([_text(notebook, [], where)])[0]
    taken: list[tuple[int, Note]] = []
    weights = weigh.count([note.text for _, note in ranked])
    for one, weight in zip(ranked, weights, strict=True):
        if weight + _BULLET <= room:
            room -= weight + _BULLET
            taken.append(one)
    while True:
        text = _text(notebook, [notebook.entries[abs(at)] for at, _ in taken], where)
        over = weigh.count([text])[0] - tokens
        if over <= 0 or not taken:
            return text
        del taken[-max(1, over // 16) :]


def _standing(notebook: Notebook) -> list[tuple[int, Note]]:
    """Each entry with its place, negative where the newest goes first."""
    return [
        (-at if note.slot in (DECISIONS, IDENTIFIERS) else at, note)
        for at, note in enumerate(notebook.entries)
        if note.slot == CONSTRAINTS or not note.superseded
    ]


def _text(notebook: Notebook, chosen: Sequence[Note], where: str) -> str:
    ids = {note.id for note in chosen}
    shown = replace(notebook, entries=tuple(note for note in notebook.entries if note.id in ids))
    count = len(notebook.entries)
    head = _PREFACE.format(standing=f"{count:,} {'entry stands' if count == 1 else 'entries stand'}", where=where)
    missing = [note for _, note in _standing(notebook) if note.id not in ids]
    counts = {slot: sum(note.slot == slot for note in missing) for slot in SLOTS}
    left = ", ".join(f"{count:,} {slot}" for slot, count in counts.items() if count)
    rest = [f"Left out here, for lack of room: {left}.\n"] if left else []
    text = render(to_slots(shown), lines=False)
    for slot, missed in counts.items():
        if missed:  # an empty slot and one that had no room are not the same
            text = text.replace(f"## {slot.upper()}\n- {NONE}\n", f"## {slot.upper()}\n- {missed:,} left out\n")
    return "\n".join([head, *rest, text])
