"""Sub-agents: each has a context and a cache of its own, and is never added to a context size."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ctxcli.audit.walk import Scales, Step, by_lane
from ctxcli.budget import Limits, usable_in
from ctxcli.errors import SettingError
from ctxcli.model import MAIN, Transcript
from ctxcli.replay import Frame
from ctxcli.reports.simulate import SimulatedLane
from ctxcli.simulate.cache import served
from ctxcli.simulate.conclude import Terms, measured, modelled
from ctxcli.simulate.course import Course
from ctxcli.simulate.drive import main_frames, plain
from ctxcli.simulate.unseen import unseen_in


def lanes_with_calls(transcript: Transcript) -> tuple[str, ...]:
    """The lanes that have calls, the main one first, then in order of their first call."""
    found = Counter(call.lane for call in transcript.calls)
    return tuple(sorted(found, key=lambda name: name != MAIN))


def as_main(transcript: Transcript, lane: str) -> Transcript:
    """The transcript with a sub-agent's lane in the place of the main one, and the main one in its place.

    Raises SettingError for a lane that has no call.
    """
    if lane == MAIN:
        return transcript
    known = lanes_with_calls(transcript)
    if lane not in known:
        raise SettingError(f"--lane {lane}: no call is recorded of it; there are {', '.join(known) or 'no calls'}")
    swapped = {lane: MAIN, MAIN: lane}
    return replace(
        transcript,
        messages=tuple(replace(one, lane=swapped.get(one.lane, one.lane)) for one in transcript.messages),
        calls=tuple(replace(one, lane=swapped.get(one.lane, one.lane)) for one in transcript.calls),
        events=tuple(replace(one, lane=swapped.get(one.lane, one.lane)) for one in transcript.events),
        lanes=tuple(replace(one, name=swapped.get(one.name, one.name)) for one in transcript.lanes),
    )


def lane_rows(
    frames: Sequence[Frame], steps: Sequence[Step], scales: Scales, terms: Terms, limits: Limits, own: str
) -> Iterator[SimulatedLane]:  # fmt: skip
    """A row for each lane but the main one, as recorded, each against the window of the models that answer in it.

    `own` is the name of the lane that stands in the place of the main one.
    """
    transcript = scales.transcript
    titles = {lane.name: lane.title for lane in transcript.lanes}
    for name, rows in by_lane(steps).items():
        if name == MAIN:
            continue
        unseen = unseen_in(rows)
        run = plain(main_frames(frames, name), Course(scales, len), unseen)
        its = replace(
            terms, cache=replace(terms.cache, first_read=unseen.first_read, front=unseen.front),
            usable=usable_in(replace(transcript, calls=tuple(step.call for step in rows)), limits),
        )  # fmt: skip
        caches = list(served(run.requests, its.cache))
        totals = measured(rows, run.requests, (), its) or modelled(run.requests, caches, (), its)
        yield SimulatedLane(MAIN if name == own else name, titles.get(name, ""), len(rows), totals)
