"""What was in the context at each call, per lane: recorded compactions, clears and rewinds replayed."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxcli.model import COMPACTIONS, MAIN, Call, Event, EventKind, PartAt, Transcript


@dataclass(frozen=True, slots=True)
class Frame:
    """How a lane's context came to be what it was at one call, since the call before it in the lane."""

    call: Call
    entered: tuple[int, ...]
    """Indices of the messages that are in the context now and were not at the call before."""
    left: tuple[int, ...]
    """Indices of the messages that were in the context at the call before and are not now."""
    events: tuple[Event, ...]
    """In their order; their `clears` say which parts a placeholder replaced, or were stripped."""


@dataclass(slots=True)
class _Pending:
    """What happened in a lane since its last call."""

    entered: dict[int, None] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def apply(self, event: Event) -> None:
        self.events.append(event)
        for index in event.drops:
            if index in self.entered:
                del self.entered[index]
            else:
                self.left.append(index)

    def frame(self, call: Call) -> Frame:
        return Frame(call, tuple(self.entered), tuple(self.left), tuple(self.events))


def replay(transcript: Transcript) -> Iterator[Frame]:
    """One frame for each call, in the order of the transcript; a lane never reaches into another."""
    lanes: dict[str, _Pending] = {}
    events = sorted(transcript.events, key=lambda event: event.at)
    calls = sorted(transcript.calls, key=lambda call: call.at)
    next_event = next_call = 0
    for index, message in enumerate(transcript.messages):
        while next_event < len(events) and events[next_event].at <= index:
            lanes.setdefault(events[next_event].lane, _Pending()).apply(events[next_event])
            next_event += 1
        pending = lanes.setdefault(message.lane, _Pending())
        if next_call < len(calls) and calls[next_call].at == index:
            yield pending.frame(calls[next_call])
            next_call += 1
            pending = lanes[message.lane] = _Pending()
        pending.entered[index] = None


class _Contexts:
    """What is in each lane's context, as its messages enter and its events are applied."""

    def __init__(self, transcript: Transcript) -> None:
        self._messages = transcript.messages
        self._entered = 0
        self._live: defaultdict[str, dict[int, None]] = defaultdict(dict)
        self._cleared: defaultdict[str, set[PartAt]] = defaultdict(set)

    def enter(self, end: int) -> None:
        """Take in the messages before the one at `end`."""
        for index in range(self._entered, end):
            self._live[self._messages[index].lane][index] = None
        self._entered = max(self._entered, end)

    def apply(self, event: Event) -> None:
        for index in event.drops:
            self._live[event.lane].pop(index, None)
        if event.kind is not EventKind.STRIP:
            self._cleared[event.lane].update(event.clears)

    def of(self, lane: str) -> tuple[list[int], frozenset[PartAt]]:
        return list(self._live[lane]), frozenset(self._cleared[lane])


def compactions(transcript: Transcript) -> Iterator[tuple[Event, list[int], frozenset[PartAt]]]:
    """Each compaction, in order, with its lane's context just before it: messages, and parts that were cleared."""
    contexts = _Contexts(transcript)
    for event in sorted(transcript.events, key=lambda event: event.at):
        contexts.enter(event.at)
        if event.kind in COMPACTIONS:
            yield event, *contexts.of(event.lane)
        contexts.apply(event)


def live(transcript: Transcript, lane: str = MAIN) -> tuple[list[int], frozenset[PartAt]]:
    """What is in a lane's context at the end: its messages, and their parts that were cleared."""
    contexts = _Contexts(transcript)
    contexts.enter(len(transcript.messages))
    for event in transcript.events:
        contexts.apply(event)
    return contexts.of(lane)
