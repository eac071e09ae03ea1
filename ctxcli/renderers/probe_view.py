"""A probe as blocks: what it comes to, what changed, then the rest."""

from collections.abc import Iterator

from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, about, number, percent, plural
from ctxcli.reports.probe import CHANGED, GUESSABLE, KEPT, UNANSWERABLE, UNASKED, ProbeReport, ProbeRow, ProbeScore

_ORDER = (CHANGED, UNASKED, KEPT, UNANSWERABLE, GUESSABLE)
_ASIDE = {
    UNANSWERABLE: "not answered with the context before either",
    GUESSABLE: "answered without any context",
}


def probe_blocks(report: ProbeReport, *, everything: bool = False) -> Iterator[Block]:
    """The blocks of one report; with everything the questions that were set aside too."""
    yield Facts(tuple(_facts(report)))
    rows = [row for name in _ORDER for row in report.questions if row.verdict == name]
    changed = [row for row in rows if row.verdict == CHANGED]
    if changed:
        yield Notes("changed", tuple(map(_changed, changed)), warn=True)
    shown = [row for row in rows if row.verdict != CHANGED and (everything or row.verdict not in _ASIDE)]
    if shown:
        yield _questions(shown)
    aside = [
        f"{plural(many, 'question')} set aside: {why}"
        for name, why in _ASIDE.items()
        if (many := sum(row.verdict == name for row in rows))
    ]
    if aside and not everything:
        aside[-1] += " (--all shows them)"
    if aside:
        yield Notes("aside", tuple(aside))
    if report.notes:
        yield Notes("note", report.notes)


def _facts(report: ProbeReport) -> Iterator[tuple[str, ...]]:
    before, after, totals = report.before, report.after, report.totals
    where = ""
    if report.compaction is not None:
        one = report.compaction
        where = f"compaction {one.n} of {one.of}, line {one.line:,} ({one.kind}, {one.trigger or 'unknown'})"
    elif report.strategy is not None:
        where = f"compacted by {report.strategy}"
    against = where or f"against {after.path}"
    yield (before.path, against, f"{about(before.tokens)} tokens before, {about(after.tokens)} after")
    judged = () if report.judge == report.model else (f"judged by {report.judge}",)
    yield (
        report.model,
        *judged,
        plural(totals.questions, "question"),
        plural(report.repeats, "repeat"),
        *_spent(report),
    )
    told = totals.kept + totals.changed
    if totals.kept_share is None:
        yield ("NOTHING CAN BE TOLD",)
        return
    floor = "" if report.min_score is None else f", {percent(report.min_score)} wanted"
    verdict = "OK" if report.ok else "NOT ALL ASKED" if totals.unasked and not totals.changed else "CHANGED"
    kept = f"{totals.kept:,} of {told:,} answers kept = {percent(totals.kept_share)}"
    yield (verdict, kept + _interval(totals.low, totals.high) + floor)
    yield (f"right before {_score(totals.before)}", f"after {_score(totals.after)}")


def _spent(report: ProbeReport) -> tuple[str, ...]:
    spent = report.spent
    stored = f", {spent.stored:,} from the cache" if spent.stored else ""
    cost = "cost unknown" if spent.cost is None else f"${spent.cost:,.4f}"
    return (f"{plural(spent.calls, 'call')}{stored}", cost if spent.calls else "nothing spent")


def _score(score: ProbeScore) -> str:
    return percent(score.share) + _interval(score.low, score.high)


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{low * 100:.0f} to {high * 100:.0f} %]"


def _changed(row: ProbeRow) -> str:
    """One that changed, with what was right and what is said now."""
    now = "nothing" if row.said_after is None else row.said_after
    chance = "" if row.certain else ", which may be chance"
    where = f", line {row.line:,}" if row.line else ""
    counts = f"right {_right(row.before)} before, {_right(row.after)} after{chance}"
    return f"{row.question} Right: {' | '.join(row.answers[:2])}; now: {now} ({row.id}{where}; {counts})"


def _questions(rows: list[ProbeRow]) -> Grid:
    columns = (
        Column("verdict"), Column("id", long=True), Column("line", right=True, spare=True),
        Column("without", right=True, spare=True), Column("before", right=True), Column("after", right=True),
        Column("question", long=True),
    )  # fmt: skip
    return Grid(columns, tuple(
        (row.verdict, row.id, number(row.line), *(_right(score) for score in (row.without, row.before, row.after)),
         row.question)
        for row in rows
    ))  # fmt: skip


def _right(score: ProbeScore) -> str:
    return f"{score.right}/{score.asked}" if score.asked else "–"
