"""Plain text and markdown: a summary, a hand-over note, a log."""

import re
from dataclasses import replace
from pathlib import Path

from ctxcli.errors import UnreadableError
from ctxcli.files.containers import unpacker
from ctxcli.files.load import is_claimed
from ctxcli.files.records import is_marked_up
from ctxcli.files.streams import STDIN, compressed_input, lines_of, opened, shown
from ctxcli.model import PLAIN_TEXT, Message, Part, PartKind, Role, Skip, Transcript

_JSON = re.compile(rb"\s*+(?:\{|\[\s*+(?:[\[{\"\]\d-]|true|false|null|$))")
_LOOK_AT = 4_096


def read_text(path: str, *, sure: bool = False) -> Transcript | None:
    """A text as a conversation of one message in the format `text`; None where the source looks like JSON.

    `sure` reads whatever it is. Raises UnreadableError for what is empty or binary. Standard input is
    left as it was where the answer is None, so that it can be read as a transcript.
    """
    if not sure and (compressed_input() if path == STDIN else unpacker(path) is not None or is_marked_up(path)):
        return None
    with opened(path) as stream:
        head: bytes = stream.peek(_LOOK_AT)[:_LOOK_AT]  # type: ignore[attr-defined]
        if not sure and (_JSON.match(head) or not head.strip()):
            return None
        raw = b"".join(lines_of(stream, path))
    name = shown(path)
    if not raw.strip():
        raise UnreadableError(f"{name}: is empty")
    if b"\0" in raw:
        raise UnreadableError(f"{name}: is binary, neither a transcript nor text")
    skips: tuple[Skip, ...] = ()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        skips = (Skip(line, f"byte 0x{raw[error.start]:02X} is not UTF-8: read as U+FFFD", recovered=True),)
        text = raw.decode("utf-8", "replace")
    return replace(text_as_transcript(text), skips=skips)


def text_as_transcript(text: str, path: str = "") -> Transcript:
    """A text as a conversation of one message."""
    part = Part(PartKind.TEXT, text, line=1)
    return Transcript(PLAIN_TEXT, messages=(Message(Role.USER, (part,), line=1),), path=path)


_NOTES = (".md", ".markdown", ".txt", ".rst", ".adoc", ".log")


def is_note(path: str) -> bool:
    """Whether a named file is text whatever it begins with: by its ending, or since no format claims its JSON."""
    if path == STDIN or not Path(path).is_file():
        return False
    try:
        if path.lower().endswith(_NOTES):
            return not is_marked_up(path)
        return not is_claimed(path)
    except UnreadableError:
        return False
