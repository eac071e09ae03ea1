"""From counted tokens to the model's own: ratios fitted to how the context grew from call to call.

The growth between two consecutive calls of a lane is what entered in between: words (user and
assistant text, tool calls), results and thinking, each in counted tokens, what the provider
itself has reported (`fixed`), and an overhead per call for what stands in no file (reminders,
framing). The fit minimises the sum of relative errors, |estimate - growth| / growth, by
iteratively reweighted least squares, drawn lightly towards the median of the plain ratios.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_FEWEST_FOR_RATIO = 3
_FEWEST_FOR_KINDS = 8
_SUPPORT = 5
"""Calls in which a kind must make up a fifth of the growth to get a ratio of its own."""
_ROUNDS = 40
_SETTLED = 1e-3
_MOST_ROWS = 1_000
"""A fit looks at this many calls at the most, evenly spread; more would not move it."""
_LOWEST, _HIGHEST = 0.5, 4.0
_USUAL_OVERHEAD = 60
KINDS = ("words", "results", "thinking")


@dataclass(frozen=True, slots=True)
class Growth:
    """How much one call's context was larger than that of the call before, and what had entered."""

    measured: int
    words: int
    results: int
    thinking: int
    fixed: int

    def of(self, kind: str) -> int:
        """The counted tokens of one of KINDS."""
        return {"words": self.words, "results": self.results, "thinking": self.thinking}[kind]

    @property
    def counted(self) -> int:
        """All that was counted from text."""
        return self.words + self.results + self.thinking


@dataclass(frozen=True, slots=True)
class Fit:
    """The outcome of a calibration; see reports.Calibration for the meaning of the fields."""

    ratio: float
    kinds: tuple[tuple[str, float], ...]
    overhead: int
    origin: str
    calls: int = 0
    r2: float | None = None
    spread: tuple[float, float] | None = None
    median_error: float | None = None

    def of(self, kind: str) -> float:
        """The ratio for words, results or thinking."""
        return dict(self.kinds).get(kind, self.ratio)

    def estimate(self, row: Growth) -> float:
        """The growth that this fit expects."""
        counted = sum(self.of(kind) * row.of(kind) for kind in KINDS)
        return counted + row.fixed + self.overhead


def fit(rows: Sequence[Growth], model: str, *, exact: bool) -> Fit:
    """Fit a model's ratios; with its own tokenizer only the overhead, with too few calls nothing."""
    usable = [row for row in rows if row.measured > row.fixed and row.counted > 0]
    if exact:
        return _judge(Fit(1.0, (), _overhead(usable), "exact"), usable)
    if len(usable) < _FEWEST_FOR_RATIO:
        return Fit(constant_ratio(model), (), 0, "constant")
    plain = statistics.median((row.measured - row.fixed) / row.counted for row in usable)
    ratio = _clamp(plain)
    if len(usable) < _FEWEST_FOR_KINDS:
        return _judge(Fit(round(ratio, 3), (), 0, "fitted"), usable)
    best = _reweighted(usable, ratio)
    kinds = tuple((kind, round(_clamp(value), 3)) for kind, value in best[0] if _supported(usable, kind))
    shared = dict(kinds).get("words", dict(kinds).get("results", ratio))
    return _judge(Fit(round(shared, 3), kinds, max(0, round(best[1])), "fitted"), usable)


def constant_ratio(model: str) -> float:
    """Tokens per o200k_base token where nothing can be fitted.

    1.0 for OpenAI's models and where no model is named. 1.2 for others, 1.5 from Claude Opus 4.7
    on, whose tokenizer is a finer one: the order of what fits on real sessions come to.
    """
    if not model or re.search(r"gpt|o[1345]\b|codex|chatgpt", model):
        return 1.0
    version = re.search(r"claude-[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?", model)
    if version and (int(version[1]), int(version[2] or 0)) >= (4, 7):
        return 1.5
    return 1.2


def _overhead(rows: Sequence[Growth]) -> int:
    if len(rows) < _FEWEST_FOR_RATIO:
        return 0
    return max(0, round(statistics.median(row.measured - row.fixed - row.counted for row in rows)))


def _supported(rows: Sequence[Growth], kind: str) -> bool:
    return sum(row.of(kind) * 5 >= row.measured for row in rows) >= _SUPPORT


def _clamp(value: float) -> float:
    return min(_HIGHEST, max(_LOWEST, value))


def _reweighted(rows: Sequence[Growth], ratio: float) -> tuple[list[tuple[str, float]], float]:
    """Ratios by kind, and the overhead per call."""
    start = [ratio, ratio, ratio, float(_USUAL_OVERHEAD)]
    step = -(-len(rows) // _MOST_ROWS)
    points = [
        (
            (row.words / row.measured, row.results / row.measured, row.thinking / row.measured, 1 / row.measured),
            (row.measured - row.fixed) / row.measured,
        )
        for row in rows[::step]
    ]
    pull = [2 * sum(feature[at] ** 2 for feature, _ in points) / len(points) + 1e-12 for at in range(4)]
    found = start
    for _ in range(_ROUNDS):
        left = [[pull[row] if row == column else 0.0 for column in range(4)] for row in range(4)]
        right = [pull[at] * start[at] for at in range(4)]
        for feature, target in points:
            weight = 1 / max(0.02, abs(target - _dot(feature, found)))
            for row in range(4):
                scaled = weight * feature[row]
                right[row] += scaled * target
                for column in range(row, 4):
                    left[row][column] += scaled * feature[column]
        for row in range(4):
            for column in range(row):
                left[row][column] = left[column][row]
        before, found = found, _solve(left, right)
        if max(abs(one - other) for one, other in zip(before, found, strict=True)) < _SETTLED:
            break
    return list(zip(KINDS, found, strict=False)), found[3]


def _dot(first: Sequence[float], second: Sequence[float]) -> float:
    return sum(one * other for one, other in zip(first, second, strict=True))


def _solve(left: list[list[float]], right: list[float]) -> list[float]:
    """Gaussian elimination of a small, positive definite system."""
    size = len(right)
    rows = [[*line, value] for line, value in zip(left, right, strict=True)]
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for other in range(size):
            if other != at:
                factor = rows[other][at]
                rows[other] = [value - factor * base for value, base in zip(rows[other], rows[at], strict=True)]
    return [row[size] for row in rows]


def _judge(found: Fit, rows: Sequence[Growth]) -> Fit:
    """The fit with how well it does on the calls that it was fitted on."""
    if len(rows) < _FEWEST_FOR_RATIO:
        return found
    estimates = [found.estimate(row) for row in rows]
    shares = [estimate / row.measured for estimate, row in zip(estimates, rows, strict=True)]
    low, _, high = statistics.quantiles(shares, n=4, method="inclusive")
    mean = statistics.fmean(row.measured for row in rows)
    off = sum((row.measured - estimate) ** 2 for row, estimate in zip(rows, estimates, strict=True))
    spread = sum((row.measured - mean) ** 2 for row in rows)
    return Fit(
        found.ratio,
        found.kinds,
        found.overhead,
        found.origin,
        calls=len(rows),
        r2=round(1 - off / spread, 3) if spread else None,
        spread=(round(low, 3), round(high, 3)),
        median_error=round(statistics.median(abs(share - 1) for share in shares), 3),
    )
