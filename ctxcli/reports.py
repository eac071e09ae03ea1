"""What each verb concludes. Field for field the JSON that ctx writes: see schemas/."""

from dataclasses import dataclass
from typing import Any


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
    """How estimates were fitted to what the provider reported, for one model.

    ratio is tokens of the model per counted token of ordinary text, calls the number of pairs of
    consecutive calls that it was fitted on, spread the quartiles of their estimated / measured
    growth after the fit, kinds the ratio of each kind of part that had data enough for its own,
    overhead the tokens that each call adds beside its parts.
    """

    model: str
    ratio: float
    calls: int
    r2: float | None
    spread: tuple[float, float] | None
    median_error: float | None
    kinds: dict[str, float]
    overhead: int
    origin: str
    """fitted, constant (a documented figure, where there is too little to fit) or exact."""


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Which counter a report used, and whether it is the model's own."""

    name: str
    engine: str
    exact: bool
    calibration: Calibration | None
    by_model: tuple[Calibration, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """The model's limit, and what the output reserve leaves of it."""

    max_context: int | None
    origin: str
    reserve_output: int
    usable: int | None
    exceeded_by: tuple[int, ...] = ()
    """Numbers of the calls that were larger than max_context: the assumed window is wrong."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of each thing; calls over all lanes."""

    messages: int
    calls: int
    lanes: int
    duplicates: int
    skipped: int
    recovered: int
    media: int
    records: int
    bookkeeping: dict[str, int]
    shared_calls: int = 0
    """Calls that an earlier input of the same run holds too (a resumed or forked copy)."""


@dataclass(frozen=True, slots=True)
class Context:
    """One context, measured by the provider and estimated from the text."""

    measured: int | None
    estimated: int


@dataclass(frozen=True, slots=True)
class Output:
    """What came back, as reported and as estimated from its text.

    final is false where the report is the placeholder of a stream's first event, far too low.
    """

    measured: int | None
    estimated: int
    final: bool


@dataclass(frozen=True, slots=True)
class Layers:
    """The estimated context by layer; unattributed is measured minus estimated, of either sign."""

    system: int
    tools: int
    history: int
    retrieved: int
    summary: int
    unattributed: int | None


@dataclass(frozen=True, slots=True)
class Cache:
    """How the provider's cache served a prompt; the three add up to it."""

    read: int
    write: int
    uncached: int


@dataclass(frozen=True, slots=True)
class Cause:
    """The part that added most to a call."""

    what: str
    tool: str
    address: str
    line: int
    tokens: int


@dataclass(frozen=True, slots=True)
class CallRow:
    """One model call."""

    n: int
    line: int
    lane: str
    time: str | None
    model: str | None
    context: Context
    layers: Layers
    added: int
    growth: int | None
    """Measured context minus that of the call before in the lane; null across a compaction."""
    grew: int | None
    """growth, else added where nothing is measured; null for a first call and for a rebuilt context."""
    output: Output
    cache: Cache | None
    share_of_window: float | None
    sent_so_far: int
    cause: Cause | None


@dataclass(frozen=True, slots=True)
class LayerBudget:
    """One layer against its quota."""

    layer: str
    quota: int | None
    peak: int
    at_peak: int
    overflow: int


@dataclass(frozen=True, slots=True)
class Budget:
    """All layers of the main lane against their quotas."""

    layers: tuple[LayerBudget, ...]
    overflow: bool
    peak_call: int | None
    peak: int | None
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
    basis: str
    output: int
    output_basis: str
    cache: Cache | None
    cost: dict[str, Any] | None
    compaction_iterations: CompactionIterations
    new: int
    """Tokens sent for the first time, in the same basis as sent."""
    shared: int = 0
    """What calls sent that an earlier input of the same run holds too."""


@dataclass(frozen=True, slots=True)
class CompactionRow:
    """A compaction that the transcript records; `call` is the first call after it."""

    line: int
    lane: str
    call: int | None
    kind: str
    trigger: str
    tokens_before: int | None
    tokens_after: int | None
    recorded_before: int | None
    recorded_after: int | None
    estimated_before: int | None
    estimated_after: int | None
    summary_tokens: int | None
    dropped_messages: int
    cleared_results: int
    opaque: bool
    verdict: str | None = None
    hindsight: dict[str, Any] | None = None


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


@dataclass(frozen=True, slots=True)
class HotTool:
    """What one tool returned in all."""

    tool: str
    results: int
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class LaneRow:
    """One lane: tokens is what its calls sent, or what the source says where its calls are not in it.

    reported_tokens is what the source says of the lane as a whole.
    """

    lane: str
    title: str
    calls: int | None
    tokens: int | None
    output: int | None
    cache: Cache | None
    peak: int | None
    reported_tokens: int | None
    returned_tokens: int | None
    file: str


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
    limit: int
    calls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The ctx.audit document."""

    ok: bool
    source: Source
    tokenizer: Tokenizer
    window: Window
    counts: Counts
    calls: tuple[CallRow, ...]
    budget: Budget
    totals: Totals
    compactions: tuple[CompactionRow, ...]
    hot: tuple[Hot, ...]
    hot_tools: tuple[HotTool, ...]
    waste: dict[str, int | None]
    lanes: tuple[LaneRow, ...]
    advice: tuple[dict[str, Any], ...]
    skips: tuple[SkipRow, ...]
    limits: tuple[Limit, ...]
    notes: tuple[str, ...]
    kind: str = "ctx.audit"
    version: int = 1
