"""What continuous integration reads: GitHub's annotations, GitLab's code quality, JUnit's XML."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from ctxcli.renderers.guard_view import most_telling, now, what_happened
from ctxcli.renderers.json import dump
from ctxcli.renderers.view import plural, printable
from ctxcli.reports.guard import INVENTED, UNVERIFIABLE, ConstraintRow, Finding, GuardReport
from ctxcli.rules import AT_RISK as AT_RISK_RULE
from ctxcli.rules import CONSTRAINT, RULES
from ctxcli.rules import UNVERIFIABLE as UNVERIFIABLE_RULE
from ctxcli.shelf import Canvas, Renderer

_MOST_ANNOTATIONS = 9
"""Annotations of one level that GitHub shows for a step are ten; the last one says how many more there are."""
_SEVERITY = {"error": "major", "warning": "minor", "note": "info"}
_COMMAND = {"error": "error", "warning": "warning", "note": "notice"}


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


def github(reports: Iterable[GuardReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """Workflow commands: an annotation each, ten of a level at most, and a notice with the verdict."""
    shown: dict[str, int] = {}
    held_back: dict[str, int] = {}
    for report in reports:
        for alert in alerts_of(report):
            if alert.waived or alert.baselined:
                continue
            shown[alert.level] = shown.get(alert.level, 0) + 1
            if shown[alert.level] > _MOST_ANNOTATIONS:
                held_back[alert.level] = held_back.get(alert.level, 0) + 1
                continue
            rule = RULES[alert.rule]
            yield _workflow(_COMMAND[alert.level], alert.message, f"{rule.name} {rule.title}", alert.path, alert.line)
        verdict = f"{report.verdict}: {', '.join(what_happened(report))}"
        yield f"ctx guard: {_escaped(report.before.path)}: {_escaped(verdict)}\n"
    for level, many in held_back.items():
        yield _workflow(
            _COMMAND[level], f"{plural(many, 'finding')} more of this level; the report lists them.", "ctx guard"
        )


def _workflow(command: str, message: str, title: str, path: str = "", line: int = 0) -> str:
    place = f"file={_property(path)},line={line}," if path and path != "-" else ""
    return f"::{command} {place}title={_property(title)}::{_escaped(message)}\n"


def _escaped(text: str) -> str:
    """One line that a runner takes for nothing but a message."""
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(reports: Iterable[GuardReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A Code Quality report: what fails, and what is only a warning; waived and known findings are left out."""
    rows: dict[str, dict[str, object]] = {}
    for report in reports:
        for alert in alerts_of(report):
            if not (alert.waived or alert.baselined):
                known = f"{alert.fingerprint}:{alert.path}:{alert.line}"
                rows.setdefault(known, _issue(alert))
    yield dump(list(rows.values()), indent=True)


def _issue(alert: Alert) -> dict[str, object]:
    return {
        "description": printable(alert.message),
        "check_name": alert.rule,
        "fingerprint": f"{alert.fingerprint}{alert.line:x}",
        "severity": _SEVERITY[alert.level],
        "location": {"path": alert.path, "lines": {"begin": max(alert.line, 1)}},
    }


def junit(reports: Iterable[GuardReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A suite a comparison: a case for each kind that is whole, and for each finding."""
    root = ElementTree.Element("testsuites", name="ctx guard")
    for report in reports:
        root.append(_suite(report))
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(report: GuardReport) -> ElementTree.Element:
    name = f"{report.before.path}, compaction {report.compaction.n}" if report.compaction else report.before.path
    suite = ElementTree.Element("testsuite", name=_xml(name))
    alerts = [alert for alert in alerts_of(report) if alert.fails or alert.waived or alert.baselined]
    for alert in alerts:
        label = f"{alert.rule} line {alert.line}: {alert.message}"
        case = ElementTree.SubElement(suite, "testcase", classname=_xml(report.before.path), name=_xml(label))
        if alert.fails:
            tag = "error" if report.verdict == UNVERIFIABLE else "failure"
            ElementTree.SubElement(case, tag, type=alert.rule, message=_xml(alert.message))
        else:
            ElementTree.SubElement(case, "skipped", message=_xml(alert.waived or "in the baseline"))
    broken = {one.kind for one in report.findings if one.fails}
    whole = [kind for kind, counts in report.by_kind.items() if counts.required and kind not in broken]
    for kind in whole if report.verdict != UNVERIFIABLE else []:
        many = plural(report.by_kind[kind].required, "identifier")
        ElementTree.SubElement(suite, "testcase", classname=_xml(report.before.path), name=f"{kind}: {many} held")
    for tag in ("failure", "error", "skipped"):
        key = {"failure": "failures", "error": "errors", "skipped": "skipped"}[tag]
        suite.set(key, str(sum(1 for _ in suite.iter(tag))))
    suite.set("tests", str(len(suite)))
    return suite


def _xml(text: str) -> str:
    """Without the signs that XML 1.0 cannot hold."""
    return "".join(
        sign for sign in printable(text) if sign <= "\ud7ff" or "\ue000" <= sign <= "\ufffd" or sign > "\uffff"
    )


GITHUB = Renderer("github", "annotations of a GitHub workflow", guard=github)
GITLAB = Renderer("gitlab", "GitLab's Code Quality report", guard=gitlab)
JUNIT = Renderer("junit", "JUnit XML, for any CI", guard=junit)
