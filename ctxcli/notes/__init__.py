"""Notes: the append-only record outside the context window, over which a context is a cache."""

from ctxcli.notes.book import Notebook, is_notes, new, notes_of, parse, standing, to_slots
from ctxcli.notes.note import Mark, Note, Removal, Source, hash_of, hash_over, record, source_of
from ctxcli.notes.resume import resume

__all__ = [
    "Mark",
    "Note",
    "Notebook",
    "Removal",
    "Source",
    "hash_of",
    "hash_over",
    "is_notes",
    "new",
    "notes_of",
    "parse",
    "record",
    "resume",
    "source_of",
    "standing",
    "to_slots",
]
