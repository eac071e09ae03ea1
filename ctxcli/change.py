"""What a compaction makes of a context: which messages stay, which texts give way, what stands for the rest."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ctxcli.model import Message, Part, PartAt, PartKind, Role, Transcript

CLEARED = "[cleared by ctx"
"""How the text begins that stands in the place of a cleared tool result."""


@dataclass(frozen=True, slots=True)
class Change:
    """The context of a transcript's main lane after a compaction, in terms of the messages before it."""

    keep: tuple[int, ...]
    """Indices of the messages that stay, ascending."""
    texts: Mapping[PartAt, str] = field(default_factory=dict)
    """What stands in the place of a part's text: the placeholder of a cleared tool result."""
    gone: frozenset[PartAt] = frozenset()
    """Parts of kept messages that leave whole: thinking, half of a pair, media of a cleared result."""
    summary: str = ""
    """The text of the synthetic message; empty where there is none."""
    at: int = 0
    """The summary stands before the first kept message whose index is this or more."""

    @property
    def size(self) -> int:
        """Messages in the context after."""
        return len(self.keep) + bool(self.summary)


def applied(transcript: Transcript, change: Change) -> tuple[Message, ...]:
    """The messages that are in the context after a change; a kept message all of whose parts are gone is not."""
    return tuple(_applied(transcript.messages, change))


def _applied(messages: tuple[Message, ...], change: Change) -> Iterator[Message]:
    waiting = bool(change.summary)
    for index in change.keep:
        if waiting and index >= change.at:
            yield summary_message(change.summary)
            waiting = False
        message = messages[index]
        parts = tuple(parts_after(enumerate(message.parts), index, change))
        if parts or not message.parts:
            yield message if parts == message.parts else replace(message, parts=parts)
    if waiting:
        yield summary_message(change.summary)


def parts_after(parts: Iterable[tuple[int, Part]], index: int, change: Change) -> Iterator[Part]:
    """The parts of the message at `index` after a change."""
    for number, part in parts:
        place = (index, number)
        if place in change.gone:
            continue
        yield replace(part, text=change.texts[place]) if place in change.texts else part


def summary_message(text: str) -> Message:
    """The synthetic message that stands for what was compacted: under the user's name, and marked as not the user's."""
    return Message(Role.USER, (Part(PartKind.SUMMARY, text),), harness=True)
