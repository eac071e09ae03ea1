"""Keep the turns that matter to the newest request, by BM25 over what they say."""

import re
import sqlite3
from collections.abc import Sequence

from ctxcli.change import Change
from ctxcli.shelf import Strategy
from ctxcli.strategies.pieces import keep_best
from ctxcli.task import Task

_WORD = re.compile(r"\w{2,64}")
_MOST_WORDS = 200
"""Words of a request that are looked for."""


def shorten(task: Task, change: Change) -> Change:
    """Take out the units that say least about the newest request, until the target is met; of equals the oldest."""
    return keep_best(task, change, _scores)


def _scores(texts: Sequence[str], request: str) -> list[float]:
    """How well each text answers the request, the better the higher; 0 where it shares no word with it."""
    words = dict.fromkeys(_WORD.findall(request.lower()))
    query = " OR ".join(f'"{word}"' for word in list(words)[:_MOST_WORDS])
    scores = [0.0] * len(texts)
    if not query:
        return scores
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE VIRTUAL TABLE turns USING fts5(said, tokenize = 'unicode61')")
        clean = (text.encode("utf-8", "replace").decode().replace("\0", " ") for text in texts)
        database.executemany("INSERT INTO turns (rowid, said) VALUES (?, ?)", enumerate(clean, 1))
        rows = database.execute("SELECT rowid, bm25(turns) FROM turns WHERE turns MATCH ?", (query,))
        for row, rank in rows:
            scores[row - 1] = -float(rank)
    database.close()
    return scores


STRATEGY = Strategy("relevant", "the turns that matter to the newest request, by BM25", shorten)
