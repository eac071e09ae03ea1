"""The context of every call: what was in it by layer, what entered, and what came back."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ctxcli.model import Call, Event, EventKind, Layer, PartKind, Transcript, layer_of
from ctxcli.replay import Frame
from ctxcli.tokens import PLACEHOLDER, Fit, Growth, Weighed, is_written, kind_of, scale

_TOUCHES = frozenset({EventKind.STRIP, EventKind.CLEAR, EventKind.RENEW})
"""Events after which a context still goes on from what it was."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call with its context, in estimated tokens."""

    n: int
    frame: Frame
    layers: Mapping[Layer, int]
    added: int
    largest: tuple[int, int] | None
    """(message, part) of what added most."""
    growth: int | None
    """Measured context less that of the call before in the lane; None where either is not known."""

    begins: bool
    """The first call of its lane, or the first after the context was rebuilt: what is in it did not grow."""

    @property
    def grew(self) -> int | None:
        """By how much the context grew: as measured, else what was added; None where it begins anew."""
        if self.growth is not None:
            return self.growth
        return None if self.begins else self.added

    @property
    def call(self) -> Call:
        """The call itself."""
        return self.frame.call

    @property
    def estimated(self) -> int:
        """The whole estimated context."""
        return sum(self.layers.values())

    @property
    def measured(self) -> int | None:
        """The context as the provider reported it."""
        return self.call.usage.prompt if self.call.usage else None

    @property
    def size(self) -> int:
        """The context: measured where the provider said, else estimated."""
        return self.estimated if self.measured is None else self.measured

    @property
    def hidden(self) -> int:
        """What was measured beside the estimate: system prompt and tools that stand in no file, above all."""
        return max(0, self.size - self.estimated)


