"""Counts of texts seen before, on disk: digests and figures only, never text, and bounded."""

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_MOST_ROWS = 400_000
_ASK_AT_ONCE = 500
_DAY = 86_400


def digest(text: str) -> bytes:
    """What a text is remembered by: 16 bytes of BLAKE2b over its UTF-8 form (surrogates included)."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def cache_folder() -> Path:
    """`$CTX_CACHE_DIR`, or the place where this system keeps caches."""
    folder = os.environ.get("CTX_CACHE_DIR")
    if folder:
        return Path(folder)
    from platformdirs import user_cache_path  # noqa: PLC0415 - only where the variable is not set

    return user_cache_path("ctx", appauthor=False)


def default_path() -> Path:
    """The file of the counts in the cache folder."""
    return cache_folder() / "counts.sqlite"


class CountCache:
    """A table (encoding, digest) → tokens. A cache that cannot be used is no error: it just knows nothing."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or default_path()

    def get(self, encoding: str, digests: Sequence[bytes]) -> dict[bytes, int]:
        """The counts that are known among those asked for."""
        found: dict[bytes, int] = {}
        with contextlib.suppress(sqlite3.Error, OSError):
            if not self._path.exists():
                return found
            with self._open() as table:
                for start in range(0, len(digests), _ASK_AT_ONCE):
                    some = digests[start : start + _ASK_AT_ONCE]
                    marks = ",".join("?" * len(some))
                    rows = table.execute(
                        f"SELECT digest, tokens FROM counts WHERE encoding = ? AND digest IN ({marks})",  # noqa: S608
                        (encoding, *some),
                    )
                    found.update((key, tokens) for key, tokens in rows if isinstance(tokens, int) and tokens >= 0)
        return found

    def put(self, encoding: str, counts: Mapping[bytes, int]) -> None:
        """Remember these counts; the oldest are forgotten where there are too many."""
        with contextlib.suppress(sqlite3.Error, OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            today = int(time.time()) // _DAY
            with self._open() as table:
                table.executemany(
                    "INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)",
                    [(encoding, key, tokens, today) for key, tokens in counts.items()],
                )
                rows = table.execute("SELECT COUNT(*) FROM counts").fetchone()[0]
                if rows > _MOST_ROWS:
                    table.execute(
                        "DELETE FROM counts WHERE rowid IN (SELECT rowid FROM counts ORDER BY day LIMIT ?)",
                        (rows - _MOST_ROWS * 3 // 4,),
                    )

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self._path, timeout=1.0)
        try:
            with connection:
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS counts"
                    " (encoding TEXT, digest BLOB, tokens INTEGER, day INTEGER, PRIMARY KEY (encoding, digest))"
                )
                yield connection
        finally:
            connection.close()
