"""SARIF 2.1.0, for code scanning."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from ctxcli import __version__
from ctxcli.renderers.alerts import Alert, alerts_of, check_alerts
from ctxcli.renderers.json import dump
from ctxcli.renderers.view import printable
from ctxcli.reports.check import CheckReport
from ctxcli.reports.guard import GuardReport
from ctxcli.rules import GUARD, HABITS, VALIDITY
from ctxcli.shelf import Canvas, Renderer, Rule

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def guard(reports: Iterable[GuardReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """One run: every rule, and a result for each finding; waived and known ones are suppressed."""
    yield _log((alert for report in reports for alert in alerts_of(report)), GUARD)


def check(reports: Iterable[CheckReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """One run: the rules of validity and the habits, and a result for each finding."""
    yield _log((alert for report in reports for alert in check_alerts(report)), {**VALIDITY, **HABITS})


def _log(alerts: Iterable[Alert], rules: Mapping[str, Rule]) -> str:
    order = list(rules)
    results = [_result(alert, order.index(alert.rule)) for alert in alerts]
    driver = {
        "name": "ctx",
        "version": __version__,
        "informationUri": "https://pypi.org/project/ctx-transcripts/",
        "rules": [_rule(rule) for rule in rules.values()],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return dump({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=True)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "name": rule.title,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(alert: Alert, index: int) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": _uri(alert.path)},
        "region": {"startLine": max(alert.line, 1)},
    }
    found: dict[str, Any] = {
        "ruleId": alert.rule,
        "ruleIndex": index,
        "level": alert.level,
        "message": {"text": printable(alert.message)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"ctx/v1": alert.fingerprint},
    }
    if alert.waived or alert.baselined:
        why = alert.waived or "in the baseline"
        found["suppressions"] = [{"kind": "external", "status": "accepted", "justification": printable(why)}]
    return found


def _uri(path: str) -> str:
    return "stdin" if path == "-" else quote(path.replace("\\", "/"), safe="/:@+,;=~!$&'()*")


RENDERER = Renderer("sarif", "SARIF 2.1.0, for code scanning", guard=guard, check=check)
