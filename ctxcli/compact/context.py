"""The context that is compacted: its messages in units, what is pinned, and where the verbatim tail begins."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ctxcli.change import Change
from ctxcli.model import COMPACTIONS, MAIN, EventKind, Message, PartKind, Role, Transcript, is_human
from ctxcli.replay import live
from ctxcli.slots import is_synthetic

CLIENT_CLEARED = "[Old tool result content cleared]"
"""What agents put in the place of a result that they cleared themselves."""
_TAIL_SHARE, _TAIL_MOST = 0.4, 20_000
"""The tail that stays verbatim by default: that share of what pinned messages leave of the target, and no more than
agents usually keep."""


@dataclass(frozen=True, slots=True)
class Keep:
    """How much of the newest stays verbatim: messages, or tokens."""

    messages: int | None = None
    tokens: int | None = None


def start_of(transcript: Transcript, lane: str = MAIN) -> Change:
    """The context as it is: nothing leaves, but for what the client has cleared or stripped already."""
    now, cleared = live(transcript, lane)
    inside = frozenset(now)
    stripped = {
        at for event in transcript.events if event.kind is EventKind.STRIP for at in event.clears if at[0] in inside
    }
    texts, gone = {}, set(stripped)
    for at in sorted(cleared):
        if at[0] in inside and transcript.messages[at[0]].parts[at[1]].kind is PartKind.TOOL_RESULT:
            texts[at] = CLIENT_CLEARED
        elif at[0] in inside:
            gone.add(at)
    return Change(_sent(transcript.messages, sorted(now)), texts, frozenset(gone))


def _sent(messages: Sequence[Message], indices: Sequence[int]) -> tuple[int, ...]:
    """The messages without the empty answer that readers put behind a request which got none: nobody sends it."""
    if len(indices) > 1:
        before, last = (messages[index] for index in indices[-2:])
        if last.role is Role.ASSISTANT and not last.parts and last.line == before.line:
            return tuple(indices[:-1])
    return tuple(indices)


def units_of(messages: Sequence[Message], indices: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The messages in groups that stay or go together: from a tool call to the last of its results.

    What stands between a call and its result goes with them, so that a cut never falls inside a pair.
    """
    opened: dict[str, int] = {}
    reaches = list(range(len(indices)))
    for place, index in enumerate(indices):
        for part in messages[index].parts:
            if part.kind is PartKind.TOOL_CALL and part.ref:
                opened[part.ref] = place
            elif part.kind is PartKind.TOOL_RESULT and part.ref in opened:
                reaches[opened[part.ref]] = max(reaches[opened[part.ref]], place)
    units: list[tuple[int, ...]] = []
    start = end = 0
    for place in range(len(indices)):
        if place > end:
            units.append(tuple(indices[start:place]))
            start = place
        end = max(end, reaches[place])
    return (*units, tuple(indices[start:])) if indices else ()


def pinned_in(transcript: Transcript, indices: Sequence[int], pins: Collection[str]) -> frozenset[int]:
    """Messages that stay: system prompt and tools, the first request, foreign summaries, and what the pins name."""
    messages = transcript.messages
    found = {index for index in indices if messages[index].role is Role.SYSTEM}
    first = next((index for index in indices if is_human(messages[index])), None)
    found |= {first} if first is not None else set()
    found |= {index for index in indices if _is_summary(messages[index])} - summaries_in(transcript, indices)
    return frozenset(found.union(*(named_by(transcript, indices, pin) for pin in pins)))


def named_by(transcript: Transcript, indices: Sequence[int], pin: str) -> frozenset[int]:
    """The messages that a pin names: a 1-based source line, or a regular expression over the text of a message."""
    messages = transcript.messages
    if pin.isdigit():
        line = int(pin)
        return frozenset(index for index in indices if line in (messages[index].line, *messages[index].lines))
    shape = re.compile(pin)
    return frozenset(index for index in indices if any(shape.search(part.text) for part in messages[index].parts))


def _is_summary(message: Message) -> bool:
    return any(part.sums_up for part in message.parts)


def summaries_in(transcript: Transcript, indices: Sequence[int]) -> frozenset[int]:
    """Summaries that a new one can take the place of: ctx's own, and those whose raw turns the source still holds."""
    backed = {event.summary for event in transcript.events if event.drops}
    return frozenset(
        index
        for index in indices
        if _is_summary(transcript.messages[index])
        and (index in backed or any(is_synthetic(part.text) for part in transcript.messages[index].parts))
    )


def raw_of(transcript: Transcript, indices: Sequence[int], lane: str = MAIN) -> tuple[int, ...]:
    """The raw turns behind a context: those in it, and what compactions took out of it; no summary, nothing taken back.

    A message that a compaction wrote into the source a second time counts once.
    """
    found: set[int] = set()
    for event in transcript.events:
        if event.lane != lane:
            continue
        if event.kind is EventKind.RESET:
            found.clear()
        elif event.kind in COMPACTIONS:
            found.update(event.drops)
    inside = frozenset(indices)
    again = {_said(transcript.messages[index]) for index in indices if transcript.messages[index].copied}
    older = {
        index for index in found - inside
        if not transcript.messages[index].copied and _said(transcript.messages[index]) not in again
    }  # fmt: skip
    return tuple(index for index in sorted(older | inside) if not _is_summary(transcript.messages[index]))


def _said(message: Message) -> tuple[tuple[str, str], ...]:
    return tuple((part.kind.value, part.text) for part in message.parts)


def tail_of(
    units: Sequence[Sequence[int]], keep: Keep | None, room: int, weight: Callable[[int], int]
) -> int:  # fmt: skip
    """Index of the first message of the tail: the newest units within the limit, and at least the newest one."""
    if not units:
        return 0
    if keep is not None and keep.messages is not None:
        every = [index for unit in units for index in unit]
        wanted = every[-keep.messages] if 0 < keep.messages <= len(every) else (0 if keep.messages else every[-1] + 1)
        return next((unit[0] for unit in units if unit[-1] >= wanted), wanted)
    most = keep.tokens if keep is not None and keep.tokens is not None else min(_TAIL_MOST, int(room * _TAIL_SHARE))
    tail, left = units[-1][0], most
    for unit in reversed(units):
        left -= sum(map(weight, unit))
        if left < 0:
            break
        tail = unit[0]
    return tail
