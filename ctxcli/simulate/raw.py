"""The raw turns of a transcript: what it would hold if nobody had compacted it."""

from collections.abc import Iterator
from dataclasses import replace

from ctxcli.guard.recorded import rebuilt
from ctxcli.model import COMPACTIONS, MAIN, Event, EventKind, Transcript

_ASIDE = "(written by a compaction)"
"""The lane of what the recorded compactions wrote into the transcript; no call is in it."""


def raw_turns(transcript: Transcript) -> Transcript:
    """The transcript without its recorded compactions and without what they wrote; every index stays what it is.

    A summary of turns that the source does not hold stays: nothing else tells of them. What the user took back or
    cleared away is gone here too.
    """
    own = [index for index, message in enumerate(transcript.messages) if message.lane == MAIN]
    written = {index for event in _undone(transcript) for index in rebuilt(transcript.messages, event, own)}
    messages = tuple(
        replace(message, lane=_ASIDE) if index in written else message
        for index, message in enumerate(transcript.messages)
    )
    events = tuple(
        _reset(event, own) if event.kind is EventKind.RESET and event.lane == MAIN else event
        for event in transcript.events
        if event.lane != MAIN or event.kind not in COMPACTIONS
    )
    return replace(transcript, messages=messages, events=events)


def said_turns(transcript: Transcript, start: int = 0) -> Transcript:
    """The raw turns of the main conversation alone, from the message at `start` on; nothing that the source repeats."""
    raw = raw_turns(transcript)
    turns = tuple(one for one in raw.messages[start:] if one.lane == MAIN and not one.copied)
    return replace(raw, messages=turns, events=(), calls=())


def _undone(transcript: Transcript) -> Iterator[Event]:
    """The recorded compactions whose turns the source holds."""
    return (event for event in transcript.events if event.lane == MAIN and event.kind in COMPACTIONS and event.drops)


def _reset(event: Event, own: list[int]) -> Event:
    """A context that the user cleared: all of it goes, also what a recorded compaction had taken out before."""
    return replace(event, drops=tuple(index for index in own if index < event.at))
