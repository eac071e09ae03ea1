"""How far the replay of the recorded run is from what the provider measured."""

from collections.abc import Sequence
from statistics import median

from ctxcli.audit.rows import cache_of
from ctxcli.audit.walk import Step
from ctxcli.reports.simulate import Agreement
from ctxcli.simulate.cache import Served
from ctxcli.simulate.course import Request
from ctxcli.simulate.unseen import Unseen

_BEYOND = 0.1
"""Share of what was measured; an error above it is counted."""


def agreement_of(
    steps: Sequence[Step], requests: Sequence[Request], caches: Sequence[Served], unseen: Unseen
) -> Agreement | None:
    """The errors of context and cache reads, call by call; None where nothing was measured."""
    sizes = [
        _off(one.context, step.measured)
        for step, one in zip(steps, requests, strict=True)
        if step.measured and step.n not in unseen.anchors
    ]
    reads = {
        step.n: (one, cache.read)
        for step, one in zip(steps, caches, strict=True)
        if (cache := cache_of(step.call.usage)) is not None and step is not steps[0]
    }
    if not sizes and not reads:
        return None
    errors = {n: _off(one.read, read) for n, (one, read) in reads.items()}
    return Agreement(
        calls=len(sizes), context=_middle(sizes), context_beyond=sum(one > _BEYOND for one in sizes),
        told=len(unseen.anchors), cache_calls=len(reads), cache_read=_middle(list(errors.values())),
        cache_beyond=sum(one > _BEYOND for one in errors.values()),
        cache_gone=tuple(
            n for n, (one, read) in reads.items() if errors[n] > _BEYOND and one.read > read and not one.miss
        ),
    )  # fmt: skip


def _middle(errors: Sequence[float]) -> float | None:
    return round(median(errors), 4) if errors else None


def _off(replayed: int, told: int) -> float:
    """The error as a share of what was measured; all of it where nothing was and something should have been."""
    return abs(replayed - told) / told if told else float(replayed > 0)
