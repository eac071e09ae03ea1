"""A running summary: the oldest turns move into it, as many as have to, and the rest stays verbatim."""

from ctxcli.change import Change
from ctxcli.shelf import Strategy
from ctxcli.strategies.pieces import lighter, loose_units, without
from ctxcli.task import Task

_PASSES = 3
"""A summary that came out shorter than it may be leaves room for more of the turns, a longer one for fewer."""


def shorten(task: Task, change: Change) -> Change:
    """Move units into the summary, oldest first, until the target is met with the summary in place."""
    if task.tokens(change) <= task.target:
        return change
    best, room = change, task.summary_tokens
    for _ in range(_PASSES if task.refine else 1):
        out = _oldest(task, change, task.target - room)
        if not out:
            break
        found = without(task, change, out, summed_up=True)
        fits = task.tokens(found) <= task.target
        best = found if fits and task.tokens(best) <= task.target else lighter(task, best, found)
        size = task.scale.count(found.summary)
        if (size >= room) if fits else (size <= room):
            break
        room = size + size // 20
    return best


def _oldest(task: Task, change: Change, until: int) -> list[tuple[int, ...]]:
    """The oldest units without which the rest weighs no more than `until`."""
    left = sum(task.tokens_of(index, change) for index in change.keep if index not in task.summaries)
    out: list[tuple[int, ...]] = []
    for unit in loose_units(task, change):
        if left <= until:
            break
        left -= sum(task.tokens_of(index, change) for index in unit)
        out.append(unit)
    return out


STRATEGY = Strategy("rolling", "the oldest turns move into a running summary, the rest stays", shorten, True)
