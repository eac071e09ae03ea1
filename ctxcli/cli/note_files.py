"""Notes files by name: read as a notebook, added to, and as a report."""

from collections.abc import Callable, Sequence
from io import BytesIO

from ctxcli.errors import UnreadableError
from ctxcli.files.append import append_lines
from ctxcli.files.documents import is_there
from ctxcli.files.streams import STDIN
from ctxcli.files.whole import read_whole
from ctxcli.notes import Notebook, Source, is_notes, parse
from ctxcli.reports.notes import (
    ExtractedRow,
    FaultRow,
    NoteRow,
    NotesCounts,
    NoteSource,
    NotesReport,
    RemovedRow,
    StrayRow,
)
from ctxcli.slots import SLOTS


def book_of(path: str, *, needed: bool = True) -> Notebook:
    """The notebook in a file; an empty one for a file that is not there, unless it is needed.

    Raises UnreadableError for a file that is missing, or holds something else.
    """
    if path != STDIN and not is_there(path):
        if needed:
            raise UnreadableError(f"{path}: no such notes file; `ctx notes add` and `ctx notes extract` begin one")
        return Notebook()
    return parsed(read_whole(path), path)


def parsed(content: bytes, path: str) -> Notebook:
    """The notebook that bytes hold; raises UnreadableError where they are those of another kind of file."""
    if content.strip() and not is_notes(content):
        raise UnreadableError(f"{path}: is no notes file; nothing was read from it and nothing is added to it")
    return parse(BytesIO(content))


def append(path: str, lines: Callable[[Notebook], Sequence[str]]) -> int:
    """Add what `lines` gives for what stands in the file at that moment; returns how many lines that is."""
    return append_lines(path, lambda content: lines(parsed(content, path)))


def report_of(
    path: str,
    book: Notebook,
    *,
    slot: str | None = None,
    transcript: str | None = None,
    checked: int | None = None,
    strays: Sequence[StrayRow] = (),
) -> NotesReport:
    """The document of a notes file; of one slot alone where that is asked for."""
    entries = tuple(note for note in book.entries if slot in (None, note.slot))
    by_slot = {name: sum(note.slot == name for note in entries) for name in SLOTS}
    return NotesReport(
        kind="ctx.notes", version=1, ok=not book.faults and not strays, path=path, transcript=transcript,
        counts=NotesCounts(
            lines=book.lines, entries=len(entries), **by_slot,
            superseded=sum(note.superseded for note in entries), removed=len(book.removed),
            extracted=len(book.marks), faults=len(book.faults), checked=checked,
            strays=None if checked is None else len(strays),
        ),
        entries=tuple(
            NoteRow(
                note.id, note.slot, note.text, note.reason, note.chosen, note.rejected, note.type, note.superseded,
                _source(note.source), note.line, note.hash, note.time,
            )
            for note in entries
        ),
        removed=tuple(RemovedRow(one.id, one.reason, one.time) for one in book.removed),
        extracted=tuple(
            ExtractedRow(
                NoteSource(one.source.path, one.source.conversation), one.line, one.hash, one.messages, one.time
            )
            for one in book.marks
        ),
        faults=tuple(FaultRow(one.line, one.reason, one.recovered) for one in book.faults),
        strays=tuple(strays),
    )  # fmt: skip


def _source(source: Source | None) -> NoteSource | None:
    return NoteSource(source.path, source.conversation) if source else None
