"""One model call, as `ctx audit` reports it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """One context, measured by the provider and estimated from the text."""

    measured: int | None
    estimated: int

    @property
    def size(self) -> int:
        """Measured where the provider said, else estimated."""
        return self.estimated if self.measured is None else self.measured


@dataclass(frozen=True, slots=True)
class Output:
    """What came back, as reported and as estimated from its text.

    final is false where the report is the placeholder of a stream's first event, far too low.
    """

    measured: int | None
    estimated: int
    final: bool


@dataclass(frozen=True, slots=True)
class Layers:
    """The estimated context by layer; unattributed is measured minus estimated, of either sign."""

    system: int
    tools: int
    """Tool definitions."""
    history: int
    """What user and model wrote, thinking and tool calls included."""
    retrieved: int
    """Tool results and documents."""
    summary: int
    """What compactions left in the place of history."""
    unattributed: int | None
    """Measured minus estimated: what the file does not hold; negative where it holds more than was sent."""


@dataclass(frozen=True, slots=True)
class Cache:
    """How the provider's cache served a prompt; what was read, written and not cached adds up to it."""

    read: int
    write: int
    uncached: int
    write_1h: int = 0
    """Of those written, the ones that live an hour, which cost more."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The part that added most to a call."""

    what: str
    """user text, tool result, thinking …"""
    tool: str
    address: str
    """The path, URL or command that the call named."""
    line: int
    tokens: int
    """Its own weight, which may be less than half of what the call grew by."""


@dataclass(frozen=True, slots=True)
class CallRow:
    """One model call."""

    n: int
    """From 1, over all lanes, in the order of the source."""
    line: int
    """The line on which the answer begins."""
    lane: str
    """main, or the sub-agent."""
    time: str | None
    model: str | None
    context: Context
    layers: Layers
    added: int
    """Estimate of what entered the context since the call before in the lane."""
    growth: int | None
    """Measured context minus that of the call before in the lane; null across a compaction."""
    grew: int | None
    """growth, else added where nothing is measured; null for a first call and for a rebuilt context."""
    output: Output
    cache: Cache | None
    share_of_window: float | None
    """Of max_context, reserve included."""
    sent_so_far: int
    """Contexts of this and all earlier calls of the lane, added up."""
    cause: Cause | None
    """The largest single part that entered."""
