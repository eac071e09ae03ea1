"""How far it is, on standard error: a bar on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

_LARGE = 20_000_000
_MANY = 20
"""Pieces of work from which on it is told, away from a terminal, how many are done."""


@contextmanager
def reading(path: str) -> Iterator[Callable[[int], None] | None]:
    """A callback that takes the bytes read so far; None where nobody would see a bar."""
    try:
        size = Path(path).stat().st_size if path != "-" else 0
    except OSError:
        size = 0
    if size < _LARGE or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - only where a bar is drawn
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("reading {task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(Path(path).name, total=size)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def asking(total: int, spent: Callable[[], str]) -> Iterator[Callable[[], None]]:
    """A callback for each answer that has come: a bar on a terminal, elsewhere a line at every tenth of the way.

    `spent` says in words what it has cost so far.
    """
    if _is_seen():
        with _bar("asking", total, 0, spent) as step:
            yield step
    else:
        yield _by_tenths(total, lambda: f"answered, {spent()}")


@contextmanager
def working(total: int, done: int, what: str) -> Iterator[Callable[[], None]]:
    """A callback for each piece of work that is done: a bar on a terminal, elsewhere a line at every tenth of the way.

    `done` of them were there before. Of little work nothing is told away from a terminal.
    """
    if _is_seen():
        with _bar(what, total, done, str) as step:
            yield step
    else:
        yield _by_tenths(total, lambda: f"pieces of work done ({what})", done) if total >= _MANY else _nothing


def _is_seen() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def _bar(what: str, total: int, done: int, told: Callable[[], str]) -> Iterator[Callable[[], None]]:
    """A bar, and behind it what `told` says at each step."""
    from rich.console import Console  # noqa: PLC0415 - only where a bar is drawn
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
               TextColumn("{task.description}"))  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda: progress.update(task, advance=1, description=told())


def _nothing() -> None:
    """Tells nothing."""


def _by_tenths(total: int, told: Callable[[], str], done: int = 0) -> Callable[[], None]:
    def one_more() -> None:
        nonlocal done
        done += 1
        if done == total or done * 10 // total > (done - 1) * 10 // total:
            click.echo(f"ctx: {done:,} of {total:,} {told()}", err=True)

    return one_more
