"""The four slots: what survives a compaction word for word."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """One constraint or open item, in the words that set it."""

    text: str
    line: int | None = None
    """1-based source line; null where a model gave none."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was chosen, over what, and why: a choice without its reason is made again."""

    text: str
    chosen: str | None = None
    rejected: tuple[str, ...] = ()
    reason: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Slots:
    """What has to survive."""

    constraints: tuple[Entry, ...] = ()
    decisions: tuple[Decision, ...] = ()
    identifiers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By kind, each value as it stands in the source."""
    open: tuple[Entry, ...] = ()
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of the paths among the identifiers, those that a tool created, edited, deleted or read: by what happened last."""
    commands: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The newest commands, by how they ended last: passed or failed."""
    left_out: dict[str, int] = field(default_factory=dict)
    """By slot, how many items did not fit."""


@dataclass(frozen=True, slots=True)
class Brief(Slots):
    """Slots that had to fit into next to no room: their text does without line numbers, and without empty sections."""
