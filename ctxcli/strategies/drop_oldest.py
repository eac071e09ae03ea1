"""Keep what is pinned and the newest that fits; the rest goes."""

from ctxcli.change import Change
from ctxcli.shelf import Strategy
from ctxcli.strategies.pieces import loose_units, without
from ctxcli.task import Task


def shorten(task: Task, change: Change) -> Change:
    """Take the oldest units out, one after the other, until the target is met."""
    left = task.tokens(change)
    out = []
    for unit in loose_units(task, change):
        if left <= task.target:
            break
        left -= sum(task.tokens_of(index, change) for index in unit)
        out.append(unit)
    return without(task, change, out, summed_up=False)


STRATEGY = Strategy("drop-oldest", "the newest turns that fit, behind the system prompt and the task", shorten)
