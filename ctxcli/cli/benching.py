"""One run of `ctx bench`: sources to pieces, pieces to the report, the file that a stopped run goes on from."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from ctxcli.bench.floors import Floor
from ctxcli.bench.outside import Outside
from ctxcli.bench.plan import Plan
from ctxcli.bench.report import report_of
from ctxcli.bench.results import Job, Piece, is_work, line_of, pieces_in, timeless
from ctxcli.bench.run import Bench
from ctxcli.cli import options as opt
from ctxcli.cli.output import canvas, emit
from ctxcli.cli.progress import working
from ctxcli.cli.sources import Sources, say_skips
from ctxcli.errors import UnreadableError
from ctxcli.files import find
from ctxcli.files.append import append_lines
from ctxcli.files.streams import STDIN, opened
from ctxcli.files.write import check_place
from ctxcli.renderers.bench_view import bench_chart
from ctxcli.renderers.chart import line_chart, suffix_of


def run(files: tuple[str, ...], flags: dict[str, Any]) -> int:
    """Compute what is missing, write the report; returns the exit code."""
    if STDIN in files:
        raise UnreadableError("ctx bench reads its sources several times: name files, not standard input")
    suffix = suffix_of(flags["chart"]) if flags["chart"] is not None else ""
    for path in (flags["output"], flags["chart"]):
        if path is not None:
            check_place(path)
    plan, sources = _plan(flags), Sources(from_=flags["from_"])
    bench = Bench(plan, flags["from_"], flags["jobs"])
    jobs = dict(_jobs(bench, sources, files))
    if flags["resume"]:
        _check_resume(flags["resume"], (*files, *sources.read, flags["config"].path, flags["output"], flags["chart"]))
    pieces = _computed(bench, jobs, flags["resume"])
    asked = tuple(Floor(measure, least, who) for who, measure, least in flags["floors"])
    with_cells = flags["every_call"] or flags["format_"] == "csv"
    found = pieces.values() if flags["times"] else map(timeless, pieces.values())
    report = report_of(plan, found, asked, with_cells=with_cells)
    drawn = opt.drawing("bench", flags)(iter((report,)), canvas(flags["output"], every_call=flags["every_call"]))
    others = [one for one in (flags["config"].path, flags["resume"], flags["chart"]) if one]
    sources.write(drawn, flags["output"], *others)
    if suffix and sources.given:
        chart = line_chart(bench_chart(report), suffix)
        others = [one for one in (flags["resume"], flags["output"]) if one]
        emit([chart], flags["chart"], inputs=lambda: [*sources.read, *others])
    return sources.exit_code(failed=not report.ok, unchecked=False, exit_zero=flags["exit_zero"])


def _plan(flags: dict[str, Any]) -> Plan:
    outside = tuple(
        Outside(name, command, flags["compactor_format"], flags["timeout"]) for name, command in flags["compactors"]
    )
    if len({one.name for one in outside}) < len(outside):
        raise click.UsageError("--compactor: two of them have the same name")
    known = (*flags["strategies"], *(one.name for one in outside), "recorded")
    for who, measure, _ in flags["floors"]:
        if who is not None and who not in known:
            raise click.UsageError(f"--floor {who}:{measure}: nothing of this name is compared: {', '.join(known)}")
        if measure == "planted" and not flags["plant"]:
            raise click.UsageError("--floor planted: nothing is planted; --plant 1 does")
        if measure in ("planted", "survival") and not flags["generations"]:
            raise click.UsageError(f"--floor {measure}: wants generations")
    if flags["plant"] and not flags["generations"]:
        raise click.UsageError("--plant: what becomes of planted facts is told by generations")
    return Plan(
        flags["strategies"], outside, flags["budgets"], flags["cuts"], flags["least"], flags["generations"],
        flags["generation_budget"], flags["plant"], flags["seed"], flags["tokenizer"], flags["cache"],
        flags["config"].values.get("kinds", {}),
    )  # fmt: skip


def _jobs(bench: Bench, sources: Sources, files: tuple[str, ...]) -> Iterator[tuple[str, Job]]:
    """The pieces of every source that can be read; the others are complained of."""
    numbers: Counter[str] = Counter()
    for path, transcript in sources.transcripts(list(find(files))):
        say_skips(path, transcript)
        numbers[path] += 1
        yield from bench.jobs(path, numbers[path], transcript)


def _computed(bench: Bench, jobs: dict[str, Job], resume: str | None) -> dict[Job, Piece]:
    """All pieces: those that stand in the file, and the rest, each written there as soon as it is there."""
    keys = {job: key for key, job in jobs.items()}
    known = _known(resume, jobs) if resume else {}
    missing = [job for job in keys if job not in known]
    if not missing:
        return known
    with working(len(jobs), len(known), "comparing") as step:
        return {**known, **bench.pieces(missing, _done(keys, resume, step))}


def _done(keys: dict[Job, str], resume: str | None, step: Callable[[], None]) -> Callable[[Piece], None]:
    def done(piece: Piece) -> None:
        if resume:
            append_lines(resume, lambda _: [line_of(keys[piece.job], piece)])
        step()

    return done


def _check_resume(resume: str, others: Iterable[str | None]) -> None:
    """Raises UnreadableError where lines would be added to a file that is none of this command's own."""
    if resume == STDIN:
        raise UnreadableError("--resume: the work is kept in a file: give its name")
    if not Path(resume).exists():
        return
    if any(other and Path(other).exists() and Path(other).samefile(resume) for other in others):
        raise UnreadableError(f"--resume {resume}: is an input or an output; the work is kept in a file of its own")
    with opened(resume) as stream:
        first = next(iter(stream), b"")
    if first.strip() and not is_work(first):
        raise UnreadableError(f"--resume {resume}: line 1: is no work that ctx bench kept; give a file of its own")


def _known(resume: str, jobs: dict[str, Job]) -> dict[Job, Piece]:
    if not Path(resume).exists():
        return {}
    with opened(resume) as stream:
        return pieces_in(stream, jobs)
