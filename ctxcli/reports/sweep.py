"""What `ctx sweep` reads and concludes: items, cells of the grid, the knee, the position gap, the effective context."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SweepItem:
    """One line of the items of `ctx sweep`: a question, what answers it, and the text that says so."""

    question: str
    span: str
    """The decisive text, which stands in the context; with the question it is the length that multiples are of."""
    id: str = ""
    """By default its line number."""
    answer: str = ""
    answers: tuple[str, ...] = ()
    """All that are right, where there are several."""
    regex: str = ""
    """Found in a reply that is right; instead of an answer."""
    grading: str = "exact"
    """exact: an answer stands in the reply as whole words, whatever the case, quotes and marks around it; regex: the
    pattern is found in it; judged: a model is asked whether the reply says the same as the answer."""
    padding: tuple[str, ...] = ()
    """Texts that this item is padded from, instead of the corpus."""


@dataclass(frozen=True, slots=True)
class SweepSource:
    """What was asked, and what it was padded with."""

    path: str
    """The items, or the transcript that they were made from."""
    from_transcript: bool
    items: int
    gradings: dict[str, int]
    """How many items are graded in which way."""
    corpus: tuple[str, ...]
    pieces: int
    """Pieces of text in the corpus."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The grid."""

    multiples: tuple[int, ...]
    """Of the length of an item's own span and question."""
    positions: tuple[str, ...]
    repeats: int
    """Each with another sample of the padding."""
    seed: int
    recite: bool
    """Whether the evidence is asked for before the answer."""


@dataclass(frozen=True, slots=True)
class SweepCell:
    """All answers at one length and one position."""

    multiple: int
    position: str
    """head, middle or tail: where the span stands in the padding; alone where there is none."""
    tokens: int
    """Of a prompt, in the mean."""
    asked: int
    """Answers that there should be."""
    answered: int
    """Those that there are, and are graded."""
    right: int
    mean: float | None
    low: float | None
    """Of the 95 % Wilson interval of the mean."""
    high: float | None
    spread: float | None
    """Standard deviation over the repeats, of their means; null with one repeat."""
    spread_items: float | None
    """Standard deviation over the items, of their means; null with one item."""


@dataclass(frozen=True, slots=True)
class SweepLength:
    """All positions at one length, held against the base: the shortest length."""

    multiple: int
    tokens: int
    answered: int
    mean: float | None
    spread: float | None
    share: float | None
    """Of the base's mean; null where that is 0 or unknown."""
    fall: float | None
    """The base's score less the one here, over pairs of one item and one repeat."""
    low: float | None
    """Of the 95 % interval of the fall; null where there is nothing to tell the spread from."""
    high: float | None


@dataclass(frozen=True, slots=True)
class SweepKnee:
    """The first length at which the score falls beyond the spread."""

    verdict: str
    """knee, none, or unknown: it cannot be told."""
    multiple: int | None
    tokens: int | None
    positions: dict[str, int | None]
    """The same of each position alone: the multiple, or null where there is none or it cannot be told."""
    method: str
    why: str


@dataclass(frozen=True, slots=True)
class SweepGap:
    """What the position costs at one length."""

    multiple: int
    tokens: int
    best: str
    """The best position."""
    gap: float | None
    """Its mean less that of the middle, over pairs of one item and one repeat."""
    low: float | None
    """Of its 95 % interval; null where there is nothing to tell the spread from."""
    high: float | None
    certain: bool
    """Whether the interval lies above 0."""


@dataclass(frozen=True, slots=True)
class SweepEffective:
    """The longest length up to which no mean is below the share of the base's."""

    share: float
    multiple: int | None
    tokens: int | None
    """Null where it cannot be told."""
    longest: bool
    """Whether no longer length has answers: the model may hold more."""


@dataclass(frozen=True, slots=True)
class SweepSpent:
    """What this run came to."""

    calls: int
    stored: int
    """Answers from the cache on disk."""
    resumed: int
    """Answers from the answers file."""
    prompt: int
    output: int
    cost: float | None
    """US dollars; null where no price is known."""


@dataclass(frozen=True, slots=True)
class SweepFloor:
    """A floor that the user set."""

    name: str
    floor: float
    found: float | None
    ok: bool | None
    """Null where it cannot be told."""
    why: str


@dataclass(frozen=True, slots=True)
class SweepItemRow:
    """One item over the grid."""

    id: str
    line: int
    grading: str
    tokens: int
    """Of its span and question."""
    means: dict[str, float | None]
    """By multiple."""


@dataclass(frozen=True, slots=True)
class SweepAnswer:
    """One prompt and what came back."""

    id: str
    item: str
    multiple: int
    position: str
    repeat: int
    tokens: int
    right: bool | None
    """Null where there is no answer, or it could not be graded."""
    answer: str | None
    stop: str | None
    why: str
    """Why it is not right, or has no grade."""


@dataclass(frozen=True, slots=True)
class PlannedLength:
    """What would be asked at one length."""

    multiple: int
    requests: int
    tokens: int
    """Of the prompts, estimated."""
    cost: float | None
    """US dollars at most; null where no model is named, or no price is known."""


@dataclass(frozen=True, slots=True)
class SweepPlanned:
    """The document `ctx.sweep-plan`, of `ctx sweep --dry-run`: what would be asked; nothing was."""

    kind: str
    version: int
    model: str | None
    requests: int
    tokens: int
    cost: float | None
    judged: int
    """Answers that a judge would be asked about on top."""
    lengths: tuple[PlannedLength, ...]


@dataclass(frozen=True, slots=True)
class SweepReport:
    """The document `ctx.sweep`: how well a model answers as the context grows, and by where the fact stands in it."""

    kind: str
    version: int
    ok: bool
    complete: bool
    """Whether every prompt has an answer with a grade."""
    source: SweepSource
    plan: SweepPlan
    model: str | None
    """PROVIDER:MODEL; null for answers that came from elsewhere."""
    judge: str | None
    tokenizer: str
    cells: tuple[SweepCell, ...]
    lengths: tuple[SweepLength, ...]
    knee: SweepKnee
    gaps: tuple[SweepGap, ...]
    effective: SweepEffective
    floors: tuple[SweepFloor, ...]
    spent: SweepSpent
    items: tuple[SweepItemRow, ...]
    answers: tuple[SweepAnswer, ...]
    notes: tuple[str, ...]
