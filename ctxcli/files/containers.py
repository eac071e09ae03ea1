"""Sources that are no stream of text: folders of files, zip archives and SQLite databases, as records.

A format sees of them what it sees of any source: records, each with the file that it came from. Nothing is written
beside a source; a database is read from a copy, as reading one in place can leave files there.
"""

import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from ctxcli.errors import UnreadableError
from ctxcli.files.streams import STDIN
from ctxcli.model import Record, Skip

Unpack = Callable[[str, list[Skip]], Iterator[Record]]
"""From a path to the records; what could not be read is appended to the skips."""
_ZIP, _SQLITE = b"PK\x03\x04", b"SQLite format 3\0"
_MOST_OF_A_MEMBER = 2_000_000_000
"""Bytes that one member of an archive may unpack to."""


def unpacker(path: str) -> Unpack | None:
    """How to take a source apart; None where it is a stream of text, or cannot be opened."""
    if path == STDIN:
        return None
    if Path(path).is_dir():
        return _folder
    try:
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
    root = Path(path)
    for file in sorted(file for file in root.rglob("*.json*") if file.is_file()):
        name = file.relative_to(root).as_posix()
        try:
            yield from _documents(file.read_bytes(), name, file.suffix == ".jsonl", skips)
        except OSError as error:
            skips.append(Skip(0, f"{name}: cannot be read: {error.strerror or error}", file=name))


def _archive(path: str, skips: list[Skip]) -> Iterator[Record]:
    """A record for each JSON member: those at the top first, then by name. Members are never written to disk."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(archive.infolist(), key=lambda one: (one.filename.count("/"), one.filename))
            for member in members:
                name = member.filename
                if not name.endswith((".json", ".jsonl")):
                    continue
                if member.file_size > _MOST_OF_A_MEMBER:
                    skips.append(Skip(0, f"{name}: too large to unpack ({member.file_size:,} bytes)", file=name))
                    continue
                try:
                    data = archive.read(member)
                except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
                    skips.append(Skip(0, f"{name}: cannot be unpacked: {error}", file=name))
                    continue
                yield from _documents(data, name, name.endswith("l"), skips)
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise UnreadableError(f"{path}: a zip archive that cannot be read: {error}") from None


def _documents(data: bytes, name: str, lines: bool, skips: list[Skip]) -> Iterator[Record]:
    for number, raw in enumerate(data.split(b"\n"), 1) if lines else [(1, data)]:
        if not raw.strip():
            continue
        try:
            yield Record(number, orjson.loads(raw), len(raw), name)
        except orjson.JSONDecodeError as error:
            skips.append(Skip(number, f"{name}: not valid JSON: {error.msg}", file=name))


def _database(path: str, _: list[Skip]) -> Iterator[Record]:
    """First `{"tables": {name: [column, …]}}`, then `{"table": name, "row": {column: value}}` in the order written.

    Columns that hold a JSON object or array come parsed; blobs are left out. The line of a row is its number.
    """
    source = Path(path)
    with tempfile.TemporaryDirectory(prefix="ctx-") as folder:
        try:
            for suffix in ("", "-wal"):
                if (beside := source.with_name(source.name + suffix)).exists():
                    shutil.copyfile(beside, Path(folder) / f"copy.db{suffix}")
            with closing(sqlite3.connect(Path(folder) / "copy.db")) as base:
                base.text_factory = lambda raw: raw.decode("utf-8", "replace")
                yield from _rows(base)
        except (OSError, sqlite3.Error) as error:
            raise UnreadableError(f"{path}: a SQLite database that cannot be read: {error}") from None


def _rows(base: sqlite3.Connection) -> Iterator[Record]:
    names = [
        name
        for (name,) in base.execute("select name from sqlite_master where type = 'table' order by name")
        if not name.startswith("sqlite_")
    ]
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in names}
    columns = {name: [row[1] for row in base.execute(f"pragma table_info({quoted[name]})")] for name in names}
    yield Record(0, {"tables": columns})
    number = 0
    for name in names:
        for values in base.execute(f"select * from {quoted[name]}"):  # noqa: S608 - the name stands in the database
            number += 1
            row = {
                column: _value(value)
                for column, value in zip(columns[name], values, strict=False)
                if not isinstance(value, bytes)
            }
            yield Record(number, {"table": name, "row": row})


def _value(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value
