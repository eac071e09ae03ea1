"""What is asked of a model and what it answers: the neutral shape between the commands that ask and the clients."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


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
class Spent:
    """What the requests of a run came to; stored answers are not in it."""

    calls: int = 0
    stored: int = 0
    """Answers that came from the cache on disk."""
    prompt: int = 0
    output: int = 0
    cost: float | None = None
    """US dollars; None where no price is known."""


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

    def ask(self, request: Request) -> Reply:
        """One answer.

        Raises ModelError where the provider gives none after all retries, and LimitReached where the run may spend
        no more.
        """
        ...
