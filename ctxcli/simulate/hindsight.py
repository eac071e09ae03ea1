"""Hindsight recall: of what a conversation used after a compaction and had said before it, what was still held."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcli.change import summary_message
from ctxcli.guard.compare import Comparison
from ctxcli.guard.policy import Policy
from ctxcli.guard.reading import Reading
from ctxcli.guard.recorded import Recorded, recorded
from ctxcli.guard.run import hindsight_of
from ctxcli.identifiers import Extractor
from ctxcli.model import MAIN, Event, EventKind, Transcript
from ctxcli.replay import compactions
from ctxcli.reports.guard import Hindsight
from ctxcli.simulate.drive import Shortened


@dataclass(frozen=True, slots=True)
class Recall:
    """How recall is found: by the guard's own comparison, under its default policy."""

    raw: Transcript
    """The raw turns, see `raw_turns`."""
    transcript: Transcript
    extractor: Extractor

    def of_events(self) -> dict[int, Hindsight | None]:
        """Of each recorded compaction, by the id of its event."""
        if not any(True for _ in compactions(self.transcript)):
            return {}
        reading = Reading(self.transcript, self.extractor)
        return {id(one.event): _recall(one) for one in recorded(reading) if one.event.lane == MAIN}

    def of_passes(self, passes: Sequence[Shortened]) -> list[Hindsight | None]:
        """Of each pass of a policy, in order; None for one that took nothing."""
        return [self._of_pass(one) if one.made.done else None for one in passes]

    def _of_pass(self, one: Shortened) -> Hindsight | None:
        found = list(recorded(Reading(self._as_recorded(one), self.extractor)))
        return _recall(found[-1])

    def _as_recorded(self, one: Shortened) -> Transcript:
        """A transcript that holds the context before, the pass as an event, and what was said later."""
        before, change = one.made.before, one.made.change
        end, kept = len(before.messages), frozenset(change.keep)
        already = {index for event in before.events for index in event.drops}
        summary = (summary_message(change.summary),) if change.summary else ()
        later = tuple(message for message in self.raw.messages[one.call.at :] if message.lane == MAIN)
        event = Event(
            EventKind.SUMMARY if summary else EventKind.TRIM, end,
            drops=tuple(index for index in range(end) if index not in kept and index not in already),
            clears=tuple(sorted({*change.texts, *change.gone})),
            summary=end if summary else None,
        )  # fmt: skip
        return replace(before, messages=(*before.messages, *summary, *later), events=(*before.events, event))


def _recall(one: Recorded) -> Hindsight | None:
    return hindsight_of(one, Comparison(one.before, one.after, Policy()))
