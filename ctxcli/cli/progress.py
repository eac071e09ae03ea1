"""A progress bar on standard error, for large files on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_LARGE = 20_000_000


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
