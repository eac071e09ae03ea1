"""The calls of a transcript under one policy: what each sends, and where a pass comes before it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ctxcli.model import Call, EventKind
from ctxcli.replay import Frame
from ctxcli.simulate.course import Course, Request
from ctxcli.simulate.passes import Passed, Passes
from ctxcli.simulate.unseen import Unseen

_LOOPS = 3
"""Passes at calls that follow one another, after which an agent gives up: so do those that are known."""
_GROWTH = 0.05
"""Share of the trigger by which a context has to grow before what failed is tried again."""
Numbered = tuple[int, Frame]
"""A frame of the main lane, and the number of its call over all lanes."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """One pass of a policy."""

    n: int
    """The call that it came before."""
    call: Call
    before: int
    after: int
    """Both with what the file does not hold, in tokens of the model."""
    done: bool
    again: bool
    """The call before had one as well: a loop."""
    made: Passed
    """What the strategy did."""


@dataclass(slots=True)
class Run:
    """What became of the calls under a policy."""

    requests: list[Request] = field(default_factory=list)
    passes: list[Shortened] = field(default_factory=list)
    gave_up: int | None = None
    """The call at which passes were given up for a while; None where they never were."""


def plain(frames: Iterable[Numbered], course: Course, unseen: Unseen) -> Run:
    """The calls as the transcript records them."""
    run = Run()
    for n, frame in frames:
        course.apply(frame)
        course.hidden, course.fixed = unseen.at[n], unseen.fixed[n]
        run.requests.append(course.request(n, frame, compacted=False))
    return run


def driven(frames: Iterable[Numbered], course: Course, unseen: Unseen, passes: Passes | None, limit: int) -> Run:
    """The calls under a policy: a context above `limit` is compacted before it is sent, and the run goes on from there.

    Without passes nothing is ever compacted. The later messages are those of the transcript: what the agent would have
    done differently nobody knows.
    """
    run, dropped, retry, row = Run(), frozenset[int](), 0, 0
    course.hidden = next(iter(unseen.at.values()), 0)
    for n, frame in frames:
        course.apply(frame)
        course.fixed = unseen.fixed[n]
        course.hidden = max(course.fixed, course.hidden + unseen.jumps.get(n, 0))
        if any(event.kind is EventKind.RESET for event in frame.events):
            course.hidden = course.fixed
        size = course.size(frame.call.model)
        if passes is None or size <= max(limit, retry):
            run.requests.append(course.request(n, frame, compacted=False))
            row, retry = 0, retry if size > limit else 0
            continue
        found = passes.run(course.rows, dropped, size - course.hidden)
        done = found.done or course.hidden > course.fixed
        course.rows, dropped, course.hidden = list(found.rows), found.dropped, course.fixed
        after = course.size(frame.call.model)
        run.passes.append(Shortened(n, frame.call, size, after, done, again=row > 0, made=found))
        run.requests.append(course.request(n, frame, compacted=done))
        row += 1
        if not done or row >= _LOOPS:
            retry, row, run.gave_up = after + int(limit * _GROWTH), 0, run.gave_up or n
    return run


def main_frames(frames: Iterable[Frame], lane: str) -> Iterator[Numbered]:
    """The frames of one lane with the numbers of their calls over all lanes."""
    return ((n, frame) for n, frame in enumerate(frames, 1) if frame.call.lane == lane)
