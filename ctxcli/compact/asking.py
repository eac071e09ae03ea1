"""A model's summary: asked with the four-slot prompt, read, held to the guard, and asked for once more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxcli.errors import SummaryError
from ctxcli.reports.slots import Slots
from ctxcli.slots import parse, prompt

_SHOWN = 20
"""Of what an answer lost, so much is said; the whole list goes to the model."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer that holds, and how often it took."""

    slots: Slots
    attempts: int


def answered(
    ask: Callable[[str], str],
    span: str,
    lost_by: Callable[[Slots], Sequence[str]],
    *,
    instructions: str = "",
    again: bool = True,
) -> Asked:
    """Ask for the four slots of a span; where the answer lost something, ask once more with the list of it.

    Raises SummaryError where the second answer (the first, without `again`) still loses something, misses a slot, or
    is empty: nothing is made of it then.
    """
    lost: Sequence[str] = ()
    for attempt in range(1, 3 if again else 2):
        answer = parse(ask(prompt(span, instructions=instructions, lost=lost)))
        missing = [f"the section {slot.upper()}" for slot in answer.missing]
        lost = missing or lost_by(answer.slots)
        if not lost:
            return Asked(answer.slots, attempt)
    listed = "\n".join(f"  {one}" for one in lost[:_SHOWN])
    more = f"\n  and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    raise SummaryError(f"the summary leaves these out, or changes them:\n{listed}{more}")
