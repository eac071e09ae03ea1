"""What the calls come to: the counts, the totals and the compactions."""

from collections.abc import Sequence

from ctxcli.audit.rows import cache_of, sum_of
from ctxcli.audit.walk import Scales, Step, by_lane, place_of
from ctxcli.model import COMPACTIONS, Event, PartKind, Transcript
from ctxcli.reports.audit import CompactionIterations, CompactionRow, Counts, Totals
from ctxcli.reports.calls import Cache


def counts_of(transcript: Transcript) -> Counts:
    """How many of each thing there are."""
    return Counts(
        messages=len(transcript.messages),
        calls=len(transcript.calls),
        lanes=len(transcript.lanes),
        duplicates=transcript.duplicates,
        skipped=sum(not skip.recovered for skip in transcript.skips),
        recovered=sum(skip.recovered for skip in transcript.skips),
        media=sum(part.media is not None for message in transcript.messages for part in message.parts),
        records=transcript.records,
        bookkeeping=dict(transcript.bookkeeping),
    )


def totals_of(steps: Sequence[Step], transcript: Transcript, scales: Scales) -> Totals:
    """Sums over all lanes; measured and estimated are only ever added where `basis` says mixed."""
    outputs = [step.call.usage.output if step.call.usage else None for step in steps]
    iterations = [
        step for call in transcript.calls if call.usage for step in call.usage.iterations if step.kind == "compaction"
    ]
    return Totals(
        sent=sum(step.size for step in steps),
        basis=_basis([step.measured for step in steps]),
        output=sum(
            scales.text_of(step.call.model, step.call.at) if output is None else output
            for step, output in zip(steps, outputs, strict=True)
        ),
        output_basis=_output_basis(steps, outputs),
        cache=sum_caches(steps),
        cost=None,
        compaction_iterations=CompactionIterations(
            len(iterations), sum(step.input for step in iterations), sum(step.output for step in iterations)
        ),
        new=_new(steps),
    )


def _basis(figures: Sequence[int | None]) -> str:
    known = sum(figure is not None for figure in figures)
    if known == len(figures) and figures:
        return "measured"
    return "mixed" if known else "estimated"


def _output_basis(steps: Sequence[Step], outputs: Sequence[int | None]) -> str:
    basis = _basis(outputs)
    final = all(step.call.usage.output_final for step in steps if step.call.usage)
    return basis if final or basis == "estimated" else "placeholder"


def _new(steps: Sequence[Step]) -> int:
    """Tokens sent for the first time: each lane's growth, in the basis of what was sent."""
    new, last = 0, dict[str, int]()
    for step in steps:
        before = last.get(step.call.lane)
        last[step.call.lane] = step.size
        new += step.size if before is None else max(0, step.size - before)
    return new


def sum_caches(steps: Sequence[Step]) -> Cache | None:
    """What the cache did over several calls; None where none of them says."""
    caches = [cache for cache in (cache_of(step.call.usage) for step in steps) if cache is not None]
    if not caches:
        return None
    return sum_of(caches)


def compactions_of(steps: Sequence[Step], transcript: Transcript, scales: Scales) -> tuple[CompactionRow, ...]:
    """Each recorded compaction, with the context before and after it."""
    lanes = by_lane(steps)
    return tuple(
        _compaction(event, lanes[event.lane], scales) for event in transcript.events if event.kind in COMPACTIONS
    )


def _compaction(event: Event, lane: Sequence[Step], scales: Scales) -> CompactionRow:
    place = place_of(event, lane)
    before = lane[place - 1] if place else None
    after = lane[place] if place < len(lane) else None
    summary = None
    if event.summary is not None and not event.opaque:
        model = after.call.model if after else before.call.model if before else ""
        summary = scales.of(model, event.summary).total
    return CompactionRow(
        line=event.line,
        lane=event.lane,
        call=after.n if after else None,
        kind=event.kind.value,
        trigger=event.trigger or "unknown",
        tokens_before=before.measured if before and before.measured is not None else event.tokens_before,
        tokens_after=after.measured if after and after.measured is not None else event.tokens_after,
        recorded_before=event.tokens_before,
        recorded_after=event.tokens_after,
        estimated_before=before.estimated if before else None,
        estimated_after=after.estimated if after else None,
        summary_tokens=summary,
        dropped_messages=len(event.drops),
        cleared_results=sum(_is_result(scales, place) for place in event.clears),
        opaque=event.opaque,
    )


def _is_result(scales: Scales, place: tuple[int, int]) -> bool:
    return scales.transcript.messages[place[0]].parts[place[1]].kind is PartKind.TOOL_RESULT
