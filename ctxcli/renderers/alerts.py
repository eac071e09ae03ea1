"""Findings as continuous integration has them: a rule, a level, a place, a sentence."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from ctxcli.renderers.guard_view import most_telling, now
from ctxcli.renderers.view import plural
from ctxcli.reports.check import NO, CheckReport
from ctxcli.reports.guard import INVENTED, UNVERIFIABLE, ConstraintRow, Finding, GuardReport
from ctxcli.rules import AT_RISK as AT_RISK_RULE
from ctxcli.rules import CONSTRAINT, RULES
from ctxcli.rules import UNVERIFIABLE as UNVERIFIABLE_RULE


@dataclass(frozen=True, slots=True)
class Alert:
    """One finding as a line of code has it."""

    rule: str
    level: str
    """error, warning or note."""
    path: str
    line: int
    message: str
    fingerprint: str
    fails: bool
    waived: str | None = None
    baselined: bool = False


def alerts_of(report: GuardReport) -> Iterator[Alert]:
    """Whatever is required and not in its place, the boundaries, and a summary that cannot be read."""
    line = report.compaction.line if report.compaction else 1
    if report.verdict == UNVERIFIABLE:
        level = "note" if report.ok else "error"
        message = (
            f"{UNVERIFIABLE_RULE.summary} {plural(report.counts.required, 'required identifier')} cannot be checked."
        )
        yield Alert(
            UNVERIFIABLE_RULE.name, level, report.before.path, line, message, report.after.sha256, not report.ok
        )
    for row in report.constraints:
        if row.status != "kept" and (row.fails or row.waived or row.baselined):
            yield _boundary(report, row)
    failing = most_telling([one for one in report.findings if one.fails], len(report.findings))
    rest = [one for one in report.findings if one.required and not one.fails]
    for one in (*failing, *rest):
        yield _alert(report, one)


def _boundary(report: GuardReport, row: ConstraintRow) -> Alert:
    stands = f"; now: “{row.stands}”" if row.stands else ""
    message = f"{row.status} boundary, {row.why}: “{row.text}”{stands}"
    level = "error" if row.fails else "note"
    return Alert(
        CONSTRAINT.name,
        level,
        report.before.path,
        row.line,
        message,
        row.fingerprint,
        row.fails,
        row.waived,
        row.baselined,
    )


def _alert(report: GuardReport, one: Finding) -> Alert:
    path = report.after.path if one.status == INVENTED else report.before.path
    level = (
        "error" if one.fails else "note" if one.rule == AT_RISK_RULE.name or one.waived or one.baselined else "warning"
    )
    origin = f" ({one.source} by {one.role}, {plural(one.uses, 'use')})" if one.source and one.role else ""
    message = f"{one.status.replace('_', ' ')} {one.kind} {one.value}{origin}. Now: {now(one)}."
    return Alert(one.rule, level, path, one.line or 1, message, one.fingerprint, one.fails, one.waived, one.baselined)


def check_alerts(report: CheckReport) -> Iterator[Alert]:
    """What the provider refuses, then the habits that are answered with no."""
    path = report.source.path
    for one in report.findings:
        level = "error" if one.fails else one.level
        yield Alert(one.rule, level, path, one.line or 1, f"{one.why}.", _fingerprint(one.rule, one.why), one.fails)
    for habit in report.habits:
        if habit.answer == NO:
            level = "error" if habit.fails else RULES[habit.rule].level
            message = f"{habit.question} No: {habit.why}."
            print_of = _fingerprint(habit.rule, habit.why)
            yield Alert(habit.rule, level, path, habit.line or 1, message, print_of, habit.fails)


def _fingerprint(rule: str, why: str) -> str:
    return hashlib.sha256(f"{rule}\0{why}".encode("utf-8", "replace")).hexdigest()
