"""Output files: written whole or not at all, and never over an input."""

import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, cast

from ctxcli.errors import UnreadableError
from ctxcli.files.find import is_one
from ctxcli.files.streams import compressing


def check_place(path: str) -> None:
    """Raises UnreadableError where a file cannot be put, before a long run: a folder, or one that is not there.

    What only the writing can tell is left to `write_whole`; `-` is standard output.
    """
    target = _target(path)
    is_replaced = target.is_file() or not target.exists()
    if path != "-" and is_replaced and not os.access(target.parent, os.W_OK):
        why = "cannot be written to" if target.parent.is_dir() else "is no folder"
        raise UnreadableError(f"{path}: cannot be written: {target.parent} {why}")


def write_whole(
    path: str, pieces: Iterable[str | bytes], *, inputs: Callable[[], Iterable[str]], worth: Callable[[], bool]
) -> None:
    """Write the pieces to a temporary file beside the target, then put it in place.

    `inputs` and `worth` are asked when all pieces are there: the files that were read, and whether
    anything came of them. Raises UnreadableError where the target is an input, a folder, or cannot
    be written; it is then as it was. A device or a pipe is written to as it is, a link's target is
    what is replaced, and an existing file keeps its permissions. A name that ends in .gz or .zst is compressed.
    """
    target = _target(path)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                stream.writelines(map(_encoded, pieces))
            return
        _replace(target, pieces, inputs, worth)
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be written: {error.strerror or error}") from None


def _target(path: str) -> Path:
    target = Path(path).resolve() if path else Path()
    if not path or target.is_dir():
        raise UnreadableError(f"{path or '-o'}: {'is a folder' if path else 'wants the name of a file'}")
    return target


def _replace(
    target: Path, pieces: Iterable[str | bytes], inputs: Callable[[], Iterable[str]], worth: Callable[[], bool]
) -> None:
    before = target.stat() if target.exists() else None
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name[:80]}.", delete=False) as stream:
            temporary = stream.name
            with compressing(cast("BinaryIO", stream), target.name) as plain:
                plain.writelines(map(_encoded, pieces))
            stream.flush()
            os.fsync(stream.fileno())
        read = list(inputs())
        if before is not None and any(_is_same(name, before) for name in read):
            raise UnreadableError(f"{target}: is an input; ctx writes over no input")
        if any(_holds(name, target) for name in read):
            raise UnreadableError(f"{target}: is inside a folder that is an input; ctx writes nothing there")
        if worth():
            Path(temporary).chmod(_mode(before))
            os.replace(temporary, target)  # noqa: PTH105 - atomic on every system
            temporary = ""
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _encoded(piece: str | bytes) -> bytes:
    return piece if isinstance(piece, bytes) else piece.encode("utf-8", "replace")


def _is_same(name: str, target: os.stat_result) -> bool:
    """Whether an input (`-` is standard input) is the file that would be written."""
    try:
        found = os.fstat(0) if name == "-" else Path(name).stat()
    except OSError:
        return False
    return os.path.samestat(found, target)


def _holds(name: str, target: Path) -> bool:
    """Whether an input is a transcript in many files, and the target would stand among them."""
    return name not in ("", "-") and Path(name).resolve() in target.parents and is_one(name)


def _mode(before: os.stat_result | None) -> int:
    """The permissions that a new file gets, or those of the file that it replaces."""
    if before is not None:
        return stat.S_IMODE(before.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
