"""What `ctx sweep` does: items, corpus and grid; then prompts for another runner, answers of one, or a model's own."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.asking import asker_of
from ctxcli.cli.judging import judge_flags
from ctxcli.cli.output import canvas, emit
from ctxcli.cli.progress import asking
from ctxcli.cli.sources import Sources, say, say_skips
from ctxcli.cli.sweep_answers import AnswersFile, take
from ctxcli.cli.sweep_corpus import CorpusFiles, said_in
from ctxcli.cli.sweep_out import given, planned, prompts
from ctxcli.errors import SettingError, UnreadableError
from ctxcli.files import find
from ctxcli.files.jsonl import json_lines
from ctxcli.files.streams import STDIN, shown
from ctxcli.model import Transcript
from ctxcli.renderers.chart import line_chart, suffix_of
from ctxcli.renderers.sweep_chart import sweep_chart
from ctxcli.renderers.view import plural
from ctxcli.reports.sweep import SweepReport, SweepSource, SweepSpent
from ctxcli.sweep.answers import Answer
from ctxcli.sweep.conclude import Table
from ctxcli.sweep.corpus import Corpus
from ctxcli.sweep.facts import items_from
from ctxcli.sweep.grading import GRADINGS
from ctxcli.sweep.grid import Plan, grid
from ctxcli.sweep.item import Item, items_of
from ctxcli.sweep.report import Asking, Floors, report_of
from ctxcli.sweep.run import Sampling, Sweep, Told
from ctxcli.tokens import CountCache, choose, counter

if TYPE_CHECKING:
    from ctxcli.ask import Asker
    from ctxcli.providers import Model
    from ctxcli.shelf import Weigh


class _Run:
    """One run of the command."""

    def __init__(self, name: str | None, flags: dict[str, Any]) -> None:
        self.flags = flags
        self.path: str = flags["from_transcript"] or name or ""
        self.plan = Plan(
            flags["multiples"], flags["positions"], flags["repeats"], flags["seed"], recite=flags["recite"]
        )
        self.how = Sampling(flags["max_output"], flags["temperature"], flags["concurrency"])
        self.weigh: Weigh = counter(
            choose([], flags["tokenizer"]).name, cache=CountCache() if flags["cache"] else None
        )  # whatever the model: the same prompts for each
        self.files = CorpusFiles(flags["corpus"])
        transcript = self._transcript() if flags["from_transcript"] else None
        self.items = self._items(transcript)
        self.corpus = Corpus(self._texts(transcript), self.weigh)
        self.resumed = 0
        self.askers: list[Model] = []
        self.judge: Model | None = None

    @property
    def inputs(self) -> list[str]:
        """The files that nothing is written over."""
        named = (self.path, self.flags["answers"], self.flags["grade"], self.flags["config"].path)
        return [*self.files.read, *(name for name in named if name)]

    def _transcript(self) -> Transcript:
        sources = Sources(self.flags["conversation"], self.flags["from_"])
        found = [one for _, one in sources.transcripts(list(find([self.path])))]
        if len(found) != 1:
            many = f"holds {len(found):,} conversations: choose one with --conversation"
            raise UnreadableError(f"{shown(self.path)}: {many if found else 'nothing was read of it'}")
        say_skips(self.path, found[0])
        return found[0]

    def _items(self, transcript: Transcript | None) -> list[Item]:
        if transcript is None:
            return items_of(((one.line, one.value) for one in json_lines(self.path)), shown(self.path))
        found = items_from(transcript, self.weigh, self.flags["kinds"], self.flags["items_max"])
        if not found:
            raise UnreadableError(
                f"{shown(self.path)}: states no {', '.join(self.flags['kinds'])} that a question can be made of; "
                "write the items yourself (`ctx schema sweep-item`)"
            )
        return found

    def _texts(self, transcript: Transcript | None) -> Iterator[str]:
        if transcript is not None:
            yield from said_in(transcript)
        yield from self.files.texts()

    # -- what is there, and what is asked

    def sweep(self) -> Sweep:
        """The grid, with nothing asked."""
        laid = grid(self.items, self.corpus, self.plan, self.weigh)
        self.corpus.close()
        if self.files.passed_over:
            say(f"{len(self.files.passed_over):,} files of the corpus hold no text, and were passed over")
        return Sweep(laid, recite=self.plan.recite)

    def grade(self, sweep: Sweep, path: str) -> None:
        """Take the answers that another runner had, and ask a judge where one is wanted and named."""
        take(sweep, path)
        if sweep.unjudged() and (self.flags["judge"] or self.flags["model"]):
            self._judge(sweep, AnswersFile(None, ()))

    def resume(self, sweep: Sweep, asker: "Asker") -> AnswersFile:
        """Take the answers that stand in the answers file."""
        file = AnswersFile(self.flags["answers"], [*self.files.read, self.path])
        sweep.answers = file.given(asker.name, self.how, [case.id for case in sweep.grid.cases])
        self.resumed = len(sweep.answers)
        return file

    def ask(self, sweep: Sweep) -> Sweep:
        """Ask the model what is missing, then the judge; with --narrow before a knee too. Gives what came of it."""
        asker = asker_of(self.flags)
        self.askers.append(asker)
        file = self.resume(sweep, asker)
        if self.resumed:
            say(f"{self.resumed:,} answers stand in {file.path}; {len(sweep.missing()):,} are missing")
        while True:
            with asking(len(sweep.missing()), partial(_cost, asker)) as one_more:
                sweep.ask(asker, self.how, _keeping(file, one_more))
            if not sweep.stopped and sweep.unjudged():
                self._judge(sweep, file)
            graded = [one for one, _ in sweep.graded()]
            complete = all(one.right is not None for one in graded)
            between = Table(graded, self.plan).between() if self.flags["narrow"] and complete else None
            if between is None:
                return sweep
            sweep = self._with(between, sweep, asker, file)

    def _with(self, multiple: int, known: Sweep, asker: "Asker", file: AnswersFile) -> Sweep:
        """The sweep with one length more, and the answers that are known."""
        self.plan = replace(
            self.plan, multiples=tuple(sorted((*self.plan.multiples, multiple))),
            narrowed=(*self.plan.narrowed, multiple),
        )  # fmt: skip
        more = self.sweep()
        more.answers, more.verdicts = dict(known.answers), dict(known.verdicts)
        stored = file.given(asker.name, self.how, more.missing())
        more.answers |= stored
        self.resumed += len(stored)
        say(f"--narrow: {multiple}× is asked on top")
        return more

    def _judge(self, sweep: Sweep, file: AnswersFile) -> None:
        judge = self.judge = self.judge or self._judging()
        stored = file.given(judge.name, self.how, sweep.unjudged())
        sweep.verdicts |= stored
        self.resumed += len(stored)
        with asking(len(sweep.unjudged()), partial(_cost, judge)) as one_more:
            sweep.judge(judge, self.how, _keeping(file, one_more))

    def _judging(self) -> "Model":
        """The judge: a model of its own, under what the limits leave, or the one that was asked."""
        given, model = self.flags["judge"], self.flags["model"]
        if self.askers and given in (None, model):
            return self.askers[0]
        flags = judge_flags(self.flags)
        spent = [one.spent for one in self.askers]
        if flags["max_calls"] is not None:
            flags["max_calls"] -= sum(one.calls for one in spent)
        if flags["max_cost"] is not None:
            flags["max_cost"] -= sum(one.cost or 0.0 for one in spent)
        judge = asker_of(flags)
        self.askers.append(judge)
        return judge

    # -- what comes of it

    def report(self, sweep: Sweep) -> SweepReport:
        """The document."""
        spent = [one.spent for one in self.askers]
        costs = [one.cost for one in spent]
        every = SweepSpent(
            sum(one.calls for one in spent), sum(one.stored for one in spent), self.resumed,
            sum(one.prompt for one in spent), sum(one.output for one in spent),
            sum(cost for cost in costs if cost is not None) if None not in costs else None,
        )  # fmt: skip
        own = sum(len(item.padding) for item in self.items)
        gradings = {one: sum(item.grading == one for item in self.items) for one in GRADINGS}
        corpus = (*((self.path,) if self.flags["from_transcript"] else ()), *self.files.names)
        source = SweepSource(
            shown(self.path), bool(self.flags["from_transcript"]), len(self.items),
            {name: count for name, count in gradings.items() if count}, corpus, len(self.corpus.pieces) + own,
        )  # fmt: skip
        asked = None if self.flags["grade"] else self.askers[0].name
        judge = self.judge.name if self.judge else None
        floors = Floors(self.flags["min_score"], self.flags["min_effective"], self.flags["effective_share"])
        return report_of(sweep, self.items, self.plan, source, Asking(asked, judge, self.weigh.name, every), floors)


def _keeping(file: AnswersFile, one_more: Callable[[], None]) -> Told:
    def keep(answer: Answer) -> None:
        file.keep(answer)
        one_more()

    return Told(keep, lambda: say("interrupted; waits for the answers that are on their way, Ctrl-C again leaves"))


def _cost(asker: "Asker") -> str:
    cost = asker.spent.cost
    return "cost unknown" if cost is None else f"${cost:,.4f}"


def run(name: str | None, flags: dict[str, Any]) -> int:
    """Run the command and give its exit code."""
    _check(name, flags)
    one = _Run(name, flags)
    if flags["emit_items"]:
        emit(map(given, one.items), flags["emit_items"], inputs=lambda: one.inputs)
        return 0
    sweep = one.sweep()
    if flags["emit"]:
        emit(prompts(sweep), flags["emit"], inputs=lambda: one.inputs)
        return 0
    if flags["dry_run"]:
        asker = asker_of(flags) if flags["model"] else None
        if asker is not None:
            one.resume(sweep, asker)
        emit(planned(sweep, one.how, asker, flags), flags["output"], inputs=lambda: one.inputs)
        return 0
    if flags["grade"]:
        one.grade(sweep, flags["grade"])
    else:
        try:
            sweep = one.ask(sweep)
        except KeyboardInterrupt:
            say("interrupted")
            os._exit(130)  # what is on its way would be waited for; each answer that came is on the disk
    if not sweep.answers:
        raise SettingError(f"nothing was answered: {sweep.stopped or next(iter(sweep.failed.values()), 'no answers')}")
    report = one.report(sweep)
    drawn = opt.drawing("sweep", flags)(iter([report]), canvas(flags["output"], every_call=flags["every_call"]))
    emit(drawn, flags["output"], inputs=lambda: one.inputs)
    if flags["chart"]:
        emit([line_chart(sweep_chart(report), suffix_of(flags["chart"]))], flags["chart"], inputs=lambda: one.inputs)
    return _exit_code(report, sweep, flags)


def _check(name: str | None, flags: dict[str, Any]) -> None:
    """Refuse what goes not together, before anything is read."""
    if bool(name) == bool(flags["from_transcript"]):
        raise click.UsageError("give either ITEMS or --from-transcript FILE")
    modes = [flag for flag in ("emit", "emit_items", "grade", "dry_run") if flags[flag]]
    if len(modes) > 1:
        raise click.UsageError(" and ".join(f"--{mode.replace('_', '-')}" for mode in modes) + " exclude one another")
    if flags["answers"] and modes in (["grade"], ["emit"], ["emit_items"]):
        raise click.UsageError(f"--answers keeps what a model says, and --{modes[0].replace('_', '-')} asks none")
    if flags["narrow"] and modes and modes != ["dry_run"]:
        raise click.UsageError(f"--narrow asks a model, and --{modes[0].replace('_', '-')} asks none")
    if flags["answers"] == STDIN or (name == STDIN == flags["grade"]):
        raise click.UsageError("standard input cannot be that as well")
    if flags["chart"]:
        suffix_of(flags["chart"])
        if find_spec("matplotlib") is None:
            raise SettingError("--chart: needs pip install 'ctx-transcripts[charts]'")
    if not modes:
        asker_of(flags)  # fails early, before the corpus is read


def _exit_code(report: SweepReport, sweep: Sweep, flags: dict[str, Any]) -> int:
    """2 where something is missing, 1 where a floor is not held, 3 where one cannot be told."""
    if not report.complete:
        open_ = sum(cell.asked - cell.answered for cell in report.cells)
        why = sweep.stopped or next((one.why for one in report.answers if one.right is None), "")
        kept = flags["answers"] or flags["reply_cache"]
        on = "the same command goes on from here" if kept else "with --answers FILE it could go on from here"
        say(f"{plural(open_, 'answer')} missing: {why}; {'' if flags['grade'] else on}".rstrip("; "))
        return 2
    if flags["exit_zero"] or report.ok:
        return 0
    return 1 if any(one.ok is False for one in report.floors) else 3
