"""A provider's prompt cache: its prices and lives, and when a compaction has paid for itself, in input tokens."""

from dataclasses import dataclass
from datetime import datetime

WRITE_5M, WRITE_1H, READ, OUTPUT = 1.25, 2.0, 0.1, 5.0
"""Prices in those of an input token: a cache write that lives 5 minutes or an hour, a cache read, an output token.
Anthropic's price list: https://docs.claude.com/en/docs/build-with-claude/prompt-caching."""
LIFE_5M, LIFE_1H = 300, 3_600
"""Seconds that an entry lives after its last use."""
MINIMUM = 1_024
"""Tokens of the shortest prefix that is cached, for most models."""


@dataclass(frozen=True, slots=True)
class Pay:
    """What one compaction costs and saves, in input-token equivalents."""

    extra: float
    """At the compaction."""
    saving: float
    """At each later call."""

    @property
    def calls(self) -> float | None:
        """Calls until the compaction has paid; None where it never does."""
        return self.extra / self.saving if self.saving > 0 else None

    @property
    def at_once(self) -> bool:
        """Whether the first call pays for it."""
        return self.saving > 0 and self.extra <= self.saving


@dataclass(frozen=True, slots=True)
class Compacted:
    """The sizes of one compaction, in tokens."""

    before: int
    """N: the context before."""
    after: int
    """C: the context after."""
    prefix: int
    """P: of the context after, what stands unchanged at its front, so that the cache still serves it."""
    summary: int
    """S: what a model wrote for it; 0 where no model was asked."""


def break_even(sizes: Compacted, *, warm: bool = True, cached: bool = True, write: float = WRITE_5M) -> Pay:
    """The arithmetic of one compaction (compaction facts, section 2B).

    With a cache: extra = 5 S + 0.1 P + 1.25 (C - P), and 0.9 N more where the summary call cannot read the cached
    prefix; saving at each later call = 0.1 (N - C); calls to break even = extra / saving. The summary call reads N at
    0.1, as the next call would have done without the compaction, so that the two cancel.
    N = 167k, C = 30k, P = 10k, S = 4k: 46k / 13.7k = 3.4 calls, and 14.3 where the summary call is cold.

    Without a cache: extra = 5 S + C, saving = N - C: in the example 50k against 137k, paid at once.
    """
    before, after = sizes.before, sizes.after
    if not cached:
        return Pay(OUTPUT * sizes.summary + after, float(before - after))
    prefix = min(sizes.prefix, after)
    extra = OUTPUT * sizes.summary + READ * prefix + write * (after - prefix)
    if sizes.summary and not warm:
        extra += (1 - READ) * before
    return Pay(extra, READ * (before - after))


def seconds_between(before: str, now: str) -> float | None:
    """From one recorded time to another, never less than 0; None where either is none, or one alone has a zone."""
    one, other = moment(before), moment(now)
    if one is None or other is None or (one.tzinfo is None) is not (other.tzinfo is None):
        return None
    return max(0.0, (other - one).total_seconds())


def moment(text: str) -> datetime | None:
    """A recorded time; None for what is none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
