"""An audit as blocks: the facts, the curve of the context, and the grids below it."""

from collections.abc import Iterator

from ctxcli.renderers.audit_facts import facts_of, is_exact
from ctxcli.renderers.view import (
    Block,
    Column,
    Curve,
    Facts,
    Grid,
    Notes,
    about,
    lines_in_words,
    number,
    percent,
    plural,
    short,
)
from ctxcli.reports import AuditReport, CallRow

_MOST_JUMPS = 8
_MOST_SKIPS = 8
_MOST_LANES = 7


def audit_blocks(report: AuditReport, *, every_call: bool = False) -> Iterator[Block]:
    """The blocks of one report; `every_call` lists all calls instead of those that grew most."""
    yield Facts(tuple(tuple(line) for line in facts_of(report)))
    yield _curve(report)
    yield from _failures(report)
    yield from _layers(report)
    yield from _every_call(report) if every_call else _jumps(report)
    yield from _compactions(report)
    yield from _hot(report)
    yield from _lanes(report)
    yield from _skips(report)
    if report.notes:
        yield Notes("note", report.notes)


def _curve(report: AuditReport) -> Block:
    main = [call for call in report.calls if call.lane == "main"]
    values = tuple(_size(call) for call in main)
    places = {call.n: at for at, call in enumerate(main)}
    marks = frozenset(places[row.call] for row in report.compactions if row.lane == "main" and row.call in places)
    return Curve("context", values, marks, "compaction" if marks else "")


def _size(call: CallRow) -> int:
    return call.context.estimated if call.context.measured is None else call.context.measured


def _failures(report: AuditReport) -> Iterator[Block]:
    over = [limit for limit in report.limits if limit.calls]
    if over:
        yield Notes(
            "FAILED",
            tuple(
                f"--{limit.name}: {plural(len(limit.calls), 'call')} over {limit.limit:,} tokens "
                f"(call {lines_in_words(limit.calls)})"
                for limit in over
            ),
            warn=True,
        )


def _layers(report: AuditReport) -> Iterator[Block]:
    if not report.budget.layers:
        return
    whole = sum(layer.at_peak for layer in report.budget.layers)
    exact = is_exact(report)
    rows = [
        (
            layer.layer,
            about(layer.at_peak, exact=exact),
            percent(layer.at_peak / whole) if whole else "–",
            about(layer.peak, exact=exact),
            number(layer.quota),
            about(layer.overflow, exact=exact) if layer.overflow else "–",
        )
        for layer in report.budget.layers
        if layer.peak or layer.quota
    ]
    yield Grid(
        (
            Column("layer"),
            Column("at peak", right=True),
            Column("share", right=True),
            Column("highest", right=True, spare=True),
            Column("quota", right=True),
            Column("over", right=True),
        ),
        tuple(rows),
    )


def _cause(call: CallRow) -> str:
    cause = call.cause
    if cause is None:
        return ""
    named = " ".join(filter(None, (cause.tool, f"`{cause.address}`" if cause.address else "")))
    return named or cause.what


def _cause_line(call: CallRow) -> str:
    return str(call.cause.line) if call.cause else ""


def _grew(call: CallRow, *, exact: bool) -> str:
    return f"{call.growth:+,}" if call.growth is not None else "+" + about(call.added, exact=exact)


def _jumps(report: AuditReport) -> Iterator[Block]:
    """The calls that grew most."""
    grown = sorted(report.calls, key=lambda call: (-(call.grew or 0), call.n))[:_MOST_JUMPS]
    rows = tuple(
        (
            f"call {call.n}" + ("" if call.lane == "main" else f" ({call.lane})"),
            _grew(call, exact=is_exact(report)),
            _cause_line(call),
            _cause(call),
        )
        for call in grown
        if (call.grew or 0) > 0
    )
    if rows:
        columns = (Column("grew most"), Column("tokens", right=True), Column("line", right=True))
        yield Grid((*columns, Column("mostly", long=True)), rows)


def _every_call(report: AuditReport) -> Iterator[Block]:
    exact = is_exact(report)
    rows = []
    for call in report.calls:
        layers = call.layers
        rows.append(
            (
                str(call.n),
                str(call.line),
                call.lane,
                number(call.context.measured),
                about(call.context.estimated, exact=exact),
                about(layers.system + layers.tools, exact=exact),
                about(layers.history, exact=exact),
                about(layers.retrieved, exact=exact),
                about(layers.summary, exact=exact),
                number(layers.unattributed),
                _grew(call, exact=exact),
                number(call.output.measured),
                _cause_line(call),
                _cause(call),
            )
        )
    names = ("call", "line", "lane", "measured", "estimated", "system", "history", "retrieved", "summary",
             "unattributed", "added", "output", "at line")  # fmt: skip
    spare = {"lane", "system", "summary", "unattributed", "output"}
    columns = tuple(Column(name, right=name != "lane", spare=name in spare) for name in names)
    yield Grid((*columns, Column("mostly", long=True)), tuple(rows))


