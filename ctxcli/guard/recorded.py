"""The compactions that a transcript records: for each the true context before it and after it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ctxcli.guard.holdings import Place
from ctxcli.guard.reading import Reading
from ctxcli.guard.sides import After, Before, Piece
from ctxcli.model import Event, EventKind, Message, PartAt, PartKind, Role
from ctxcli.replay import compactions
from ctxcli.reports.identifiers import SEEN


@dataclass(frozen=True, slots=True)
class Recorded:
    """One compaction that a transcript records."""

    event: Event
    before: Before
    after: After
    then: tuple[PartAt, ...]
    """What was said later in the lane."""


def recorded(reading: Reading) -> Iterator[Recorded]:
    """Each compaction of each lane, in the order of the transcript."""
    return (_at(reading, *found) for found in compactions(reading.transcript))


def _at(reading: Reading, event: Event, here: list[int], gone: frozenset[PartAt]) -> Recorded:
    messages = reading.messages
    own = [index for index, message in enumerate(messages) if message.lane == event.lane]
    drops = frozenset(event.drops)
    first_gone = min(drops, default=None)
    kept = [index for index in here if index not in drops]
    new = list(rebuilt(messages, event, own))
    pieces = []
    for at in reading.parts(kept, gone | frozenset(event.clears)):
        pinned = first_gone is None or at[0] < first_gone or messages[at[0]].role is Role.SYSTEM
        pieces.append(Piece(Place.SUMMARY if pinned else Place.TAIL, reading, at))
    for at in reading.parts(new):
        authored = reading.part(at).kind is PartKind.SUMMARY
        pinned = authored or messages[at[0]].role is Role.SYSTEM
        pieces.append(Piece(Place.SUMMARY if pinned else Place.TAIL, reading, at, authored))
    last = new[-1] if new else event.at - 1
    past = reading.parts(index for index in own if index < event.at)
    return Recorded(
        event,
        Before(reading, reading.parts(here, gone), past, event.tokens_before, rewritten=_is_gone(event)),
        After(reading, pieces, [piece.at for piece in pieces], opaque=event.opaque),
        tuple(reading.parts(index for index in own if index > last)),
    )


def _is_gone(event: Event) -> bool:
    """Whether a summary stands for messages that its source does not hold."""
    return event.kind is EventKind.SUMMARY and event.summary is not None and not event.drops


def rebuilt(messages: Sequence[Message], event: Event, own: Sequence[int]) -> Iterator[int]:
    """Of a lane's own messages those that the compaction put in the place of what it dropped.

    They are the summary, and what was attached again; they end where the model answers, or where the user says
    something new.
    """
    for index in own:
        if index < event.at:
            continue
        message = messages[index]
        announced = event.summary is not None and (index <= event.summary or _is_attached(message))
        if not (announced or message.copied):
            return
        yield index


def _is_attached(message: Message) -> bool:
    return (message.role is not Role.ASSISTANT and message.harness) or all(
        part.kind is PartKind.DOCUMENT for part in message.parts
    )


def used_later(found: Recorded) -> set[tuple[str, str]]:
    """What the conversation stated or touched after the compaction, by key."""
    reading = found.before.reading
    return used_in(found.before, reading, (at for at in found.then if not reading.messages[at[0]].copied))


def used_in(before: Before, reading: Reading, parts: Iterable[PartAt]) -> set[tuple[str, str]]:
    """What these parts state or touch, under the keys of a context."""
    return {before.key(use) for at in parts for use in reading.uses(at) if use.source != SEEN and not use.aside}
