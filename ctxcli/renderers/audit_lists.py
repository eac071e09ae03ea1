"""The lists of an audit: the largest parts, the tools, the lanes, what was skipped, several reports."""

from collections.abc import Iterable, Iterator, Sequence

from ctxcli.renderers.audit_facts import is_exact
from ctxcli.renderers.view import (
    Block,
    Column,
    Grid,
    Notes,
    about,
    in_words,
    number,
    percent,
    plural,
    short,
)
from ctxcli.reports.audit import AuditReport
from ctxcli.reports.lanes import LaneRow

_PARTS, _TOOLS, _LANES, _SKIPS = 8, 6, 7, 8


def list_blocks(report: AuditReport, *, everything: bool) -> Iterator[Block]:
    """The lists, cut to a screen unless everything is asked for."""
    yield from _hot(report, 10**6 if everything else _PARTS)
    yield from _tools(report, 10**6 if everything else _TOOLS)
    yield from _lanes(report, 10**6 if everything else _LANES)
    yield from _skips(report, 10**6 if everything else _SKIPS)


def _rest(count: int, most: int, columns: int) -> list[tuple[str, ...]]:
    """A last row that says how many are not shown."""
    return [(f"and {count - most:,} more", *[""] * (columns - 1))] if count > most else []


def _hot(report: AuditReport, most: int) -> Iterator[Block]:
    exact = is_exact(report)
    rows: list[tuple[str, ...]] = [
        (
            f"line {hot.line}" + ("" if hot.lane == "main" else f" ({hot.lane})"),
            about(hot.tokens, exact=exact),
            percent(hot.share),
            hot.what,
            " ".join(filter(None, (hot.tool, hot.path))),
        )
        for hot in report.hot[:most]
    ]
    if rows:
        columns = (Column("largest parts"), Column("tokens", right=True), Column("share", right=True, spare=True))
        yield Grid((*columns, Column("what", spare=True), Column("of", long=True)), tuple(rows))


def _tools(report: AuditReport, most: int) -> Iterator[Block]:
    exact = is_exact(report)
    rows: list[tuple[str, ...]] = [
        (tool.tool, about(tool.tokens, exact=exact), percent(tool.share), f"{tool.results:,}")
        for tool in report.hot_tools[:most]
    ]
    if rows:
        columns = (Column("by tool", long=True), Column("tokens", right=True), Column("share", right=True))
        rows += _rest(len(report.hot_tools), most, 4)
        yield Grid((*columns, Column("results", right=True)), tuple(rows))


def _lanes(report: AuditReport, most: int) -> Iterator[Block]:
    if len(report.lanes) < 2:
        return
    exact = is_exact(report)
    rows: list[tuple[str, ...]] = [
        (
            f"{lane.lane} {lane.title}".strip(),
            "not recorded" if lane.calls is None else f"{lane.calls:,}",
            number(lane.tokens),
            _peak(lane),
            about(lane.returned_tokens, exact=exact),
            _share(lane, exact=exact),
            _form(lane),
        )
        for lane in report.lanes[:most]
    ]
    rows += _rest(len(report.lanes), most, 7)
    columns = (Column("lane", long=True), Column("calls", right=True), Column("sent", right=True))
    back = (Column("returned", right=True), Column("of peak", right=True), Column("as", spare=True))
    yield Grid((*columns, Column("peak", right=True), *back), tuple(rows))
    prose = [lane for lane in report.lanes if lane.rule]
    if prose:
        many = f"{len(prose):,} of {plural(len(report.lanes) - 1, 'sub-agent')}"
        lines = in_words([lane.returned_line or 0 for lane in prose])
        told = f"{many} returned prose only (line {lines}): nothing in it can be looked up."
        more = f"{prose[0].rule}: `ctx rules {prose[0].rule}` says what to ask for."
        yield Notes("returned", (told, more), warn=True)


def _share(lane: LaneRow, *, exact: bool) -> str:
    """What it returned as a share of the context that it had built up."""
    share = percent(lane.returned_share)
    return share if exact or share.startswith(("–", "<")) else f"~{share}"


def _form(lane: LaneRow) -> str:
    """What came back, in a word or two."""
    if lane.form == "locations":
        return plural(lane.locations or 0, "location")
    named = {"finding": "a finding", "json": "JSON", "list": "a list", "prose": "prose only"}
    return named.get(lane.form or "", "–")


