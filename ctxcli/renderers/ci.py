"""What continuous integration reads: GitHub's annotations, GitLab's code quality, JUnit's XML."""

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from ctxcli.renderers.alerts import Alert, alerts_of, check_alerts
from ctxcli.renderers.check_view import what_holds
from ctxcli.renderers.guard_view import what_happened
from ctxcli.renderers.json import dump
from ctxcli.renderers.view import plural, printable
from ctxcli.reports.check import NO, CheckReport
from ctxcli.reports.guard import UNVERIFIABLE, GuardReport
from ctxcli.rules import RULES
from ctxcli.shelf import Canvas, Renderer

_MOST_ANNOTATIONS = 9
"""Annotations of one level that GitHub shows for a step are ten; the last one says how many more there are."""
_SEVERITY = {"error": "major", "warning": "minor", "note": "info"}
_COMMAND = {"error": "error", "warning": "warning", "note": "notice"}


def github(reports: Iterable[GuardReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """Workflow commands: an annotation each, ten of a level at most, and a notice with the verdict."""
    pages = (
        (alerts_of(one), one.before.path, f"{one.verdict}: {', '.join(what_happened(one))}") for one in reports
    )  # fmt: skip
    return _annotated(pages, "ctx guard")


def github_check(reports: Iterable[CheckReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """Workflow commands, as of the guard."""
    pages = (
        (check_alerts(one), one.source.path, f"{'ok' if one.ok else 'fails'}: {', '.join(what_holds(one))}")
        for one in reports
    )
    return _annotated(pages, "ctx check")


def _annotated(pages: Iterable[tuple[Iterable[Alert], str, str]], command: str) -> Iterator[str]:
    """Each page (alerts, path, verdict), and at the end how many alerts of a level were held back."""
    shown: dict[str, int] = {}
    held_back: dict[str, int] = {}
    for alerts, path, verdict in pages:
        for alert in alerts:
            if alert.waived or alert.baselined:
                continue
            shown[alert.level] = shown.get(alert.level, 0) + 1
            if shown[alert.level] > _MOST_ANNOTATIONS:
                held_back[alert.level] = held_back.get(alert.level, 0) + 1
                continue
            rule = RULES[alert.rule]
            yield _workflow(_COMMAND[alert.level], alert.message, f"{rule.name} {rule.title}", alert.path, alert.line)
        yield f"{command}: {_escaped(path)}: {_escaped(verdict)}\n"
    for level, many in held_back.items():
        yield _workflow(
            _COMMAND[level], f"{plural(many, 'finding')} more of this level; the report lists them.", command
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
    yield _issues(alert for report in reports for alert in alerts_of(report))


def gitlab_check(reports: Iterable[CheckReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A Code Quality report: what fails, and the warnings."""
    yield _issues(alert for report in reports for alert in check_alerts(report))


def _issues(alerts: Iterable[Alert]) -> str:
    rows: dict[str, dict[str, object]] = {}
    for alert in alerts:
        if not (alert.waived or alert.baselined):
            known = f"{alert.fingerprint}:{alert.path}:{alert.line}"
            rows.setdefault(known, _issue(alert))
    return dump(list(rows.values()), indent=True)


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
    yield _suites(map(_suite, reports), "ctx guard")


def junit_check(reports: Iterable[CheckReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A suite a conversation: a case for the profile where it holds, for each finding that fails, and each habit."""
    yield _suites(map(_checked, reports), "ctx check")


def _suites(suites: Iterable[ElementTree.Element], command: str) -> str:
    root = ElementTree.Element("testsuites", name=command)
    root.extend(suites)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _checked(report: CheckReport) -> ElementTree.Element:
    source = report.source
    name = f"{source.path}, conversation {source.conversation}" if source.conversation else source.path
    suite = ElementTree.Element("testsuite", name=_xml(name))
    failing = [alert for alert in check_alerts(report) if alert.fails]
    for alert in failing:
        _case(suite, source.path, alert, "failure")
    if not any(one.fails for one in report.findings):
        ElementTree.SubElement(suite, "testcase", classname=_xml(source.path), name=f"profile {report.profile}")
    for habit in report.habits:
        if habit.fails:
            continue
        label = f"{habit.rule}: {habit.question} {habit.answer}"
        case = ElementTree.SubElement(suite, "testcase", classname=_xml(source.path), name=_xml(label))
        if habit.answer == NO:
            ElementTree.SubElement(case, "skipped", message=_xml(habit.why))
    return _counted(suite)


def _case(suite: ElementTree.Element, path: str, alert: Alert, tag: str) -> None:
    label = f"{alert.rule} line {alert.line}: {alert.message}"
    case = ElementTree.SubElement(suite, "testcase", classname=_xml(path), name=_xml(label))
    if alert.fails:
        ElementTree.SubElement(case, tag, type=alert.rule, message=_xml(alert.message))
    else:
        ElementTree.SubElement(case, "skipped", message=_xml(alert.waived or "in the baseline"))


def _counted(suite: ElementTree.Element) -> ElementTree.Element:
    for tag in ("failure", "error", "skipped"):
        key = {"failure": "failures", "error": "errors", "skipped": "skipped"}[tag]
        suite.set(key, str(sum(1 for _ in suite.iter(tag))))
    suite.set("tests", str(len(suite)))
    return suite


def _suite(report: GuardReport) -> ElementTree.Element:
    name = f"{report.before.path}, compaction {report.compaction.n}" if report.compaction else report.before.path
    suite = ElementTree.Element("testsuite", name=_xml(name))
    alerts = [alert for alert in alerts_of(report) if alert.fails or alert.waived or alert.baselined]
    for alert in alerts:
        _case(suite, report.before.path, alert, "error" if report.verdict == UNVERIFIABLE else "failure")
    broken = {one.kind for one in report.findings if one.fails}
    whole = [kind for kind, counts in report.by_kind.items() if counts.required and kind not in broken]
    for kind in whole if report.verdict != UNVERIFIABLE else []:
        many = plural(report.by_kind[kind].required, "identifier")
        ElementTree.SubElement(suite, "testcase", classname=_xml(report.before.path), name=f"{kind}: {many} held")
    return _counted(suite)


def _xml(text: str) -> str:
    """Without the signs that XML 1.0 cannot hold."""
    return "".join(
        sign for sign in printable(text) if sign <= "\ud7ff" or "\ue000" <= sign <= "\ufffd" or sign > "\uffff"
    )


GITHUB = Renderer("github", "annotations of a GitHub workflow", guard=github, check=github_check)
GITLAB = Renderer("gitlab", "GitLab's Code Quality report", guard=gitlab, check=gitlab_check)
JUNIT = Renderer("junit", "JUnit XML, for any CI", guard=junit, check=junit_check)
