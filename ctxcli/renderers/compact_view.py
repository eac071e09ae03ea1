"""A pass as blocks: what it came to, what was kept in which slot, what the guard says, and why if it failed."""

from collections.abc import Iterator

from ctxcli.renderers.guard_view import findings_grid, what_happened
from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, number, percent, plural
from ctxcli.reports.compact import CompactReport

_MOST = 8
"""Findings of the guard that are shown; `ctx guard` shows them all."""


def compact_blocks(report: CompactReport) -> Iterator[Block]:
    """The blocks of one report."""
    yield Facts(tuple(_head(report)))
    if report.steps:
        yield _steps(report)
    if report.guard is not None and not report.guard.ok:
        failing = [one for one in report.guard.findings if one.fails]
        yield findings_grid(failing[:_MOST])
        lost = tuple(f"line {row.line}: {row.text}" for row in report.guard.constraints if row.fails)
        if lost:
            yield Notes("boundary", lost[:_MOST], warn=True)
    if report.remarks:
        yield Notes("note", report.remarks)


def _head(report: CompactReport) -> Iterator[tuple[str, ...]]:
    source = report.source
    done = "COMPACTED" if report.steps else "REPAIRED" if report.validity.repairs else "UNCHANGED"
    verdict = done if report.ok else "FAILED"
    named = (f"conversation {source.conversation}",) if source.conversation else ()
    yield (source.path, source.format, *named)
    share = report.tokens_after / report.tokens_before if report.tokens_before else 1.0
    yield (
        f"{verdict}: {number(report.tokens_before)} tokens became {number(report.tokens_after)} ({percent(share)})",
        f"target {number(report.target)}",
        f"{number(report.messages_before)} messages became {number(report.messages_after)}",
    )
    if report.dropped_messages or report.cleared_results:
        yield (
            f"{plural(report.dropped_messages, 'message')} summed up or dropped",
            f"{plural(report.cleared_results, 'result')} cleared",
            f"{plural(len(report.addresses), 'address', 'addresses')} left to fetch from",
        )
    slots = report.slots
    if report.summariser.attempts:
        values = sum(map(len, slots.identifiers.values()))
        yield (
            f"summary ({report.summariser.name}): {plural(len(slots.constraints), 'constraint')}",
            plural(len(slots.decisions), "decision"), plural(values, "identifier"),
            plural(len(slots.open), "open item"),
        )  # fmt: skip
    if report.guard is not None:
        yield (f"guard: {report.guard.verdict}", *what_happened(report.guard))
    yield (f"valid for {report.validity.profile}: {'yes' if report.validity.ok else 'no'}", *_cache(report))
    if report.notes is not None:
        yield (f"notes: {report.notes.path}", f"{plural(report.notes.added, 'line')} added")
    if report.output is not None and report.output.path != "-":
        yield (f"written: {report.output.path}", report.output.format)


def _cache(report: CompactReport) -> Iterator[str]:
    if report.tokens_reclaimed > 0:
        calls = report.cache.break_even_calls
        paid = f", paid for after {plural(int(-(-calls // 1)), 'call')}" if calls is not None else ""
        kept, anew = number(report.cache.prefix_kept), number(report.cache.rewrite)
        yield f"cache: {kept} tokens kept, {anew} written anew{paid}"


def _steps(report: CompactReport) -> Grid:
    rows = tuple((step.strategy, number(step.tokens_after)) for step in report.steps)
    return Grid((Column("strategy"), Column("tokens after", right=True)), rows)
