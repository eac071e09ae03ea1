"""A sweep as blocks: what it comes to, then the grid, then the method."""

from collections.abc import Iterator

from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, about, number, percent, plural
from ctxcli.reports.sweep import SweepCell, SweepGap, SweepLength, SweepReport

_MOST_WRONG = 40
_LONGEST = 60
_READ = (
    "In brackets 95 % intervals: Wilson's for a cell; of falls and gaps, in points, those of the knee. Gap: the best "
    "position less the middle. Tokens are those of whole prompts, estimated."
)


def sweep_blocks(report: SweepReport, *, everything: bool = False) -> Iterator[Block]:
    """The blocks of one report; with everything each item and the answers that are not right too."""
    yield Facts(tuple(_facts(report)))
    yield _lengths(report)
    if everything:
        yield _items(report)
        if wrong := _wrong(report):
            yield wrong
    failed = [f"--{one.name} {_floor(one.name, one.floor)}: {_verdict(one.ok)}, {one.why}" for one in report.floors]
    if failed:
        yield Notes("floor", tuple(failed), warn=not all(one.ok for one in report.floors))
    if report.notes:
        yield Notes("note", report.notes)
    yield Notes("how", (f"Knee: {report.knee.method}.", _READ))


def _facts(report: SweepReport) -> Iterator[tuple[str, ...]]:
    source, plan, knee, held = report.source, report.plan, report.knee, report.effective
    gradings = ", ".join(f"{count:,} {name}" for name, count in source.gradings.items())
    padded = f"padded from {plural(len(source.corpus), 'source')}, {plural(source.pieces, 'piece')}"
    yield (source.path, f"{plural(source.items, 'item')} ({gradings})", *([padded] if source.corpus else ()))
    answered = sum(cell.answered for cell in report.cells)
    wanted = sum(cell.asked for cell in report.cells)
    judge = () if report.judge is None else (f"judged by {report.judge}",)
    yield (
        report.model or "answers from a file", *judge, plural(plan.repeats, "repeat"),
        *(["evidence first"] if plan.recite else ()), f"{answered:,} of {wanted:,} answers",
    )  # fmt: skip
    if spent := _spent(report):
        yield spent
    found = {"knee": f"knee at {knee.multiple}×, {about(knee.tokens)} tokens", "none": "no knee"}
    yield (found.get(knee.verdict, "whether there is a knee cannot be told"), knee.why)
    if knee.verdict != "unknown" and len(set(knee.positions.values())) > 1:
        yield tuple(f"{at} {f'from {one}×' if one else 'none'}" for at, one in knee.positions.items())
    if held.tokens is None:
        yield ("effective context cannot be told",)
    else:
        most = ", the longest that has answers" if held.longest else ""
        yield (f"effective context {held.multiple}×, {about(held.tokens)} tokens{most}",
               f"at least {percent(held.share)} of the base")  # fmt: skip


def _spent(report: SweepReport) -> tuple[str, ...]:
    spent = report.spent
    found = [plural(spent.calls, "call")] if spent.calls else []
    found += [f"{spent.stored:,} from the cache"] if spent.stored else []
    found += [f"{spent.resumed:,} from the answers file"] if spent.resumed else []
    if spent.calls:
        found.append(f"{number(spent.prompt)} tokens in, {number(spent.output)} out")
        found.append("cost unknown" if spent.cost is None else f"${spent.cost:,.4f}")
    return tuple(found)


def _lengths(report: SweepReport) -> Grid:
    positions = report.plan.positions
    names = ("length", "tokens", *positions, "all", "spread", "fall", "gap")
    columns = tuple(Column(name, right=True, spare=name == "spread") for name in names)
    cells = {(cell.multiple, cell.position): cell for cell in report.cells}
    gaps = {gap.multiple: gap for gap in report.gaps}
    rows = []
    for one in report.lengths:
        alone = cells.get((one.multiple, "alone"))
        at = [_cell(cells[one.multiple, where]) if alone is None else "" for where in positions]
        every = _cell(alone) if alone is not None else percent(one.mean)
        fall = _fall(one) if one is not report.lengths[0] else ""
        found = (_points(one.spread), fall, _gap(gaps.get(one.multiple)))
        rows.append((f"{one.multiple}×", about(one.tokens), *at, every, *found))
    return Grid(columns, tuple(rows))


def _cell(cell: SweepCell) -> str:
    if cell.mean is None or cell.low is None or cell.high is None:
        return "–"
    return f"{percent(cell.mean)} [{cell.low * 100:.0f}, {cell.high * 100:.0f}]"


def _fall(one: SweepLength) -> str:
    return _between(one.fall, one.low, one.high) if one.fall is not None else "–"


def _gap(gap: SweepGap | None) -> str:
    if gap is None or gap.gap is None:
        return "" if gap is None else "–"
    return f"{gap.best} {_between(gap.gap, gap.low, gap.high)}" if gap.gap > 0 else "none"


def _between(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{_points(value)} [?]"
    return f"{_points(value)} [{_points(low)}, {_points(high)}]"


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value * 100 + 0.0:.0f}".replace("-0", "0")


def _items(report: SweepReport) -> Grid:
    columns = [Column("item", long=True), Column("line", right=True), Column("grading"), Column("tokens", right=True),
               *(Column(f"{many}×", right=True) for many in report.plan.multiples)]  # fmt: skip
    return Grid(tuple(columns), tuple(
        (row.id, number(row.line), row.grading, number(row.tokens),
         *(percent(row.means.get(str(many))) for many in report.plan.multiples))
        for row in report.items
    ))  # fmt: skip


def _wrong(report: SweepReport) -> Grid | None:
    rows = [row for row in report.answers if not row.right]
    columns = (Column("not right", long=True), Column("length", right=True), Column("span"),
               Column("repeat", right=True), Column("why", long=True), Column("answer", long=True))  # fmt: skip
    if not rows:
        return None
    return Grid(columns, tuple(
        (row.item, f"{row.multiple}×", row.position, number(row.repeat), row.why,
         "–" if row.answer is None else " ".join(row.answer.split())[:_LONGEST])
        for row in rows[:_MOST_WRONG]
    ))  # fmt: skip


def _floor(name: str, floor: float) -> str:
    return percent(floor) if name == "min-score" else f"{floor:,.0f}"


def _verdict(ok: bool | None) -> str:
    return {True: "held", False: "not held", None: "cannot be told"}[ok]
