"""The text of the synthetic message: what it stands for, the four slots, and where the rest is."""

from collections.abc import Iterable

from ctxcli.model import Transcript
from ctxcli.reports.slots import Brief, Slots
from ctxcli.slots import SYNTHETIC, parse, render
from ctxcli.tokens import clean


def text_of(slots: Slots, transcript: Transcript, gone: Iterable[int], notes: str, *, repaired: int = 0) -> str:
    """The message as it is written, for the messages that are gone; `notes` names the file that holds the rest.

    `repaired` says how many items a model's summary had lost.

    Of brief slots little but the items: their frame must not take the room of what they hold.
    """
    if isinstance(slots, Brief) and not notes:
        left = f"; left out: {sum(slots.left_out.values())}" if slots.left_out else ""
        return clean(f"{SYNTHETIC}{left}]\n{render(slots)}")
    lines = [transcript.messages[index].line for index in gone]
    span = f" It stands for lines {min(lines)} to {max(lines)} of the transcript." if lines else ""
    head = f"{SYNTHETIC}: a record of the conversation so far, not the user's words.{span}]"
    mended = (
        [f"Repaired; items that the model had left out and that stand here word for word: {repaired:,}."]
        if repaired
        else []
    )
    return clean("\n".join([head, *mended, *_rest(slots, notes), "", render(slots)]))


def _rest(slots: Slots, notes: str) -> list[str]:
    """Where what did not fit stands; before the slots, so that no reader takes it for a part of them."""
    left = ", ".join(f"{count} {slot}" for slot, count in slots.left_out.items())
    only = f" Only there: {left}." if left else ""
    if notes:
        return [f"Every boundary, decision and required identifier is in the notes too: ctx notes show {notes}.{only}"]
    return [f"Left out for want of room: {left}."] if left else []


def carried_in(text: str) -> Slots:
    """The items of a summary that ctx wrote earlier."""
    return parse(text).slots


def merged(first: Slots, second: Slots) -> Slots:
    """Both, each item once; of what both know the second says the last state."""
    states = {path: state for slots in (first, second) for state, paths in slots.files.items() for path in paths}
    kinds = dict.fromkeys((*first.identifiers, *second.identifiers))
    return Slots(
        constraints=tuple({one.text: one for one in (*first.constraints, *second.constraints)}.values()),
        decisions=tuple({one.text: one for one in (*first.decisions, *second.decisions)}.values()),
        identifiers={
            kind: tuple(dict.fromkeys((*first.identifiers.get(kind, ()), *second.identifiers.get(kind, ()))))
            for kind in kinds
        },
        open=tuple({one.text: one for one in (*first.open, *second.open)}.values()),
        files={
            state: tuple(path for path, one in states.items() if one == state)
            for state in dict.fromkeys(states.values())
        },
    )
