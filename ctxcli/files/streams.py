"""Bytes of a file, of standard input, or of a compressed file, as a stream of lines."""

import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Literal, cast

from ctxcli.errors import UnreadableError

STDIN = "-"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZIP = b"PK\x03\x04"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
_MOST_LAYERS = 3


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The plain bytes behind a path or `-`; raises UnreadableError that names the path and the next step."""
    if path == STDIN:
        if sys.stdin is None or sys.stdin.closed:
            raise UnreadableError("standard input: is closed")
        yield _plain(sys.stdin.buffer, "standard input")
        return
    try:
        raw = Path(path).open("rb")  # noqa: SIM115 - closed below
    except IsADirectoryError:
        raise UnreadableError(f"{path}: is a folder") from None
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be opened: {error.strerror or error}") from None
    with raw:
        yield _plain(raw, path)


def _plain(stream: BinaryIO, path: str, depth: int = 0) -> BinaryIO:
    """The stream behind every layer of compression, without a byte order mark."""
    reader = cast("io.BufferedReader", stream)
    try:
        head = reader.peek(8)[:8]
    except (OSError, EOFError, ValueError) as error:
        raise UnreadableError(f"{path}: cannot be read: {getattr(error, 'strerror', '') or error}") from None
    except Exception as error:
        if _is_of_compression(error):
            raise UnreadableError(f"{path}: damaged compressed data: {error}") from None
        raise
    if head.startswith(_GZIP) and depth < _MOST_LAYERS:
        return _plain(cast("BinaryIO", gzip.open(stream)), path, depth + 1)
    if head.startswith(_ZSTD) and depth < _MOST_LAYERS:
        return _plain(_zstd(stream), path, depth + 1)
    if head.startswith(_ZIP):
        raise UnreadableError(f"{path}: a zip archive; unpack it and give ctx the folder or the file inside")
    if head.startswith(_UTF16) or (b"\0" in head and head[:1] in b"{[\0"):
        raise UnreadableError(
            f"{path}: is UTF-16 or UTF-32; transcripts are UTF-8. Convert it: iconv -f UTF-16 -t UTF-8"
        )
    if head.startswith(_UTF8_MARK):
        stream.read(len(_UTF8_MARK))
    return stream


def shown(path: str) -> str:
    """A source as a message calls it."""
    return "standard input" if path == STDIN else path


def compressed_input() -> bool:
    """Whether standard input begins like compressed data; nothing of it is consumed."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    head = cast("io.BufferedReader", sys.stdin.buffer).peek(8)[:8]
    return head.startswith((_GZIP, _ZSTD))


def _is_of_compression(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] in ("backports", "compression", "zlib", "_zstd")


@contextmanager
def compressing(stream: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """A stream to write plain bytes to, compressed as the ending of a file's name says; the same bytes each time."""
    if name.endswith(".gz"):
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            yield cast("BinaryIO", packed)
    elif name.endswith(".zst"):
        with _zstd(stream, "wb") as packed:
            yield packed
    else:
        yield stream


def _zstd(stream: BinaryIO, mode: Literal["rb", "wb"] = "rb") -> BinaryIO:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - only for a .zst file
    else:
        from backports import zstd  # noqa: PLC0415

    return cast("BinaryIO", zstd.open(cast("IO[bytes]", stream), mode))


def lines_of(stream: BinaryIO, path: str) -> Iterator[bytes]:
    """The lines of a stream, without length limit, cut at line feeds only (U+2028 is no line end).

    Raises UnreadableError, naming the last whole line, where compressed data breaks off.
    """
    number = 0
    try:
        for line in stream:
            number += 1
            yield line
    except (EOFError, OSError, ValueError) as error:
        raise UnreadableError(
            f"{path}: cannot be read beyond line {number}: {error}. Is the file still being written?"
        ) from None
    except Exception as error:
        if _is_of_compression(error):
            raise UnreadableError(f"{path}: damaged compressed data after line {number}: {error}") from None
        raise
