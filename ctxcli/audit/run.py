"""The audit of one transcript: count, calibrate, walk, conclude."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ctxcli.audit.breaks import cache_breaks, inferred
from ctxcli.audit.budgets import budget_of, limits_of
from ctxcli.audit.conclude import compactions_of, counts_of, totals_of
from ctxcli.audit.hot import hot_parts, hot_tools, weights_of
from ctxcli.audit.lanes import lanes_of
from ctxcli.audit.notes import notes_of
from ctxcli.audit.rows import call_rows
from ctxcli.audit.walk import Scales, growths, walk
from ctxcli.budget import Limits, usable_window
from ctxcli.model import MAIN, Transcript
from ctxcli.replay import Frame, replay
from ctxcli.reports.audit import (
    AuditReport,
    Calibration,
    SkipRow,
    Source,
    Tokenizer,
    Window,
)
from ctxcli.shelf import Weigh
from ctxcli.tokens import Choice, Fit, choose, count_parts, counter, fit


@dataclass(frozen=True, slots=True)
class Settings:
    """What an audit is held against, and how it counts."""

    limits: Limits = field(default_factory=Limits)
    fail_over: float | None = None
    """Share of the usable window, 0 to 1, that no call may exceed."""
    max_growth: int | None = None
    """Tokens that no call may add."""
    tokenizer: str | None = None
    weigher: Callable[[str], Weigh] = counter
    """Gives the counter for an encoding's name."""


def audit(transcript: Transcript, settings: Settings | None = None) -> AuditReport:
    """Audit one transcript. Raises VocabularyError where the tokenizer asked for cannot be had."""
    settings = settings or Settings()
    models = models_of(transcript)
    choice = choose(models, settings.tokenizer)
    weigh = settings.weigher(choice.name)
    counted = count_parts(transcript, weigh)
    frames = list(replay(transcript))
    fits = fits_of(frames, transcript, counted, choice)
    scales = Scales(transcript, counted, fits)
    steps = list(walk(frames, scales))
    entered = weights_of(transcript, scales)
    usable = usable_window(settings.limits, models, transcript.window, recorded_is_usable=transcript.window_is_usable)
    limits = tuple(limits_of(steps, usable, settings.limits, settings.fail_over, settings.max_growth))
    over = tuple(step.n for step in steps if usable.max_context and step.size > usable.max_context)
    unmarked = tuple(inferred(steps))
    return AuditReport(
        ok=not any(limit.calls or not limit.checked for limit in limits),
        source=_source(transcript, models),
        tokenizer=_tokenizer(choice, weigh, fits, models),
        window=Window(usable.max_context, usable.origin, usable.reserve, usable.usable, over),
        counts=counts_of(transcript),
        calls=call_rows(steps, transcript, scales, usable),
        budget=budget_of(steps, usable, settings.limits),
        totals=totals_of(steps, transcript, scales),
        compactions=(*compactions_of(steps, transcript, scales), *unmarked),
        cache_breaks=cache_breaks(steps),
        hot=hot_parts(transcript, entered),
        hot_tools=hot_tools(transcript, entered),
        waste={"stale_tokens": None, "repeated_tokens": None},
        lanes=lanes_of(steps, transcript, scales),
        advice=(),
        skips=tuple(SkipRow(skip.line, skip.reason, skip.recovered, skip.file) for skip in transcript.skips),
        limits=limits,
        notes=(*transcript.notes, *notes_of(transcript, steps, usable, over, {row.call for row in unmarked})),
    )


def models_of(transcript: Transcript) -> list[str]:
    """The models of the main lane, the most used first, then those of the other lanes."""
    main = Counter(call.model for call in transcript.calls if call.lane == MAIN and call.model)
    rest = Counter(call.model for call in transcript.calls if call.lane != MAIN and call.model)
    return [model for model, _ in main.most_common()] + [model for model, _ in rest.most_common() if model not in main]


def fits_of(
    frames: list[Frame], transcript: Transcript, counted: list[tuple[int, ...]], choice: Choice
) -> dict[str, Fit]:
    """The calibration of each model, the unnamed one included, on the growth from call to call."""
    rows = growths(frames, transcript, counted)
    names = {call.model for call in transcript.calls} | {""}
    return {name: fit(rows.get(name, ()), name, exact=choice.exact) for name in sorted(names)}


def _tokenizer(choice: Choice, weigh: Weigh, fits: dict[str, Fit], models: list[str]) -> Tokenizer:
    named = [name for name in fits if name] or [""]
    order = sorted(named, key=lambda name: models.index(name) if name in models else len(models))
    by_model = tuple(_calibration(name, fits[name]) for name in order)
    first = by_model[0] if by_model and by_model[0].origin != "exact" else None
    return Tokenizer(weigh.name, weigh.engine, choice.exact, first, by_model)


def _calibration(model: str, found: Fit) -> Calibration:
    return Calibration(
        model,
        found.ratio,
        found.calls,
        found.r2,
        found.spread,
        found.median_error,
        dict(found.kinds),
        found.overhead,
        found.origin,
    )


def _source(transcript: Transcript, models: list[str]) -> Source:
    return Source(
        transcript.path,
        transcript.format,
        transcript.agent,
        tuple(models),
        transcript.bytes,
        transcript.lines,
        transcript.id,
        transcript.many,
    )
