"""From the calls under a policy to its figures: each call, each compaction, and what it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcli.audit.breaks import cache_breaks
from ctxcli.audit.rows import cache_of, sum_of
from ctxcli.audit.walk import Scales, Step
from ctxcli.budget import Usable
from ctxcli.caching import WRITE_1H, Compacted, Pay, break_even
from ctxcli.model import Call, Event, EventKind
from ctxcli.prices import Prices
from ctxcli.reports.calls import Cache
from ctxcli.reports.guard import Hindsight
from ctxcli.reports.simulate import PolicyTotals, SimulatedCall, SimulatedCompaction
from ctxcli.simulate.cache import CacheTerms, Served
from ctxcli.simulate.course import Request
from ctxcli.simulate.drive import Run, Shortened


@dataclass(frozen=True, slots=True)
class Terms:
    """What all policies are held against."""

    scales: Scales
    usable: Usable
    cache: CacheTerms
    prices: Prices | None

    def write(self, model: str) -> float:
        """The price of what is not read, in that of an input token."""
        rules = self.cache.rules(model)
        return rules.write(self.cache.life_of(rules)) or 1.0

    def read(self, model: str) -> float:
        """The price of what is read, in that of an input token."""
        return self.cache.rules(model).read(model)

    def paid(self, call: Call, cache: Cache, output: int) -> float | None:
        """Dollars for what a call sent and got; None where a price is not known."""
        return None if self.prices is None else self.prices.cost(call, cache, output)

    def replayed(self, call: Call, served: Served) -> Cache:
        """What the cache did for a call by its rules; what is written lives as long as this model's entries do."""
        return self._living(call, Cache(served.read, served.write, served.uncached))

    def measured(self, call: Call) -> Cache | None:
        """The same by the provider's figures; how long entries live by the rules, where the figures do not say."""
        cache = cache_of(call.usage)
        if cache is None or (call.usage is not None and call.usage.cache_write_1h is not None):
            return cache
        return self._living(call, cache)

    def _living(self, call: Call, cache: Cache) -> Cache:
        return replace(cache, write_1h=cache.write) if self.write(call.model) == WRITE_1H else cache

    def output(self, call: Call) -> int:
        """What came back: as the provider reported it, else by its text."""
        usage = call.usage
        if usage is not None and usage.output is not None and usage.output_final:
            return usage.output
        return self.scales.text_of(call.model, call.at)


def call_rows(requests: Sequence[Request], caches: Sequence[Served], terms: Terms) -> tuple[SimulatedCall, ...]:
    """A row for each call."""
    return tuple(
        SimulatedCall(
            one.n, one.call.line, one.context, one.prefix, terms.replayed(one.call, served),
            served.miss, terms.output(one.call),
        )
        for one, served in zip(requests, caches, strict=True)
    )  # fmt: skip


def pass_rows(
    run: Run, caches: Sequence[Served], terms: Terms, recalls: Sequence[Hindsight | None], summary: int
) -> tuple[SimulatedCompaction, ...]:  # fmt: skip
    """A row for each pass of a policy; `summary` is what a model would write for it, 0 where none is asked."""
    kept = {one.n: cache.prefix for one, cache in zip(run.requests, caches, strict=True)}
    return tuple(
        replace(_pass_row(one, kept[one.n], terms, summary if one.done else 0), hindsight=recall)
        for one, recall in zip(run.passes, recalls, strict=True)
    )


def _pass_row(one: Shortened, kept: int, terms: Terms, summary: int) -> SimulatedCompaction:
    sizes = Compacted(one.before, one.after, kept, summary)
    return _row(one.n, one.call, sizes, terms, loop=one.again, done=one.done)


def recall_of(compactions: Sequence[SimulatedCompaction]) -> float | None:
    """Hindsight recall over several compactions: each identifier counts once for each that it stood before."""
    found = [one.hindsight for one in compactions if one.hindsight is not None]
    used = sum(one.used for one in found)
    return round(sum(one.held for one in found) / used, 4) if used else None


def _row(
    n: int, call: Call, sizes: Compacted, terms: Terms, *, loop: bool = False, done: bool = True
) -> SimulatedCompaction:  # fmt: skip
    write, read = terms.write(call.model), terms.read(call.model)
    return SimulatedCompaction(
        n, call.line, sizes.before, sizes.after, sizes.prefix, sizes.summary,
        break_even_calls=_rounded(break_even(sizes, write=write, read=read)),
        break_even_cold=_rounded(break_even(sizes, warm=False, write=write, read=read)),
        break_even_uncached=_rounded(break_even(sizes, cached=False)),
        loop=loop, hindsight=None, done=done,
    )  # fmt: skip


