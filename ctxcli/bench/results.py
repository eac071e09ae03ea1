"""What is computed, piece by piece, and the lines of a file that keep it, so that a run that was stopped goes on."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ctxcli import __version__
from ctxcli.bench.case import Score
from ctxcli.bench.cells import Cell
from ctxcli.bench.cuts import Cut
from ctxcli.bench.lives import Life
from ctxcli.bench.plan import Plan
from ctxcli.files.jsonl import parsed_lines

_BEGIN = b'{"key":'
"""What each line that keeps a piece begins with."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of the work: a cut of a conversation, or its generations."""

    path: str
    conversation: int
    """Its number in the source, from 1."""
    cut: Cut | None
    """None for the generations."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What a job came to."""

    job: Job
    cells: tuple[Cell, ...] = ()
    lives: tuple[Life, ...] = ()


def timeless(piece: Piece) -> Piece:
    """The piece without the times that it took."""
    return replace(piece, cells=tuple(replace(cell, seconds=None) for cell in piece.cells))


def key_of(plan: Plan, digest: str, job: Job) -> str:
    """Names a piece by everything that it depends on: the plan, the content of the source, and the release of ctx."""
    told = json.dumps([__version__, asdict(plan), digest, asdict(job)], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def line_of(key: str, piece: Piece) -> str:
    """A piece as a line."""
    return json.dumps({"key": key, **asdict(piece)}, ensure_ascii=False, separators=(",", ":"))


def is_work(line: bytes) -> bool:
    """Whether a line, torn or not, is one that keeps a piece."""
    return line.startswith(_BEGIN)


def pieces_in(lines: Iterable[bytes], jobs: Mapping[str, Job]) -> dict[Job, Piece]:
    """The pieces of these jobs that stand in a file; a line that is torn, or of another run, is passed over."""
    found: dict[Job, Piece] = {}
    for value in (one.value for one in parsed_lines(lines)):
        try:
            job = jobs.get(value["key"])
            if job is not None:
                found[job] = Piece(job, tuple(map(_cell, value["cells"])), tuple(map(_life, value["lives"])))
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return found


def _cell(value: dict[str, Any]) -> Cell:
    score = value.pop("score")
    if score is not None:
        score = Score(**{**score, "kinds": {kind: tuple(pair) for kind, pair in score["kinds"].items()}})
    return Cell(**value, score=score)


def _life(value: dict[str, Any]) -> Life:
    return Life(**{**value, "facts": {name: tuple(pair) for name, pair in value["facts"].items()}})
