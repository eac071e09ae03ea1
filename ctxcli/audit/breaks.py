"""Where a prompt was written anew although the cache held it, and contexts that shrank without a record of why."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcli.audit.rows import cache_of
from ctxcli.audit.walk import Step, by_lane
from ctxcli.caching import LIFE_1H, LIFE_5M, MINIMUM, READ, WRITE_1H, WRITE_5M, seconds_between
from ctxcli.model import EventKind
from ctxcli.reports.audit import CacheBreak, CompactionRow

_SLACK = 0.05
"""Share of what was cached that may be missing: breakpoints stand a little before the end."""
_FALL, _LEAST_FALL, _STAYS_BELOW, _LOOK_AHEAD = 0.25, 8_000, 0.9, 3
"""A fall of this share and of so many tokens, after which so many calls stay below this share of the context before."""
_CAUSES = {
    EventKind.SUMMARY: "compaction", EventKind.TRIM: "compaction", EventKind.REWRITE: "edit of the history",
    EventKind.CLEAR: "results cleared", EventKind.REWIND: "rewind", EventKind.RESET: "context cleared",
    EventKind.RENEW: "system prompt or tools changed",
}  # fmt: skip
_ORDER = tuple(_CAUSES)
"""Of several events the first of these is the cause."""


def cache_breaks(steps: Sequence[Step]) -> tuple[CacheBreak, ...]:
    """The calls that read less from the cache than the call before in their lane had left in it."""
    found = (one for lane in by_lane(steps).values() for one in _breaks(lane))
    return tuple(sorted(found, key=lambda one: one.call))


def _breaks(lane: Sequence[Step]) -> Iterator[CacheBreak]:
    for at, (before, step) in enumerate(pairwise(lane), 1):
        was, now = cache_of(before.call.usage), cache_of(step.call.usage)
        if was is None or now is None:
            continue
        held = was.read + was.write
        missing = held - now.read
        if missing <= max(MINIMUM, _SLACK * held):
            continue
        anew = min(missing, now.write + now.uncached)
        idle = seconds_between(before.call.time, step.call.time)
        life = LIFE_1H if was.write_1h or now.write_1h else LIFE_5M
        price = (WRITE_1H if now.write_1h else WRITE_5M) if now.write else 1.0
        yield CacheBreak(
            step.n, step.call.line, step.call.lane, _cause(lane, at, idle, life), held, now.read, anew,
            round(anew * (price - READ)), None if idle is None else round(idle),
        )  # fmt: skip


def _cause(lane: Sequence[Step], at: int, idle: float | None, life: int) -> str:
    before, step = lane[at - 1], lane[at]
    kinds = {event.kind for event in step.frame.events}
    if before.call.model != step.call.model:
        return "model switch"
    known = next((_CAUSES[kind] for kind in _ORDER if kind in kinds), "")
    if known or _is_fall(lane, at):
        return known or "compaction that no record tells of"
    if idle is not None and idle > LIFE_1H:
        return "idle for more than an hour"
    if idle is not None and idle > life:
        return "idle for more than 5 minutes"
    if EventKind.STRIP in kinds:
        return "thinking of earlier turns left out"
    if not step.call.usage or not step.call.usage.cache_read:
        return "system prompt or tools changed, or the cache gave way"
    return "history changed in the middle, or the cache gave way"


def inferred(steps: Sequence[Step]) -> Iterator[CompactionRow]:
    """Compactions that no record marks: a measured context that falls, and does not come back within three calls."""
    for lane in by_lane(steps).values():
        for at, step in enumerate(lane):
            if at and _is_fall(lane, at):
                before = lane[at - 1]
                yield CompactionRow(
                    line=step.call.line, lane=step.call.lane, call=step.n, kind="rewrite", trigger="inferred",
                    tokens_before=before.measured, tokens_after=step.measured, recorded_before=None,
                    recorded_after=None, estimated_before=before.estimated, estimated_after=step.estimated,
                    summary_tokens=None, dropped_messages=0, cleared_results=0, opaque=False, inferred=True,
                )  # fmt: skip


def _is_fall(lane: Sequence[Step], at: int) -> bool:
    before, step = lane[at - 1], lane[at]
    if step.growth is None or before.measured is None or before.call.model != step.call.model:
        return False
    if -step.growth < max(_LEAST_FALL, _FALL * before.measured):
        return False
    after = [one.measured for one in lane[at : at + 1 + _LOOK_AHEAD] if one.measured is not None]
    return max(after, default=0) < _STAYS_BELOW * before.measured
