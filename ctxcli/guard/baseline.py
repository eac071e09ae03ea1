"""Findings that a team starts from: digests of what is known to be missing, never the values themselves."""

import hashlib
from collections.abc import Iterable

from ctxcli.errors import SettingError
from ctxcli.reports.guard import BaselineDocument, BaselineEntry

KIND = "ctx.guard-baseline"


def fingerprint(rule: str, kind: str, form: str) -> str:
    """What a finding is known by: rule, kind and normal form, and neither its line nor its file."""
    return hashlib.sha256("\0".join((rule, kind, form)).encode("utf-8", "surrogatepass")).hexdigest()


def baseline_of(entries: Iterable[BaselineEntry]) -> BaselineDocument:
    """The document that holds these findings, each once, in order."""
    return BaselineDocument(KIND, 1, tuple(sorted(set(entries), key=lambda one: (one.rule, one.kind, one.fingerprint))))


def fingerprints(path: str, document: object, problems: Iterable[str]) -> frozenset[str]:
    """The findings of a baseline file; raises SettingError where the document is none."""
    for problem in problems:
        raise SettingError(f"{path}: is no baseline that ctx wrote: {problem}. --update-baseline writes a new one.")
    if not isinstance(document, dict):
        raise SettingError(f"{path}: is no baseline that ctx wrote")
    return frozenset(entry["fingerprint"] for entry in document["findings"])
