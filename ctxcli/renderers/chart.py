"""The one door to matplotlib: curves with their intervals, as a file. An extra: ctx-transcripts[charts]."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import PurePath

from ctxcli.errors import SettingError

SUFFIXES = (".svg", ".png", ".pdf")
"""What a chart can be written as; told by the name of the file."""
_WANTED = "--chart: needs pip install 'ctx-transcripts[charts]'"
_SIZE = (7.2, 4.2)
"""Inches."""
_MARKS = "osD^vPX*<>"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f")
"""The palette of Okabe and Ito (https://jfly.uni-koeln.de/color/), told apart by colour-blind readers too."""


@dataclass(frozen=True, slots=True)
class Line:
    """One curve. The points whose value is not known are left out."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float | None]
    low: Sequence[float | None] = ()
    """The interval around each value, where there is one."""
    high: Sequence[float | None] = ()
    level: bool = False
    """One value all across, no curve: drawn broken."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over one axis."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    ticks: Sequence[tuple[float, str]] = ()
    """Places on the x axis and what stands there; the library's own where there are none."""
    unit: bool = True
    """The y axis goes from 0 to 1."""
    log: bool = False
    """The x axis is logarithmic."""


def suffix_of(path: str) -> str:
    """The kind of chart that a file's name asks for.

    Raises SettingError for one that cannot be written, and where the extra that draws is not installed.
    """
    suffix = PurePath(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise SettingError(f"--chart {path}: a chart is written as {', '.join(SUFFIXES)}")
    if find_spec("matplotlib") is None:
        raise SettingError(_WANTED)
    return suffix


def line_chart(chart: Chart, suffix: str) -> bytes:
    """The chart as the content of a file of this kind; the same chart gives the same bytes.

    Raises SettingError where the extra is not installed.
    """
    try:
        import matplotlib  # noqa: PLC0415 - an extra that takes half a second
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise SettingError(_WANTED) from None
    stream = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "ctx", "svg.fonttype": "none", "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.add_subplot()
        for place, line in enumerate(chart.lines):
            _draw(axes, line, _COLOURS[place % len(_COLOURS)], _MARKS[place % len(_MARKS)])
        axes.set(title=chart.title, xlabel=chart.x, ylabel=chart.y)
        if chart.log:
            axes.set_xscale("log")
            axes.minorticks_off()
        if chart.ticks:
            axes.set_xticks([at for at, _ in chart.ticks], [text for _, text in chart.ticks])
        if chart.unit:
            axes.set_ylim(-0.02, 1.04)
        axes.grid(visible=True, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        if chart.lines:
            figure.legend(loc="outside right upper", frameon=False, fontsize="small")
        figure.savefig(stream, format=suffix.lstrip("."), dpi=144, metadata=_metadata(suffix))
    return stream.getvalue()


def _metadata(suffix: str) -> dict[str, None]:
    """Without the time at which it was drawn."""
    return {} if suffix == ".png" else {"Date": None} if suffix == ".svg" else {"CreationDate": None}


def _draw(axes, line: Line, colour: str, mark: str) -> None:  # type: ignore[no-untyped-def]
    known = [at for at, value in enumerate(line.ys) if value is not None]
    xs = [line.xs[at] for at in known]
    style = "--" if line.level else "-"
    axes.plot(xs, [line.ys[at] for at in known], style, color=colour, marker=mark, markersize=5, label=line.name)
    spread = [(line.xs[at], low, high) for at, (low, high) in enumerate(zip(line.low, line.high, strict=True))
              if low is not None and high is not None]  # fmt: skip
    if spread:
        axes.fill_between(*zip(*spread, strict=True), color=colour, alpha=0.15, linewidth=0)
