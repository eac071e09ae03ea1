"""From drawn pieces to a stream or a file, and what the terminal can show."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable

from ctxcli.errors import UnreadableError
from ctxcli.files.write import write_whole
from ctxcli.shelf import Canvas

_NARROWEST = 40
"""Columns below which a terminal is taken to be this wide."""


def canvas(output: str | None, *, every_call: bool = False, full: bool = False) -> Canvas:
    """Width and colour of the terminal; outside one no colour, no wrapping, no cutting.

    NO_COLOR and FORCE_COLOR are honoured, COLUMNS sets the width.
    """
    terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    forced = bool(os.environ.get("FORCE_COLOR"))
    colour = (terminal or (forced and output is None)) and not os.environ.get("NO_COLOR")
    if os.environ.get("TERM") == "dumb" and not forced:
        colour = False
    wide = terminal or "COLUMNS" in os.environ
    width = shutil.get_terminal_size().columns if wide and output is None else 0
    ascii_only = output is None and _is_narrow_charset()
    return Canvas(max(width, _NARROWEST) if width else 0, colour, ascii_only, every_call, full or every_call)


def _is_narrow_charset() -> bool:
    """Whether standard output cannot show the signs that the table draws with."""
    try:
        "·…×–│▁█→".encode(sys.stdout.encoding or "ascii" if sys.stdout else "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def emit(
    pieces: Iterable[str | bytes],
    output: str | None = None,
    *,
    inputs: Callable[[], Iterable[str]] = tuple,
    worth: Callable[[], bool] = lambda: True,
) -> None:
    """Write pieces to standard output as they come, or to a file, whole or not at all (see write_whole)."""
    if output is not None and output != "-":
        write_whole(output, pieces, inputs=inputs, worth=worth)
        return
    if sys.stdout is None:
        raise UnreadableError("standard output: is closed")
    try:
        for piece in pieces:
            raw = piece.encode(sys.stdout.encoding or "utf-8", "replace") if isinstance(piece, str) else piece
            sys.stdout.buffer.write(raw)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        # the reader (`| head`) has seen enough; Python would complain once more when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise UnreadableError(f"standard output: cannot be written: {error.strerror or error}") from None
