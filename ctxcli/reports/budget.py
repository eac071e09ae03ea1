"""What `ctx budget` concludes: how far a context is, what is left of the window, and who may take it."""

from dataclasses import dataclass

from ctxcli.reports.audit import Window


@dataclass(frozen=True, slots=True)
class BudgetSource:
    """The conversation that is looked at."""

    path: str
    format: str
    conversation: str | None
    many: bool
    """One of several conversations in its source."""
    lane: str
    """main, or a sub-agent."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How the context grows, in tokens a call."""

    tokens: int | None
    """The median; null where no call has grown since the context was begun or compacted."""
    calls: int
    """How many calls it is of: those since the context was begun or compacted."""
    basis: str
    """measured or estimated: as the context itself, never both."""


@dataclass(frozen=True, slots=True)
class LayerQuota:
    """What one layer holds, and what it may."""

    layer: str
    tokens: int | None
    """Estimated; null where no transcript is given."""
    quota: int | None
    """Null for a layer without one."""
    over: int
    """Tokens above the quota."""


@dataclass(frozen=True, slots=True)
class BudgetReport:
    """The document `ctx.budget`: one context at one call, or a window alone."""

    kind: str
    version: int
    ok: bool
    """False where the context is over the usable window, or a layer over its quota."""
    source: BudgetSource | None
    """Null where a window alone is shared out."""
    window: Window
    call: int | None
    """The call, numbered over all lanes as `ctx audit` numbers them; null where the context was compacted since the
    last one."""
    last_call: int | None
    """The last call of the lane."""
    line: int | None
    """Of the call, or of the compaction since."""
    used: int | None
    """Tokens of the context at the call; since a compaction what the next call would send, with what stood in no file
    at the last one."""
    basis: str | None
    """measured (as the provider reported it) or estimated (by its text)."""
    left: int | None
    """Usable tokens that are left; 0 where there are none, null where no window is known."""
    share: float | None
    """Used of usable."""
    trigger: int | None
    """Tokens above which a context is compacted; null where no window is known."""
    growth: Growth | None
    calls_left: int | None
    """Calls until the context exceeds the trigger at this growth, 0 where it does; null where nobody can say."""
    fixed: int
    """What system prompt and tool definitions take, hidden ones included."""
    layers: tuple[LayerQuota, ...]
    overflow: bool
    note: tuple[str, ...]
    """The same in words, for the agent; a line each."""
