"""The notes file of `ctx compact`: read before, appended to when the result holds."""

from dataclasses import dataclass, field

from ctxcli.cli.note_files import parsed
from ctxcli.compact.extracting import notes_from
from ctxcli.compact.session import Session
from ctxcli.files.append import append_lines
from ctxcli.files.documents import is_there
from ctxcli.files.text import text_as_transcript
from ctxcli.files.whole import read_whole
from ctxcli.model import Transcript
from ctxcli.notes import Notebook, new, record, standing, to_slots
from ctxcli.reports.compact import NotesUsed
from ctxcli.reports.slots import Slots


@dataclass(slots=True)
class NotesFile:
    """What a pass knows of its notes; all of it is nothing where no file was named."""

    path: str | None
    content: bytes = b""
    book: Notebook = field(default_factory=Notebook)
    lines: list[str] = field(default_factory=list)
    """What is to be added."""

    @classmethod
    def opened(cls, path: str | None) -> "NotesFile":
        """Read the file, where there is one; raises UnreadableError for a file that holds something else."""
        content = read_whole(path) if path and is_there(path) else b""
        return cls(path, content, parsed(content, path or ""))

    @property
    def slots(self) -> Slots:
        """What the notes say already."""
        return to_slots(self.book)

    def extract(self, session: Session) -> None:
        """Note what the raw turns of a conversation say and the file does not."""
        if self.path:
            notes, mark = notes_from(session.transcript, self.book, session.weigh, session.before.reading.extractor)
            fresh = new(self.book, notes)
            self.lines += [record(note) for note in fresh] + ([record(mark)] if mark is not None else [])

    def after(self) -> Transcript | None:
        """The notes as they will be, as a text for the guard; None where there are none."""
        if not self.path:
            return None
        text = self.content.decode("utf-8", "replace") + "".join(f"{line}\n" for line in self.lines)
        return text_as_transcript(standing(text), self.path)

    def append(self) -> int:
        """Add the lines that the file does not hold yet, whoever wrote to it since; returns how many."""
        if not self.path or not self.lines:
            return 0
        return append_lines(self.path, self._missing)

    def _missing(self, content: bytes) -> list[str]:
        standing = set(content.decode("utf-8", "replace").split("\n"))
        return [line for line in self.lines if line not in standing]

    def used(self, added: int) -> NotesUsed | None:
        """For the report."""
        return NotesUsed(self.path, added) if self.path else None
