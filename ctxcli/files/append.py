"""Lines added to a file that is never rewritten: by one process at a time, and on the disk when the call returns."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from ctxcli.errors import UnreadableError

_PATIENCE = 60
"""Seconds after which whoever holds the lock is taken to be stuck."""


def append_lines(path: str, make: Callable[[bytes], Iterable[str]]) -> int:
    """Add the lines that `make` gives for the content so far, and say how many; the file is created where it is absent.

    Nothing else that appends through here writes in between. The lines go out in one write: what dies in the middle
    leaves the old content, and perhaps a last line without its end, after which the next call begins a new line.
    Raises UnreadableError where the file cannot be read or written; it is then as it was.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - only where something is written

    if not path or path == "-":
        raise UnreadableError("notes are written to a file, not to standard output: give its name")
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise UnreadableError(f"{path}: is {'a folder' if target.is_dir() else 'no regular file'}")
    try:
        with FileLock(_lock(target), timeout=_PATIENCE):
            return _append(target, make)
    except Timeout:
        raise UnreadableError(f"{path}: another process has been writing to it for {_PATIENCE} seconds") from None
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be written: {error.strerror or error}") from None


def _append(target: Path, make: Callable[[bytes], Iterable[str]]) -> int:
    before = target.read_bytes() if target.exists() else b""
    lines = list(make(before))
    if not lines:
        return 0
    torn = b"\n" if before and not before.endswith(b"\n") else b""
    data = torn + "".join(f"{line}\n" for line in lines).encode("utf-8")
    stream = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    try:
        _write(stream, data, len(before))
        os.fsync(stream)
    finally:
        os.close(stream)
    return len(lines)


def _write(stream: int, data: bytes, before: int) -> None:
    """Everything, or the file is cut back to what it was (a full disk)."""
    try:
        while data:
            data = data[os.write(stream, data) :]
    except OSError:
        os.ftruncate(stream, before)
        raise


def _lock(target: Path) -> Path:
    """The lock of a file, away from the file: in the cache folder, or in the system's folder for temporary files."""
    name = hashlib.sha256(os.fsencode(target)).hexdigest()[:32] + ".lock"
    for folder in (_cache(), Path(tempfile.gettempdir()) / f"ctx-locks-{_user()}"):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder / name
    raise UnreadableError("no folder for locks can be written to: set CTX_CACHE_DIR to one that can")


def _cache() -> Path:
    from ctxcli.tokens.cache import default_path  # noqa: PLC0415

    return default_path().parent / "locks"


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"
