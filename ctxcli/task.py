"""What a strategy works on: a context in weights and units, what must not move, and what is aimed at."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ctxcli.change import Change
from ctxcli.model import Part, PartAt, Transcript, media_of


@dataclass(frozen=True, slots=True)
class Results:
    """Which tool results may be cleared."""

    keep: int = 3
    """The newest so many stay."""
    exclude: frozenset[str] = frozenset()
    """Tools whose results stay."""
    at_least: int = 0
    """Tokens that clearing has to free; where it frees less, nothing is cleared."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What contexts weigh: the parts of a transcript, and texts that stand in the place of some."""

    weights: Sequence[Sequence[int]]
    """Of each part of each message of the transcript."""
    count: Callable[[str], int]

    def of(self, index: int, change: Change) -> int:
        """A kept message after a change."""
        total = 0
        for number, weight in enumerate(self.weights[index]):
            at = (index, number)
            if at in change.texts:
                total += self.count(change.texts[at])
            elif at not in change.gone:
                total += weight
        return total

    def tokens(self, change: Change) -> int:
        """The whole context after a change."""
        kept = sum(self.of(index, change) for index in change.keep)
        return kept + (self.count(change.summary) if change.summary else 0)


@dataclass(frozen=True, slots=True)
class Task:
    """A context that is to become shorter. Every figure is in tokens of one counter."""

    transcript: Transcript
    scale: Scale
    units: tuple[tuple[int, ...], ...]
    """Messages in the context that stay or go together, in order: a call and its results, or one message."""
    pinned: frozenset[int]
    """Messages that stay as they are."""
    target: int
    """What the context after is to weigh at most."""
    tail: int
    """Index of the first message of the newest ones that stay verbatim."""
    summary_tokens: int
    """What a summary may take."""
    summarise: Callable[[Change, int], str]
    """The text that stands for what a change takes out of the context, in so many tokens; empty where nothing has to be
    said."""
    most_summary: int = 0
    """What it may take where a strategy would rather hold more identifiers than more turns."""
    summaries: frozenset[int] = frozenset()
    """Messages that stand for an earlier compaction, which a new summary takes the place of."""
    results: Results = field(default_factory=Results)
    refine: bool = True
    """Whether a summary may be written several times over, so that more of the turns can stay."""

    def part(self, at: PartAt) -> Part:
        """One part."""
        return self.transcript.messages[at[0]].parts[at[1]]

    def tokens_of(self, index: int, change: Change) -> int:
        """What a kept message weighs after a change."""
        return self.scale.of(index, change)

    def tokens(self, change: Change) -> int:
        """What the context weighs after a change."""
        return self.scale.tokens(change)

    def is_fixed(self, unit: Iterable[int]) -> bool:
        """Whether a unit holds a pinned message, or is in the tail."""
        return any(index in self.pinned or index >= self.tail for index in unit)

    def companions(self, at: PartAt) -> list[PartAt]:
        """The media that came with a tool result: they go where its text goes."""
        return [(at[0], number) for number in media_of(self.transcript.messages[at[0]].parts, self.part(at).ref)]
