"""The first lines of an audit: what it is of, the window, what was sent, how tokens were counted."""

from collections.abc import Iterator

from ctxcli.renderers.view import about, number, percent, plural, short
from ctxcli.reports.audit import AuditReport, Calibration

_ORIGINS = {"flag": "--max-context", "config": "settings", "transcript": "transcript", "model": "model table"}


def is_exact(report: AuditReport) -> bool:
    """Whether estimates need no mark: the tokenizer is the model's own."""
    return report.tokenizer.exact


def facts_of(report: AuditReport) -> Iterator[list[str]]:
    """What it is, its window, what was sent, and how tokens were counted: a line each."""
    source, main = report.source, [call for call in report.calls if call.lane == "main"]
    agents = len(report.lanes) - 1
    name = source.path + (f" [{source.conversation}]" if source.many else "")
    calls = plural(len(main), "call")
    if len(report.calls) > len(main):
        calls += f" + {len(report.calls) - len(main):,} of sub-agents"
    head = [name, source.format, *_models(source.models), calls]
    if report.compactions:
        head.append(plural(len(report.compactions), "compaction"))
    if agents:
        head.append(f"main + {plural(agents, 'sub-agent')}")
    yield head
    yield _window(report)
    yield _sent(report)
    yield [_counter(report)]


def _models(models: tuple[str, ...]) -> list[str]:
    if len(models) <= 2:
        return list(models)
    return [*models[:2], f"{len(models) - 2} more models"]


def _window(report: AuditReport) -> list[str]:
    window, budget = report.window, report.budget
    facts = []
    if window.max_context is None:
        facts.append("window unknown (set --max-context)")
    else:
        facts.append(f"window {window.max_context:,} ({_ORIGINS.get(window.origin, window.origin)})")
        facts.append(f"reserve {window.reserve_output:,}")
    if budget.peak is not None:
        measured = report.calls[(budget.peak_call or 1) - 1].context.measured is not None
        size = number(budget.peak) if measured else about(budget.peak, exact=is_exact(report))
        share = f" = {percent(budget.share)} of usable" if budget.share is not None else ""
        facts.append(f"peak {size} at call {budget.peak_call}{share}")
    return facts


def _sent(report: AuditReport) -> list[str]:
    totals = report.totals
    mark = "" if totals.basis == "measured" or is_exact(report) else "~"
    facts = [f"sent {mark}{short(totals.sent)} tokens in {plural(len(report.calls), 'call')}"]
    if totals.basis != "measured":
        facts[0] += f" ({totals.basis})"
    if totals.cache is not None and (whole := totals.cache.read + totals.cache.write + totals.cache.uncached):
        facts.append(f"{percent(totals.cache.read / whole)} read from cache")
        written = f"{short(totals.cache.write)} written to it, " if totals.cache.write else ""
        facts.append(f"{written}{short(totals.cache.uncached)} without it")
    if totals.new and len(report.calls) > 1:
        facts.append(f"each new token sent {totals.sent / totals.new:.0f}× on average")
    wrote = f"output {short(totals.output)}"
    if totals.output_basis == "placeholder":
        wrote += " as recorded (too low, see note)"
    elif totals.output_basis != "measured":
        wrote += f" ({totals.output_basis})"
    facts.append(wrote)
    return facts


def _counter(report: AuditReport) -> str:
    tokenizer = report.tokenizer
    if tokenizer.exact and (not tokenizer.by_model or tokenizer.by_model[0].origin == "exact"):
        return f"tokens counted with {tokenizer.name}, the model's own"
    first = tokenizer.calibration
    text = f"~ estimated: {tokenizer.name}"
    if first is None:
        return text
    if first.origin == "constant":
        return text + (f" × {first.ratio:g}, a constant" if first.ratio != 1 else ", model not named")
    return text + f" × {first.ratio:.2f}{_fitted(first)}"


def _fitted(fit: Calibration) -> str:
    kinds = ", ".join(f"{kind} {value:.2f}" for kind, value in fit.kinds.items())
    spread = ""
    if fit.spread is not None:
        low, high = ((share - 1) * 100 for share in fit.spread)
        spread = f"; half of them within {low:+.0f} to {high:+.0f} %"
    return f" ({kinds}; fitted on {plural(fit.calls, 'call')}{spread})".replace("(; ", "(")
