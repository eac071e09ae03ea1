"""What a command would ask a model, before it asks."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """One request."""

    body: dict[str, Any]
    """What would be sent, letter for letter; no key is in it."""
    prompt: int
    """Tokens, estimated from the text."""
    output: int
    """Tokens that the answer may take at most."""
    cost: float | None
    """US dollars at most, nothing cached; null where no price is known."""


@dataclass(frozen=True, slots=True)
class RequestsTotal:
    """All of them together."""

    requests: int
    prompt: int
    output: int
    cost: float | None
    """Null where a price is not known."""


@dataclass(frozen=True, slots=True)
class RequestsReport:
    """The document `ctx.requests`: a dry run. Nothing was sent."""

    kind: str
    version: int
    model: str
    """PROVIDER:NAME."""
    requests: tuple[PlannedRequest, ...]
    total: RequestsTotal
    more: str
    """What may come on top, in a sentence; empty where nothing does."""
