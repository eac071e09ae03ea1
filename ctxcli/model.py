"""The one neutral shape of a conversation: what every format is read into, with no vendor's field names.

A transcript is a flat tuple of messages in source order. Each message stands in a lane, and an
event (a compaction, a clear, a rewind) takes effect before the message whose index is its `at`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

MAIN = "main"
"""The lane of the conversation itself; every other lane is a sub-agent's."""

PLAIN_TEXT = "text"
"""The format of a text that is no transcript: one message."""


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class PartKind(StrEnum):
    """What a part of a message is."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool call"
    TOOL_RESULT = "tool result"
    DOCUMENT = "document"
    MEDIA = "media"
    SUMMARY = "summary"
    OPAQUE = "opaque"
    TOOLS = "tool definition"


class Layer(StrEnum):
    """The layers that a context is made of."""

    SYSTEM = "system"
    TOOLS = "tools"
    HISTORY = "history"
    RETRIEVED = "retrieved"
    SUMMARY = "summary"


PartAt = tuple[int, int]
"""(message, part): where a part stands in its transcript."""


class Record(NamedTuple):
    """One JSON value of a source, with the place it came from."""

    line: int
    """1-based source line on which the value starts."""
    value: Any
    size: int = 0
    """Bytes that the value takes in the source."""
    file: str = ""
    """Empty for the source itself, else the companion file that holds the value."""
    lines: dict[tuple[str | int, ...], tuple[int, ...]] | None = None
    """In a document over several lines: start lines of the elements of each array, by path."""


@dataclass(frozen=True, slots=True)
class Skip:
    """Something in a source that could not be read as it stands; it reaches every report."""

    line: int
    reason: str
    recovered: bool = False
    """True where nothing that a model saw was lost."""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Media:
    """An image, a sound or a document that is no text; weighed by rule, never by its bytes."""

    type: str
    width: int | None = None
    height: int | None = None
    bytes: int = 0


COMPACTION = "compaction"
"""The name of an opaque part that stands for earlier turns."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message; `text` is what the model saw of it (arguments stay their JSON text)."""

    kind: PartKind
    text: str = ""
    line: int = 0
    name: str = ""
    """The tool's name, for calls, results and definitions."""
    ref: str = ""
    """The id that ties a tool call and its result together."""
    address: str = ""
    """How to fetch it again: the path, URL or command that the call named."""
    failed: bool = False
    media: Media | None = None
    tokens: int | None = None
    """What the provider reports for a part that has no readable text (encrypted reasoning)."""
    signed: bool | None = None
    """Of thinking: whether the provider's signature stands beside it; None where the format has none."""

    @property
    def sums_up(self) -> bool:
        """Whether it stands for turns that are gone: a summary that says something, or one only the provider reads."""
        if self.kind is PartKind.SUMMARY:
            return bool(self.text.strip())
        return self.kind is PartKind.OPAQUE and self.name == COMPACTION


@dataclass(frozen=True, slots=True)
class Message:
    """What one speaker said at one time."""

    role: Role
    parts: tuple[Part, ...]
    lane: str = MAIN
    line: int = 0
    """1-based line on which it starts."""
    lines: tuple[int, ...] = ()
    """Every source line that holds a piece of it, ascending."""
    id: str = ""
    time: str = ""
    harness: bool = False
    """Written by the agent's client, though it stands under the user's name."""
    copied: bool = False
    """A repetition of an earlier message that the source embeds: in context, but no new text."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """One step that the provider ran inside a call and bills beside it (a server-side compaction)."""

    kind: str
    input: int
    output: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What the provider reported for one call, in tokens; None where it did not say."""

    prompt: int | None = None
    """The whole context sent, cached or not."""
    uncached: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    output_final: bool = True
    """False where the figure is the placeholder of a stream's first event."""
    iterations: tuple[Iteration, ...] = ()
    cache_write_1h: int | None = None
    """Of those written, the ones that live an hour; None where the provider does not tell them apart."""


@dataclass(frozen=True, slots=True)
class Call:
    """One model call: the live messages before `at` went in, the message at `at` came back."""

    at: int
    lane: str = MAIN
    line: int = 0
    id: str = ""
    time: str = ""
    model: str = ""
    usage: Usage | None = None


