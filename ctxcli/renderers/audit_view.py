"""An audit as blocks: the facts, the curve of the context, and the grids below it."""

from collections.abc import Iterator

from ctxcli.renderers.audit_facts import facts_of, is_exact
from ctxcli.renderers.audit_lists import failures, list_blocks
from ctxcli.renderers.view import Block, Column, Curve, Facts, Grid, Notes, about, number, percent, plural
from ctxcli.reports.audit import AuditReport
from ctxcli.reports.calls import CallRow

_MOST_JUMPS = 8


def audit_blocks(report: AuditReport, *, every_call: bool = False) -> Iterator[Block]:
    """The blocks of one report; `every_call` lists all calls instead of those that grew most."""
    yield Facts(tuple(tuple(line) for line in facts_of(report)))
    yield _curve(report)
    if broken := tuple(failures(report)):
        yield Notes("FAILED", broken, warn=True)
    yield from _layers(report)
    yield from _every_call(report) if every_call else _jumps(report)
    yield from _compactions(report)
    yield from _cache_breaks(report, 10**6 if every_call else _BREAKS)
    yield from list_blocks(report, everything=every_call)
    if report.notes:
        yield Notes("note", report.notes)


def _curve(report: AuditReport) -> Block:
    main = [call for call in report.calls if call.lane == "main"]
    values = tuple(call.context.size for call in main)
    places = {call.n: at for at, call in enumerate(main)}
    marks = frozenset(places[row.call] for row in report.compactions if row.lane == "main" and row.call in places)
    return Curve("context", values, marks, "compaction" if marks else "")


def _layers(report: AuditReport) -> Iterator[Block]:
    if not report.budget.layers:
        return
    whole, exact = report.budget.peak or 0, is_exact(report)
    rows = [
        (
            layer.layer,
            about(layer.at_peak, exact=exact),
            percent(layer.at_peak / whole) if whole else "–",
            number(layer.quota),
            about(layer.peak, exact=exact),
            f"{about(layer.overflow, exact=exact)} at call {layer.overflow_call}" if layer.overflow else "–",
        )
        for layer in report.budget.layers
        if layer.peak or layer.quota or layer.at_peak
    ]
    columns = (Column("layer"), Column("at peak", right=True), Column("share", right=True, spare=True))
    rest = (Column("quota", right=True), Column("highest", right=True), Column("most over quota", right=True))
    yield Grid((*columns, *rest), tuple(rows))


def _cause(call: CallRow) -> str:
    """What the largest part that entered is."""
    cause = call.cause
    if cause is None:
        return ""
    named = " ".join(filter(None, (cause.tool, f"`{cause.address}`" if cause.address else "")))
    return named or cause.what


def _grew(call: CallRow, *, exact: bool) -> str:
    return f"{call.growth:+,}" if call.growth is not None else "+" + about(call.added, exact=exact)


def _largest(call: CallRow, *, exact: bool) -> tuple[str, str, str]:
    """Weight, line and name of the largest part; or that most of the growth stands in no file."""
    cause = call.cause
    if call.growth is not None and call.growth - call.added > max(cause.tokens if cause else 0, call.growth // 2):
        return number(call.growth - call.added), "–", "not in the file: the agent sent more than it wrote down"
    return (about(cause.tokens, exact=exact), str(cause.line), _cause(call)) if cause else ("–", "–", "")


def _jumps(report: AuditReport) -> Iterator[Block]:
    """The calls that grew most, and the largest single part of what they grew by."""
    exact = is_exact(report)
    grown = sorted(report.calls, key=lambda call: (-(call.grew or 0), call.n))[:_MOST_JUMPS]
    rows = tuple(
        (
            f"call {call.n}" + ("" if call.lane == "main" else f" ({call.lane})"),
            _grew(call, exact=exact),
            *_largest(call, exact=exact),
        )
        for call in grown
        if (call.grew or 0) > 0
    )
    if rows:
        columns = (Column("grew most"), Column("tokens", right=True), Column("largest part", right=True))
        yield Grid((*columns, Column("line", right=True), Column("what", long=True)), rows)


def _every_call(report: AuditReport) -> Iterator[Block]:
    """All calls; a column that would be empty throughout is left out."""
    exact = is_exact(report)
    lanes = len({call.lane for call in report.calls}) > 1
    cells = []
    for call in report.calls:
        layers = call.layers
        cells.append(
            {
                "call": str(call.n),
                "line": str(call.line),
                "lane": call.lane if lanes else "–",
                "measured": number(call.context.measured),
                "estimated": about(call.context.estimated, exact=exact),
                "system": about(layers.system + layers.tools, exact=exact),
                "history": about(layers.history, exact=exact),
                "retrieved": about(layers.retrieved, exact=exact),
                "summary": about(layers.summary, exact=exact),
                "unattributed": number(layers.unattributed),
                "grew by": _grew(call, exact=exact),
                "output": number(call.output.measured),
                "at line": str(call.cause.line) if call.cause else "",
                "largest part": _cause(call),
            }
        )
    names = [name for name in cells[0] if any(row[name] not in ("–", "0", "") for row in cells)] if cells else []
    spare = {"system", "history", "retrieved", "summary", "unattributed", "output", "at line", "estimated", "line"}
    columns = tuple(
        Column(name, right=name not in ("lane", "largest part"), long=name == "largest part", spare=name in spare)
        for name in names
    )
    if cells:
        yield Grid(columns, tuple(tuple(row[name] for name in names) for row in cells))


def _compactions(report: AuditReport) -> Iterator[Block]:
    rows = []
    for row in report.compactions:
        before, after = number(row.tokens_before), number(row.tokens_after)
        if row.tokens_before is None and row.tokens_after is None:
            before, after = about(row.estimated_before), about(row.estimated_after)
        dropped = "not recorded" if row.inferred else plural(row.dropped_messages, "message")
        if row.kind == "clear":
            dropped = plural(row.cleared_results, "result") if row.cleared_results else "none of this file"
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
                Column("kind", spare=True),
                Column("trigger", spare=True),
                Column("context", right=True),
                Column("dropped", right=True, spare=True),
                Column("summary", right=True),
            ),
            tuple(rows),
        )


_BREAKS = 5


def _cache_breaks(report: AuditReport, most: int) -> Iterator[Block]:
    """The dearest first: prompts that were written anew although the cache had held them."""
    dearest = sorted(report.cache_breaks, key=lambda one: (-one.cost, one.call))
    rows = [
        (f"call {one.call}", number(one.line), number(one.anew), number(one.cost), one.cause) for one in dearest[:most]
    ]
    if len(dearest) > most:
        rest = dearest[most:]
        anew, cost = sum(one.anew for one in rest), sum(one.cost for one in rest)
        rows.append((f"and {len(rest):,} more", "", number(anew), number(cost), ""))
    if rows:
        columns = (Column("cache missed"), Column("line", right=True, spare=True), Column("sent anew", right=True))
        yield Grid((*columns, Column("cost in input", right=True), Column("likely cause", prose=True)), tuple(rows))
