"""What `ctx notes show` and `ctx notes verify` say of a notes file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NoteSource:
    """The transcript that something was noted from."""

    path: str
    """The name of the file, without its folder."""
    conversation: str | None


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One entry that stands."""

    id: str
    """16 hex digits over slot, text, reason and type."""
    slot: str
    text: str
    reason: str | None
    chosen: str | None
    rejected: tuple[str, ...]
    type: str | None
    """Of an identifier, its kind."""
    superseded: bool
    """Taken back, resolved, or overtaken since."""
    source: NoteSource | None
    line: int | None
    """1-based line of the source."""
    hash: str | None
    """SHA-256 of the text of the message that says it."""
    time: str
    """When it was said or noted; empty where nothing tells."""


@dataclass(frozen=True, slots=True)
class RemovedRow:
    """An entry that was removed, and not added again."""

    id: str
    reason: str | None
    time: str


@dataclass(frozen=True, slots=True)
class ExtractedRow:
    """Turns of a transcript that have been extracted."""

    source: NoteSource
    line: int
    """Source line of the last message."""
    hash: str
    """SHA-256 over the text of these messages."""
    messages: int
    """So many from the first one on, of the main conversation."""
    time: str


@dataclass(frozen=True, slots=True)
class FaultRow:
    """A line that is not as ctx wrote it."""

    line: int
    reason: str
    recovered: bool
    """True where nothing is lost that was written whole."""


@dataclass(frozen=True, slots=True)
class StrayRow:
    """An entry whose words do not stand in the transcript where it says."""

    id: str
    slot: str
    text: str
    line: int
    found: int | None
    """The line on which that message stands now; null where there is none like it."""


@dataclass(frozen=True, slots=True)
class NotesCounts:
    """How many there are of each."""

    lines: int
    """Of the notes file."""
    entries: int
    constraints: int
    decisions: int
    identifiers: int
    open: int
    """All four with what was superseded."""
    superseded: int
    removed: int
    extracted: int
    faults: int
    checked: int | None
    """Entries that were held against the transcript; null where none was given."""
    strays: int | None


@dataclass(frozen=True, slots=True)
class NotesReport:
    """The document `ctx.notes`: what stands in a notes file, and what is wrong with it."""

    kind: str
    version: int
    ok: bool
    """False where a line is torn or altered, or an entry does not stand in the transcript."""
    path: str
    transcript: str | None
    """What the entries were held against."""
    counts: NotesCounts
    entries: tuple[NoteRow, ...]
    """In the order in which they came."""
    removed: tuple[RemovedRow, ...]
    extracted: tuple[ExtractedRow, ...]
    faults: tuple[FaultRow, ...]
    strays: tuple[StrayRow, ...]
