"""What `ctx check` concludes."""

from dataclasses import dataclass

YES, NO, UNKNOWN = ANSWERS = ("yes", "no", "unknown")


@dataclass(frozen=True, slots=True)
class CheckSource:
    """What was checked."""

    path: str
    format: str
    conversation: str | None


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """The context at the end of the transcript, and what is wrong with it."""

    messages: int
    """In the context, system messages included."""
    errors: int
    warnings: int
    """Findings that are warnings, and habits that are answered with no."""


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """A rule of the provider that the context breaks."""

    rule: str
    level: str
    line: int | None
    """1-based source line; null where there is none to name."""
    message: int | None
    """Place of the message in the context, 1-based; null where there is no message."""
    why: str
    fails: bool
    """Errors do; warnings under --strict."""


@dataclass(frozen=True, slots=True)
class Habit:
    """A question to the transcript; yes is the good answer."""

    rule: str
    question: str
    answer: str
    why: str
    line: int | None
    """1-based source line that shows it."""
    fails: bool
    """A no does under --strict."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The document `ctx.check`: whether a provider accepts the context at the end of a transcript."""

    kind: str
    version: int
    ok: bool
    """Whether nothing fails."""
    source: CheckSource
    profile: str
    counts: CheckCounts
    findings: tuple[CheckFinding, ...]
    """By message, then by rule."""
    habits: tuple[Habit, ...]
    """Empty under --no-habits."""
