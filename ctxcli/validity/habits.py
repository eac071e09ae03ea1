"""The questions of a compaction that does no harm, answered from a transcript."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ctxcli.budget import Limits, usable_in
from ctxcli.model import (
    COMPACTIONS,
    MAIN,
    Call,
    Event,
    EventKind,
    Message,
    PartKind,
    Role,
    Transcript,
    is_human,
)
from ctxcli.replay import live, replay
from ctxcli.reports.check import NO, UNKNOWN, YES, Habit
from ctxcli.rules import HABITS, OUTPUT_RESERVED, OVERSIZED, PROSE_RETURNED, READ_AGAIN, RECORDED, TASK_KEPT, TESTED
from ctxcli.shelf import Rule, Weigh
from ctxcli.validity.returns import PROSE, returns_of

_QUESTIONS = {
    TASK_KEPT.name: "Is the task still in the context?",
    OUTPUT_RESERVED.name: "Is room left for the answer?",
    RECORDED.name: "Is every compaction recorded?",
    TESTED.name: "Is there a test that fails when compaction breaks?",
    OVERSIZED.name: "Are tool results bounded?",
    READ_AGAIN.name: "Is nothing read twice?",
    PROSE_RETURNED.name: "Do sub-agents return what can be checked?",
}
_FALL, _FALL_SHARE, _REBOUND, _REBOUND_CALLS = 64_000, 0.5, 0.75, 3
"""A fall of the context that is a compaction, and a return to so much of it within so many calls that shows that it
was none (a side call with a small context of its own): as UW tracelab tells compactions by token counts alone."""
_SMALL = 8_000
"""Tokens below which a context that halves says nothing."""
_LARGE_SHARE = 0.25
_READ = 400
"""Characters of a result below which reading it twice does no harm."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to the question behind a rule."""

    rule: Rule
    answer: str
    why: str
    line: int | None = None

    def habit(self, *, strict: bool) -> Habit:
        """As the report has it."""
        question = _QUESTIONS[self.rule.name]
        return Habit(self.rule.name, question, self.answer, self.why, self.line, strict and self.answer == NO)


@dataclass(frozen=True, slots=True)
class Setting:
    """What the answers rest on beside the transcript."""

    weigh: Weigh
    limits: Limits = field(default_factory=Limits)
    tested_by: str | None = None
    """The file that runs ctx in CI; None where none was found."""


def habits(transcript: Transcript, setting: Setting) -> tuple[Answer, ...]:
    """An answer for each habit, in the order of the rules."""
    return tuple(_ASKED[name](transcript, setting) for name in HABITS)


def _task(transcript: Transcript, setting: Setting) -> Answer:  # noqa: ARG001
    """Whether the first request is in the context, or quoted in it."""
    done = [event for event in transcript.events if event.kind in COMPACTIONS and event.lane == MAIN]
    first = _first_request(transcript)
    if first is None:
        return Answer(TASK_KEPT, UNKNOWN, "no message is in the user's own words")
    line = transcript.messages[first].line or None
    if not done:
        return Answer(TASK_KEPT, UNKNOWN, "nothing was compacted yet", line)
    inside, _ = live(transcript)
    if first in inside:
        return Answer(TASK_KEPT, YES, "the first message of the user is in the context", line)
    task = _flat(_said(transcript.messages[first]))
    for index in inside:
        message = transcript.messages[index]
        if message.role is Role.USER and any(task in _flat(part.text) for part in message.parts):
            return Answer(TASK_KEPT, YES, f"said again or quoted at line {message.line:,}", line)
    if any(event.opaque for event in done[-1:]):
        return Answer(TASK_KEPT, UNKNOWN, "the last summary cannot be read", line)
    gone = next((event for event in done if first in event.drops), done[0])
    why = f"the compaction at line {gone.line:,} took it out, and nothing quotes it"
    return Answer(TASK_KEPT, NO, why, line)


def _first_request(transcript: Transcript) -> int | None:
    """Index of the first message of the user that was neither taken back nor cleared."""
    taken = {
        index
        for event in transcript.events
        if event.kind in (EventKind.REWIND, EventKind.RESET)
        for index in event.drops
    }
    for index, message in enumerate(transcript.messages):
        if is_human(message) and message.lane == MAIN and index not in taken:
            return index
    return None


def _said(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if part.kind is PartKind.TEXT)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _reserve(transcript: Transcript, setting: Setting) -> Answer:
    """Whether the largest measured context leaves the reserve."""
    peak = max((call for call in transcript.calls if _prompt(call)), key=_prompt, default=None)
    window = _usable(transcript, setting)
    if peak is None:
        return Answer(OUTPUT_RESERVED, UNKNOWN, "the transcript reports no usage")
    if window is None:
        return Answer(OUTPUT_RESERVED, UNKNOWN, "no window is known; --max-context sets it")
    over = _prompt(peak) > window
    why = f"the largest context is {_prompt(peak):,} tokens, and {window:,} are usable"
    return Answer(OUTPUT_RESERVED, NO if over else YES, why, peak.line or None)


def _prompt(call: Call) -> int:
    return (call.usage.prompt or 0) if call.usage else 0


def _usable(transcript: Transcript, setting: Setting) -> int | None:
    return usable_in(transcript, setting.limits).usable


