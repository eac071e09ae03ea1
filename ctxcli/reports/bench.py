"""What `ctx bench` concludes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over cuts, with what it varies by."""

    mean: float
    low: float | None
    """95 %, by the bootstrap over conversations and the cuts in them; null where there are too few to tell."""
    high: float | None
    cells: int
    """Results that it is the mean of."""


@dataclass(frozen=True, slots=True)
class BenchSource:
    """One conversation that was compared on."""

    path: str
    conversation: str | None
    cuts: int
    """Places at which it was compacted, its recorded compactions included."""
    recorded: int
    """Recorded compactions among them."""


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """What was compared, and how."""

    budgets: tuple[float, ...]
    cuts: int
    least: int
    """Tokens of a context below which it is not compared on."""
    generations: int
    generation_budget: float
    plant: int
    seed: int


@dataclass(frozen=True, slots=True)
class KindHeld:
    """Of the required identifiers of a kind."""

    required: int
    held: int


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One compactor at one budget."""

    compactor: str
    kind: str
    """strategy, recorded, or outside."""
    budget: float | None
    """The share of what can be compacted that may be left; null at the size that a compactor chose itself."""
    against: str | None
    """That compactor."""
    results: int
    fitting: int
    """Results within the budget; the means are of these."""
    failed: int
    """Results that there are not: the command failed, or wrote nothing."""
    left: float | None
    """Tokens of the whole context that are left, as a share."""
    tokens: int | None
    """The same in tokens, in the mean."""
    recall: Interval | None
    """Hindsight recall: of what the conversation used later, the share that is held."""
    required: Interval | None
    """Of what the guard requires."""
    constraints: float | None
    """Of the boundaries that were set, the share that stands there in its words."""
    decisions: float | None
    """Of the decisions that were stated, the share that stands there in its words."""
    mutated: int
    invented: int
    broken: int
    """Results that the provider would refuse."""
    seconds: float | None
    """In the mean; null under --no-times. The one figure that is not the same from run to run."""
    by_kind: dict[str, KindHeld]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The best compactor at a budget against another, on the same cuts."""

    budget: float | None
    against: str | None
    best: str
    other: str
    difference: float
    """Mean difference of hindsight recall."""
    low: float | None
    high: float | None
    cells: int
    """Cuts on which both fit."""
    better: int
    """Of those, on how many the best held more."""
    worse: int
    won: bool
    """The interval leaves zero out."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What stands after so many compactions one after the other."""

    generation: int
    held: Interval
    """Of what was required before the first one."""
    planted: float | None
    """Of what was planted."""
    left: float
    """Tokens of the context after, as a share of the one before."""


@dataclass(frozen=True, slots=True)
class BenchLife:
    """One compactor, generation by generation."""

    compactor: str
    form: str
    """raw turns: each time from the turns themselves. copy of a copy: from its own output alone."""
    generations: tuple[Generation, ...]
    """Those at which half of the results or more are within the budget; their figures are of these."""
    cliff: int | None
    """The first generation that holds less than half; null where none does."""
    failed: int
    """Conversations on which the command failed."""


@dataclass(frozen=True, slots=True)
class PlantedRow:
    """What became of planted facts after the last generation."""

    compactor: str
    form: str
    slot: str
    place: str
    """head, middle, or tail of the first context."""
    planted: int
    held: int


RECALL, REQUIRED, CONSTRAINTS, DECISIONS, SURVIVAL, PLANTED, MUTATED, INVENTED, BROKEN = MEASURES = (
    "recall", "required", "constraints", "decisions", "survival", "planted", "mutated", "invented", "broken",
)  # fmt: skip
"""What a floor can be set on."""
AT_MOST = (MUTATED, INVENTED, BROKEN)
"""Of them, the counts, which may be no larger; the others are shares, which may be no smaller."""


@dataclass(frozen=True, slots=True)
class FloorRow:
    """A figure that was asked for."""

    measure: str
    least: float
    """At least that; of mutated and invented, at most that."""
    compactor: str
    budget: float | None
    value: float | None
    ok: bool


@dataclass(frozen=True, slots=True)
class BenchCell:
    """One result: one compactor at one cut within one budget."""

    path: str
    conversation: str | None
    call: int
    """The call before which the context was cut."""
    compactor: str
    budget: float | None
    against: str | None
    before: int
    target: int
    tokens: int | None
    """The result; null where there is none."""
    fits: bool
    required: int | None
    required_held: int | None
    used: int | None
    used_held: int | None
    constraints: int | None
    constraints_held: int | None
    decisions: int | None
    decisions_held: int | None
    mutated: int | None
    invented: int | None
    broken: int | None
    seconds: float | None
    error: str | None


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What compactors hold, at equal budgets, on the same cuts of real transcripts."""

    kind: str
    version: int
    ok: bool
    """Every floor is reached."""
    settings: BenchSettings
    sources: tuple[BenchSource, ...]
    rows: tuple[BenchRow, ...]
    comparisons: tuple[Comparison, ...]
    generations: tuple[BenchLife, ...]
    planted: tuple[PlantedRow, ...]
    floors: tuple[FloorRow, ...]
    cells: tuple[BenchCell, ...]
    """Empty unless they are asked for."""
    notes: tuple[str, ...]