class EventKind(StrEnum):
    """What changed the context, other than a new message."""

    SUMMARY = "summary"
    CLEAR = "clear"
    TRIM = "trim"
    REWRITE = "rewrite"
    REWIND = "rewind"
    STRIP = "strip"
    RENEW = "renew"
    RESET = "reset"


COMPACTIONS = frozenset({EventKind.SUMMARY, EventKind.CLEAR, EventKind.TRIM, EventKind.REWRITE})
"""The events that shorten a context on purpose; a rewind and a reset are the
user's, a strip is the provider's (reasoning of earlier turns is not sent again), and a renewal
puts another system prompt or other tools in the place of those before."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change of context that the transcript records; takes effect before the message at `at`."""

    kind: EventKind
    at: int
    lane: str = MAIN
    line: int = 0
    trigger: str = ""
    drops: tuple[int, ...] = ()
    """Indices of the messages that leave the context."""
    clears: tuple[tuple[int, int], ...] = ()
    """(message, part) of the tool results whose text a placeholder has replaced, or of stripped parts."""
    summary: int | None = None
    """Index of the message that stands for what was dropped."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    """Both as the source recorded them."""
    opaque: bool = False
    """The summary cannot be read: it is encrypted or empty."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The main conversation, or one sub-agent with a context of its own."""

    name: str
    title: str = ""
    spawned_by: str = ""
    """Id of the tool call whose result is what the sub-agent returned."""
    file: str = ""
    tokens: int | None = None
    """What the source reports for a sub-agent as a whole, where its calls are not recorded."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation as a source holds it."""

    format: str
    id: str | None = None
    agent: str = ""
    provider: str = ""
    """Whose rules its media and message overhead follow: anthropic, openai, google or empty."""
    messages: tuple[Message, ...] = ()
    calls: tuple[Call, ...] = ()
    events: tuple[Event, ...] = ()
    lanes: tuple[Lane, ...] = (Lane(MAIN),)
    skips: tuple[Skip, ...] = ()
    bookkeeping: tuple[tuple[str, int], ...] = ()
    """Records that no model ever saw, by type: (type, how many)."""
    unknown: tuple[tuple[str, int], ...] = ()
    """Records of a type that the reader does not know, by type: (type, how many)."""
    duplicates: int = 0
    """Records that repeat one already read."""
    records: int = 0
    folders: tuple[str, ...] = ()
    """Working folders of the agent, in order of appearance: what relative paths are relative to."""
    window: int | None = None
    """The context window in tokens, where the source says or shows it."""
    window_is_usable: bool = False
    """True where that window already leaves the output's share out."""
    notes: tuple[str, ...] = ()
    """What a reader has to know about these figures, in a sentence each."""
    path: str = ""
    bytes: int = 0
    lines: int = 0
    many: bool = False
    """One of several conversations in its source."""

    @property
    def models(self) -> list[str]:
        """The models that answered, each once, in order."""
        return list(dict.fromkeys(call.model for call in self.calls if call.model))


def media_of(parts: Sequence[Part], ref: str) -> list[int]:
    """Places of the images and files that came with the result of the call of this id."""
    return [at for at, part in enumerate(parts) if part.kind is PartKind.MEDIA and part.ref and part.ref == ref]


def is_human(message: Message) -> bool:
    """Whether a message is the user's own words."""
    said = any(part.kind is PartKind.TEXT and part.text.strip() for part in message.parts)
    return message.role is Role.USER and not message.harness and said


def layer_of(message: Message, part: Part) -> Layer:
    """The layer that a part belongs to: its kind decides, then who speaks."""
    if part.kind is PartKind.TOOLS:
        return Layer.TOOLS
    if part.kind is PartKind.SUMMARY:
        return Layer.SUMMARY
    if part.kind in (PartKind.TOOL_RESULT, PartKind.DOCUMENT) or message.role is Role.TOOL:
        return Layer.RETRIEVED
    return Layer.SYSTEM if message.role is Role.SYSTEM else Layer.HISTORY
