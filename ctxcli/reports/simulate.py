"""What `ctx simulate` concludes: the calls of a transcript under several policies of compaction."""

from dataclasses import dataclass

from ctxcli.reports.audit import Window
from ctxcli.reports.calls import Cache
from ctxcli.reports.guard import Hindsight


@dataclass(frozen=True, slots=True)
class SimulatedSource:
    """The conversation that is replayed."""

    path: str
    format: str
    agent: str
    models: tuple[str, ...]
    conversation: str | None
    many: bool
    """One of several conversations in its source."""
    lane: str
    """main, or the sub-agent that is replayed."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How tokens were counted, and by which ratio they became those of the model that answers most."""

    name: str
    engine: str
    exact: bool
    ratio: float | None
    origin: str | None
    """fitted, constant or exact; null where no call is recorded."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How the cache of one provider works, as it is assumed for the calls of some models."""

    name: str
    title: str
    models: tuple[str, ...]
    """Those that answered here; empty where none is named."""
    calls: int
    ttl: int
    """Seconds after which what was not used again is gone."""
    ttl_origin: str
    """flag, measured (told by how long writes live, or by the reads after pauses) or rules (as the provider says)."""
    minimum: int
    """Tokens of the shortest prefix that is cached, for the first of the models."""
    step: int
    """What is read is a multiple of so many tokens."""
    breakpoints: bool
    """Whether a read ends where an earlier request had a breakpoint: behind tools and system prompt, or at its end."""
    front: int | None
    """Tokens of tools and system prompt as the provider's figures tell them; null where none do, or it is no matter."""
    write: float | None
    """Price of a write in that of an input token; null where it costs nothing beside the input."""
    read: float
    """Price of a read in that of an input token, for the first of the models."""


@dataclass(frozen=True, slots=True)
class PriceList:
    """What prices are by, and the version of its data: the library's, or the file's name."""

    origin: str
    version: str
    currency: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """What was sent and does not stand in the file, by the provider's figures; null where it reported none."""

    fixed: int
    """System prompt and tools, which no policy takes out."""
    earlier: int
    """Turns before the file begins; the first compaction takes them out."""


@dataclass(frozen=True, slots=True)
class SimulatedCall:
    """One call under a policy, in tokens."""

    n: int
    """From 1, over all lanes, as `ctx audit` numbers them."""
    line: int
    context: int
    prefix: int | None
    """What stands in front as it stood in the request before; null for a measured call."""
    cache: Cache | None
    miss: str
    """Why less was read than was sent before; empty where all of that was, or where nobody can say."""
    output: int


@dataclass(frozen=True, slots=True)
class SimulatedCompaction:
    """One compaction under a policy, in tokens."""

    call: int | None
    """The call that it came before; null where none followed."""
    line: int
    before: int | None
    after: int | None
    prefix: int | None
    """What of the context after it the cache can still serve: what stays in front unchanged, up to a breakpoint."""
    summary: int
    """What a model wrote for it, or would write; 0 where no model is asked, or it cannot be read."""
    break_even_calls: float | None
    """Calls until it has paid, with a cache and a summary call that reads it; null where it never does."""
    break_even_cold: float | None
    """The same where the summary call cannot read the cache."""
    break_even_uncached: float | None
    """The same without a cache."""
    loop: bool
    """It fired at the call right after another one."""
    hindsight: Hindsight | None
    """Of what was said before it and used later, what the context after it still held; null where it was not looked
    for, or the summary cannot be read."""
    done: bool
    """False where the strategy could take nothing."""


@dataclass(frozen=True, slots=True)
class PolicyTotals:
    """The calls of a policy in all."""

    sent: int
    """Contexts added up."""
    output: int
    peak: int
    peak_call: int | None
    peak_share: float | None
    """Of the usable window; null where no window is known."""
    over: int | None
    """Calls whose context is larger than the usable window; null where no window is known."""
    first_over: int | None
    """The first of them."""
    cache: Cache | None
    misses: int | None
    """Calls after the first that read less than the call before had left in the cache; null where nobody can say."""
    summary_sent: int
    """Sent by the calls that wrote summaries, beside the calls above; 0 where no model was asked."""
    summary_output: int
    cost: float | None
    """Of the calls and of those that wrote summaries, in the price list's currency; null where no price is known."""
    basis: str
    """measured, mixed (some calls are) or modelled."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the replayed figures of the recorded run are from the measured ones, as shares; medians over calls.

    Calls whose measured context told what the file does not hold are left out of the first, and the first call, whose
    read tells what was cached before it, of the second.
    """

    calls: int
    context: float | None
    context_beyond: int
    """Calls whose context is off by more than a tenth."""
    told: int
    """Calls that were left out of the first."""
    cache_calls: int
    cache_read: float | None
    cache_beyond: int
    """Calls whose read is off by more than a tenth."""
    cache_gone: tuple[int, ...]
    """Of them, the calls that read less, though nothing before them in the file had changed and no pause was long."""


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """One policy and what became of the calls under it."""

    name: str
    kind: str
    """recorded, none or strategy."""
    strategy: str | None
    trigger: int | None
    """Tokens above which a context is compacted."""
    window: int | None
    """Usable tokens of the window that its shares are of; null where none is known."""
    calls: tuple[SimulatedCall, ...]
    """Each call, modelled."""
    totals: PolicyTotals
    measured: PolicyTotals | None
    """The same as the provider reported it: of the recorded policy, where it did."""
    compactions: tuple[SimulatedCompaction, ...]
    loops: int
    """Compactions that fired at the call right after another one."""
    gave_up: int | None
    """The call at which compacting was given up until the context had grown: it had gained nothing, or had looped."""
    hindsight: float | None
    """The recall over all compactions: held by what was used later; null where there was nothing to hold."""
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SimulatedLane:
    """A lane beside the one that is replayed, as the transcript records it; never added to a context size."""

    lane: str
    title: str
    calls: int
    totals: PolicyTotals


@dataclass(frozen=True, slots=True)
class SimulateReport:
    """The document `ctx.simulate`: one lane of one conversation under each policy."""

    kind: str
    version: int
    ok: bool
    source: SimulatedSource
    tokenizer: Counting
    window: Window
    rules: tuple[Rules, ...]
    """By provider, that of the most calls first."""
    timed: int
    """Calls for which the time since the call before is recorded; at the others the cache is taken to be warm."""
    prices: PriceList | None
    hidden: Hidden | None
    agreement: Agreement | None
    """Null where the provider reported nothing to compare with."""
    policies: tuple[PolicyResult, ...]
    lanes: tuple[SimulatedLane, ...]
    """The other lanes that have calls."""
    explained: tuple[str, ...]
    """The arithmetic of the call that was asked for, a line each."""
    notes: tuple[str, ...]
