"""A bench, as blocks: recall by budget, what else was held, other sizes, generations, planted facts, floors."""

from collections.abc import Iterator, Sequence

from ctxcli.renderers.chart import Chart, Line
from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, number, percent, plural
from ctxcli.reports.bench import BenchReport, BenchRow, Interval

_SHOWN = 0.10
"""The budget whose row is shown in full; the middle one where it is not among them."""


def bench_blocks(report: BenchReport, *, everything: bool = False) -> Iterator[Block]:
    """The blocks of a report; with everything each budget in full."""
    yield Facts(tuple(_facts(report)))
    budgets = report.settings.budgets
    if any(row.budget is not None for row in report.rows):
        yield _by_budget(report)
        shown = min(budgets, key=lambda one: abs(one - _SHOWN))
        for budget in budgets if everything else (shown,):
            rows = [row for row in report.rows if row.budget == budget]
            yield _in_full(f"at {_budget(budget)}", rows)
            if everything:
                yield _by_kind(f"required at {_budget(budget)}, by kind", rows)
    for against in dict.fromkeys(row.against for row in report.rows if row.against is not None):
        rows = [row for row in report.rows if row.against == against]
        yield _in_full(f"at the size of {against}", rows)
    if any(one.generations for one in report.generations):
        yield _generations(report)
    if report.planted:
        yield _planted(report)
    if report.floors:
        yield _floors(report)
    if report.notes:
        yield Notes("note", report.notes)


def bench_chart(report: BenchReport) -> Chart:
    """Hindsight recall over the budget, a curve for each compactor that fits; a level for one of a size of its own.

    Such a size is a share of the whole context and has no place among the budgets, so the level goes all across.
    """
    lines = []
    for name in _names(report):
        rows = {row.budget: row for row in report.rows if row.compactor == name and row.budget is not None}
        found = [(budget, rows[budget].recall) for budget in report.settings.budgets if budget in rows]
        if any(one is not None for _, one in found):
            lines.append(
                Line(
                    name, [100 * budget for budget, _ in found], [one.mean if one else None for _, one in found],
                    [one.low if one else None for _, one in found], [one.high if one else None for _, one in found],
                )
            )  # fmt: skip
    budgets = report.settings.budgets
    ends = [100 * budget for budget in dict.fromkeys((budgets[0], budgets[-1]))]
    lines += [
        Line(f"{row.compactor}, leaves {percent(row.left, 1)}", ends, [row.recall.mean] * len(ends), level=True)
        for row in report.rows
        if row.against == row.compactor and row.recall
    ]
    ticks = [(100 * budget, _budget(budget)) for budget in report.settings.budgets]
    cuts = plural(sum(source.cuts for source in report.sources), "cut")
    return Chart(
        f"Hindsight recall, {cuts} of {plural(len(report.sources), 'conversation')}",
        "left of what can be compacted", "of what was used later, held", lines, ticks,
    )  # fmt: skip


def _facts(report: BenchReport) -> Iterator[tuple[str, ...]]:
    sources, settings = report.sources, report.settings
    cuts, recorded = sum(one.cuts for one in sources), sum(one.recorded for one in sources)
    yield (
        plural(len(sources), "conversation"), plural(cuts, "cut"),
        f"{plural(recorded, 'recorded compaction')} among them",
        f"contexts of {number(settings.least)} tokens and more",
    )  # fmt: skip
    yield ("a budget is the share of what can be compacted that may be left",
           "intervals of 95 %: bootstrap over conversations and cuts")  # fmt: skip


def _budget(budget: float) -> str:
    return f"{budget * 100:g} %"


def _names(report: BenchReport) -> list[str]:
    """The compactors, the best in the mean over the budgets first."""
    means: dict[str, list[float]] = {}
    for row in report.rows:
        if row.budget is not None:
            means.setdefault(row.compactor, []).append(row.recall.mean if row.recall else 0.0)
    return sorted(means, key=lambda name: -sum(means[name]) / len(means[name]))


def _by_budget(report: BenchReport) -> Grid:
    budgets = report.settings.budgets
    cells = {(row.compactor, row.budget): row for row in report.rows if row.budget is not None}
    rows = tuple(
        (name, *(_recall(cells.get((name, budget))) for budget in budgets)) for name in _names(report)
    )  # fmt: skip
    return Grid((Column("hindsight recall"), *(Column(_budget(one), right=True) for one in budgets)), rows)


