"""The default: the lightest touch first, and four slots for what still has to go."""

import sys
from dataclasses import replace

from ctxcli.change import Change
from ctxcli.shelf import Strategy
from ctxcli.task import Task

_NAMES = 2_000
"""Tokens that are left below the target where results are cleared, a tenth of it at most: their names go there."""


def strategy(clear_stale: Strategy, clear_results: Strategy, roll: Strategy) -> Strategy:
    """The strategy that goes through these three, and stops as soon as the target is met.

    Where even that is not enough, results in the tail are cleared too, but for the newest one.
    """

    def shorten(task: Task, change: Change) -> Change:
        summing = replace(task, summary_tokens=max(task.summary_tokens, task.most_summary))
        to_the_end = replace(task, tail=sys.maxsize, results=replace(task.results, keep=1, at_least=0))
        for one, under in (
            (clear_stale, task),
            (clear_results, replace(task, target=task.target - min(_NAMES, task.target // 10))),
            (roll, summing),
            (clear_stale, to_the_end),
            (clear_results, to_the_end),
        ):
            if task.tokens(change) <= task.target:
                break
            change = one.shorten(under, change)
        return change

    return Strategy(
        "contract", "clear what is stale, then old results, then four slots for the oldest turns", shorten, True
    )
