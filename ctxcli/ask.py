"""What is asked of a model and what it answers: the neutral shape between the commands that ask and the clients."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol


class Stop(StrEnum):
    """Why an answer ends."""

    END = "end"
    LENGTH = "length"
    """It was cut off at the limit of the output, or of the window."""
    REFUSED = "refused"
    TOOLS = "tools"
    """It calls a tool, though none was offered."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model."""

    text: str
    """The user's turn. Text of a transcript in it is data, never instructions."""
    system: str = ""
    max_output: int = 4_096
    """Tokens that the answer may take."""
    temperature: float | None = None
    """None for the model's own."""
    repeat: int = 0
    """Which repetition it is: asked once more on purpose, the same question is another request."""
    prefix: str = ""
    """A conversation that goes before the user's turn as it was sent: JSON in the provider's own form, with system,
    tools and messages. `system` has no place behind it; none of its tools can be called."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request."""

    text: str
    stop: Stop = Stop.END
    model: str = ""
    """As the provider names it."""
    prompt: int | None = None
    """Tokens sent, cached or not; None where the provider did not say. So are the others."""
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    cost: float | None = None
    """US dollars; None where no price is known."""
    stored: bool = False
    """It comes from the cache on disk: nothing was sent, nothing was spent."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a request would come to, reckoned before it is sent."""

    prompt: int
    """Tokens, estimated from the text."""
    output: int
    """Tokens that the answer may take at most."""
    cost: float | None
    """US dollars at most: nothing cached, and written to the cache what may be; None where no price is known."""
    cacheable: int = 0
    """Of the prompt, what the provider's cache may hold: the prefix."""
    cached_cost: float | None = None
    """US dollars at most where it does."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the requests of a run came to; stored answers are not in it."""

    calls: int = 0
    stored: int = 0
    """Answers that came from the cache on disk."""
    prompt: int = 0
    output: int = 0
    cost: float | None = None
    """US dollars; None where no price is known."""
    cache_read: int = 0
    """Of the prompts, what the provider's cache served, and what was written to it."""
    cache_write: int = 0
    doubtful: float = 0.0
    """US dollars at most for attempts without an answer, which may be billed; not in the cost."""


class Asker(Protocol):
    """A model that can be asked, with its limits, retries and cache behind it; safe to use from several threads."""

    @property
    def name(self) -> str:
        """PROVIDER:MODEL, for reports."""
        ...

    @property
    def spent(self) -> Spent:
        """So far."""
        ...

    def body(self, request: Request) -> dict[str, Any]:
        """What is sent for it, letter for letter but for the key."""
        ...

    def estimate(self, request: Request) -> Estimate:
        """What it would come to; asks nothing."""
        ...

    def ask(self, request: Request) -> Reply:
        """One answer.

        Raises ModelError where the provider gives none after all retries, and LimitReached where the run may spend
        no more.
        """
        ...