def _recall(row: BenchRow | None) -> str:
    if row is None or row.recall is None:
        return "–"
    some = "" if row.fitting == row.results else f" ({row.fitting} of {row.results})"
    return _interval(row.recall) + some


def _interval(one: Interval | None) -> str:
    if one is None:
        return "–"
    spread = "" if one.low is None or one.high is None else f" [{one.low:.2f} {one.high:.2f}]"
    return f"{one.mean:.2f}{spread}"


def _in_full(title: str, rows: Sequence[BenchRow]) -> Grid:
    columns = (Column(title), Column("fit", right=True), Column("left", right=True), Column("recall", right=True),
               Column("required", right=True), Column("boundaries", right=True), Column("decisions", right=True),
               Column("mutated", right=True, spare=True), Column("invented", right=True, spare=True),
               Column("refused", right=True, spare=True), Column("seconds", right=True, spare=True))  # fmt: skip
    timed = any(row.seconds is not None for row in rows)
    cells = tuple(map(_row, rows))
    return Grid(columns, cells) if timed else Grid(columns[:-1], tuple(row[:-1] for row in cells))


def _by_kind(title: str, rows: Sequence[BenchRow]) -> Grid:
    kinds = sorted({kind for row in rows for kind in row.by_kind})
    cells = tuple(
        (row.compactor, *(f"{one.held} of {one.required}" if (one := row.by_kind.get(kind)) else "–" for kind in kinds))
        for row in rows
    )
    return Grid((Column(title), *(Column(kind, right=True) for kind in kinds)), cells)


def _row(row: BenchRow) -> tuple[str, ...]:
    fitting = f"{row.fitting} of {row.results}" + (f", {row.failed} failed" if row.failed else "")
    known = row.fitting > 0
    counts = (row.mutated, row.invented, row.broken) if known else (None,) * 3
    return (
        row.compactor, fitting, percent(row.left, 1), _interval(row.recall), _interval(row.required),
        _share(row.constraints), _share(row.decisions), *map(number, counts),
        "–" if row.seconds is None else f"{row.seconds:.2f}",
    )  # fmt: skip


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _generations(report: BenchReport) -> Grid:
    most = report.settings.generations
    columns = (Column(f"held of the first context, at {_budget(report.settings.generation_budget)}"), Column("from"),
               *(Column(str(one), right=True) for one in range(1, most + 1)), Column("cliff", right=True))  # fmt: skip
    rows = []
    for one in report.generations:
        by_number = {row.generation: row for row in one.generations}
        cells = (_interval(by_number[at].held) if at in by_number else "–" for at in range(1, most + 1))
        failed = f" ({one.failed} failed)" if one.failed else ""
        cliff = "–" if not one.generations else "none" if one.cliff is None else str(one.cliff)
        rows.append((one.compactor + failed, one.form, *cells, cliff))
    return Grid(columns, tuple(rows))


def _planted(report: BenchReport) -> Grid:
    slots = list(dict.fromkeys(row.slot for row in report.planted))
    found = {(row.compactor, row.form, row.slot, row.place): row for row in report.planted}
    places = list(dict.fromkeys(row.place for row in report.planted))
    rows = []
    for compactor, form in dict.fromkeys((row.compactor, row.form) for row in report.planted):
        cells = []
        for slot in slots:
            some = [found[compactor, form, slot, place] for place in places if (compactor, form, slot, place) in found]
            cells.append(" ".join(percent(one.held / one.planted) for one in some))
        rows.append((compactor, form, *cells))
    title = f"planted, after {plural(report.settings.generations, 'generation')} ({', '.join(places)})"
    return Grid((Column(title), Column("from"), *(Column(slot, right=True) for slot in slots)), tuple(rows))


def _floors(report: BenchReport) -> Grid:
    columns = (Column("floor"), Column("compactor"), Column("budget", right=True), Column("asked", right=True),
               Column("is", right=True), Column("reached"))  # fmt: skip
    return Grid(columns, tuple(
        (one.measure, one.compactor, "–" if one.budget is None else _budget(one.budget), f"{one.least:g}",
         "–" if one.value is None else f"{one.value:.2f}", "yes" if one.ok else "NO")
        for one in report.floors
    ))  # fmt: skip
