"""What a reader has to know about the figures of a simulation."""

from collections.abc import Iterator, Sequence

from ctxcli.model import MAIN, Transcript
from ctxcli.prices import LIBRARY, Prices
from ctxcli.reports.simulate import Agreement, PolicyTotals
from ctxcli.simulate.cache import Served
from ctxcli.simulate.drive import Run
from ctxcli.simulate.unseen import Unseen

_DOUBTFUL = 0.15
"""Median error of context or cache reads, as a share of what was measured."""


def remarks_of(run: Run, totals: PolicyTotals) -> tuple[str, ...]:
    """On one policy."""
    said = []
    if totals.over:
        said.append(f"{totals.over:,} calls do not fit the usable window, the first is call {totals.first_over:,}.")
    if run.gave_up is not None:
        said.append(f"Compacting was given up at call {run.gave_up:,} until the context had grown by a twentieth.")
    return tuple(said)


def doubts(agreement: Agreement | None) -> Iterator[str]:
    """Where the replay of the recorded run is too far from what was measured to say anything of another policy."""
    if agreement is not None and max(agreement.context or 0, agreement.cache_read or 0) > _DOUBTFUL:
        yield (
            "The replay does not reproduce what the provider measured: the figures of the policies can be compared "
            "with one another, and with the measured ones they cannot."
        )


def notes_of(
    transcript: Transcript, prices: Prices | None, caches: Sequence[Served], unseen: Unseen
) -> tuple[str, ...]:  # fmt: skip
    """On all of them."""
    return (*transcript.notes, *_notes(transcript, prices, caches, unseen))


def _notes(
    transcript: Transcript, prices: Prices | None, caches: Sequence[Served], unseen: Unseen
) -> Iterator[str]:  # fmt: skip
    if not any(call.lane == MAIN for call in transcript.calls):
        yield "No call of the main conversation is recorded: there is nothing to replay."
        return
    if not unseen.measured:
        yield "The provider's figures are not recorded: system prompt and tools that stand in no file are missing."
    elif unseen.earlier:
        yield (
            f"At first {unseen.earlier:,} tokens more than later are not in the file: taken for earlier turns, "
            "which the first compaction takes out."
        )
    if any(one.idle is None for one in caches[1:]):
        yield "Not all times are recorded: where they are not, the cache is taken to be warm."
    others = [model for model in transcript.models if "claude" not in model]
    if others or transcript.provider not in ("anthropic", ""):
        yield "The cache is modelled by Anthropic's rules, whoever served these calls."
    if any(call.lane != MAIN for call in transcript.calls):
        yield "Only the main conversation is replayed, no sub-agent."
    if prices is not None and prices.version is None and not prices.own:
        yield f"No cost: {LIBRARY} is not installed; pip install 'ctx-transcripts[prices]', or give --prices FILE."
    elif prices is not None and prices.unknown:
        names = ", ".join(sorted(prices.unknown)) or "unnamed models"
        yield f"No cost: no price is known for {names}; --prices FILE can say it."
