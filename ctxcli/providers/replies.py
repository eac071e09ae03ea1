"""Answers on disk, by a digest of what was sent: a run that is repeated costs nothing. No key is in them."""

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ctxcli.ask import Reply, Stop
from ctxcli.tokens.cache import cache_folder

_MOST_ROWS = 20_000
_DAY = 86_400
_FORM = 1
"""Of what is stored; another one knows nothing of what older releases stored."""


def key_of(provider: str, base_url: str, body: dict[str, Any], repeat: int) -> bytes:
    """What an answer is remembered by: 32 bytes of BLAKE2b over what was sent and to whom."""
    text = json.dumps([_FORM, provider, base_url, body, repeat], sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8"), digest_size=32).digest()


class Replies:
    """A table digest → answer, for the user's eyes only. One that cannot be used is no error: it just knows nothing."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or cache_folder() / "replies.sqlite"

    def get(self, key: bytes) -> Reply | None:
        """The answer, where it is known."""
        with contextlib.suppress(sqlite3.Error, OSError, ValueError, TypeError, KeyError):
            if self._path.exists():
                with self._open() as table:
                    row = table.execute("SELECT reply FROM replies WHERE digest = ?", (key,)).fetchone()
                if row is not None:
                    values = json.loads(row[0])
                    return Reply(**{**values, "stop": Stop(values["stop"])})
        return None

    def put(self, key: bytes, reply: Reply) -> None:
        """Remember an answer; the oldest are forgotten where there are too many."""
        with contextlib.suppress(sqlite3.Error, OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            with self._open() as table:
                today = int(time.time()) // _DAY
                values = json.dumps(asdict(reply))
                table.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, values, today))
                rows = table.execute("SELECT COUNT(*) FROM replies").fetchone()[0]
                if rows > _MOST_ROWS:
                    table.execute(
                        "DELETE FROM replies WHERE rowid IN (SELECT rowid FROM replies ORDER BY day LIMIT ?)",
                        (rows - _MOST_ROWS * 3 // 4,),
                    )

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self._path, timeout=5.0)
        try:
            with connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS replies (digest BLOB PRIMARY KEY, reply TEXT, day INTEGER)"
                )
                yield connection
        finally:
            connection.close()
