"""What `ctx identifiers` finds."""

from dataclasses import dataclass

STATED, TOUCHED, SEEN = SOURCES = ("stated", "touched", "seen")
"""Strongest first: in the words of the user or the assistant; in a tool call; anywhere else."""


@dataclass(frozen=True, slots=True)
class IdentifierRow:
    """One identifier of a conversation or a text: a string that a later step has to match character for character."""

    kind: str
    """path, location, url, version and so on, or one of the settings file."""
    value: str
    line: int
    """1-based source line of its first use with the strongest source."""
    role: str | None
    """Who used it there: user, assistant, tool or system; null in plain text."""
    source: str
    """The strongest of its uses: stated by the user or the assistant; touched by a tool call; only seen."""
    uses: int
    """How often it occurs, every source together."""
    first_line: int
    """1-based source line of its first use of any source."""
    last_line: int


@dataclass(frozen=True, slots=True)
class IdentifiersReport:
    """The document `ctx.identifiers`: what one conversation or one text holds."""

    kind: str
    version: int
    path: str
    conversation: str | None
    format: str
    """The transcript's format, or text."""
    identifiers: tuple[IdentifierRow, ...]
    """In order of first use."""
