"""What `ctx guard` concludes."""

from dataclasses import dataclass

KEPT, AT_RISK, NOTED, MOVED, LOST, MUTATED, INVENTED = STATUSES = (
    "kept", "at_risk", "noted", "moved", "lost", "mutated", "invented",
)  # fmt: skip
"""What became of an identifier, best first."""

HELD = frozenset({KEPT, AT_RISK, NOTED})
"""Those that say that it stands there."""

WEAKENED, UNJUDGED = "weakened", "unjudged"

PASS, LOSS, UNVERIFIABLE = VERDICTS = ("pass", "loss", "unverifiable")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two things that were compared."""

    path: str
    conversation: str | None
    format: str
    lines: tuple[int, int] | None
    """First and last source line, 1-based; null where it holds no line."""
    sha256: str
    """Of the text of its parts, each ended by a zero byte."""


@dataclass(frozen=True, slots=True)
class NotesSource:
    """The notes file that was read beside AFTER."""

    path: str
    entries: int
    """Lines that hold something."""
    named: bool
    """Whether AFTER names the file; where it does not, nothing in it counts."""


@dataclass(frozen=True, slots=True)
class PolicyUsed:
    """What was required."""

    require: tuple[str, ...]
    """Sources, or all."""
    kinds: tuple[str, ...]
    scope: str
    """The policy in a sentence."""
    waivers: int
    """Waivers in force."""
    min_kept: tuple[str, ...]
    """Shares that suffice: 90% or path=95%."""
    strict: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """Identifiers by what became of them.

    required = kept + at_risk + noted + moved + lost + mutated + waived + baselined, where AFTER can be read.
    """

    found: int = 0
    """Different identifiers of BEFORE, required or not."""
    required: int = 0
    kept: int = 0
    """Required, in the summary or in pinned text."""
    at_risk: int = 0
    """Required, only in the messages that were kept as they are: the next compaction takes them."""
    noted: int = 0
    """Required, in the notes file."""
    moved: int = 0
    """Required, only as the end, the file name or the folder of a path."""
    lost: int = 0
    """Required, nowhere."""
    mutated: int = 0
    """Required, and a near neighbour that BEFORE never held stands there now."""
    invented: int = 0
    """In the compacted text, of a required kind, and nowhere in BEFORE."""
    waived: int = 0
    """Required and not there, for a reason that the settings give."""
    masked: int = 0
    """Secret-shaped: never required, never shown."""
    baselined: int = 0
    """Required and not there, which the baseline knows."""

    @property
    def held(self) -> int:
        """Required, and there."""
        return self.kept + self.at_risk + self.noted


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """Every identifier of BEFORE from one source, required or not, and how many of them AFTER holds."""

    found: int = 0
    held: int = 0
    """Kept, at risk or noted."""
    moved: int = 0
    gone: int = 0
    """Lost or mutated."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One identifier that is not where it should be."""

    rule: str
    status: str
    kind: str
    value: str
    required: bool
    fails: bool
    """Whether it fails the run: required, and neither waived, nor in the baseline, nor within --min-kept."""
    source: str | None
    """stated, touched or seen in BEFORE; null for what was invented."""
    role: str | None
    line: int | None
    """1-based source line in BEFORE of its first use with that source; of an invented one its line in AFTER."""
    first_line: int | None
    """Of its first use of any source."""
    last_line: int | None
    uses: int
    nearest: str | None
    """What stands in AFTER instead; for an invented one what BEFORE held that is like it."""
    masked: bool
    """Whether the value is a secret and shown only in part."""
    waived: str | None
    """The reason of the waiver that covers it."""
    baselined: bool
    why: str | None
    """What makes it required or not, beyond its source and kind."""
    fingerprint: str
    """What a baseline knows it by: SHA-256 of rule, kind and normal form."""


@dataclass(frozen=True, slots=True)
class ConstraintRow:
    """A boundary that a user set, and what became of it."""

    text: str
    line: int
    status: str
    required: bool
    """False where only a model could judge it, and for boundaries inside a document that was pasted."""
    fails: bool
    stands: str | None
    """The sentence in AFTER that comes nearest."""
    why: str
    """What was compared: the words, their polarity, the numbers."""
    waived: str | None
    baselined: bool
    fingerprint: str


@dataclass(frozen=True, slots=True)
class CompactionRef:
    """Which of the compactions that a transcript records."""

    line: int
    n: int
    of: int
    kind: str
    trigger: str
    tokens_before: int | None
    """As the source recorded it."""


@dataclass(frozen=True, slots=True)
class Hindsight:
    """Of the identifiers that were used after the compaction and had appeared before it: how many AFTER held."""

    used: int
    held: int
    recall: float | None
    """held / used; null where nothing was used."""


@dataclass(frozen=True, slots=True)
class Round:
    """What was required before an earlier compaction for the first time, and is still held."""

    n: int
    """The compaction before which it was stated or touched first."""
    required: int
    held: int


@dataclass(frozen=True, slots=True)
class GuardReport:
    """The document `ctx.guard`: one comparison of a context before with a context after."""

    kind: str
    version: int
    ok: bool
    """Whether nothing fails; an unverifiable one is not ok."""
    verdict: str
    before: Side
    after: Side
    notes: NotesSource | None
    policy: PolicyUsed
    counts: Counts
    by_kind: dict[str, Counts]
    by_source: dict[str, SourceCounts]
    findings: tuple[Finding, ...]
    """Those that fail first, then by kind, then by line; what is kept is no finding."""
    constraints: tuple[ConstraintRow, ...]
    tokens_to_carry: int
    """Tokens that a list of everything required would take."""
    compaction: CompactionRef | None
    hindsight: Hindsight | None
    """Null where no compaction is recorded, or where AFTER cannot be read."""
    rounds: tuple[Round, ...]
    """Empty unless several compactions are recorded."""
    remarks: tuple[str, ...]
    """What a reader has to know about this comparison, in a sentence each."""


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """A finding that is known."""

    rule: str
    kind: str
    """Of the identifier, or constraint."""
    fingerprint: str
    """SHA-256 of rule, kind and normal form: a baseline can be public where the identifiers cannot."""


@dataclass(frozen=True, slots=True)
class BaselineDocument:
    """The document `ctx.guard-baseline`: findings that do not fail a run."""

    kind: str
    version: int
    findings: tuple[BaselineEntry, ...]
