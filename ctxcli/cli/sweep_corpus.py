"""What `ctx sweep` pads with: texts, folders of texts, and transcripts, as text; secrets masked."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ctxcli.errors import UnknownFormatError, UnreadableError
from ctxcli.files import load
from ctxcli.files.find import is_one
from ctxcli.files.streams import STDIN
from ctxcli.files.text import is_note, read_text
from ctxcli.identifiers.gather import secrets_of
from ctxcli.identifiers.secrets import mask
from ctxcli.model import MAIN, PartKind, Transcript

_PASS_OVER = frozenset({"node_modules", "__pycache__"})
_SAID = (PartKind.TEXT, PartKind.TOOL_RESULT, PartKind.DOCUMENT)


@dataclass(slots=True)
class CorpusFiles:
    """The texts behind the names that a user gave, read as they are asked for."""

    names: Sequence[str]
    read: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)
    """Files in folders that hold no text."""

    def texts(self) -> Iterator[str]:
        """Each text; raises UnreadableError for a named file that cannot be read, or holds no text."""
        for name in self.names:
            if name == STDIN:
                raise UnreadableError("--corpus: is a file or a folder, not standard input")
            folder = Path(name).is_dir() and not is_one(name)
            before = len(self.read)
            for path in _inside(name) if folder else [name]:
                try:
                    found = list(_texts_in(path))
                except UnreadableError:
                    if not folder:
                        raise
                    self.passed_over.append(path)
                else:
                    self.read.append(path)
                    yield from found
            if len(self.read) == before:
                raise UnreadableError(f"{name}: no file in this folder holds text")


def _inside(folder: str) -> Iterator[str]:
    """Every file of a folder, by name; hidden ones are left out."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASS_OVER and not name.startswith("."))
        yield from (str(Path(root) / name) for name in sorted(names) if not name.startswith("."))


def _texts_in(path: str) -> Iterator[str]:
    text = read_text(path, sure=Path(path).is_file() and is_note(path))
    if text is None:
        try:
            for one in load(path):
                yield from said_in(one.transcript)
            return
        except UnknownFormatError:
            text = read_text(path, sure=True)
    if text is not None:
        yield from said_in(text)


def said_in(transcript: Transcript) -> Iterator[str]:
    """What the main conversation says and what its tools gave back, each thing once."""
    secrets = secrets_of(transcript)
    for message in transcript.messages:
        for part in message.parts:
            if part.kind in _SAID and message.lane == MAIN and not message.copied and part.text.strip():
                yield mask(part.text, secrets)
