"""The lanes: what each consumed, and what it gave back for it."""

from collections.abc import Sequence

from ctxcli.audit.conclude import sum_caches
from ctxcli.audit.walk import Scales, Step, by_lane
from ctxcli.model import MAIN, Lane, Transcript
from ctxcli.reports.lanes import LaneRow
from ctxcli.rules import PROSE_RETURNED
from ctxcli.validity.returns import PROSE, Returned, returns_of


def lanes_of(steps: Sequence[Step], transcript: Transcript, scales: Scales) -> tuple[LaneRow, ...]:
    """The lanes; of a sub-agent whose calls are not in the file, only what the source reports."""
    lanes, returned = by_lane(steps), returns_of(transcript)
    model = next((call.model for call in transcript.calls if call.lane == MAIN), "")
    return tuple(_row(lane, lanes[lane.name], returned.get(lane.name), scales, model) for lane in transcript.lanes)


def _row(lane: Lane, own: Sequence[Step], returned: Returned | None, scales: Scales, model: str) -> LaneRow:
    tokens = None
    if returned is not None:
        tokens = sum(scales.of(model, index).parts[number] for index, number in returned.places)
    peak = max((step.size for step in own), default=None)
    built_up = lane.tokens if peak is None else peak
    return LaneRow(
        lane=lane.name,
        title=lane.title,
        calls=len(own) or (0 if lane.name == MAIN else None),
        tokens=sum(step.size for step in own) if own else None,
        output=_sum([step.call.usage.output if step.call.usage else None for step in own]),
        cache=sum_caches(own),
        peak=peak,
        reported_tokens=lane.tokens,
        returned_tokens=tokens,
        returned_share=round(tokens / built_up, 4) if tokens is not None and built_up else None,
        returned_line=returned.line if returned else None,
        form=returned.form if returned else None,
        locations=returned.locations if returned else None,
        rule=PROSE_RETURNED.name if returned and returned.form == PROSE else None,
        file=lane.file,
    )


def _sum(figures: Sequence[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None
