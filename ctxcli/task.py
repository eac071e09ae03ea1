"""What a strategy works on: a context in weights and units, what must not move, and what is aimed at."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ctxcli.change import Change
from ctxcli.model import Part, PartAt, PartKind, Transcript


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
class Task:
    """A context that is to become shorter. Every figure is in tokens of one counter."""

    transcript: Transcript
    weights: Sequence[Sequence[int]]
    """Of each part of each message of the transcript."""
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
    count: Callable[[str], int]
    summarise: Callable[[Change], str]
    """The text that stands for what a change takes out of the context; empty where nothing has to be said."""
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
        total = 0
        for number, weight in enumerate(self.weights[index]):
            at = (index, number)
            if at in change.texts:
                total += self.count(change.texts[at])
            elif at not in change.gone:
                total += weight
        return total

    def tokens(self, change: Change) -> int:
        """What the context weighs after a change."""
        kept = sum(self.tokens_of(index, change) for index in change.keep)
        return kept + (self.count(change.summary) if change.summary else 0)

    def is_fixed(self, unit: Iterable[int]) -> bool:
        """Whether a unit holds a pinned message, or is in the tail."""
        return any(index in self.pinned or index >= self.tail for index in unit)

    def companions(self, at: PartAt) -> list[PartAt]:
        """The media that came with a tool result: they go where its text goes."""
        ref = self.part(at).ref
        return [
            (at[0], number)
            for number, part in enumerate(self.transcript.messages[at[0]].parts)
            if part.kind is PartKind.MEDIA and ref and part.ref == ref
        ]
