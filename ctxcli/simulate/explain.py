"""The arithmetic of one call under a policy, in words."""

from collections.abc import Iterator

from ctxcli.caching import MINIMUM, OUTPUT, READ, Compacted, break_even
from ctxcli.reports.simulate import PolicyResult, SimulatedCompaction
from ctxcli.simulate.cache import Served
from ctxcli.simulate.course import Request


def explained(result: PolicyResult, request: Request, served: Served, ttl: int, write: float) -> Iterator[str]:
    """Each step from the context to what the cache served, and of a compaction from its sizes to break-even."""
    seen = request.context - request.hidden
    yield (
        f"{result.name}, call {request.n}: context {request.context:,} = {request.hidden:,} not in the file "
        f"+ {seen:,} of messages."
    )
    age = "the time since the call before is not recorded" if served.idle is None else f"{served.idle:,.0f} s since it"
    yield (
        f"Of it {request.prefix:,} stand in front as in the request before; {age}, the time to live is {ttl:,} s"
        f"{f'; {served.miss}' if served.miss else ''}."
    )
    yield (
        f"So the cache reads {served.read:,}, {served.write:,} are written and {served.uncached:,} neither "
        f"(prefixes under {MINIMUM:,} are not cached): {READ} x {served.read:,} + {write} x {served.write:,} "
        f"+ {served.uncached:,} = {READ * served.read + write * served.write + served.uncached:,.0f} input tokens."
    )
    for one in result.compactions:
        if one.call == request.n:
            yield _paid(one, write)


def _paid(one: SimulatedCompaction, write: float) -> str:
    before, after, prefix = one.before or 0, one.after or 0, one.prefix or 0
    pay = break_even(Compacted(before, after, prefix, one.summary), write=write)
    kept = min(prefix, after)
    calls = "never pays" if pay.calls is None else f"{pay.calls:,.1f} calls to break even"
    return (
        f"Compaction: extra = {OUTPUT:g} x {one.summary:,} + {READ} x {kept:,} + {write} x ({after:,} - {kept:,}) "
        f"= {pay.extra:,.0f}; saving = {READ} x ({before:,} - {after:,}) = {pay.saving:,.0f} a call: {calls}."
    )
