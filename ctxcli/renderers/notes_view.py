"""A notes file as blocks: what stands, and what is wrong with it."""

from collections.abc import Iterator

from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, in_words, number, plural
from ctxcli.reports.notes import NoteRow, NotesReport
from ctxcli.slots import SLOTS

_MOST = 20
"""Faults, and entries that do not stand, that are listed one by one."""


def notes_blocks(report: NotesReport, *, everything: bool = False) -> Iterator[Block]:
    """The blocks of one report; `everything` lists the entries."""
    counts = report.counts
    by_slot = [f"{number(getattr(counts, slot))} {slot}" for slot in SLOTS if getattr(counts, slot)]
    more = [f"{number(count)} {name}" for name in ("superseded", "removed") if (count := getattr(counts, name))]
    checked = f"{plural(counts.checked, 'entry', 'entries')} held against {report.transcript}" if counts.checked else ""
    said = filter(None, (report.path, plural(counts.entries, "entry", "entries"), *by_slot, *more, checked))
    yield Facts((tuple(said),))
    if everything and report.entries:
        yield _entries(report)
    lines = [f"line {fault.line}: {fault.reason}" for fault in report.faults[:_MOST]]
    if len(report.faults) > _MOST:
        lines.append(f"lines {in_words([fault.line for fault in report.faults[_MOST:]])} too")
    if lines:
        yield Notes("faults", tuple(lines), warn=True)
    if report.strays:
        yield _strays(report)
    if not everything and report.ok:
        stands = ", and each entry stands in the transcript where it says" if counts.checked else ""
        yield Notes("fine", (f"every line is as ctx wrote it{stands}",))


def _entries(report: NotesReport) -> Grid:
    columns = (
        Column("id"), Column("slot"), Column("kind", spare=True), Column("entry", long=True),
        Column("line", right=True), Column("from", spare=True),
    )  # fmt: skip
    return Grid(columns, tuple(_row(one) for one in report.entries))


def _row(one: NoteRow) -> tuple[str, ...]:
    text = one.text + (" (superseded)" if one.superseded else "")
    return one.id, one.slot, one.type or "–", text, number(one.line), one.source.path if one.source else "–"


def _strays(report: NotesReport) -> Grid:
    columns = (
        Column("id"), Column("slot"), Column("does not stand", prose=True), Column("line", right=True),
        Column("now", right=True),
    )  # fmt: skip
    rows = [(one.id, one.slot, one.text, number(one.line), number(one.found)) for one in report.strays[:_MOST]]
    if len(report.strays) > _MOST:
        rows.append(("…", "", f"{len(report.strays) - _MOST:,} more; --format json lists each", "", ""))
    return Grid(columns, tuple(rows))
