"""A provider's prompt cache, by Anthropic's rules: what of each request it serves.

https://docs.claude.com/en/docs/build-with-claude/prompt-caching: a request is served from the cache as far as it
stands in front of it as it stood in the request before, if that is no longer ago than the time to live, and only from
1,024 tokens on. What is not served is written. Each use starts the time to live anew.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ctxcli.caching import MINIMUM, seconds_between
from ctxcli.simulate.course import Request


@dataclass(frozen=True, slots=True)
class Served:
    """One request: what the cache read, what was written to it, and what was neither. The three add up to it."""

    read: int
    write: int
    uncached: int
    miss: str
    """Why less was read than was sent before; empty where all of that was."""
    idle: float | None
    """Seconds since the request before; None where a time is not recorded."""


def served(requests: Iterable[Request], ttl: int) -> Iterator[Served]:
    """Each request of a lane, in order. Where times are not recorded, the cache is warm."""
    last: Request | None = None
    for request in requests:
        idle = seconds_between(last.call.time, request.call.time) if last is not None else None
        prefix, miss = request.prefix, request.changed
        if idle is not None and idle > ttl and last is not None:
            prefix, miss = 0, f"idle for {idle / 60:,.0f} minutes"
        read = prefix if prefix >= MINIMUM else 0
        write = request.context - read if request.context >= MINIMUM else 0
        yield Served(read, write, request.context - read - write, miss, idle)
        last = request
