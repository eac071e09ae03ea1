"""What calls were sent that the file does not hold, as far as the provider's figures show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ctxcli.audit.walk import Step
from ctxcli.model import COMPACTIONS, EventKind

_BREAKS = COMPACTIONS | {EventKind.RESET}


@dataclass(frozen=True, slots=True)
class Unseen:
    """Tokens that no message of the file accounts for: measured context less the estimate.

    They stay nearly the same from call to call, and change where a context is rebuilt; so the first measured call of
    each stretch between two recorded compactions tells them for the stretch.
    """

    at: Mapping[int, int] = field(default_factory=dict)
    """By the number of the call, as the transcript went."""
    fixed: int = 0
    """System prompt and tools: the least that was there in any stretch."""
    earlier: int = 0
    """What else was there at first: turns that the file does not hold. A compaction takes them out."""
    anchors: frozenset[int] = frozenset()
    """The calls whose measured context told the rest; a comparison with what was measured leaves them out."""
    measured: bool = False
    """False where the provider reported no context at all."""


def unseen_in(steps: Sequence[Step]) -> Unseen:
    """What the calls of one lane were sent beside its messages."""
    stretches = _stretches(steps)
    found = [(stretch, next((step for step in stretch if step.measured is not None), None)) for stretch in stretches]
    told = [max(0, step.size - step.estimated) for _, step in found if step is not None]
    if not told:
        return Unseen(dict.fromkeys((step.n for step in steps), 0))
    at: dict[int, int] = {}
    last = told[0]
    for stretch, step in found:
        last = last if step is None else max(0, step.size - step.estimated)
        at.update(dict.fromkeys((one.n for one in stretch), last))
    fixed = min(told)
    anchors = frozenset(step.n for _, step in found if step is not None)
    return Unseen(at, fixed, told[0] - fixed, anchors, measured=True)


def _stretches(steps: Sequence[Step]) -> list[list[Step]]:
    """The calls in groups: a new one where something was compacted or cleared away, or another model answers."""
    stretches: list[list[Step]] = []
    for step in steps:
        broken = any(event.kind in _BREAKS for event in step.frame.events)
        if not stretches or broken or stretches[-1][-1].call.model != step.call.model:
            stretches.append([])
        stretches[-1].append(step)
    return stretches
