"""Clear the text of old tool results and leave their address: the calls stay, what they gave can be fetched again."""

from ctxcli.change import Change
from ctxcli.model import Role
from ctxcli.shelf import Strategy
from ctxcli.strategies.pieces import clear, results_of
from ctxcli.task import Task


def shorten(task: Task, change: Change) -> Change:
    """Clear results, oldest first, until the target is met; the newest ones and those of excluded tools stay.

    Results that no answer has followed yet stay whatever the settings are: the model has not seen them.
    """
    standing = results_of(task, change)
    newest = standing[len(standing) - min(task.results.keep, len(standing)) :]
    answers = [index for index in change.keep if task.transcript.messages[index].role is Role.ASSISTANT]
    unseen = max(answers, default=-1)
    places = [
        (at, "an old result")
        for at in standing
        if at not in newest
        and at[0] < unseen
        and not task.is_fixed(at[:1])
        and task.part(at).name not in task.results.exclude
    ]
    cleared = clear(task, change, places, until=task.target)
    freed = task.tokens(change) - task.tokens(cleared)
    return cleared if freed >= max(1, task.results.at_least) else change


STRATEGY = Strategy(
    "clear-tool-results", "the text of old tool results goes, the calls and how to fetch it again stay", shorten
)
