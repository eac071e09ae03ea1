"""What was in the context at each call, per lane: recorded compactions, clears and rewinds replayed."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxcli.model import MAIN, Call, Event, EventKind, PartAt, Transcript


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


def live(transcript: Transcript, lane: str = MAIN) -> tuple[list[int], frozenset[PartAt]]:
    """What is in a lane's context at the end: its messages, and their parts that were cleared."""
    in_context = {index: None for index, message in enumerate(transcript.messages) if message.lane == lane}
    cleared: set[PartAt] = set()
    for event in transcript.events:
        if event.lane == lane and event.kind is not EventKind.STRIP:
            for index in event.drops:
                in_context.pop(index, None)
            cleared.update(event.clears)
    return list(in_context), frozenset(cleared)
