"""A transcript under several policies, as blocks."""

from collections.abc import Iterator

from ctxcli.renderers.view import Block, Column, Curve, Facts, Grid, Notes, number, percent, plural, short
from ctxcli.reports.simulate import (
    Agreement,
    PolicyResult,
    PolicyTotals,
    Rules,
    SimulatedCompaction,
    SimulatedLane,
    SimulateReport,
)

_HOUR = 3_600
_MOST = 24
"""Compactions that are listed unless all are asked for."""


def simulate_blocks(report: SimulateReport, *, everything: bool = False) -> Iterator[Block]:
    """The blocks of one report; with everything each call of each policy too."""
    yield Facts(tuple(_facts(report)))
    yield _policies(report)
    wide = max(len(one.name) for one in report.policies)
    for one in report.policies:
        sizes = tuple(call.context for call in one.calls)
        at = {call.n: place for place, call in enumerate(one.calls)}
        marks = frozenset(at[row.call] for row in one.compactions if row.call in at)
        yield Curve(one.name.ljust(wide), sizes, marks, f"compaction · peak {short(max(sizes, default=0))}")
    rows = [(one, row) for one in report.policies for row in one.compactions]
    if rows:
        yield _compactions(rows if everything else rows[:_MOST])
        if len(rows) > _MOST and not everything:
            yield Notes("more", (f"{plural(len(rows) - _MOST, 'compaction')} more; --all lists them",))
    if report.lanes:
        yield _lanes(report.lanes, priced=report.prices is not None)
    if everything:
        yield from map(_calls, report.policies)
    if report.explained:
        yield Notes("why", report.explained)
    said = [f"{one.name}: {remark}" for one in report.policies for remark in one.remarks]
    if said:
        yield Notes("remark", tuple(said))
    yield Notes("note", (*_assumptions(report), *report.notes))


def _facts(report: SimulateReport) -> Iterator[tuple[str, ...]]:
    source, window, agreed = report.source, report.window, report.agreement
    name = source.path + (f" [{source.conversation}]" if source.many else "")
    name += "" if source.lane == "main" else f", lane {source.lane}"
    yield (name, source.format, *source.models[:2], plural(len(report.policies[0].calls), "call"))
    if window.usable is None:
        yield ("window unknown (set --max-context)",)
    else:
        yield (f"window {number(window.max_context)} ({window.origin})", f"reserve {number(window.reserve_output)}",
               f"usable {number(window.usable)}")  # fmt: skip
    timed = f"times recorded for {report.timed:,}" if report.timed else "no times recorded: always warm"
    prices = () if report.prices is None else (f"prices: {report.prices.origin} {report.prices.version}".rstrip(),)
    for at, rules in enumerate(report.rules):
        yield (f"cache: {rules.name}", *_rules(rules), *((timed, *prices) if not at else ()))
    if agreed is not None:
        yield from _agreement(agreed)


def _rules(rules: Rules) -> Iterator[str]:
    told = {"measured": "as the figures show", "flag": "--ttl", "rules": "by its rules"}[rules.ttl_origin]
    lives = f"{rules.ttl // 3600} h" if rules.ttl >= _HOUR else f"{rules.ttl // 60} minutes"
    yield f"lives {lives} ({told})"
    yield f"from {rules.minimum:,} tokens"
    if rules.front is not None:
        yield f"tools and system {rules.front:,}"
    yield f"write x{rules.write or 1:g}, read x{rules.read:g}"


def _agreement(agreed: Agreement) -> Iterator[tuple[str, ...]]:
    calls, reads = plural(agreed.calls, "call"), plural(agreed.cache_calls, "call")
    yield (
        "replayed against measured, in the median",
        f"context off by {percent(agreed.context, 1)} ({calls}, {agreed.context_beyond:,} by more than 10 %)",
        f"cache reads off by {percent(agreed.cache_read, 1)} ({reads}, {agreed.cache_beyond:,} by more than 10 %)",
    )


def _policies(report: SimulateReport) -> Grid:
    columns = [Column("policy", long=True), Column("calls", right=True), Column("compactions", right=True),
               Column("loops", right=True, spare=True), Column("peak", right=True), Column("of usable", right=True),
               Column("sent", right=True), Column("read", right=True), Column("misses", right=True, spare=True),
               Column("written", right=True, spare=True), Column("uncached", right=True, spare=True),
               Column("recall", right=True)]  # fmt: skip
    rows = []
    for one in report.policies:
        if one.measured is not None:
            rows.append(_policy(f"{one.name}, {one.measured.basis}", one, one.measured))
        name = f"{one.name}, replayed" if one.kind == "recorded" else one.name
        rows.append(_policy(name, one, one.totals))
    priced = report.prices is not None
    kept = columns + [Column("cost", right=True)] * priced
    return Grid(tuple(kept), tuple(row if priced else row[:-1] for row in rows))


