"""Output files: written whole or not at all."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ctxcli.errors import UnreadableError


def write_whole(path: str, pieces: Iterable[str], *, inputs: Iterable[str] = ()) -> None:
    """Write the pieces to a temporary file beside the target, then put it in place.

    Raises UnreadableError where the target is one of the inputs or cannot be written; the target is
    then as it was.
    """
    target = Path(path)
    if any(Path(name).exists() and target.exists() and target.samefile(name) for name in inputs):
        raise UnreadableError(f"{path}: is an input; ctx writes over no input")
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as stream:
            temporary = stream.name
            stream.writelines(pieces)
        os.replace(temporary, target)  # noqa: PTH105 - atomic on every system
        temporary = ""
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
