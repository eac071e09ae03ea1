"""The arithmetic of one call under a policy, in words."""

from collections.abc import Iterator

from ctxcli.caching import OUTPUT, Compacted, break_even
from ctxcli.reports.simulate import PolicyResult, SimulatedCompaction
from ctxcli.simulate.cache import Served
from ctxcli.simulate.conclude import Terms
from ctxcli.simulate.course import Request


def explained(result: PolicyResult, request: Request, served: Served, terms: Terms) -> Iterator[str]:
    """Each step from the context to what the cache served, and of a compaction from its sizes to break-even."""
    model = request.call.model
    rules = terms.cache.rules(model)
    life, write, read = terms.cache.life_of(rules), terms.write(model), terms.read(model)
    seen = request.context - request.hidden
    yield (
        f"{result.name}, call {request.n}: context {request.context:,} = {request.hidden:,} not in the file "
        f"+ {seen:,} of messages."
    )
    age = "the time since the call before is not recorded" if served.idle is None else f"{served.idle:,.0f} s since it"
    ends = ", and the cache reads up to a breakpoint" if rules.breakpoints else ""
    yield (
        f"Of it {request.prefix:,} stand in front as in the request before{ends}: {served.prefix:,}; {age}, "
        f"the time to live is {life:,} s{f'; {served.miss}' if served.miss else ''}."
    )
    yield (
        f"So the cache ({rules.name}) reads {served.read:,}, {served.write:,} are written and {served.uncached:,} "
        f"neither (prefixes under {rules.minimum(model):,} are not cached): {read} x {served.read:,} "
        f"+ {write} x {served.write:,} + {served.uncached:,} "
        f"= {read * served.read + write * served.write + served.uncached:,.0f} input tokens."
    )
    for one in result.compactions:
        if one.call == request.n:
            yield _paid(one, write, read)


def _paid(one: SimulatedCompaction, write: float, read: float) -> str:
    before, after, prefix = one.before or 0, one.after or 0, one.prefix or 0
    pay = break_even(Compacted(before, after, prefix, one.summary), write=write, read=read)
    kept = min(prefix, after)
    calls = "never pays" if pay.calls is None else f"{pay.calls:,.1f} calls to break even"
    return (
        f"Compaction: extra = {OUTPUT:g} x {one.summary:,} + {read} x {kept:,} + {write} x ({after:,} - {kept:,}) "
        f"= {pay.extra:,.0f}; saving = {read} x ({before:,} - {after:,}) = {pay.saving:,.0f} a call: {calls}."
    )
