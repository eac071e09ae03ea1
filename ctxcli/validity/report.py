"""From what the rules and the questions found to a report."""

from collections.abc import Sequence

from ctxcli.model import Message, Transcript
from ctxcli.reports.check import NO, CheckCounts, CheckFinding, CheckReport, CheckSource
from ctxcli.rules import VALIDITY
from ctxcli.validity.habits import Answer
from ctxcli.validity.run import check
from ctxcli.validity.wire import Violation


def check_report(
    transcript: Transcript,
    messages: Sequence[Message],
    profile: str,
    answers: Sequence[Answer] = (),
    *,
    strict: bool = False,
) -> CheckReport:
    """The report on a context, and on the answers of its transcript; `strict` lets warnings fail."""
    findings = tuple(_finding(one, messages, strict=strict) for one in check(messages, profile))
    habits = tuple(one.habit(strict=strict) for one in answers)
    errors = sum(one.level == "error" for one in findings)
    warnings = len(findings) - errors + sum(one.answer == NO for one in habits)
    return CheckReport(
        kind="ctx.check",
        version=1,
        ok=not (any(one.fails for one in findings) or any(one.fails for one in habits)),
        source=CheckSource(transcript.path, transcript.format, transcript.id if transcript.many else None),
        profile=profile,
        counts=CheckCounts(len(messages), errors, warnings),
        findings=findings,
        habits=habits,
    )


def _finding(one: Violation, messages: Sequence[Message], *, strict: bool) -> CheckFinding:
    level = VALIDITY[one.rule].level
    place = one.message + 1 if messages else None
    return CheckFinding(one.rule, level, one.line or None, place, one.why, strict or level == "error")
