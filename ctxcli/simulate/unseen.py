"""What calls were sent that the file does not hold, as far as the provider's figures show it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from ctxcli.audit.rows import cache_of
from ctxcli.audit.walk import Step
from ctxcli.model import COMPACTIONS, EventKind

_BREAKS = COMPACTIONS | {EventKind.RESET}
_LEAST_JUMP, _JUMP_OF_CONTEXT, _JUMP_OF_ADDED = 5_000, 0.05, 0.25
"""What a context grew or fell by beside its messages is a jump from so many tokens on, if it is this share of the
context and of what was added: no error of counting is that large."""
_MISSED = 0.9
"""Share of what was cached; a call that read less was served by what stands in front, not by all of it."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Tokens that no message of the file accounts for: measured context less the estimate.

    They stay nearly the same from call to call, and change where a context is rebuilt, or where the client puts in
    or takes out what it does not record; so the first measured call of each stretch between two such places tells
    them for the stretch.
    """

    at: Mapping[int, int] = field(default_factory=dict)
    """By the number of the call, as the transcript went."""
    fixed: Mapping[int, int] = field(default_factory=dict)
    """Of them, by the number of the call, those that no compaction takes out: system prompt and tools. The least of any
    stretch up to there, and of later ones until something goes without a record or another model answers."""
    earlier: int = 0
    """What else was there at first: turns that the file does not hold. A compaction takes them out."""
    jumps: Mapping[int, int] = field(default_factory=dict)
    """By the number of the call: what came or went before it without a record, or with another model. It does so under
    every policy."""
    front: int | None = None
    """Tokens of tools and system prompt: the least that the cache served where the history was not in it; None where
    no call tells."""
    first_read: int | None = None
    """What the cache served to the first call: nothing in the file can tell it."""
    anchors: frozenset[int] = frozenset()
    """The calls whose measured context told the rest; a comparison with what was measured leaves them out."""
    measured: bool = False
    """False where the provider reported no context at all."""


def unseen_in(steps: Sequence[Step]) -> Unseen:
    """What the calls of one lane were sent beside its messages."""
    stretches = _stretches(steps)
    first = [next((step for step in stretch if step.measured is not None), None) for stretch in stretches]
    told = [step.hidden for step in first if step is not None]
    if not told:
        nothing = dict.fromkeys((step.n for step in steps), 0)
        return Unseen(nothing, nothing)
    sizes: list[int] = []
    for step in first:
        before = sizes[-1] if sizes else told[0]
        sizes.append(before if step is None else step.hidden)
    changes = [0, *(after - before for before, after in pairwise(sizes))]
    switched = [False, *(one[-1].call.model != other[0].call.model for one, other in pairwise(stretches))]
    jumped = [other or _jumped(stretch[0]) for stretch, other in zip(stretches, switched, strict=True)]
    anew = [one and (change < 0 or other) for one, change, other in zip(jumped, changes, switched, strict=True)]
    floors = _floors(sizes, anew)
    cache = cache_of(steps[0].call.usage)
    return Unseen(
        at=_by_call(stretches, sizes), fixed=_by_call(stretches, floors), earlier=sizes[0] - floors[0],
        jumps={
            stretch[0].n: change
            for stretch, change, one in zip(stretches, changes, jumped, strict=True) if one and change
        },
        front=min(_fronts(steps), default=None), first_read=cache.read if cache else None,
        anchors=frozenset(step.n for step in first if step is not None), measured=True,
    )  # fmt: skip


def _by_call(stretches: Sequence[Sequence[Step]], values: Sequence[int]) -> dict[int, int]:
    return {step.n: value for stretch, value in zip(stretches, values, strict=True) for step in stretch}


def _floors(sizes: Sequence[int], anew: Sequence[bool]) -> list[int]:
    """The least up to each place, and after it as long as nothing begins anew."""
    later = [*sizes]
    for at in reversed(range(len(sizes) - 1)):
        if not anew[at + 1]:
            later[at] = min(later[at], later[at + 1])
    return list(accumulate(later, min))


def _stretches(steps: Sequence[Step]) -> list[list[Step]]:
    """The calls in groups: a new one where something was compacted, what is hidden jumped, or a model changed."""
    stretches: list[list[Step]] = []
    for step in steps:
        broken = any(event.kind in _BREAKS for event in step.frame.events) or _jumped(step)
        if not stretches or broken or stretches[-1][-1].call.model != step.call.model:
            stretches.append([])
        stretches[-1].append(step)
    return stretches


def _jumped(step: Step) -> bool:
    """Whether the context changed by much more than its messages, without an event that says why."""
    if step.growth is None or step.measured is None:
        return False
    change = abs(step.growth - step.added)
    return change > max(_LEAST_JUMP, _JUMP_OF_CONTEXT * step.measured, _JUMP_OF_ADDED * step.added)


def _fronts(steps: Sequence[Step]) -> Iterator[int]:
    """What was read where the history was not: at the first call, and wherever less was read than was cached."""
    first = cache_of(steps[0].call.usage)
    if first is not None and 0 < first.read < _MISSED * steps[0].size:
        yield first.read
    for before, step in pairwise(steps):
        was, now = cache_of(before.call.usage), cache_of(step.call.usage)
        if before.call.model != step.call.model:
            continue
        if was is not None and now is not None and 0 < now.read < _MISSED * (was.read + was.write):
            yield now.read
