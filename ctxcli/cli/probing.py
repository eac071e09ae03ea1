"""What `ctx probe` does: the pairs of contexts, their questions, then questions written down, a plan, or answers."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.asking import asker_of, plan_of, plan_pieces
from ctxcli.cli.judging import asker_and_judge
from ctxcli.cli.output import canvas, emit
from ctxcli.cli.progress import asking
from ctxcli.cli.sources import Sources, say, say_skips
from ctxcli.compact.context import Keep
from ctxcli.compact.settings import Settings
from ctxcli.errors import SettingError, UnreadableError
from ctxcli.files import find
from ctxcli.files.jsonl import json_lines
from ctxcli.files.streams import STDIN, shown
from ctxcli.files.text import is_note, read_text
from ctxcli.files.write import write_whole
from ctxcli.model import Transcript
from ctxcli.probe.conclude import report_of
from ctxcli.probe.prompts import CONDITIONS
from ctxcli.probe.questions import given, made_of, missing_in
from ctxcli.probe.run import How, Probe
from ctxcli.probe.sides import Pair, compacted_pair, pair_of, recorded_pairs
from ctxcli.renderers.json import dump
from ctxcli.renderers.view import plural
from ctxcli.reports.probe import ProbeReport
from ctxcli.strategies import STRATEGIES
from ctxcli.sweep.grading import JUDGED
from ctxcli.tokens import CountCache, choose, counter

if TYPE_CHECKING:
    from ctxcli.ask import Asker
    from ctxcli.providers import Model
    from ctxcli.shelf import Weigh


def run(files: tuple[str, ...], flags: dict[str, Any]) -> int:
    """Run the command and give its exit code."""
    _check(files, flags)
    one = _Run(files, flags)
    if flags["emit_questions"]:
        emit(one.questions_written(), flags["emit_questions"], inputs=lambda: one.inputs)
    elif flags["dry_run"]:
        emit(one.planned(), flags["output"], inputs=lambda: one.inputs)
    else:
        if flags["output"] not in (None, STDIN):  # that it may be written is known before anything is spent
            write_whole(flags["output"], (), inputs=lambda: one.inputs, worth=lambda: False)
        how = canvas(flags["output"], every_call=flags["every_call"])
        drawn = opt.drawing("probe", flags)(one.reports(), how)
        emit(drawn, flags["output"], inputs=lambda: one.inputs, worth=lambda: bool(one.done))
    return one.exit_code()


def _check(files: tuple[str, ...], flags: dict[str, Any]) -> None:
    """Refuse what goes not together, before anything is read."""
    alone = [flag for flag in ("recorded", "strategy") if flags[flag]]
    if len(alone) == 2:
        raise click.UsageError("--recorded and --strategy exclude one another")
    if len(files) != (1 if alone else 2):
        raise click.UsageError("give BEFORE and AFTER, or one FILE with --recorded or --strategy NAME")
    if files.count(STDIN) + (flags["questions"] == STDIN) > 1:
        raise click.UsageError("only one of the inputs can be standard input")
    if flags["emit_questions"] and (flags["questions"] or flags["dry_run"]):
        raise click.UsageError("--emit-questions makes the questions and asks nothing")
    if flags["compaction"] and not flags["recorded"]:
        raise click.UsageError("--compaction goes with --recorded")
    unknown = [name for name in _names(flags["strategy"]) if name not in STRATEGIES]
    if unknown:
        raise click.UsageError(f"{unknown[0]!r} is no strategy; there are {', '.join(STRATEGIES)}")
    if not flags["emit_questions"]:
        asker_of(flags)  # fails early, before anything is read


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",")] if text else []


@dataclass(slots=True)
class _Run:
    """One run: its pairs as they come, and what to exit with."""

    files: tuple[str, ...]
    flags: dict[str, Any]
    read: set[str] = field(default_factory=set)
    done: list[ProbeReport] = field(default_factory=list)
    short: bool = False
    """Something could not be read, or not every answer was had: exit 2."""
    asked: bool = False
    """There was something to ask."""
    unreadable: bool = False
    """A summary cannot be read, so that nobody can be asked about it."""
    _weigh: "Weigh | None" = None

    @property
    def inputs(self) -> list[str]:
        """The files that nothing is written over."""
        return [*self.files, *self.read, *filter(None, (self.flags["questions"], self.flags["config"].path))]

    def exit_code(self) -> int:
        """2 where something is missing, 1 where an answer changed, 3 where nothing could be told."""
        if self.short:
            return 2
        if self.flags["exit_zero"]:
            return 0
        failed = [one for one in self.done if not one.ok]
        if any(one.totals.kept_share is not None for one in failed):
            return 1
        return 3 if failed or self.unreadable or not self.asked else 0

    # -- the contexts

    def _pairs(self) -> Iterator[Pair]:
        if self.flags["recorded"]:
            yield from self._recorded()
        elif self.flags["strategy"]:
            keep = self.flags["keep_last"]
            settings = Settings(
                tuple(_names(self.flags["strategy"])), self.flags["target"], Keep(*keep) if keep else None
            )
            transcript = self._transcript(self.files[0])
            yield compacted_pair(transcript, settings, self.weigh)
        else:
            before, after = self.files
            yield pair_of(self._transcript(before), self._transcript(after))

    def _recorded(self) -> Iterator[Pair]:
        found = list(recorded_pairs(self._transcript(self.files[0])))
        wanted = self.flags["compaction"]
        if not found or (wanted or 0) > len(found):
            many = plural(len(found), "compaction") if found else "no compaction"
            raise SettingError(f"{shown(self.files[0])}: records {many}")
        for number, pair in enumerate(found, 1):
            if wanted not in (None, number):
                continue
            if pair.unreadable:
                line = pair.compaction.line if pair.compaction else 0
                say(
                    f"{shown(self.files[0])}: the summary of line {line:,} cannot be read: nobody can be asked about it"
                )
                self.unreadable = True
            else:
                yield pair

    def _transcript(self, path: str) -> Transcript:
        sources = Sources(self.flags["conversation"], self.flags["from_"])
        if len(self.files) > 1 and self.flags["from_"] is None:
            sources.plain = lambda path: read_text(path, sure=is_note(path))
        found = [one for _, one in sources.transcripts(list(find([path])))]
        self.read |= sources.read
        if sources.failed:
            raise click.exceptions.Exit(2)  # what was wrong with it is said already
        if len(found) != 1:
            raise UnreadableError(
                f"{shown(path)}: holds {len(found):,} conversations: choose one with --conversation"
            )  # fmt: skip
        say_skips(path, found[0])
        return found[0] if found[0].path else replace(found[0], path=shown(path))

    # -- the questions

    @property
    def weigh(self) -> "Weigh":
        """Counts tokens, whatever the model."""
        if self._weigh is None:
            cache = CountCache() if self.flags["cache"] else None
            self._weigh = counter(choose([], self.flags["tokenizer"]).name, cache=cache)
        return self._weigh

    def _probes(self) -> Iterator[Probe]:
        own = self.flags["questions"]
        asked = given(((one.line, one.value) for one in json_lines(own)), shown(own)) if own else []
        how = How(
            self.flags["repeats"], self.flags["max_output"], self.flags["temperature"], self.flags["concurrency"],
            kept=self.flags["reply_cache"],
        )  # fmt: skip
        for pair in self._pairs():
            for one in missing_in(pair, asked):
                say(f"question {one.id!r}: the answer {one.answers[0]!r} does not stand in the context before")
            questions = asked or made_of(pair, self.weigh, self.flags["questions_max"])
            if questions:
                self.asked = True
                yield Probe(pair, questions, how)
            else:
                say(f"{_name(pair)}: nothing that anybody said was taken out that a question can be made of; "
                    "--questions takes your own (`ctx schema probe-question`)")  # fmt: skip

    def questions_written(self) -> Iterator[str]:
        """The questions of all pairs, a line each; of several compactions under ids that tell them apart."""
        for probe in self._probes():
            ref = probe.pair.compaction
            head = f"{ref.n}-" if ref is not None and ref.of > 1 and not self.flags["compaction"] else ""
            for one in probe.questions:
                yield dump({**one.row(), "id": head + one.id}) + "\n"

    # -- asking

    def planned(self) -> Iterator[str]:
        """What would be asked: every request under --json, else the questions and a sum for each context."""
        asker = asker_of(self.flags)
        for probe in self._probes():
            judged = sum(one.grading == JUDGED for one in probe.questions)
            more = "; questions that turn out to tell nothing are asked less often"
            more += f", and {judged:,} questions need a judge on top" if judged else ""
            if self.flags["as_json"] or self.flags["format_"] in ("json", "jsonl"):
                cells = [cell for condition in CONDITIONS for cell in probe.cells(probe.questions, condition)]
                yield from plan_pieces([plan_of(asker, map(probe.request, cells), more=more[2:])], self.flags)
            else:
                yield from _in_words(probe, asker, more)

    def reports(self) -> Iterator[ProbeReport]:
        """The report of each pair, when it has been asked."""
        asker, judge = asker_and_judge(self.flags)
        for probe in self._probes():
            most = len(probe.questions) * self.flags["repeats"] * len(CONDITIONS)
            with asking(most, lambda: _cost(asker)) as one_more:
                probe.run(asker, judge, one_more)
            report = report_of(probe, asker, judge, self.weigh, self.flags["min_score"])
            if report.totals.unasked:
                self.short = True
                say(report.notes[0] if report.notes else "not every answer was had")
            self.done.append(report)
            yield report
            if probe.stopped:
                return


def _name(pair: Pair) -> str:
    ref = pair.compaction
    return shown(pair.before.transcript.path) + (f": the compaction of line {ref.line:,}" if ref is not None else "")


def _cost(asker: "Asker") -> str:
    cost = asker.spent.cost
    return "cost unknown" if cost is None else f"${cost:,.4f}"


def _in_words(probe: Probe, asker: "Model", more: str) -> Iterator[str]:
    for one in probe.questions:
        yield f"{one.id}: {one.question}\n    {' | '.join(one.answers) or one.regex} ({one.grading})\n"
    for condition in CONDITIONS:
        repeats = probe.how.repeats
        first = [
            asker.estimate(probe.request(cell)) for cell in probe.cells(probe.questions, condition) if not cell.repeat
        ]
        costs = [one.cost for one in first if one.cost is not None]
        told = f"at most ${sum(costs) * repeats:,.4f}" if len(costs) == len(first) else "cost unknown"
        prompt = sum(one.prompt for one in first) * repeats
        yield f"{condition}: {len(first) * repeats:,} requests, about {prompt:,} tokens, {told}\n"
    yield f"nothing was sent{more}\n"
