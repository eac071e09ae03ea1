"""A pass as blocks: what it came to, what was kept in which slot, what the guard says, and why if it failed."""

from collections.abc import Iterable, Iterator

from ctxcli.renderers.guard_view import findings_grid, what_happened
from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, number, percent, plural
from ctxcli.reports.compact import CompactReport, SummariserUsed

_MOST = 8
"""Findings of the guard that are shown; `ctx guard` shows them all."""
_IN_FULL = 3
"""Conversations of one source that are shown in full; of more, a row each, and in full only those that failed."""


def compact_pages(reports: Iterable[CompactReport], *, full: bool) -> Iterator[Iterable[Block]]:
    """The blocks of each report, or a row for each where they are many."""
    every = list(reports)
    if full or len(every) <= _IN_FULL:
        yield from map(compact_blocks, every)
        return
    yield tuple(_overview(every))
    yield from (compact_blocks(report) for report in every if not report.ok)


def _overview(reports: list[CompactReport]) -> Iterator[Block]:
    before, after = (sum(getattr(one, name) for one in reports) for name in ("tokens_before", "tokens_after"))
    bad = sum(not one.ok for one in reports)
    source, output = reports[0].source, reports[0].output
    written = (f"written: {output.path}",) if output is not None and output.path != "-" else ()
    yield Facts((
        (source.path, source.format, plural(len(reports), "conversation")),
        (f"{number(before)} tokens became {number(after)} ({percent(after / before if before else 1.0)})",
         f"{number(bad)} failed", *written),
    ))  # fmt: skip
    columns = (
        Column("conversation"), Column("result"), Column("before", right=True), Column("after", right=True),
        Column("target", right=True, spare=True), Column("guard"), Column("valid", spare=True),
    )  # fmt: skip
    yield Grid(columns, tuple(
        (one.source.conversation or str(at), _verdict(one).lower(), number(one.tokens_before), number(one.tokens_after),
         number(one.target), one.guard.verdict if one.guard else "–", "yes" if one.validity.ok else "no")
        for at, one in enumerate(reports, 1)
    ))  # fmt: skip
    many = [one for one in reports if one.remarks]
    if many:
        yield Notes("note", (f"{plural(len(many), 'conversation')} with a note; --conversation shows one in full.",))


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


def _verdict(report: CompactReport) -> str:
    done = "COMPACTED" if report.steps else "REPAIRED" if report.validity.repairs else "UNCHANGED"
    return done if report.ok else "FAILED"


def _head(report: CompactReport) -> Iterator[tuple[str, ...]]:
    source = report.source
    named = (f"conversation {source.conversation}",) if source.conversation else ()
    yield (source.path, source.format, *named)
    share = report.tokens_after / report.tokens_before if report.tokens_before else 1.0
    became = f"{number(report.tokens_before)} tokens became {number(report.tokens_after)} ({percent(share)})"
    yield (
        f"{_verdict(report)}: {became}",
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
        yield from _asking(report.summariser)
    if report.guard is not None:
        yield (f"guard: {report.guard.verdict}", *what_happened(report.guard))
    yield (f"valid for {report.validity.profile}: {'yes' if report.validity.ok else 'no'}", *_cache(report))
    if report.notes is not None:
        yield (f"notes: {report.notes.path}", f"{plural(report.notes.added, 'line')} added")
    if report.output is not None and report.output.path != "-":
        yield (f"written: {report.output.path}", report.output.format)


def _asking(used: SummariserUsed) -> Iterator[tuple[str, ...]]:
    """What a model was asked, what that cost, and what was done to its answer."""
    mended = (
        *((f"{plural(len(used.repaired), 'item')} repaired",) if used.repaired else ()),
        *((f"{plural(len(used.removed), 'item')} taken out that nobody had said",) if used.removed else ()),
    )
    if used.name in ("command", "replayed", "llm") and (used.attempts > 1 or mended):
        yield (plural(used.attempts, "attempt"), *mended)
    usage = used.usage
    if usage is not None:
        cached = f" ({number(usage['cache_read'])} from the cache)" if usage["cache_read"] else ""
        stored = (f"{plural(usage['stored'], 'answer')} from the cache on disk",) if usage["stored"] else ()
        yield (
            f"{used.model}: {plural(usage['calls'], 'question')}", *stored,
            f"{number(usage['prompt'])} tokens sent{cached}, {number(usage['output'])} answered", _dollars(used.cost),
        )  # fmt: skip
    if used.modes:
        yield tuple(
            f"{one.name}{' (chosen)' if one.chosen else ''}: about {number(one.prompt)} tokens, "
            f"{number(one.cacheable)} perhaps cached, {_dollars(one.cost)}"
            for one in used.modes
        )


def _dollars(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"${cost:.4f}"


def _cache(report: CompactReport) -> Iterator[str]:
    if report.tokens_reclaimed > 0:
        calls = report.cache.break_even_calls
        paid = f", paid for after {plural(int(-(-calls // 1)), 'call')}" if calls is not None else ""
        kept, anew = number(report.cache.prefix_kept), number(report.cache.rewrite)
        yield f"cache: {kept} tokens kept, {anew} written anew{paid}"


def _steps(report: CompactReport) -> Grid:
    rows = tuple((step.strategy, number(step.tokens_after)) for step in report.steps)
    return Grid((Column("strategy"), Column("tokens after", right=True)), rows)
