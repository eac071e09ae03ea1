"""What the tests of the guard share."""

from ctxcli.guard import Policy, guard
from ctxcli.model import Transcript
from ctxcli.reports.guard import Finding, GuardReport
from ctxcli.tokens import counter
from support import plain_text

WEIGH = counter("heuristic")


def compare(before: Transcript, after: Transcript | str, **policy: object) -> GuardReport:
    """The report of a comparison under the default policy, or with these fields of it changed."""
    other = plain_text(after) if isinstance(after, str) else after
    return guard(before, other, Policy(**policy), WEIGH)  # type: ignore[arg-type]


def finding(report: GuardReport, value: str) -> Finding | None:
    """The finding on a value; None where there is none, so that it is kept."""
    return next((one for one in report.findings if one.value == value), None)


def status(report: GuardReport, value: str) -> str:
    """What became of a value."""
    found = finding(report, value)
    return found.status if found else "kept"
