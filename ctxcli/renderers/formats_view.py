"""How a source was understood, as blocks."""

from collections.abc import Iterator

from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, in_words, number, plural
from ctxcli.reports.formats import FormatReport, TypeCount

_MOST = 12


def formats_blocks(report: FormatReport) -> Iterator[Block]:
    """The blocks of one report."""
    way = (f"{in_words(report.gave_way, 3)} gave way",) if report.gave_way else ()
    yield Facts((
        (report.path, report.format, report.title),
        ("UNDERSTOOD" if report.ok else "NOT ALL UNDERSTOOD", plural(report.records, "record"),
         plural(report.conversations, "conversation"), plural(report.messages, "message"),
         f"{plural(report.calls, 'call')}, {number(report.with_usage)} with usage",
         plural(report.compactions, "compaction")),
        (f"recognised by {report.recognised_by}", *way),
        (f"can record {', '.join(report.knows) or 'none of the facts below'}",
         "can be written back" if report.writes else "is read only; ctx convert writes another format"),
    ))  # fmt: skip
    if report.unknown:
        yield _counts("not known to this reader", report.unknown)
    if report.bookkeeping:
        yield _counts("seen by no model", report.bookkeeping)
    rest = [*report.notes]
    rest += [f"{plural(len(report.companions), 'file')} read beside it."] if report.companions else []
    rest += [f"{plural(report.duplicates, 'record')} repeated, counted once."] if report.duplicates else []
    if rest:
        yield Notes("note", tuple(rest))
    if report.skips:
        said = tuple(f"line {skip.line}: {skip.reason}" for skip in report.skips[:_MOST])
        more = (f"and {len(report.skips) - _MOST:,} more",) if len(report.skips) > _MOST else ()
        yield Notes("skipped", (*said, *more), warn=True)


def _counts(title: str, counts: tuple[TypeCount, ...]) -> Grid:
    rows = tuple((one.type, number(one.count)) for one in counts)
    return Grid((Column(title, long=True), Column("records", right=True)), rows)
