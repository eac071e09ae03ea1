"""One row a call, for spreadsheets and data frames."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import astuple, fields
from typing import Any

from ctxcli.renderers.view import printable
from ctxcli.reports.audit import AuditReport
from ctxcli.reports.bench import BenchCell, BenchReport
from ctxcli.reports.calls import CallRow
from ctxcli.reports.check import CheckReport, Habit
from ctxcli.reports.guard import KEPT, ConstraintRow, Finding, GuardReport
from ctxcli.reports.identifiers import IdentifierRow, IdentifiersReport
from ctxcli.reports.notes import NotesReport
from ctxcli.reports.sweep import SweepCell, SweepReport
from ctxcli.rules import CONSTRAINT, HABITS
from ctxcli.shelf import Canvas, Renderer

_COLUMNS = (
    "path", "conversation", "n", "line", "lane", "time", "model", "measured", "estimated", "system", "tools",
    "history", "retrieved", "summary", "unattributed", "added", "growth", "grew", "output_measured", "output_estimated",
    "cache_read", "cache_write", "uncached", "share_of_window", "sent_so_far", "cause", "cause_line", "cause_tokens",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def audit(reports: Iterable[AuditReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A header, then the calls of each report."""
    yield _line(_COLUMNS)
    for report in reports:
        for call in report.calls:
            yield _line(_row(report, call))


def identifiers(reports: Iterable[IdentifiersReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A header, then the identifiers of each report."""
    yield _line(("path", "conversation", *(field.name for field in fields(IdentifierRow))))
    for report in reports:
        for row in report.identifiers:
            cells = (report.path, report.conversation, *astuple(row))
            yield _line(_safe(cell) if isinstance(cell, str) else cell for cell in cells)


def guard(reports: Iterable[GuardReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A header, then the findings of each report."""
    yield _line(("before", "after", "compaction", *(field.name for field in fields(Finding))))
    for report in reports:
        number = report.compaction.n if report.compaction else None
        for one in report.findings:
            cells = (report.before.path, report.after.path, number, *astuple(one))
            yield _line(_safe(cell) if isinstance(cell, str) else cell for cell in cells)
        for row in report.constraints:
            if row.status != KEPT:
                yield _line(_boundary(report, row, number))


def check(reports: Iterable[CheckReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A header, then the findings and the habits of each report."""
    yield _line(("path", "conversation", "rule", "level", "line", "message", "question", "answer", "why", "fails"))
    for report in reports:
        source = (_safe(report.source.path), _safe(report.source.conversation))
        for one in report.findings:
            yield _line((*source, one.rule, one.level, one.line, one.message, None, None, _safe(one.why), one.fails))
        for habit in report.habits:
            yield _line((*source, *_answered(habit)))


def _answered(habit: Habit) -> tuple[Any, ...]:
    level = HABITS[habit.rule].level
    return habit.rule, level, habit.line, None, habit.question, habit.answer, _safe(habit.why), habit.fails


def notes(reports: Iterable[NotesReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A header, then the entries of each notes file."""
    yield _line(("path", "id", "slot", "text", "reason", "chosen", "rejected", "type", "superseded", "source",
                 "conversation", "line", "hash", "time"))  # fmt: skip
    for report in reports:
        for one in report.entries:
            source = (one.source.path, one.source.conversation) if one.source else (None, None)
            cells = (report.path, one.id, one.slot, one.text, one.reason, one.chosen, "; ".join(one.rejected), one.type,
                     one.superseded, *source, one.line, one.hash, one.time)  # fmt: skip
            yield _line(_safe(cell) if isinstance(cell, str) else cell for cell in cells)


def bench(reports: Iterable[BenchReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A header, then each result: one compactor at one cut within one budget."""
    yield _line(field.name for field in fields(BenchCell))
    for report in reports:
        for cell in report.cells:
            yield _line(_safe(value) if isinstance(value, str) else value for value in astuple(cell))


def sweep(reports: Iterable[SweepReport], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A header, then the cells of each sweep."""
    yield _line(("path", "model", *(field.name for field in fields(SweepCell))))
    for report in reports:
        for cell in report.cells:
            yield _line((_safe(report.source.path), _safe(report.model), *astuple(cell)))


def _boundary(report: GuardReport, row: ConstraintRow, number: int | None) -> Iterator[Any]:
    """A boundary in the columns of a finding."""
    found = Finding(
        rule=CONSTRAINT.name, status=row.status, kind="constraint", value=row.text, required=row.required,
        fails=row.fails, source="stated", role=None, line=row.line, first_line=row.line, last_line=row.line, uses=1,
        nearest=row.stands, masked=False, waived=row.waived, baselined=row.baselined, why=row.why,
        fingerprint=row.fingerprint,
    )  # fmt: skip
    cells = (report.before.path, report.after.path, number, *astuple(found))
    return (_safe(cell) if isinstance(cell, str) else cell for cell in cells)


def _row(report: AuditReport, call: CallRow) -> tuple[Any, ...]:
    layers, cache, cause = call.layers, call.cache, call.cause
    named = " ".join(filter(None, (cause.tool or cause.what, cause.address))) if cause else None
    return (
        _safe(report.source.path), _safe(report.source.conversation), call.n, call.line, _safe(call.lane),
        _safe(call.time), _safe(call.model), call.context.measured, call.context.estimated, layers.system, layers.tools,
        layers.history, layers.retrieved, layers.summary, layers.unattributed, call.added, call.growth, call.grew,
        call.output.measured, call.output.estimated, cache.read if cache else None, cache.write if cache else None,
        cache.uncached if cache else None, call.share_of_window, call.sent_so_far, _safe(named),
        cause.line if cause else None, cause.tokens if cause else None,
    )  # fmt: skip


def _safe(text: str | None) -> str | None:
    """Text that a spreadsheet would take for a formula is marked as text; lone surrogates become U+FFFD."""
    if text is None:
        return None
    text = printable(text)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _line(cells: Iterable[Any]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()


RENDERER = Renderer(
    "csv",
    "one row a call, an identifier, a finding, an entry, or a cell",
    audit,
    identifiers,
    guard,
    check=check,
    notes=notes,
    sweep=sweep,
    bench=bench,
)
