"""What one pass is told to do."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ctxcli.compact.asking import ATTEMPTS, Planned
from ctxcli.compact.context import Keep
from ctxcli.reports.slots import Slots
from ctxcli.task import Results

DEFAULT_TARGET = 0.25
"""Share of the context that a pass aims at: what coding agents leave of a full window (33 to 66 of 167 thousand)."""
DEFAULT_SUMMARY = 4_000
"""Tokens of a summary: those of coding agents take 2,000 to 4,200."""
SUMMARY_SHARE = 1 / 3
"""Of the target, what a summary takes at most."""
MOST_SUMMARY_SHARE = 0.6
"""The same for a strategy that prefers identifiers to turns: in a small context more of what is used later has room."""
FEWEST_SUMMARY = 300
"""Tokens of a summary however small the target is: below that only identifiers have room."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a context is to be compacted."""

    strategies: tuple[str, ...] = ("contract",)
    """They run in this order until the target is met."""
    target: int | float = DEFAULT_TARGET
    """Tokens (int), or a share of the context (float)."""
    keep_last: Keep | None = None
    """What of the newest stays verbatim; None for a share of the target."""
    pins: tuple[str, ...] = ()
    summary_tokens: int | None = None
    """A hard limit; None for the default, which makes room for what is required."""
    results: Results = field(default_factory=Results)
    profile: str | None = None
    """Whose rules the result is held to; None for the transcript's own."""
    ask: Callable[[str], str] | None = None
    """A model: prompt in, answer out. None for the extractive summariser."""
    attempts: int = ATTEMPTS
    """How often it may be asked for one summary; a stored answer once."""
    repair: bool = False
    """Whether what its last answer lacks is added by extraction, rather than refused."""
    follows: bool = False
    """Whether its prompt follows the conversation itself, and holds no text of it."""
    chunk: int | None = None
    """Tokens of the transcript in one prompt at the most; None for the whole span."""
    planned: Callable[[Planned], None] | None = None
    """Is told what will be asked before it is; may raise, and then nothing is."""
    summariser: str = "extractive"
    instructions: str = ""
    """Added to the prompt of a model."""
    notes_name: str = ""
    """The notes file, as the context is to name it; empty for none."""
    notes: Slots = field(default_factory=Slots)
    """What stands in it."""
