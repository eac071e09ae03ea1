"""Keep the turns that matter to the newest request, by BM25 over what they say."""

import re
import sqlite3

from ctxcli.change import Change
from ctxcli.model import PartKind, Role
from ctxcli.shelf import Strategy
from ctxcli.strategies.pieces import loose_units, without
from ctxcli.task import Task

_WORD = re.compile(r"\w{2,64}")
_MOST_WORDS = 200
"""Words of a request that are looked for."""


def shorten(task: Task, change: Change) -> Change:
    """Take out the units that say least about the newest request, until the target is met; of equals the oldest."""
    left = task.tokens(change)
    units = loose_units(task, change)
    if left <= task.target or not units:
        return change
    scores = _scores([_said(task, unit) for unit in units], _request(task, change))
    out = []
    for place in sorted(range(len(units)), key=lambda at: (scores[at], at)):
        if left <= task.target:
            break
        left -= sum(task.tokens_of(index, change) for index in units[place])
        out.append(units[place])
    return without(task, change, out, summed_up=False)


def _said(task: Task, unit: tuple[int, ...]) -> str:
    return "\n".join(f"{part.name} {part.text}" for index in unit for part in task.transcript.messages[index].parts)


def _request(task: Task, change: Change) -> str:
    """What the user said last."""
    for index in reversed(change.keep):
        message = task.transcript.messages[index]
        said = "\n".join(part.text for part in message.parts if part.kind is PartKind.TEXT)
        if message.role is Role.USER and not message.harness and said.strip():
            return said
    return ""


def _scores(texts: list[str], request: str) -> list[float]:
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
