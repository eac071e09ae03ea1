"""One synthetic message in the place of the middle: between what is pinned at the front and the verbatim tail."""

from ctxcli.change import Change
from ctxcli.shelf import Strategy
from ctxcli.strategies.pieces import lighter, loose_units, without
from ctxcli.task import Task


def shorten(task: Task, change: Change) -> Change:
    """Take the whole middle out, where the target is not met yet."""
    units = loose_units(task, change)
    if task.tokens(change) <= task.target or not units:
        return change
    return lighter(task, change, without(task, change, units, summed_up=True))


STRATEGY = Strategy("summarise-middle", "one message in the place of all between the task and the tail", shorten, True)
