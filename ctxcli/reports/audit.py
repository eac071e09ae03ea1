"""What `ctx audit` concludes."""

from dataclasses import dataclass
from typing import Any

from ctxcli.reports.calls import Cache, CallRow
from ctxcli.reports.lanes import LaneRow


@dataclass(frozen=True, slots=True)
class Source:
    """Where a report's transcript came from."""

    path: str
    format: str
    agent: str
    models: tuple[str, ...]
    bytes: int
    lines: int
    conversation: str | None
    many: bool = False
    """The source holds several conversations; this is one of them."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the estimates for one model were fitted to what the provider reported."""

    model: str
    ratio: float
    """Tokens of the model per counted token of ordinary text."""
    calls: int
    """Pairs of consecutive calls that it was fitted on."""
    r2: float | None
    """Share of the variance of the growth that the fit explains, on those calls."""
    spread: tuple[float, float] | None
    """Quartiles of estimated / measured growth on those calls."""
    median_error: float | None
    """Median of |estimated - measured| / measured growth on those calls."""
    kinds: dict[str, float]
    """The ratio of each kind of part (words, results, thinking) that had calls enough for its own."""
    overhead: int
    """Tokens that each call adds beside its parts."""
    origin: str
    """fitted; constant where there was too little to fit; exact with the model's own tokenizer."""


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Which counter a report used, and whether it is the model's own."""

    name: str
    """The encoding, or heuristic."""
    engine: str
    """The program that counted."""
    exact: bool
    """It is the model's own, so that counts of text are exact."""
    calibration: Calibration | None
    by_model: tuple[Calibration, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """The model's limit, and what the output reserve leaves of it."""

    max_context: int | None
    """Tokens that the model takes; null where nobody says."""
    origin: str
    """Where that figure comes from: flag, config, transcript, model (a table) or unknown."""
    reserve_output: int
    """Tokens kept free for the answer."""
    usable: int | None
    """What the reserve leaves of the window."""
    exceeded_by: tuple[int, ...] = ()
    """Numbers of the calls that were larger than max_context: the assumed window is wrong."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of each thing; calls over all lanes."""

    messages: int
    calls: int
    lanes: int
    duplicates: int
    """Records that repeat one already read."""
    skipped: int
    """Places in the source that could not be read."""
    recovered: int
    """Places that were torn and could be read all the same."""
    media: int
    records: int
    """JSON values of the source."""
    bookkeeping: dict[str, int]
    """Records that no model saw, by type."""
    shared_calls: int = 0
    """Calls that an earlier input of the same run holds too (a resumed or forked copy)."""


@dataclass(frozen=True, slots=True)
class LayerBudget:
    """One layer against its quota."""

    layer: str
    quota: int | None
    """At the peak call; null for a layer without one."""
    peak: int
    """The most that the layer held at any call."""
    at_peak: int
    """What it held at the peak call."""
    overflow: int
    """The most by which it exceeded its quota, each call held against the quota at that call."""
    overflow_call: int | None
    """The call at which it did."""


@dataclass(frozen=True, slots=True)
class Budget:
    """All layers of the main lane against their quotas."""

    layers: tuple[LayerBudget, ...]
    overflow: bool
    """A layer exceeded its quota, or a call the usable window."""
    peak_call: int | None
    """The call of the main lane with the largest context."""
    peak: int | None
    """Its context: measured where it was, else estimated."""
    share: float | None
    """The peak as a share of the usable window."""


@dataclass(frozen=True, slots=True)
class CompactionIterations:
    """Server-side compaction steps, billed beside the calls that hold them."""

    count: int
    input: int
    output: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all lanes; `basis` says whether sent is measured, estimated or a mix per call."""

    sent: int
    """The contexts of all calls added up: what was billed as input, cached or not."""
    basis: str
    """measured, estimated, or mixed call by call."""
    output: int
    output_basis: str
    """As basis; placeholder where some reports are the first events of streams, far too low."""
    cache: Cache | None
    cost: dict[str, Any] | None
    """Not worked out yet."""
    compaction_iterations: CompactionIterations
    new: int
    """Tokens sent for the first time: first contexts and growths, in the same basis as sent."""
    shared: int = 0
    """What calls sent that an earlier input of the same run holds too."""


@dataclass(frozen=True, slots=True)
class CompactionRow:
    """A compaction that the transcript records."""

    line: int
    lane: str
    call: int | None
    """The first call after it."""
    kind: str
    """summary, clear (results emptied), trim, or rewrite (by the client, told by the next request)."""
    trigger: str
    """auto, manual, provider, client or unknown."""
    tokens_before: int | None
    """Context of the call before it, as measured; where that is not known, as the compaction records it."""
    tokens_after: int | None
    """Context of the first call after it, likewise."""
    recorded_before: int | None
    recorded_after: int | None
    estimated_before: int | None
    estimated_after: int | None
    summary_tokens: int | None
    """Weight of what stands in the place of what was dropped; null where it cannot be read."""
    dropped_messages: int
    cleared_results: int
    opaque: bool
    """The summary is encrypted or empty."""
    verdict: str | None = None
    """What the guard says of it; not worked out yet."""
    hindsight: dict[str, Any] | None = None
    """Not worked out yet."""
    inferred: bool = False
    """No record marks it: the measured context fell and did not come back."""


@dataclass(frozen=True, slots=True)
class CacheBreak:
    """A call whose prompt was written anew although the call before had left it in the provider's cache."""

    call: int
    line: int
    lane: str
    cause: str
    """The most likely one."""
    held: int
    """What the cache held after the call before, in tokens."""
    read: int
    """What was read of it."""
    anew: int
    """What was sent again at the price of a write, or of plain input."""
    cost: int
    """What that cost beyond reading it, in tokens of input."""
    idle: int | None
    """Seconds since the call before; null where no times are recorded."""


@dataclass(frozen=True, slots=True)
class Hot:
    """One of the largest single parts."""

    line: int
    lane: str
    what: str
    tool: str
    path: str
    tokens: int
    share: float
    """Of all the estimated tokens that entered its lane."""
    stale: str | None = None
    """Not worked out yet."""


@dataclass(frozen=True, slots=True)
class HotTool:
    """What one tool returned in all."""

    tool: str
    results: int
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class SkipRow:
    """A place in the source that was not read as it stands."""

    line: int
    reason: str
    recovered: bool
    file: str


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that the user set, and the calls over it."""

    name: str
    limit: int | None
    """In tokens; null where it could not be worked out."""
    calls: tuple[int, ...]
    """The calls over it."""
    checked: bool = True
    """False where the window is not known, so that a share of it cannot be checked."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The ctx.audit document."""

    ok: bool
    """No limit that was set is exceeded, and none could not be checked."""
    source: Source
    tokenizer: Tokenizer
    window: Window
    counts: Counts
    calls: tuple[CallRow, ...]
    budget: Budget
    totals: Totals
    compactions: tuple[CompactionRow, ...]
    cache_breaks: tuple[CacheBreak, ...]
    hot: tuple[Hot, ...]
    hot_tools: tuple[HotTool, ...]
    waste: dict[str, int | None]
    """Not worked out yet."""
    lanes: tuple[LaneRow, ...]
    advice: tuple[dict[str, Any], ...]
    """Not worked out yet."""
    skips: tuple[SkipRow, ...]
    limits: tuple[Limit, ...]
    notes: tuple[str, ...]
    """What a reader has to know about these figures."""
    kind: str = "ctx.audit"
    version: int = 1
