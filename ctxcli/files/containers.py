"""Sources that are no stream of text: folders of files, zip archives and SQLite databases, as records.

A format sees of them what it sees of any source: records, each with the file that it came from. Nothing is written
beside a source; a database is read from a copy, as reading one in place can leave files there.
"""

import lzma
import os
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from ctxcli.errors import UnreadableError
from ctxcli.files.streams import STDIN
from ctxcli.files.values import decode
from ctxcli.model import Record, Skip

Unpack = Callable[[str, list[Skip]], Iterator[Record]]
"""From a path to the records; what could not be read is appended to the skips."""
_ZIP, _SQLITE = b"PK\x03\x04", b"SQLite format 3\0"
_JSON = (".json", ".jsonl")
_UTF8_MARK = b"\xef\xbb\xbf"
_MOST_OF_A_MEMBER = 2_000_000_000
"""Bytes that one member of an archive may unpack to."""
_OF_ONE_SYSTEM = "__MACOSX/"
"""Where one system's archives hold what belongs to their files; never a transcript."""
_TORN_MEMBER = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, OSError, EOFError)
_BESIDE = ("", "-wal", "-journal")
"""What a database is made of while a program writes to it."""


def unpacker(path: str) -> Unpack | None:
    """How to take a source apart; None where it is a stream of text, or cannot be opened. A pipe is left untouched."""
    if path == STDIN:
        return None
    if Path(path).is_dir():
        return _folder
    try:
        if not Path(path).is_file():
            return None
        with Path(path).open("rb") as stream:
            head = stream.read(len(_SQLITE))
    except OSError:
        return None
    return _archive if head.startswith(_ZIP) else _database if head.startswith(_SQLITE) else None


def is_one_source(folder: str, patterns: Iterable[str]) -> bool:
    """Whether a folder holds one transcript in many files: a file of it matches one of the patterns."""
    return any(next(Path(folder).glob(pattern), None) is not None for pattern in patterns)


def _folder(path: str, skips: list[Skip]) -> Iterator[Record]:
    """A record for each JSON file, by name; the lines of each JSONL file."""
    blocked: list[OSError] = []
    names = sorted(
        (Path(root) / name).relative_to(path).as_posix()
        for root, _, files in os.walk(path, onerror=blocked.append)
        for name in files
        if name.endswith(_JSON)
    )
    for error in blocked:
        name = Path(str(error.filename)).relative_to(path).as_posix()
        skips.append(Skip(0, f"{name}: cannot be searched: {error.strerror or error}", file=name))
    for name in names:
        file = Path(path) / name
        if not file.is_file():
            continue
        try:
            data = file.read_bytes()
        except OSError as error:
            skips.append(Skip(0, f"{name}: cannot be read: {error.strerror or error}", file=name))
        else:
            yield from _documents(data, name, skips)


def _archive(path: str, skips: list[Skip]) -> Iterator[Record]:
    """A record for each JSON member: those at the top first, then by name. Members are never written to disk."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(archive.infolist(), key=lambda one: (one.filename.count("/"), one.filename))
            for member in members:
                name = member.filename
                if not name.endswith(_JSON) or name.startswith(_OF_ONE_SYSTEM):
                    continue
                if member.file_size > _MOST_OF_A_MEMBER:
                    skips.append(Skip(0, f"{name}: too large to unpack ({member.file_size:,} bytes)", file=name))
                    continue
                try:
                    data = archive.read(member)
                except _TORN_MEMBER as error:
                    skips.append(Skip(0, f"{name}: cannot be unpacked: {error}", file=name))
                    continue
                yield from _documents(data, name, skips)
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise UnreadableError(f"{path}: a zip archive that cannot be read: {error}") from None


def _documents(data: bytes, name: str, skips: list[Skip]) -> Iterator[Record]:
    """The values of a file: one document, or one a line."""
    data = data.removeprefix(_UTF8_MARK)
    for number, raw in enumerate(data.split(b"\n"), 1) if name.endswith("l") else [(1, data)]:
        values, torn = decode(raw)
        skips += [Skip(number, f"{name}: {one.reason}", one.recovered, name) for one in torn]
        for value in values:
            yield Record(number, value, len(raw) // len(values), name)


def _database(path: str, skips: list[Skip]) -> Iterator[Record]:
    """First `{"tables": {name: [column, …]}}`, then `{"table": name, "row": {column: value}}` in the order written.

    Columns that hold a JSON object or array come parsed; blobs are left out. The line of a row is its number.
    A table that cannot be read to its end costs what follows in it, and no other.
    """
    source = Path(path)
    with tempfile.TemporaryDirectory(prefix="ctx-") as folder:
        try:
            for suffix in _BESIDE:
                if (beside := source.with_name(source.name + suffix)).exists():
                    shutil.copyfile(beside, Path(folder) / f"copy.db{suffix}")
            with closing(sqlite3.connect(Path(folder) / "copy.db")) as base:
                base.text_factory = lambda raw: raw.decode("utf-8", "replace")
                yield from _rows(base, skips)
        except (OSError, sqlite3.Error) as error:
            raise UnreadableError(f"{path}: a SQLite database that cannot be read: {error}") from None


def _rows(base: sqlite3.Connection, skips: list[Skip]) -> Iterator[Record]:
    names = [
        name
        for (name,) in base.execute("select name from sqlite_master where type = 'table' order by name")
        if not name.startswith("sqlite_")
    ]
    columns: dict[str, list[str]] = {}
    for name in names:
        try:
            columns[name] = [row[1] for row in base.execute(f"pragma table_info({_quoted(name)})")]
        except sqlite3.Error as error:
            skips.append(Skip(0, f"table {name} cannot be read: {error}"))
    yield Record(0, {"tables": columns})
    number = 0
    for name, wanted in columns.items():
        here = 0
        try:
            for values in base.execute(f"select * from {_quoted(name)}"):  # noqa: S608 - the database names it
                number, here = number + 1, here + 1
                yield _row(number, name, dict(zip(wanted, values, strict=False)))
        except sqlite3.Error as error:
            skips.append(Skip(number, f"table {name} cannot be read beyond its row {here:,}: {error}"))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _row(number: int, table: str, values: dict[str, Any]) -> Record:
    size = sum(len(value) for value in values.values() if isinstance(value, str))
    row = {column: _value(value) for column, value in values.items() if not isinstance(value, bytes)}
    return Record(number, {"table": table, "row": row}, size)


def _value(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value