def _recorded(transcript: Transcript, setting: Setting) -> Answer:  # noqa: ARG001
    """Whether each fall of the measured context has an event that explains it."""
    lanes: dict[str, list[tuple[Call, tuple[Event, ...]]]] = {}
    for frame in replay(transcript):
        rows = lanes.setdefault(frame.call.lane, [])
        if _prompt(frame.call):
            rows.append((frame.call, frame.events))
        elif rows and frame.events:
            rows[-1] = (rows[-1][0], (*rows[-1][1], *frame.events))
    if not any(len(rows) > 1 for rows in lanes.values()):
        return Answer(RECORDED, UNKNOWN, "the transcript reports no usage of two calls in a row")
    falls = sorted((fall for rows in lanes.values() for fall in _falls(rows)), key=lambda fall: fall[1].line)
    if falls:
        before, call = falls[0]
        more = f", and {len(falls) - 1:,} more like it" if falls[1:] else ""
        why = f"{before:,} tokens became {_prompt(call):,} at line {call.line:,} and no event says why{more}"
        return Answer(RECORDED, NO, why, call.line or None)
    many = sum(event.kind in COMPACTIONS for event in transcript.events)
    why = f"{many:,} recorded, and no fall of the context without one" if many else "no fall that needs a record"
    return Answer(RECORDED, YES, why)


def _falls(rows: Sequence[tuple[Call, tuple[Event, ...]]]) -> Iterator[tuple[int, Call]]:
    """(tokens before, call) of each fall that nothing explains and that stays."""
    for at in range(1, len(rows)):
        (before, _), (call, events) = rows[at - 1], rows[at]
        was, fall = _prompt(before), _prompt(before) - _prompt(call)
        large = fall >= _FALL or (was >= _SMALL and fall >= _FALL_SHARE * was)
        following = rows[at + 1 : at + 1 + _REBOUND_CALLS]
        back = any(_prompt(later) >= _REBOUND * was for later, _ in following)
        if large and not events and not back:
            yield was, call


def _tested(transcript: Transcript, setting: Setting) -> Answer:  # noqa: ARG001
    if setting.tested_by:
        return Answer(TESTED, YES, f"{setting.tested_by} runs ctx")
    return Answer(TESTED, UNKNOWN, "no CI or task file here runs ctx guard, ctx check or ctx compact")


def _bounded(transcript: Transcript, setting: Setting) -> Answer:
    """Whether every single result is within its share of the usable window."""
    window = _usable(transcript, setting)
    if window is None:
        return Answer(OVERSIZED, UNKNOWN, "no window is known; --max-context sets it")
    most = int(window * _LARGE_SHARE)
    results = [
        (part.line or message.line, part.text)
        for message in transcript.messages
        for part in message.parts
        if part.kind is PartKind.TOOL_RESULT and len(part.text.encode("utf-8", "replace")) > most
    ]
    counts = setting.weigh.count([text for _, text in results]) if results else []
    large = [(count, line) for count, (line, _) in zip(counts, results, strict=True) if count > most]
    if not large:
        return Answer(OVERSIZED, YES, f"no result takes more than {most:,} tokens, a quarter of the window")
    count, line = max(large)
    more = f"; {len(large):,} in all" if len(large) > 1 else ""
    why = f"line {line:,} takes about {count:,} tokens, over {most:,}, a quarter of the window{more}"
    return Answer(OVERSIZED, NO, why, line)


def _read_once(transcript: Transcript, setting: Setting) -> Answer:  # noqa: ARG001
    """Whether no result came again, from the same address and the same, while it was in the context."""
    events = sorted(transcript.events, key=lambda event: event.at)
    held: dict[tuple[str, str, str], int] = {}
    again: list[tuple[int, int, str]] = []
    upcoming = 0
    for index, message in enumerate(transcript.messages):
        while upcoming < len(events) and events[upcoming].at <= index:
            event, upcoming = events[upcoming], upcoming + 1
            gone = {*event.drops, *(at for at, _ in event.clears)} if event.kind is not EventKind.STRIP else set()
            held = {key: at for key, at in held.items() if at not in gone}
        for part in message.parts:
            if part.kind is not PartKind.TOOL_RESULT or not part.address or part.failed or len(part.text) < _READ:
                continue
            key = (message.lane, part.address, part.text)
            if key in held and not message.copied:
                again.append((transcript.messages[held[key]].line, part.line or message.line, part.address))
            held.setdefault(key, index)
    if not again:
        return Answer(READ_AGAIN, YES, "no result came twice while it was in the context")
    first, line, address = again[0]
    more = f", and {len(again) - 1:,} more like it" if again[1:] else ""
    return Answer(READ_AGAIN, NO, f"{address} of line {first:,} came again unchanged at line {line:,}{more}", line)


def _checkable(transcript: Transcript, setting: Setting) -> Answer:  # noqa: ARG001
    """Whether what sub-agents gave back is more than prose."""
    found = list(returns_of(transcript).values())
    if not found:
        return Answer(PROSE_RETURNED, UNKNOWN, "no sub-agent returned anything")
    bare = [one for one in found if one.form == PROSE]
    many = f"{len(found):,} sub-agent{'s' if found[1:] else ''}"
    if not bare:
        return Answer(PROSE_RETURNED, YES, f"{many} returned locations, lists or JSON")
    why = f"{len(bare):,} of {many} returned prose only, the first at line {bare[0].line:,}"
    return Answer(PROSE_RETURNED, NO, why, bare[0].line)


_ASKED: dict[str, Callable[[Transcript, Setting], Answer]] = {
    TASK_KEPT.name: _task,
    OUTPUT_RESERVED.name: _reserve,
    RECORDED.name: _recorded,
    TESTED.name: _tested,
    OVERSIZED.name: _bounded,
    READ_AGAIN.name: _read_once,
    PROSE_RETURNED.name: _checkable,
}
