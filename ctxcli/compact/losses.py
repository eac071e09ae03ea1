"""What is wrong with the slots that a model filled, by the guard's own judgement."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ctxcli.reports.guard import INVENTED, ConstraintRow, Finding, GuardReport


@dataclass(frozen=True, slots=True)
class Losses:
    """What a summary leaves out, changes, or makes up."""

    identifiers: tuple[Finding, ...] = ()
    """Required, and lost or changed."""
    boundaries: tuple[ConstraintRow, ...] = ()
    """Lost or weakened."""
    opposed: tuple[str, ...] = ()
    """What stands in their place, in words that nobody said."""
    invented: tuple[str, ...] = ()
    """Identifiers that nobody ever named."""
    unfounded: tuple[str, ...] = ()
    """Boundaries that nobody ever set."""

    @classmethod
    def found_in(cls, report: GuardReport, unfounded: Iterable[str], said: Callable[[str], bool]) -> "Losses":
        """What fails in a report of the guard; `said` tells whether a sentence stands in the raw turns."""
        failing = [one for one in report.findings if one.fails]
        boundaries = [row for row in report.constraints if row.fails]
        instead = [row.stands.strip("-* ") for row in boundaries if row.stands]
        return cls(
            tuple(one for one in failing if one.status != INVENTED),
            tuple(boundaries),
            tuple(sentence for sentence in instead if sentence and not said(sentence)),
            tuple(one.value for one in failing if one.status == INVENTED),
            tuple(unfounded),
        )

    @property
    def listed(self) -> list[str]:
        """As a model is told of it."""
        return [
            *(one.value for one in self.identifiers),
            *(row.text for row in self.boundaries),
            *(f"(invented, leave it out) {value}" for value in self.invented),
            *(f"(nobody set this boundary, leave it out) {text}" for text in self.unfounded),
        ]
