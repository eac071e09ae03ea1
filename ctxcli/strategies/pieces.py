"""What several strategies do: clear a result, take units out, put a summary in their place."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ctxcli.change import CLEARED, Change
from ctxcli.model import PartAt, PartKind, is_human
from ctxcli.task import Task

_WORTH = 0.9
_LONGEST_ADDRESS = 200
"""Characters of an address in a placeholder; a longer one stands in the call anyway."""


def results_of(task: Task, change: Change) -> list[PartAt]:
    """The tool results that stand in the context with their text, oldest first."""
    return [
        (index, number)
        for index in change.keep
        for number, part in enumerate(task.transcript.messages[index].parts)
        if part.kind is PartKind.TOOL_RESULT
        and (index, number) not in change.texts
        and (index, number) not in change.gone
    ]


def placeholder(why: str, address: str) -> str:
    """What stands in the place of a cleared result: why, and how to fetch it again."""
    flat = " ".join(address.split())
    again = f"; again with: {flat}" if flat and len(flat) <= _LONGEST_ADDRESS else ""
    return f"{CLEARED}: {why}{again}]"


def clear(task: Task, change: Change, places: Iterable[tuple[PartAt, str]], *, until: int) -> Change:
    """Clear results, each for its reason, until the context weighs no more than `until`.

    Those that weigh no more than what would stand for them stay.
    """
    texts, gone = dict(change.texts), set(change.gone)
    left = task.tokens(change)
    for at, why in places:
        if left <= until:
            break
        text = placeholder(why, task.part(at).address)
        media = [one for one in task.companions(at) if one not in gone]
        freed = sum(task.scale.weights[index][number] for index, number in (at, *media)) - task.scale.count(text)
        if freed > 0:
            texts[at] = text
            gone.update(media)
            left -= freed
    return replace(change, texts=texts, gone=frozenset(gone))


def without(task: Task, change: Change, units: Iterable[Iterable[int]], *, summed_up: bool) -> Change:
    """The change with these units out of the context, and a summary in their place where one is wanted.

    A summary takes the place of those before it.
    """
    out = {index for unit in units for index in unit}
    if summed_up:
        out |= task.summaries
    if not out:
        return change
    bare = replace(change, keep=tuple(index for index in change.keep if index not in out), summary="", at=min(out))
    return replace(bare, summary=task.summarise(bare, task.summary_tokens)) if summed_up else bare


def loose_units(task: Task, change: Change) -> list[tuple[int, ...]]:
    """The units in the context that may leave it, oldest first."""
    kept = frozenset(change.keep)
    return [
        unit
        for unit in task.units
        if not task.is_fixed(unit) and kept.issuperset(unit) and not task.summaries & {*unit}
    ]


def lighter(task: Task, first: Change, second: Change) -> Change:
    """The second change where it meets the target or weighs a tenth less than the first: turns are worth that much."""
    weight = task.tokens(second)
    return second if weight <= max(task.target, _WORTH * task.tokens(first)) and weight < task.tokens(first) else first


def keep_best(task: Task, change: Change, scores_of: Callable[[Sequence[str], str], Sequence[float]]) -> Change:
    """Take out the units that score lowest against the newest request, until the target is met; of equals the oldest.

    `scores_of` gets the texts of the units and the request.
    """
    left, units = task.tokens(change), loose_units(task, change)
    if left <= task.target or not units:
        return change
    scores = scores_of([_said(task, unit) for unit in units], _request(task, change))
    out = []
    for place in sorted(range(len(units)), key=lambda at: (scores[at], at)):
        if left <= task.target:
            break
        left -= sum(task.tokens_of(index, change) for index in units[place])
        out.append(units[place])
    return without(task, change, out, summed_up=False)


def _said(task: Task, unit: Iterable[int]) -> str:
    return "\n".join(f"{part.name} {part.text}" for index in unit for part in task.transcript.messages[index].parts)


def _request(task: Task, change: Change) -> str:
    """What the user said last."""
    for index in reversed(change.keep):
        message = task.transcript.messages[index]
        if is_human(message):
            return "\n".join(part.text for part in message.parts if part.kind is PartKind.TEXT)
    return ""