@dataclass(slots=True)
class Scales:
    """The weight of each message in the tokens of each model, worked out once for each pair."""

    transcript: Transcript
    counted: Sequence[tuple[int, ...]]
    fits: Mapping[str, Fit]
    _answers: dict[int, Call] = field(default_factory=dict)
    _known: dict[tuple[str, int], Weighed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._answers = {call.at: call for call in self.transcript.calls}

    def of(self, model: str, index: int) -> Weighed:
        """The message at `index` in the tokens of a model."""
        key = (model, index)
        if key not in self._known:
            self._known[key] = scale(
                self.transcript.messages[index],
                self.counted[index],
                self.fits[model],
                call=self._answers.get(index),
                provider=self.transcript.provider,
            )
        return self._known[key]

    def text_of(self, model: str, index: int) -> int:
        """The message by its text alone, whatever the provider reported for it."""
        message, counted = self.transcript.messages[index], self.counted[index]
        return sum(scale(message, counted, self.fits[model], call=None, provider="").parts)


@dataclass(slots=True)
class _Lane:
    """What is in one lane's context, in the tokens of the model that answers."""

    scales: Scales
    model: str
    live: dict[int, None] = field(default_factory=dict)
    cleared: dict[tuple[int, int], int] = field(default_factory=dict)
    """Cleared parts, and the weight of what stands in their place."""
    sums: dict[Layer, int] = field(default_factory=lambda: dict.fromkeys(Layer, 0))
    last: Call | None = None

    def switch(self, model: str) -> None:
        """Another model answers: the same context, in its tokens."""
        if model != self.model:
            self.model, self.sums = model, dict.fromkeys(Layer, 0)
            for index in self.live:
                self._weigh(index, +1)

    def apply(self, frame: Frame) -> None:
        """Bring the context to what it was at the frame's call."""
        for index in frame.left:
            if index in self.live:
                self._weigh(index, -1)
                del self.live[index]
        for event in frame.events:
            stand_in = 0 if event.kind is EventKind.STRIP else PLACEHOLDER
            for place in event.clears:
                self._clear(place, stand_in)
        for index in frame.entered:
            self.live[index] = None
            self._weigh(index, +1)

    def added(self, frame: Frame) -> tuple[int, tuple[int, int] | None]:
        """What entered, in tokens, and the (message, part) that weighs most of it."""
        total, most, largest = 0, 0, None
        for index in frame.entered:
            weighed = self.scales.of(self.model, index)
            total += weighed.rest
            for number, weight in enumerate(weighed.parts):
                left = min(weight, self.cleared.get((index, number), weight))
                total += left
                if left > most:
                    most, largest = left, (index, number)
        return total, largest

    def _clear(self, place: tuple[int, int], stand_in: int) -> None:
        live = place[0] in self.live
        if live:
            self._weigh(place[0], -1)
        self.cleared[place] = stand_in
        if live:
            self._weigh(place[0], +1)

    def _weigh(self, index: int, sign: int) -> None:
        """Add a message to the sums of its layers, or take it off."""
        message, weighed = self.scales.transcript.messages[index], self.scales.of(self.model, index)
        for number, (part, weight) in enumerate(zip(message.parts, weighed.parts, strict=True)):
            left = min(weight, self.cleared.get((index, number), weight))
            self.sums[layer_of(message, part)] += sign * left
        if weighed.rest:
            first = layer_of(message, message.parts[0]) if message.parts else Layer.HISTORY
            self.sums[first] += sign * weighed.rest


def walk(frames: Iterable[Frame], scales: Scales) -> Iterator[Step]:
    """A step for each call, in the order of the transcript."""
    lanes: dict[str, _Lane] = {}
    for n, frame in enumerate(frames, 1):
        call = frame.call
        lane = lanes.setdefault(call.lane, _Lane(scales, call.model))
        lane.switch(call.model)
        lane.apply(frame)
        added, largest = lane.added(frame)
        rebuilt = any(event.kind not in _TOUCHES for event in frame.events)
        growth, begins = growth_of(lane.last, frame), rebuilt or lane.last is None
        yield Step(n, frame, dict(lane.sums), added, largest, growth, begins)
        lane.last = call


def by_lane(steps: Iterable[Step]) -> defaultdict[str, list[Step]]:
    """The steps of each lane, in their order."""
    lanes: defaultdict[str, list[Step]] = defaultdict(list)
    for step in steps:
        lanes[step.call.lane].append(step)
    return lanes


def place_of(event: Event, lane: Sequence[Step]) -> int:
    """The index, among the steps of its lane, of the first one after an event; their number where there is none."""
    return bisect_left(lane, event.at, key=lambda step: step.call.at)


def growth_of(last: Call | None, frame: Frame) -> int | None:
    """Measured growth since the call before; None across an event that took something away."""
    now, before = frame.call.usage, last.usage if last is not None else None
    if now is None or before is None or now.prompt is None or before.prompt is None:
        return None
    if any(event.kind not in (EventKind.STRIP, EventKind.RENEW) for event in frame.events):
        return None
    return now.prompt - before.prompt


def growths(
    frames: Iterable[Frame], transcript: Transcript, counted: Sequence[tuple[int, ...]]
) -> dict[str, list[Growth]]:
    """By model: how each call's context grew without anything being taken away, for the calibration."""
    rows: dict[str, list[Growth]] = {}
    last: dict[str, Call] = {}
    answers = {call.at: call for call in transcript.calls}
    for frame in frames:
        call = frame.call
        before, last[call.lane] = last.get(call.lane), call
        growth = growth_of(before, frame)
        if before is None or growth is None or growth <= 0 or frame.events or before.model != call.model:
            continue
        rows.setdefault(call.model, []).append(_growth(growth, frame, transcript, counted, answers))
    return rows


def _growth(
    measured: int,
    frame: Frame,
    transcript: Transcript,
    counted: Sequence[tuple[int, ...]],
    answers: Mapping[int, Call],
) -> Growth:
    sums = {"words": 0, "results": 0, "thinking": 0}
    fixed = 0
    for index in frame.entered:
        usage = answers[index].usage if index in answers else None
        reported = usage.output if usage is not None and usage.output_final else None
        fixed += reported or 0
        for part, value in zip(transcript.messages[index].parts, counted[index], strict=True):
            if reported and is_written(part):
                continue
            if part.media is not None or part.kind is PartKind.OPAQUE:
                fixed += value
            else:
                sums[kind_of(part.kind)] += value
    return Growth(measured, sums["words"], sums["results"], sums["thinking"], fixed)
