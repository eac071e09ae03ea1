"""The layers of the main lane against their quotas, and the calls against the user's limits."""

from collections.abc import Iterator, Mapping, Sequence

from ctxcli.audit.walk import Step
from ctxcli.budget import Limits, Usable, quotas
from ctxcli.model import MAIN, Layer
from ctxcli.reports.audit import Budget, LayerBudget, Limit

Quotas = Mapping[Layer, int | None]


def budget_of(steps: Sequence[Step], usable: Usable, limits: Limits) -> Budget:
    """The layers of the main lane (or of all lanes, where it has no call) against their quotas.

    What the provider measured beside the estimate counts as system prompt and tools when the quotas
    are worked out: it is what stands in no file. Each call is held against its own quotas.
    """
    main = [step for step in steps if step.call.lane == MAIN] or list(steps)
    if not main:
        return Budget((), overflow=False, peak_call=None, peak=None, share=None)
    peak = max(main, key=lambda step: (step.size, -step.n))
    wanted = [_quotas(step, usable, limits) for step in main]
    at_peak = _quotas(peak, usable, limits)
    layers = [_layer(layer, main, wanted, peak, at_peak[layer]) for layer in Layer]
    if any(step.measured is not None for step in main):
        hidden = max(step.size - step.estimated for step in main)
        layers.append(LayerBudget("unattributed", None, hidden, peak.size - peak.estimated, 0, None))
    over_window = usable.usable is not None and peak.size > usable.usable
    overflow = over_window or any(layer.overflow for layer in layers)
    share = round(peak.size / usable.usable, 6) if usable.usable else None
    return Budget(tuple(layers), overflow, peak.n, peak.size, share)


def _quotas(step: Step, usable: Usable, limits: Limits) -> Quotas:
    fixed = step.layers[Layer.SYSTEM] + step.layers[Layer.TOOLS] + step.hidden
    return quotas(usable.usable, fixed, limits.shares)


def _layer(layer: Layer, steps: Sequence[Step], wanted: Sequence[Quotas], peak: Step, quota: int | None) -> LayerBudget:
    most = max(step.layers[layer] for step in steps)
    over = [
        (step.layers[layer] - limit, -step.n)
        for step, limits in zip(steps, wanted, strict=True)
        if (limit := limits[layer]) is not None and step.layers[layer] > limit
    ]
    worst, call = max(over, default=(0, 0))
    return LayerBudget(layer.value, quota, most, peak.layers[layer], worst, -call or None)


def limits_of(
    steps: Sequence[Step], usable: Usable, limits: Limits, fail_over: float | None, max_growth: int | None
) -> Iterator[Limit]:
    """The limits that the user set, each with the calls over it."""
    if limits.max_context is not None:
        yield _limit("max-context", limits.max_context, steps)
    if fail_over is not None:
        if usable.usable is None:
            yield Limit("fail-over", None, (), checked=False)
        else:
            yield _limit("fail-over", int(usable.usable * fail_over), steps)
    if max_growth is not None:
        yield Limit("max-growth", max_growth, tuple(step.n for step in steps if (step.grew or 0) > max_growth))


def _limit(name: str, most: int, steps: Sequence[Step]) -> Limit:
    return Limit(name, most, tuple(step.n for step in steps if step.size > most))
