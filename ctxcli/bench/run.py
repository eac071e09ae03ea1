"""The bench: which pieces there are, who computes them, and in which order they come back."""

import hashlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import active_children, get_context
from pathlib import Path

from ctxcli.bench.case import Case, Means
from ctxcli.bench.cells import cells_of
from ctxcli.bench.cuts import cuts_of
from ctxcli.bench.lives import lives_of
from ctxcli.bench.outside import end_commands
from ctxcli.bench.plan import Plan
from ctxcli.bench.results import Job, Piece, key_of
from ctxcli.errors import CtxError, UnreadableError
from ctxcli.files import load
from ctxcli.files.streams import lines_of, opened
from ctxcli.identifiers import Extractor
from ctxcli.identifiers.custom import kinds_of
from ctxcli.model import Transcript
from ctxcli.tokens import CountCache, choose, count_parts, counter

_LINES = 1 << 18
"""Lines whose identifiers are remembered: every result holds most of the lines of the context before."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A plan over sources. `from_` is their format, where it is not to be found out."""

    plan: Plan
    from_: str | None = None
    workers: int = 0
    """Processes; 0 for one a processor."""

    def jobs(self, path: str, number: int, transcript: Transcript) -> Iterator[tuple[str, Job]]:
        """The pieces of one conversation, by its number in the source, each with its key."""
        weights = count_parts(transcript, _means(transcript, self.plan).weigh)
        cuts = cuts_of(transcript, weights, self.plan.cuts, self.plan.least)
        for cut in (*cuts, *([None] if self.plan.generations else [])):
            job = Job(path, number, cut)
            yield key_of(self.plan, _digest(path), job), job

    def pieces(self, jobs: Sequence[Job], done: Callable[[Piece], None]) -> dict[Job, Piece]:
        """Compute these pieces on several processors; `done` is called for each as it comes.

        With one worker nothing leaves this process.
        """
        workers = min(self.workers or os.cpu_count() or 1, len(jobs))
        found: dict[Job, Piece] = {}
        for piece in map(self.piece, jobs) if workers <= 1 else self._together(jobs, workers):
            found[piece.job] = piece
            done(piece)
        return found

    def _together(self, jobs: Sequence[Job], workers: int) -> Iterator[Piece]:
        # a fresh process, not a fork: threads of a parent that was forked may hold locks for ever
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin) as pool:
            waiting: set[Future[Piece]] = {pool.submit(self.piece, job) for job in jobs}
            try:
                while waiting:
                    finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (one.result() for one in finished)
            except BrokenProcessPool:
                raise CtxError(
                    "one of the processes was ended from outside, for want of memory perhaps: --jobs 1 wants less, "
                    "and --resume FILE keeps what is done"
                ) from None
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for worker in active_children():  # what they are at would be waited for otherwise
                    worker.terminate()
                raise

    def piece(self, job: Job) -> Piece:
        """Compute one piece."""
        transcript = _conversations(job.path, self.from_)[job.conversation - 1]
        means = _means(transcript, self.plan)
        source = transcript.path, transcript.id if transcript.many else None
        if job.cut is None:
            return Piece(job, lives=tuple(lives_of(transcript, means, self.plan, source)))
        return Piece(job, cells=tuple(cells_of(Case(transcript, job.cut, means), self.plan, source)))


def _begin() -> None:
    """Of a worker: it ends when the first process says so, and its commands with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)


def _stop(*_: object) -> None:
    end_commands()
    os._exit(1)


@lru_cache(maxsize=2)
def _conversations(path: str, from_: str | None) -> tuple[Transcript, ...]:
    return tuple(one.transcript for one in load(path, format_name=from_))


def _means(transcript: Transcript, plan: Plan) -> Means:
    name = choose(transcript.models, plan.tokenizer).name
    return _means_by_name(name, plan.cache, _Kinds(tuple(plan.kinds.items())))


@dataclass(frozen=True)
class _Kinds:
    """The user's kinds, as a key."""

    items: tuple[tuple[str, object], ...]

    def __hash__(self) -> int:
        return hash(tuple(name for name, _ in self.items))


@lru_cache(maxsize=4)
def _means_by_name(name: str, cache: bool, kinds: _Kinds) -> Means:
    weigh = counter(name, CountCache() if cache else None)
    return Means(weigh, Extractor(kinds_of(dict(kinds.items)), remembers=_LINES))


@lru_cache(maxsize=64)
def _digest(path: str) -> str:
    """Of the content of a source; of a folder, of the names, sizes and times of its files."""
    found = hashlib.sha256()
    if not Path(path).is_dir():
        with opened(path) as stream, suppress(UnreadableError):  # beyond where it breaks off nobody reads
            for line in lines_of(stream, path):
                found.update(line)
        return found.hexdigest()
    for file in sorted(Path(path).rglob("*")):
        if file.is_file():
            told = file.stat()
            found.update(f"{file} {told.st_size} {told.st_mtime_ns}\n".encode())
    return found.hexdigest()
