"""One pass of a strategy over a simulated context, as `ctx compact` makes it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcli.change import Change, placed
from ctxcli.compact.session import Session
from ctxcli.compact.settings import Settings
from ctxcli.guard.policy import Policy as GuardPolicy
from ctxcli.identifiers import Extractor
from ctxcli.model import MAIN, Event, EventKind, Lane, Message, Transcript
from ctxcli.shelf import Weigh
from ctxcli.simulate.course import Held
from ctxcli.simulate.policy import Policy


@dataclass(frozen=True, slots=True)
class Passed:
    """What a pass left."""

    rows: tuple[Held, ...]
    dropped: frozenset[int]
    """Messages of the transcript that are out of the context now, by this pass or an earlier one."""
    done: bool
    """False where the strategy could take nothing."""
    before: Transcript
    """The context before as a transcript; see `Passes`."""
    change: Change
    """What the strategy made of it."""


@dataclass(frozen=True, slots=True)
class Passes:
    """How passes are made: the transcript, how it is weighed and read, and the policy."""

    transcript: Transcript
    weigh: Weigh
    extractor: Extractor
    policy: Policy

    def run(self, rows: Sequence[Held], dropped: frozenset[int], visible: float) -> Passed:
        """Compact a context.

        `visible` is what its messages weigh in tokens of the model, for a target in tokens: the strategies count
        without the model's ratio and without what the file does not hold.
        """
        before, held = self.as_transcript(rows, dropped)
        session = Session(before, GuardPolicy(), self.weigh, self.extractor)
        outcome = session.compact(
            Settings((self.policy.strategy,), self._target(session.tokens, visible), self.policy.keep_last)
        )
        if not outcome.steps:
            return Passed(tuple(rows), dropped, done=False, before=before, change=outcome.change)
        after, gone = rows_after(rows, before, held, outcome.change)
        return Passed(after, dropped | gone, done=True, before=before, change=outcome.change)

    def _target(self, counted: int, visible: float) -> int | float:
        target = self.policy.target
        return target if isinstance(target, float) or not visible else max(1, int(target * counted / visible))

    def as_transcript(self, rows: Sequence[Held], dropped: frozenset[int]) -> tuple[Transcript, list[Held | None]]:
        """A transcript whose context is these rows, and that records the earlier passes; and its rows by index.

        The turns that are out of the context stand in it: every pass extracts from raw turns, never from a summary.
        """
        messages: list[Message] = []
        held: list[Held | None] = []
        waiting = sorted(dropped)
        at = 0
        for place, row in enumerate(rows):
            reach = next((one.index for one in rows[place:] if one.index is not None), len(self.transcript.messages))
            while at < len(waiting) and waiting[at] < reach:
                messages.append(self.transcript.messages[waiting[at]])
                held.append(None)
                at += 1
            messages.append(row.message)
            held.append(row)
        gone = tuple(index for index, one in enumerate(held) if one is None)
        summary = next((index for index, one in enumerate(held) if one is not None and one.index is None), None)
        event = Event(EventKind.SUMMARY, len(messages), drops=gone, summary=summary)
        before = replace(
            self.transcript, messages=tuple(replace(one, lane=MAIN) if one.lane != MAIN else one for one in messages),
            calls=(), events=(event,) if gone else (), lanes=(Lane(MAIN),), skips=(),
        )  # fmt: skip
        return before, held


def rows_after(
    rows: Sequence[Held], before: Transcript, held: Sequence[Held | None], change: Change
) -> tuple[tuple[Held, ...], frozenset[int]]:
    """The rows that a change leaves of a context, and the messages that it took out.

    `before` and `held` are the context as `Passes.as_transcript` gives it.
    """
    after = []
    for one in placed(before, change):
        row = held[one.index] if one.index is not None else None
        after.append(Held(one.message, None) if row is None else _changed(row, one.message, one.parts))
    kept = {row.index for row in after}
    return tuple(after), frozenset(row.index for row in rows if row.index is not None and row.index not in kept)


def _changed(row: Held, message: Message, parts: Sequence[tuple[int, int]]) -> Held:
    """The row itself where nothing of it changed."""
    if message is row.message:
        return row
    numbers = tuple(row.numbers[number] for _, number in parts) if row.index is not None else ()
    return Held(message, row.index, numbers, row.cleared)