def _policy(name: str, one: PolicyResult, totals: PolicyTotals) -> tuple[str, ...]:
    cache, share = totals.cache, percent(totals.peak_share) + ("!" if totals.over else "")
    used = (None,) * 3 if cache is None else (cache.read, cache.write, cache.uncached)
    read, *others = ("–" if tokens is None else short(tokens) for tokens in used)
    return (
        name, number(len(one.calls)), number(len(one.compactions)), number(one.loops), number(totals.peak), share,
        short(totals.sent), read, number(totals.misses), *others,
        percent(one.hindsight), "–" if totals.cost is None else f"${totals.cost:,.2f}",
    )  # fmt: skip


def _compactions(rows: list[tuple[PolicyResult, SimulatedCompaction]]) -> Grid:
    columns = (Column("policy", long=True), Column("before call", right=True), Column("line", right=True, spare=True),
               Column("tokens", right=True), Column("after", right=True), Column("in front", right=True, spare=True),
               Column("summary", right=True), Column("pays after", right=True), Column("cold", right=True),
               Column("no cache", right=True, spare=True), Column("recall", right=True))  # fmt: skip
    return Grid(columns, tuple(_compaction(one, row) for one, row in rows))


def _compaction(one: PolicyResult, row: SimulatedCompaction) -> tuple[str, ...]:
    name = one.name + (" (again)" if row.loop else "") + ("" if row.done else " (nothing to take)")
    summary = number(row.summary) if row.summary else "free" if one.kind == "strategy" else "–"
    known = row.before is not None and row.after is not None and row.prefix is not None
    warm, cold, bare = (
        _after(calls) if known else "–"
        for calls in (row.break_even_calls, row.break_even_cold, row.break_even_uncached)
    )
    return (
        name, number(row.call), number(row.line), number(row.before), number(row.after), number(row.prefix), summary,
        warm, cold if row.summary else "–", bare, percent(row.hindsight.recall if row.hindsight else None),
    )  # fmt: skip


def _lanes(lanes: tuple[SimulatedLane, ...], *, priced: bool) -> Grid:
    columns = [Column("lane", long=True), Column("calls", right=True), Column("peak", right=True),
               Column("sent", right=True), Column("read", right=True), Column("figures")]  # fmt: skip
    rows = [
        (" ".join(filter(None, (one.lane, one.title))), number(one.calls), number(one.totals.peak),
         short(one.totals.sent), "–" if one.totals.cache is None else short(one.totals.cache.read), one.totals.basis,
         "–" if one.totals.cost is None else f"${one.totals.cost:,.2f}")
        for one in lanes
    ]  # fmt: skip
    kept = columns + [Column("cost", right=True)] * priced
    return Grid(tuple(kept), tuple(row if priced else row[:-1] for row in rows))


def _after(calls: float | None) -> str:
    if calls is None:
        return "never"
    return "at once" if calls <= 1 else f"{calls:,.1f} calls"


def _calls(one: PolicyResult) -> Grid:
    columns = (Column(f"{one.name}: call", right=True), Column("line", right=True), Column("context", right=True),
               Column("in front", right=True), Column("read", right=True), Column("written", right=True, spare=True),
               Column("output", right=True), Column("why less is read", prose=True))  # fmt: skip
    return Grid(columns, tuple(
        (number(row.n), number(row.line), number(row.context), number(row.prefix),
         number(row.cache.read if row.cache else None), number(row.cache.write if row.cache else None),
         number(row.output), row.miss)
        for row in one.calls
    ))  # fmt: skip


def _asks(report: SimulateReport) -> bool:
    return any(row.summary for one in report.policies if one.kind == "strategy" for row in one.compactions)


def _assumptions(report: SimulateReport) -> Iterator[str]:
    yield (
        "The later messages are those of the transcript under every policy: what the agent would have done differently "
        "nobody knows. Strategies write their summaries without a model"
        + ("; what summary=N adds is the price of one that writes them." if _asks(report) else ".")
    )
    if report.lanes:
        yield (
            "Sub-agents are listed as recorded: no policy compacts them, and they are in no figure above; --lane NAME "
            "replays one."
        )
    if any(one.totals.summary_sent for one in report.policies):
        yield (
            "The calls that write summaries are not among the calls; the cost holds them: each reads the context from "
            "the cache and writes the summary."
        )
    if any(one.totals.over for one in report.policies):
        yield "! calls of this policy are larger than the usable window: they would have been refused."