def _compactions(report: AuditReport) -> Iterator[Block]:
    rows = []
    for row in report.compactions:
        before, after = number(row.tokens_before), number(row.tokens_after)
        if row.tokens_before is None and row.tokens_after is None:
            before, after = about(row.estimated_before), about(row.estimated_after)
        dropped = plural(row.dropped_messages, "message")
        if row.kind == "clear":
            dropped = plural(row.cleared_results, "result") if row.cleared_results else "none in this file"
        rows.append(
            (
                f"line {row.line}",
                row.kind,
                row.trigger,
                f"{before} → {after}",
                dropped,
                "unreadable" if row.opaque else about(row.summary_tokens, exact=is_exact(report)),
            )
        )
    if rows:
        yield Grid(
            (
                Column("compaction"),
                Column("kind"),
                Column("trigger", spare=True),
                Column("context", right=True),
                Column("dropped", right=True),
                Column("summary", right=True),
            ),
            tuple(rows),
        )


def _hot(report: AuditReport) -> Iterator[Block]:
    exact = is_exact(report)
    if report.hot:
        yield Grid(
            (Column("largest parts"), Column("tokens", right=True), Column("share", right=True),
             Column("what"), Column("of", long=True)),
            tuple(
                (f"line {hot.line}", about(hot.tokens, exact=exact), percent(hot.share), hot.what,
                 " ".join(filter(None, (hot.tool, hot.path))))
                for hot in report.hot[:_MOST_JUMPS]
            ),
        )  # fmt: skip
    if report.hot_tools:
        yield Grid(
            (Column("by tool"), Column("tokens", right=True), Column("share", right=True),
             Column("results", right=True)),
            tuple(
                (tool.tool, about(tool.tokens, exact=exact), percent(tool.share), f"{tool.results:,}")
                for tool in report.hot_tools[:6]
            ),
        )  # fmt: skip


def _lanes(report: AuditReport) -> Iterator[Block]:
    if len(report.lanes) < 2:
        return
    rows = []
    for lane in report.lanes[:_MOST_LANES]:
        sent = number(lane.tokens)
        if lane.calls is None and lane.reported_tokens is not None:
            sent = f"{lane.reported_tokens:,} reported"
        rows.append(
            (
                f"{lane.lane} {lane.title}".strip(),
                "not recorded" if lane.calls is None else f"{lane.calls:,}",
                sent,
                number(lane.peak),
                about(lane.returned_tokens, exact=is_exact(report)),
            )
        )
    if len(report.lanes) > _MOST_LANES:
        rows.append((f"and {len(report.lanes) - _MOST_LANES:,} more", "", "", "", ""))
    yield Grid(
        (Column("lane", long=True), Column("calls", right=True), Column("sent", right=True),
         Column("peak", right=True), Column("returned", right=True)),
        tuple(rows),
    )  # fmt: skip


def _skips(report: AuditReport) -> Iterator[Block]:
    lines = [
        f"line {skip.line}" + (f" of {skip.file}" if skip.file else "") + f": {skip.reason}"
        for skip in report.skips[:_MOST_SKIPS]
    ]
    rest = len(report.skips) - _MOST_SKIPS
    if rest > 0:
        lines.append(f"and {rest:,} more (all of them with --json)")
    if lines:
        lost = any(not skip.recovered for skip in report.skips)
        yield Notes("skipped" if lost else "recovered", tuple(lines), warn=lost)


def summary_block(reports: list[AuditReport]) -> Grid:
    """One row for each of several reports, and their sum."""
    rows = [
        (
            report.source.conversation if report.source.many and report.source.conversation else report.source.path,
            f"{len(report.calls):,}",
            _figure(report.totals.sent, report),
            number(report.budget.peak) if report.totals.basis == "measured" else _figure(report.budget.peak, report),
            percent(report.budget.share),
            str(len(report.compactions)) if report.compactions else "–",
            "over a limit" if not report.ok else "",
        )
        for report in reports
    ]
    shared = sum(report.counts.shared_calls for report in reports)
    calls = sum(len(report.calls) for report in reports) - shared
    sent = sum(report.totals.sent - report.totals.shared for report in reports)
    note = f"{plural(shared, 'call')} held twice counted once" if shared else ""
    rows.append((f"all {len(reports):,}", f"{calls:,}", short(sent), "", "", "", note))
    return Grid(
        (Column("conversation", long=True), Column("calls", right=True), Column("sent", right=True),
         Column("peak", right=True), Column("of usable", right=True), Column("compactions", right=True, spare=True),
         Column("")),
        tuple(rows),
    )  # fmt: skip


def _figure(value: int | None, report: AuditReport) -> str:
    measured = report.totals.basis == "measured"
    return number(value) if measured else about(value, exact=is_exact(report))
