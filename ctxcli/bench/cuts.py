"""Where a transcript is cut for a comparison: at calls spread over it, and where it was compacted itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ctxcli.model import COMPACTIONS, MAIN, Event, Transcript
from ctxcli.replay import Frame, replay

_LAST = 0.95
"""Share of the calls after which no cut is made: what comes after has to tell what was needed."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A place in the main conversation: what is before it is compacted, what is behind it tells what was needed."""

    call: int
    """The number of the call that would have been sent next, over all lanes, from 1."""
    at: int
    """The index of the first message behind it."""
    event: int | None = None
    """Of a compaction that the transcript records here, its place among the events."""


def cuts_of(transcript: Transcript, weights: Sequence[Sequence[int]], many: int, least: int) -> list[Cut]:
    """So many cuts, evenly over the calls whose context weighs `least` tokens or more, and each recorded compaction.

    A transcript without calls has its answers for calls: the readers see to that.
    """
    calls = [(n, frame, size) for n, frame, size in _sizes(transcript, weights) if size >= least]
    last = int(len(transcript.calls) * _LAST)
    eligible = [one for one in calls if one[0] <= last] or calls[:-1]
    places = dict.fromkeys(len(eligible) * k // (many + 1) for k in range(1, many + 1)) if eligible else ()
    found = [Cut(eligible[place][0], eligible[place][1].call.at) for place in places]
    return sorted([*found, *_recorded(transcript)], key=lambda cut: (cut.at, cut.event is None))


def _recorded(transcript: Transcript) -> Iterator[Cut]:
    calls = sorted(transcript.calls, key=lambda call: call.at)
    for number, event in enumerate(transcript.events):
        if event.kind in COMPACTIONS and event.lane == MAIN and event.drops and event.summary is not None:
            n = sum(call.at < event.at for call in calls) + 1
            yield Cut(n, event.at, number)


def _sizes(transcript: Transcript, weights: Sequence[Sequence[int]]) -> Iterator[tuple[int, Frame, int]]:
    """The calls of the main lane: number over all lanes, frame, and tokens in the context."""
    size = 0
    for n, frame in enumerate(replay(transcript), 1):
        if frame.call.lane == MAIN:
            size += sum(sum(weights[index]) for index in frame.entered)
            size -= sum(sum(weights[index]) for index in frame.left)
            yield n, frame, size


def upto(transcript: Transcript, cut: Cut) -> Transcript:
    """The transcript as it was at a cut: the recorded compaction that stands there has not happened yet."""
    events = [
        event
        for number, event in enumerate(transcript.events)
        if event.at < cut.at or (event.at == cut.at and (cut.event is None or number < cut.event))
    ]
    return replace(
        transcript, messages=transcript.messages[: cut.at], events=tuple(_limited(event, cut.at) for event in events),
        calls=tuple(call for call in transcript.calls if call.at < cut.at),
    )  # fmt: skip


def _limited(event: Event, at: int) -> Event:
    """An event whose summary is not among the messages yet."""
    behind = event.summary is not None and event.summary >= at
    return replace(event, summary=None) if behind else event
