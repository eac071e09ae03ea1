"""What a policy says: which strategy runs, when, and what it aims at."""

from dataclasses import dataclass

from ctxcli.budget import DEFAULT_TRIGGER
from ctxcli.compact.context import Keep
from ctxcli.compact.settings import DEFAULT_TARGET

RECORDED, NONE = "recorded", "none"
"""The policies that are always there: the compactions of the transcript itself, and none at all."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A strategy of compaction with its trigger, its target and its tail."""

    strategy: str
    trigger: int | float = DEFAULT_TRIGGER
    """Tokens (int), or a share of the usable window (float): a call whose context is larger is preceded by a pass."""
    target: int | float = DEFAULT_TARGET
    """Tokens (int), or a share of the context (float), that a pass aims at."""
    keep_last: Keep | None = None
    """What of the newest stays verbatim; None for the default of `ctx compact`."""
    name: str = ""
    """As the user wrote it."""
    window: int | None = None
    """Tokens of the window that a share is of, output reserve included; None for that of the model."""
    summary: int = 0
    """Tokens of a summary that a model would write for each pass, in a call that reads the context; 0 for none."""

    def limit(self, usable: int | None) -> int | None:
        """Tokens above which a pass is made; None for a share of a window that is not known."""
        if isinstance(self.trigger, int):
            return self.trigger
        return None if usable is None else int(usable * self.trigger)
