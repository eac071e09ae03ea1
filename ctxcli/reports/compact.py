"""What `ctx compact` concludes."""

from dataclasses import dataclass

from ctxcli.reports.guard import GuardReport
from ctxcli.reports.slots import Slots


@dataclass(frozen=True, slots=True)
class Step:
    """One strategy of a pass."""

    strategy: str
    tokens_after: int


@dataclass(frozen=True, slots=True)
class Address:
    """How to fetch again what left the context."""

    line: int
    """1-based source line of the result that went."""
    address: str
    """A path, a URL or a command; secrets in it are masked."""


@dataclass(frozen=True, slots=True)
class SummaryMode:
    """One of the two ways in which a model can be asked for a summary, and what it would come to."""

    name: str
    """standalone: the transcript stands in the prompt; reuse-prefix: the prompt follows the conversation itself."""
    chosen: bool
    requests: int
    prompt: int
    """Tokens sent, estimated."""
    cacheable: int
    """Of them, what the provider's cache may hold from the conversation itself."""
    cost: float | None
    """US dollars at most, where the cache holds that; null where no price is known."""


@dataclass(frozen=True, slots=True)
class SummariserUsed:
    """Who filled the four slots."""

    name: str
    """extractive, command, replayed, llm; none where no summary was written."""
    model: str | None
    """PROVIDER:NAME; null where no model was asked through a provider."""
    attempts: int
    usage: dict[str, int] | None
    """What the model was asked: questions sent (calls), answers from the cache on disk (stored), tokens sent (prompt),
    of them read from the provider's cache and written to it (cache_read, cache_write), tokens answered (output)."""
    repaired: tuple[str, ...]
    """What was added to an answer by extraction, word for word: identifiers, boundaries, items of missing sections."""
    removed: tuple[str, ...] = ()
    """What was taken out of an answer, as nobody had said it."""
    cost: float | None = None
    """US dollars; null where no price is known, or no model was asked through a provider."""
    modes: tuple[SummaryMode, ...] = ()
    """What each way of asking would cost at the first attempt; empty where no model was asked through a provider."""


@dataclass(frozen=True, slots=True)
class ValidityFinding:
    """A rule that the result breaks as its input did."""

    rule: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class ValidityResult:
    """Whether a provider accepts the result."""

    profile: str
    ok: bool
    findings: tuple[ValidityFinding, ...]
    repairs: tuple[str, ...]
    """What was wrong with the input, and was left out."""


@dataclass(frozen=True, slots=True)
class CacheEffect:
    """What the pass does to a provider's prompt cache, in tokens."""

    prefix_kept: int
    """Leading tokens that are as they were, so that the cache still holds them."""
    rewrite: int
    """Tokens behind them, which are written anew."""
    break_even_calls: float | None
    """Calls after which the pass has paid for itself, at 1.25 for a cache write and 0.1 for a read; null where it
    never does. A summary that no model wrote costs nothing; for one that a model wrote behind a provider its prompts
    count as estimated at the first attempt, for one by a command as if it had read the context before, uncached."""


@dataclass(frozen=True, slots=True)
class CompactSource:
    """What was compacted."""

    path: str
    format: str
    conversation: str | None
    sha256: str
    """Of the text of what was in the context, as in ctx.guard."""
    lines: tuple[int, int] | None
    """First and last source line of the context; null where it is empty."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """What was written."""

    path: str
    """- for standard output."""
    format: str
    sha256: str
    """Of the bytes, before any compression."""


@dataclass(frozen=True, slots=True)
class NotesUsed:
    """The notes that were read, and appended to."""

    path: str
    added: int


@dataclass(frozen=True, slots=True)
class TokenBasis:
    """What the figures are counted with; estimates all, never mixed with what a provider measured."""

    name: str
    engine: str
    exact: bool


@dataclass(frozen=True, slots=True)
class CompactReport:
    """The document `ctx.compact`: one pass over one conversation; also its event record."""

    kind: str
    version: int
    ok: bool
    strategy: str
    """Names, comma-separated, in the order in which they ran."""
    steps: tuple[Step, ...]
    trigger: str
    """manual, budget (a --trigger or --budget was passed), or stale (only stale results went)."""
    target: int
    """What was aimed at, in tokens."""
    tokens_before: int
    tokens_after: int
    tokens_reclaimed: int
    messages_before: int
    messages_after: int
    dropped_messages: int
    cleared_results: int
    slots: Slots
    addresses: tuple[Address, ...]
    pinned: tuple[int, ...]
    """1-based source lines of the messages that had to stay."""
    summariser: SummariserUsed
    guard: GuardReport | None
    """Null under --no-guard."""
    validity: ValidityResult
    cache: CacheEffect
    tokenizer: TokenBasis
    source: CompactSource
    output: OutputFile | None
    """Null where nothing was written."""
    notes: NotesUsed | None
    time: str | None
    """Of the last message of the input, so that the same input gives the same record."""
    remarks: tuple[str, ...]
    """What a reader has to know about this pass, in a sentence each."""