def _rounded(pay: Pay) -> float | None:
    return None if pay.calls is None else round(pay.calls, 1)


def recorded_rows(
    events: Sequence[Event], steps: Sequence[Step], run: Run, caches: Sequence[Served], terms: Terms
) -> tuple[SimulatedCompaction, ...]:
    """A row for each of these compactions, which the transcript records of its main lane."""
    rows = []
    taken = -1
    for event in events:
        place = next((at for at, step in enumerate(steps) if step.call.at >= event.at), None)
        if not place:
            known = (event.tokens_before, event.tokens_after)
            rows.append(
                SimulatedCompaction(
                    None, event.line, *known, None, 0, None, None, None, loop=False, hindsight=None, done=True
                )
            )
            continue
        before, after = _sizes(steps[place - 1], steps[place], run.requests[place - 1 : place + 1])
        sizes = Compacted(before, after, caches[place].prefix, _written(event, steps[place], terms))
        row = _row(steps[place].n, steps[place].call, sizes, terms, loop=place == taken + 1)
        rows.append(replace(row, line=event.line))
        taken = place
    return tuple(rows)


def _sizes(before: Step, after: Step, requests: Sequence[Request]) -> tuple[int, int]:
    """Both measured, or both replayed."""
    if before.measured is not None and after.measured is not None:
        return before.measured, after.measured
    return requests[0].context, requests[1].context


def _written(event: Event, after: Step, terms: Terms) -> int:
    """What the model wrote for a recorded compaction."""
    if event.kind is not EventKind.SUMMARY or event.summary is None or event.opaque:
        return 0
    return terms.scales.of(after.call.model, event.summary).total


def modelled(
    requests: Sequence[Request], caches: Sequence[Served], compactions: Sequence[SimulatedCompaction], terms: Terms
) -> PolicyTotals:
    """What the calls come to as they were replayed."""
    pairs = zip(requests, caches, strict=True)
    return _totals(
        [(one.n, one.call, one.context, terms.replayed(one.call, cache)) for one, cache in pairs],
        compactions, terms, "modelled", sum(bool(one.miss) for one in caches[1:]),
    )  # fmt: skip


def measured(
    steps: Sequence[Step], requests: Sequence[Request], compactions: Sequence[SimulatedCompaction], terms: Terms
) -> PolicyTotals | None:
    """What they came to by the provider's figures; None where it reported none."""
    known = sum(step.measured is not None for step in steps)
    if not known:
        return None
    rows = [
        (step.n, step.call, request.context if step.measured is None else step.measured, terms.measured(step.call))
        for step, request in zip(steps, requests, strict=True)
    ]
    basis = "measured" if known == len(steps) else "mixed"
    told = any(cache is not None for *_, cache in rows)
    return _totals(rows, compactions, terms, basis, len(cache_breaks(steps)) if told else None)


def _totals(
    rows: Sequence[tuple[int, Call, int, Cache | None]],
    compactions: Sequence[SimulatedCompaction],
    terms: Terms,
    basis: str,
    misses: int | None,
) -> PolicyTotals:
    usable = terms.usable.usable
    peak = max(rows, key=lambda row: (row[2], -row[0]), default=None)
    over = [n for n, _, size, _ in rows if usable is not None and size > usable]
    caches = [cache for *_, cache in rows if cache is not None]
    wrote = [one for one in compactions if one.summary and one.before is not None]
    return PolicyTotals(
        sent=sum(size for _, _, size, _ in rows),
        output=sum(terms.output(call) for _, call, _, _ in rows),
        peak=peak[2] if peak else 0,
        peak_call=peak[0] if peak else None,
        peak_share=round(peak[2] / usable, 4) if peak and usable else None,
        over=None if usable is None else len(over),
        first_over=over[0] if over else None,
        cache=sum_of(caches) if caches else None,
        misses=misses,
        summary_sent=sum(one.before or 0 for one in wrote),
        summary_output=sum(one.summary for one in wrote),
        cost=_cost(rows, wrote, terms),
        basis=basis,
    )


def _cost(
    rows: Sequence[tuple[int, Call, int, Cache | None]], wrote: Sequence[SimulatedCompaction], terms: Terms
) -> float | None:
    """Dollars for all; None as soon as one call's price or cache is not known."""
    if terms.prices is None or not rows:
        return None
    paid = [None if cache is None else terms.paid(call, cache, terms.output(call)) for _, call, _, cache in rows]
    by_n = {n: call for n, call, _, _ in rows}
    paid += [
        terms.paid(by_n[one.call], Cache(one.before or 0, 0, 0), one.summary) for one in wrote if one.call is not None
    ]
    known = [one for one in paid if one is not None]
    return round(sum(known), 4) if len(known) == len(paid) else None
