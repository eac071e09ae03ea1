"""Findings that a team starts from: digests of what is known to be missing, never the values themselves."""

import hashlib
from collections.abc import Iterable
from typing import Any

from ctxcli.contract import problems
from ctxcli.errors import SettingError
from ctxcli.reports.guard import BaselineDocument, BaselineEntry, ConstraintRow, Finding, GuardReport
from ctxcli.rules import CONSTRAINT as CONSTRAINT_RULE

KIND = "ctx.guard-baseline"
CONSTRAINT = "constraint"
"""How waivers and baselines call a boundary."""


def fingerprint(rule: str, kind: str, form: str) -> str:
    """What a finding is known by: rule, kind and normal form, and neither its line nor its file."""
    return hashlib.sha256("\0".join((rule, kind, form)).encode("utf-8", "surrogatepass")).hexdigest()


def baseline_of(reports: Iterable[GuardReport]) -> BaselineDocument:
    """The document that holds whatever fails in these reports, or is known already; each once, in order."""
    entries: set[BaselineEntry] = set()
    for report in reports:
        entries.update(BaselineEntry(one.rule, one.kind, one.fingerprint) for one in report.findings if _counts(one))
        entries.update(
            BaselineEntry(CONSTRAINT_RULE.name, CONSTRAINT, row.fingerprint)
            for row in report.constraints
            if _counts(row)
        )
    return BaselineDocument(KIND, 1, tuple(sorted(entries, key=lambda one: (one.rule, one.kind, one.fingerprint))))


def _counts(row: Finding | ConstraintRow) -> bool:
    return row.fails or row.baselined


def fingerprints_of(path: str, document: Any) -> frozenset[str]:
    """The findings of a baseline file; raises SettingError where the document is none."""
    for problem in problems("guard-baseline", document):
        raise SettingError(f"{path}: is no baseline that ctx wrote: {problem}. --update-baseline writes a new one.")
    return frozenset(entry["fingerprint"] for entry in document["findings"])


def used_of(reports: Iterable[GuardReport]) -> frozenset[str]:
    """The entries of a baseline that a run had a use for."""
    found: set[str] = set()
    for report in reports:
        found.update(one.fingerprint for one in report.findings if one.baselined)
        found.update(row.fingerprint for row in report.constraints if row.baselined)
    return frozenset(found)
