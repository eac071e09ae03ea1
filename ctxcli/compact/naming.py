"""What cleared results named: where there is room below the target, their placeholders say it."""

from collections.abc import Callable, Collection
from dataclasses import replace

from ctxcli.change import CLEARED, Change
from ctxcli.compact.material import ranked
from ctxcli.guard.forms import Key
from ctxcli.guard.policy import Policy
from ctxcli.guard.sides import Before
from ctxcli.model import PartAt
from ctxcli.task import Scale

_NAMED = "; it named: "
_FRAME = 6
"""Tokens of what stands before the first name."""


def with_names(
    change: Change, cleared: Collection[PartAt], names: list[tuple[PartAt, str]], scale: Scale, target: int
) -> Change:  # fmt: skip
    """The change with names in the placeholders of these results, the first of the names first, as the target has room.

    A placeholder never gets heavier than its result was; where the sum comes out above the target, nothing is named.
    """
    room = target - scale.tokens(change)
    most = {at: scale.weights[at[0]][at[1]] - scale.count(change.texts[at]) for at in cleared}
    said: dict[PartAt, list[str]] = {}
    for at, name in names:
        cost = scale.count(name) + (1 if at in said else _FRAME)
        if cost <= min(room, most[at]):
            room, most[at] = room - cost, most[at] - cost
            said.setdefault(at, []).append(name)
    texts = {at: f"{change.texts[at][:-1]}{_NAMED}{', '.join(some)}]" for at, some in said.items()}
    found = replace(change, texts={**change.texts, **texts})
    return found if scale.tokens(found) <= target else change


def names_in(
    before: Before, policy: Policy, cleared: Collection[PartAt], stands: Callable[[Key], bool]
) -> list[tuple[PartAt, str]]:  # fmt: skip
    """The identifiers of the policy's kinds that these results alone say, each with the newest that does; by rank."""
    place = {before.key(use): at for at in sorted(cleared) for use in before.reading.uses(at)}
    keys = [
        key for key in ranked(before, policy, lambda key: key not in place or stands(key)) if key[0] in policy.kinds
    ]
    return [(place[key], before.known[key].value) for key in keys]


def cleared_in(change: Change, start: Change) -> list[PartAt]:
    """The results that a pass cleared: those whose placeholder is ctx's own, and new."""
    kept = frozenset(change.keep)
    own = (at for at, text in change.texts.items() if text.startswith(CLEARED) and at not in start.texts)
    return [at for at in own if at[0] in kept]
