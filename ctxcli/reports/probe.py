"""What `ctx probe` concludes: which answers a compaction changed."""

from dataclasses import dataclass

from ctxcli.reports.guard import CompactionRef

KEPT, CHANGED, UNANSWERABLE, GUESSABLE, UNASKED = VERDICTS = ("kept", "changed", "unanswerable", "guessable", "unasked")


@dataclass(frozen=True, slots=True)
class ProbeSide:
    """One of the two contexts."""

    path: str
    messages: int
    tokens: int
    """An estimate, of what is shown to the model: no system prompt, no reasoning."""


@dataclass(frozen=True, slots=True)
class ProbeScore:
    """How often one question was answered rightly in one context, or many questions were."""

    right: int
    asked: int
    """Graded answers."""
    share: float | None
    low: float | None
    high: float | None
    """The 95 % interval: Wilson's for one question, over all also that of a bootstrap over the questions, the wider
    end of the two."""


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """One question and what became of its answer."""

    id: str
    slot: str
    """What it asks for: setting, path, fact, decision, constraint, file (what became of one) or open; own for what
    a user asks."""
    question: str
    answers: tuple[str, ...]
    """All that are right; the pattern where a pattern says so."""
    grading: str
    line: int | None
    """1-based source line of the context before that states it."""
    without: ProbeScore
    """Without any context."""
    before: ProbeScore
    after: ProbeScore
    verdict: str
    """kept; changed (most answers were right before and are not after it); unanswerable (most are not right before);
    guessable (most are right without any context); unasked where answers are missing."""
    certain: bool | None
    """Whether the interval of the difference (Newcombe's) lies above 0, of a changed one; null for others."""
    said_before: str | None
    """The most frequent answer, cut to 300 characters; null where none was asked for."""
    said_after: str | None


@dataclass(frozen=True, slots=True)
class ProbeTotals:
    """All questions together."""

    questions: int
    kept: int
    changed: int
    unanswerable: int
    guessable: int
    unasked: int
    before: ProbeScore
    """Over the questions that are kept or changed."""
    after: ProbeScore
    kept_share: float | None
    """Of the questions that are kept or changed; null where there are none."""
    low: float | None
    high: float | None
    """Wilson's 95 % interval of it."""


@dataclass(frozen=True, slots=True)
class ProbeSpent:
    """What the questions took; answers that were stored are not in the figures after them."""

    calls: int
    stored: int
    prompt: int
    output: int
    cost: float | None
    """US dollars; null where no price is known."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The document `ctx.probe`."""

    kind: str
    version: int
    ok: bool
    """No answer changed, or the share kept is at least the one that was asked for; false where nothing can be told."""
    before: ProbeSide
    after: ProbeSide
    compaction: CompactionRef | None
    """The recorded one; null where two files, or a strategy, are compared."""
    strategy: str | None
    """The strategies that made the context after; null where it was given."""
    model: str
    judge: str
    repeats: int
    min_score: float | None
    questions: tuple[ProbeRow, ...]
    totals: ProbeTotals
    spent: ProbeSpent
    notes: tuple[str, ...]
    """What a reader has to know about these figures."""


@dataclass(frozen=True, slots=True)
class ProbeQuestion:
    """One line of the questions of `ctx probe`, as `--emit-questions` writes and `--questions` reads them."""

    question: str
    """What is asked. It may not hold its own answer."""
    id: str = ""
    """Its name in the report; by default the line's number."""
    slot: str = "own"
    """What it asks for."""
    answer: str = ""
    """The right answer; it, answers or regex has to be there."""
    answers: tuple[str, ...] = ()
    """All that are right, where there are several."""
    regex: str = ""
    """Found in a reply that is right; instead of an answer."""
    grading: str = "exact"
    """exact: an answer stands in the reply as whole words, but for case, ticks, quotes and slashes; regex: the pattern
    is found in it; judged: a model is asked whether the reply says the same as the answer."""
    line: int = 0
    """1-based source line that states it; 0 where none does."""
