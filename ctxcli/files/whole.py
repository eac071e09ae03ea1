"""A source as bytes in memory, and transcripts out of bytes: what a writer needs, and what checks its result."""

import tempfile
from dataclasses import replace
from pathlib import Path

from ctxcli.errors import UnreadableError
from ctxcli.files.containers import unpacker
from ctxcli.files.load import load
from ctxcli.files.streams import opened, shown
from ctxcli.model import Transcript


def read_whole(path: str) -> bytes:
    """The plain bytes behind a path or `-`; raises UnreadableError where they cannot be read to the end.

    Empty for a folder, an archive or a database, which cannot be written back.
    """
    if unpacker(path) is not None:
        return b""
    try:
        with opened(path) as stream:
            return stream.read()
    except (OSError, EOFError) as error:
        raise UnreadableError(f"{shown(path)}: cannot be read: {getattr(error, 'strerror', '') or error}") from None


def transcripts_in(data: bytes, path: str, format_name: str | None = None) -> list[Transcript]:
    """The conversations that bytes hold, under the name of a path; companions of a file are not looked for."""
    with tempfile.TemporaryDirectory(prefix="ctx-") as folder:
        file = Path(folder) / "transcript"
        file.write_bytes(data)
        try:
            found = [one.transcript for one in load(str(file), format_name=format_name)]
        except UnreadableError as error:
            raise UnreadableError(str(error).replace(str(file), shown(path))) from None
    return [replace(one, path=path) for one in found]
