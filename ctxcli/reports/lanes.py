"""The lanes of an audit: what each consumed, and what it gave back."""

from dataclasses import dataclass

from ctxcli.reports.calls import Cache


@dataclass(frozen=True, slots=True)
class LaneRow:
    """The main conversation or a sub-agent."""

    lane: str
    title: str
    calls: int | None
    """null where its calls are not in the source."""
    tokens: int | None
    """The contexts of its calls added up."""
    output: int | None
    cache: Cache | None
    peak: int | None
    """Its largest context."""
    reported_tokens: int | None
    """What the source says of a sub-agent at its end: context and answer of its last call."""
    returned_tokens: int | None
    """Weight of what it gave back to the lane that called it; an estimate."""
    returned_share: float | None
    """That as a share of its largest context, or of what the source reports at its end; an estimate like the weight."""
    returned_line: int | None
    """1-based source line of what it gave back; null where that does not stand in the source."""
    form: str | None
    """Of what it gave back: finding (a valid one), json, locations (lines of files), list (of things that can be found
    again), or prose."""
    locations: int | None
    """Different lines of files that it named."""
    rule: str | None
    """The rule that what it gave back breaks."""
    file: str
    """The companion file that it was read from; empty for the source itself."""
