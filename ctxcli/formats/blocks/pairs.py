"""Which tool result answers which call, under ids that every provider takes."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ctxcli.model import Message, Part, PartAt, PartKind, media_of

_ODD = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_ID = 64


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gave back, and the media that came with it."""

    part: Part
    media: tuple[Part, ...]


@dataclass(slots=True)
class Pairs:
    """Calls with their answers; what has no other half is in neither."""

    ids: dict[PartAt, str] = field(default_factory=dict)
    """Of each call that is answered, or may still be: one in the last message of all."""
    answers: dict[PartAt, Answer] = field(default_factory=dict)
    """By the call."""
    taken: set[PartAt] = field(default_factory=set)
    """Results and media that stand in an answer."""


def pair(messages: Sequence[Message]) -> Pairs:
    """Calls and results by their id, of one id in their order; a call without one is answered by the next result."""
    found = Pairs()
    waiting: defaultdict[str, list[PartAt]] = defaultdict(list)
    for index, message in enumerate(messages):
        for number, part in enumerate(message.parts):
            at = (index, number)
            if part.kind is PartKind.TOOL_CALL:
                waiting[part.ref].append(at)
            elif part.kind is PartKind.TOOL_RESULT and waiting[part.ref]:
                media = _media_of(message, index, part)
                found.answers[waiting[part.ref].pop(0)] = Answer(part, tuple(one for _, one in media))
                found.taken.update([at, *(place for place, _ in media)])
    open_ = {at for places in waiting.values() for at in places if at[0] == len(messages) - 1}
    used: set[str] = set()
    for at in sorted({*found.answers, *open_}):
        found.ids[at] = _fresh(messages[at[0]].parts[at[1]].ref, used)
    return found


def _media_of(message: Message, index: int, result: Part) -> list[tuple[PartAt, Part]]:
    return [((index, at), message.parts[at]) for at in media_of(message.parts, result.ref)]


def _fresh(ref: str, used: set[str]) -> str:
    """The call's own id where it has one that can be sent, and that no call before it has."""
    base = _ODD.sub("_", ref)[:_LONGEST_ID] or "call"
    name, number = base, 1
    while name in used or name == "call":
        name, number = f"{base[: _LONGEST_ID - 8]}_{number}", number + 1
    used.add(name)
    return name
