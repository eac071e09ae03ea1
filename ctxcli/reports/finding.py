"""What a sub-agent should return, and what `ctx check --finding` says of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aside:
    """Something that was looked at and is no part of the answer."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class AgentFinding:
    """What a sub-agent returns: the answer, and all that whoever asked needs to check it and to go on from it.

    It has no kind and no version: a model writes it, and every field is one that it fills. All are required, so that an
    empty list says that there was nothing, and nothing else is allowed, so that the schema can be handed to a provider
    as the format of an answer.
    """

    answer: str
    """What was asked for, in as many sentences as it takes and no more."""
    locations: tuple[str, ...]
    """Where the answer can be checked: path:line or path:line-line, the lines from 1."""
    rejected: tuple[Aside, ...]
    """What was looked at and ruled out, each with the reason, so that nobody looks there again."""
    unresolved: tuple[str, ...]
    """What stayed open."""
    failures: tuple[Aside, ...]
    """What was tried and did not work, each with the error."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a finding."""

    at: str
    """The path of it, as in rejected/0/why; document for the whole."""
    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class CheckedFinding:
    """One finding of a source."""

    n: int
    """From 1, in the order of the source."""
    line: int
    """1-based line on which it starts."""
    ok: bool
    answer: str | None
    """Its answer, cut to 200 characters; null where it has none."""
    locations: int
    rejected: int
    unresolved: int
    failures: int
    faults: tuple[Fault, ...]
    """By path."""


@dataclass(frozen=True, slots=True)
class FindingReport:
    """The document `ctx.finding-check`: whether the findings of a source are what a sub-agent should return."""

    kind: str
    version: int
    ok: bool
    path: str
    findings: tuple[CheckedFinding, ...]
