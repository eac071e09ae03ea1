"""A sweep as curves: the score over the length, a curve for each position."""

from collections.abc import Iterator

from ctxcli.renderers.chart import Chart, Line
from ctxcli.renderers.view import short
from ctxcli.reports.sweep import SweepCell, SweepReport


def sweep_chart(report: SweepReport) -> Chart:
    """The chart: tokens of a prompt on a logarithmic axis, a curve with its 95 % intervals for each position."""
    ticks = [(one.tokens, f"{one.multiple}×\n{short(one.tokens)}") for one in report.lengths]
    knee = report.knee
    found = {"knee": f"knee at {knee.multiple}×", "none": "no knee"}.get(knee.verdict, "knee not known")
    title = f"{report.model or 'answers'}: {found}"
    return Chart(title, "tokens of the prompt", "right answers", tuple(_lines(report)), ticks, log=True)


def _lines(report: SweepReport) -> Iterator[Line]:
    for position in report.plan.positions:
        cells = [cell for cell in report.cells if cell.position in (position, "alone")]
        yield Line(
            position, [cell.tokens for cell in cells], [cell.mean for cell in cells],
            [_known(cell.low, cell) for cell in cells], [_known(cell.high, cell) for cell in cells],
        )  # fmt: skip


def _known(bound: float | None, cell: SweepCell) -> float | None:
    return cell.mean if bound is None else bound
