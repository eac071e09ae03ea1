"""What `ctx formats FILE` concludes: how a source was understood, and what in it was not."""

from dataclasses import dataclass

from ctxcli.reports.audit import SkipRow


@dataclass(frozen=True, slots=True)
class TypeCount:
    """Records of one type."""

    type: str
    count: int


@dataclass(frozen=True, slots=True)
class FormatReport:
    """The document `ctx.formats`: the format of one source, and the records that its reader does not know."""

    kind: str
    version: int
    ok: bool
    """False where records are of a type that is not known, or could not be read."""
    path: str
    format: str
    title: str
    recognised_by: str
    """Why: what records of this format have, and these have."""
    gave_way: tuple[str, ...]
    """More general formats that could have read it as well."""
    knows: tuple[str, ...]
    """What the format may record."""
    writes: bool
    """Whether a compacted transcript can be written back in this format."""
    companions: tuple[str, ...]
    """Files beside the source that were read with it."""
    conversations: int
    records: int
    messages: int
    calls: int
    with_usage: int
    """Calls that report what they used."""
    compactions: int
    duplicates: int
    """Records that repeat one already read."""
    bookkeeping: tuple[TypeCount, ...]
    """Records that no model ever saw, by type."""
    unknown: tuple[TypeCount, ...]
    """Records of a type that the reader does not know, by type: a new version of the agent shows here first."""
    skips: tuple[SkipRow, ...]
    notes: tuple[str, ...]
    """What a reader has to know about the figures of this source."""
