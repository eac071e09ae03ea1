"""What a reader has to know about the figures of an audit, in a sentence each."""

from collections.abc import Container, Iterator, Sequence

from ctxcli.audit.walk import Step, by_lane, place_of
from ctxcli.budget import Usable
from ctxcli.model import MAIN, Event, EventKind, Transcript

_LEAST_FALL = 5_000
_MOST_HIDDEN_AT_START = 70_000
"""More than any first call of a whole session was seen to hold beside its text (21,000 to 65,000)."""


def notes_of(
    transcript: Transcript,
    steps: Sequence[Step],
    usable: Usable,
    over: Sequence[int],
    falls: Container[int | None],
) -> Iterator[str]:
    """The notes of one audit; `falls` are the calls whose context fell in an inferred compaction."""
    if over and usable.origin not in ("flag", "config"):
        yield (
            f"{_calls(len(over))} exceeded the assumed window of {usable.max_context:,} tokens "
            f"({usable.origin}): set the right one with --max-context."
        )
    yield from _start(steps)
    yield from _restarts(transcript, steps)
    yield from _falls(steps, falls)
    placeholders = sum(1 for step in steps if _is_placeholder(step))
    if placeholders:
        yield (
            f"The output of {placeholders:,} of {_calls(len(steps))} is the placeholder of a stream's "
            "first event: the recorded output is too low."
        )


def _calls(count: int) -> str:
    return f"{count:,} call{'' if count == 1 else 's'}"


def _is_placeholder(step: Step) -> bool:
    usage = step.call.usage
    return usage is not None and bool(usage.output) and not usage.output_final


def _start(steps: Sequence[Step]) -> Iterator[str]:
    """A file that begins in the middle of a session holds less than was in the context from the start."""
    first = next((step for step in steps if step.call.lane == MAIN), None)
    hidden = first.measured - first.estimated if first and first.measured is not None else 0
    if first and hidden > _MOST_HIDDEN_AT_START:
        yield (
            f"The first call already had {hidden:,} tokens in its context that this file does not hold: "
            "it seems to go on from an earlier one."
        )


def _restarts(transcript: Transcript, steps: Sequence[Step]) -> Iterator[str]:
    """Contexts that the user cleared, or took back a part of."""
    lanes = by_lane(steps)
    for event in transcript.events:
        if event.kind not in (EventKind.RESET, EventKind.REWIND):
            continue
        many = f"{len(event.drops)} message{'' if len(event.drops) == 1 else 's'}"
        place = f"at line {event.line}{_before(event, lanes[event.lane])}"
        if event.kind is EventKind.RESET:
            yield f"The user cleared the context ({many}) {place}."
        elif event.trigger == "resume":
            yield f"The session was resumed without {many} {place}."
        else:
            yield f"The user went back by {many} {place}."


def _falls(steps: Sequence[Step], known: Container[int | None]) -> Iterator[str]:
    """Contexts that became much smaller without a record of why, and came back or fell by less than a compaction."""
    for step in steps:
        if step.n in known:
            continue
        if step.growth is not None and step.growth < -_LEAST_FALL and -step.growth * 20 > step.size:
            yield (
                f"The context fell by {-step.growth:,} tokens at call {step.n} (line {step.call.line}), "
                "and no record says why."
            )


def _before(event: Event, steps: Sequence[Step]) -> str:
    first = place_of(event, steps)
    return f", before call {steps[first].n}" if first < len(steps) else ""
