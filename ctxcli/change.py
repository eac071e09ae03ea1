"""What a compaction makes of a context: which messages stay, which texts give way, what stands for the rest."""

from collections.abc import Iterator, Mapping
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


@dataclass(frozen=True, slots=True)
class Placed:
    """A message of the context after, and where its parts stand in the transcript before."""

    message: Message
    index: int | None
    """Of the message before; None for the synthetic one."""
    parts: tuple[PartAt, ...]


def placed(transcript: Transcript, change: Change) -> Iterator[Placed]:
    """The messages that are in the context after a change; a kept message all of whose parts are gone is not."""
    waiting = bool(change.summary)
    for index in change.keep:
        if waiting and index >= change.at:
            yield Placed(summary_message(change.summary), None, ())
            waiting = False
        message = transcript.messages[index]
        own = tuple((index, number) for number in range(len(message.parts)) if (index, number) not in change.gone)
        parts = tuple(_part(message.parts[number], change.texts.get((index, number))) for _, number in own)
        if parts or not message.parts:
            yield Placed(message if parts == message.parts else replace(message, parts=parts), index, own)
    if waiting:
        yield Placed(summary_message(change.summary), None, ())


def _part(part: Part, text: str | None) -> Part:
    return part if text is None else replace(part, text=text)


def applied(transcript: Transcript, change: Change) -> tuple[Message, ...]:
    """The messages alone."""
    return tuple(one.message for one in placed(transcript, change))


def summary_message(text: str) -> Message:
    """The synthetic message that stands for what was compacted: under the user's name, and marked as not the user's."""
    return Message(Role.USER, (Part(PartKind.SUMMARY, text),), harness=True)
