"""What a reader has to know about the figures of a simulation."""

from collections.abc import Iterator, Sequence

from ctxcli.model import MAIN, Transcript
from ctxcli.prices import LIBRARY, Prices
from ctxcli.reports.simulate import Agreement, PolicyTotals
from ctxcli.simulate.cache import Served
from ctxcli.simulate.conclude import Terms
from ctxcli.simulate.drive import Run
from ctxcli.simulate.unseen import Unseen

_MOST = 4
"""Places that are named."""
_WORTH_SAYING = 1_000
"""Tokens; less than that another model's way of counting may come to."""
_DOUBTFUL = 0.15
"""Median error of context or cache reads, as a share of what was measured."""


def remarks_of(run: Run, totals: PolicyTotals) -> tuple[str, ...]:
    """On one policy."""
    said = []
    if totals.over:
        many = f"{totals.over:,} calls do not fit the usable window, the first is call {totals.first_over:,}."
        said.append(many if totals.over > 1 else f"Call {totals.first_over:,} does not fit the usable window.")
    if run.gave_up is not None:
        said.append(f"Compacting was given up at call {run.gave_up:,} until the context had grown by a twentieth.")
    return tuple(said)


def doubts(agreement: Agreement | None) -> Iterator[str]:
    """What the replay of the recorded run cannot reproduce, and where that leaves nothing to say of another policy."""
    if agreement is None:
        return
    if agreement.cache_gone:
        calls = ", ".join(f"{n:,}" for n in agreement.cache_gone[:_MOST])
        more = f" and {len(agreement.cache_gone) - _MOST} more" if len(agreement.cache_gone) > _MOST else ""
        noun = "calls" if len(agreement.cache_gone) > 1 else "call"
        yield (
            f"The provider read less than its rules say at {noun} {calls}{more}: the cache gave way, or system prompt "
            "or tools changed in a way that is not in the file. No replay can tell."
        )
    if max(agreement.context or 0, agreement.cache_read or 0) > _DOUBTFUL:
        yield (
            "The replay does not reproduce what the provider measured: the figures of the policies can be compared "
            "with one another, and with the measured ones they cannot."
        )


def notes_of(
    transcript: Transcript, terms: Terms, caches: Sequence[Served], unseen: Unseen
) -> tuple[str, ...]:  # fmt: skip
    """On all of them."""
    return (
        *transcript.notes, *_of_context(transcript, unseen), *_of_cache(transcript, terms, caches),
        *_of_prices(terms.prices),
    )  # fmt: skip


def _of_context(transcript: Transcript, unseen: Unseen) -> Iterator[str]:
    if not any(call.lane == MAIN for call in transcript.calls):
        yield "No call of this lane is recorded: there is nothing to replay."
        return
    if not unseen.measured:
        yield "The provider's figures are not recorded: system prompt and tools that stand in no file are missing."
    elif unseen.earlier:
        yield (
            f"At first {unseen.earlier:,} tokens more than later are not in the file: taken for earlier turns, "
            "which the first compaction takes out."
        )
    jumps = [(n, tokens) for n, tokens in unseen.jumps.items() if abs(tokens) >= _WORTH_SAYING]
    if jumps:
        found = ", ".join(f"{tokens:+,} at call {n:,}" for n, tokens in jumps[:_MOST])
        more = f" and {len(jumps) - _MOST} more" if len(jumps) > _MOST else ""
        yield (
            f"The context changed by tokens that no message accounts for: {found}{more}. They come and go so under "
            "every policy."
        )


def _of_cache(transcript: Transcript, terms: Terms, caches: Sequence[Served]) -> Iterator[str]:
    if any(one.idle is None for one in caches[1:]):
        yield "Not all times are recorded: where they are not, the cache is taken to be warm."
    rules = {terms.cache.rules(call.model): None for call in transcript.calls if call.lane == MAIN}
    yield from (one.note for one in rules if one.note)


def _of_prices(prices: Prices | None) -> Iterator[str]:
    if prices is not None and prices.version is None and not prices.own:
        yield f"No cost: {LIBRARY} is not installed; pip install 'ctx-transcripts[prices]', or give --prices FILE."
    elif prices is not None and prices.unknown:
        names = ", ".join(sorted(prices.unknown)) or "unnamed models"
        yield f"No cost: no price is known for {names}; --prices FILE can say it."