def _peak(lane: LaneRow) -> str:
    """The largest context of a lane; of one whose calls are not recorded, how large it was at its end."""
    if lane.peak is None and lane.reported_tokens is not None:
        return f"{lane.reported_tokens:,} at its end"
    return number(lane.peak)


def _skips(report: AuditReport, most: int) -> Iterator[Block]:
    lines = [
        f"line {skip.line}" + (f" of {skip.file}" if skip.file else "") + f": {skip.reason}"
        for skip in report.skips[:most]
    ]
    if len(report.skips) > most:
        lines.append(f"and {len(report.skips) - most:,} more (--all shows them)")
    if lines:
        lost = any(not skip.recovered for skip in report.skips)
        yield Notes("skipped" if lost else "recovered", tuple(lines), warn=lost)


def failures(report: AuditReport) -> Iterator[str]:
    """A sentence for each limit that does not hold."""
    for limit in report.limits:
        if not limit.checked:
            yield f"--{limit.name}: not checked, the window is not known (set --max-context)"
        elif limit.calls:
            calls = f"{plural(len(limit.calls), 'call')} over {limit.limit or 0:,} tokens"
            yield f"--{limit.name}: {calls} (call {in_words(limit.calls)})"


def in_full_or_rows(reports: Iterable[AuditReport], *, full: bool) -> Iterator[AuditReport | tuple[AuditReport, ...]]:
    """Each report that is drawn in full, as it comes; at the end, where there are several, all for a row each.

    The conversations of a source that holds many are drawn in full only where that is asked for.
    """
    seen: list[AuditReport] = []
    for report in reports:
        seen.append(report)
        if full or not report.source.many:
            yield report
    if len(seen) > 1:
        yield tuple(seen)


def summary_blocks(reports: Sequence[AuditReport]) -> Iterator[Block]:
    """A row for each of several reports, their sum, and the limits that do not hold in some of them."""
    several = len({report.source.path for report in reports}) > 1
    rows = [_summary_row(report, _name(report, with_path=several)) for report in reports]
    shared = sum(report.counts.shared_calls for report in reports)
    calls = sum(len(report.calls) for report in reports) - shared
    sent = sum(report.totals.sent - report.totals.shared for report in reports)
    guessed = any(report.totals.basis != "measured" and not is_exact(report) for report in reports)
    note = f"{plural(shared, 'call')} held twice counted once" if shared else ""
    rows.append((f"all {len(reports):,}", f"{calls:,}", f"{'~' if guessed else ''}{short(sent)}", "", "", "", note))
    columns = (
        Column("conversation", long=True),
        Column("calls", right=True),
        Column("sent", right=True),
        Column("peak", right=True),
        Column("of usable", right=True, spare=True),
        Column("compactions", right=True, spare=True),
        Column("", long=True),
    )
    yield Grid(columns, tuple(rows))
    failed: dict[str, list[str]] = {}
    for report in reports:
        for limit in report.limits:
            if limit.calls or not limit.checked:
                what = limit.name if limit.checked else f"{limit.name} (not checked, no window known)"
                failed.setdefault(what, []).append(_name(report, with_path=several))
    lines = tuple(f"--{what}: {len(names)} of {len(reports)} ({in_words(names)})" for what, names in failed.items())
    if lines:
        yield Notes("FAILED", lines, warn=True)


def _name(report: AuditReport, *, with_path: bool) -> str:
    source = report.source
    if not source.many or source.conversation is None:
        return source.path
    return f"{source.path} [{source.conversation}]" if with_path else source.conversation


def _summary_row(report: AuditReport, name: str) -> tuple[str, ...]:
    return (
        name,
        f"{len(report.calls):,}",
        _figure(report.totals.sent, report),
        _figure(report.budget.peak, report),
        percent(report.budget.share),
        str(len(report.compactions)) if report.compactions else "–",
        "" if report.ok else "over a limit" if any(limit.calls for limit in report.limits) else "not checked",
    )


def _figure(value: int | None, report: AuditReport) -> str:
    return number(value) if report.totals.basis == "measured" else about(value, exact=is_exact(report))
