"""A sweep on its way: the prompts of a grid, the answers that are there or are asked, and what a judge says."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ctxcli.ask import Asker, Request
from ctxcli.reports.sweep import SweepAnswer
from ctxcli.sweep.answers import Answer
from ctxcli.sweep.ask import Asked, Wanted, ask_all
from ctxcli.sweep.conclude import Graded
from ctxcli.sweep.grading import JUDGED, Grade, answer_in, grade, judge_prompt, verdict
from ctxcli.sweep.grid import Case, Grid
from ctxcli.sweep.prompts import key

_CUT, _REFUSED = "length", "refused"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is asked."""

    max_output: int = 1_024
    temperature: float | None = None
    concurrency: int = 4

    def gave(self, answer: Answer, model: str) -> bool:
        """Whether an answer of an earlier run is one that this would get; one that was cut off may now be longer."""
        longer = answer.stop == _CUT and (answer.max_output or 0) < self.max_output
        return answer.model == model and answer.temperature == self.temperature and not longer


class Told(NamedTuple):
    """Who is told of each answer, and of an interruption, after which what is on its way is waited for."""

    answer: Callable[[Answer], None]
    interrupt: Callable[[], None] = lambda: None


@dataclass(slots=True)
class Sweep:
    """The grid, and what has come back so far."""

    grid: Grid
    recite: bool = False
    answers: dict[str, Answer] = field(default_factory=dict)
    """By the key of the prompt."""
    verdicts: dict[str, Answer] = field(default_factory=dict)
    """By the key of the judge's prompt."""
    failed: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    """Why not all was asked; empty where it was."""

    def missing(self) -> dict[str, Case]:
        """The prompts without an answer, each once, in order."""
        return {case.id: case for case in self.grid.cases if case.id not in self.answers}

    def unjudged(self) -> dict[str, str]:
        """The judge's prompts without a verdict, by key."""
        found: dict[str, str] = {}
        for case in self.grid.cases:
            text = self._judged(case)
            if text and key(text, 0) not in self.verdicts:
                found[key(text, 0)] = text
        return found

    def ask(self, asker: Asker, how: Sampling, told: Told) -> None:
        """Ask what is missing."""

        def of(case: Case) -> Callable[[], Request]:
            return lambda: case.request(how.max_output, how.temperature)

        requests = {id_: Wanted(of(case), case.multiple) for id_, case in self.missing().items()}
        self._take(
            ask_all(requests, asker, concurrency=how.concurrency, on_answer=told.answer, on_interrupt=told.interrupt),
            self.answers,
        )

    def judge(self, asker: Asker, how: Sampling, told: Told) -> None:
        """Ask a judge about the answers that only one can grade."""

        def of(text: str) -> Callable[[], Request]:
            return lambda: Request(text, max_output=how.max_output, temperature=how.temperature)

        requests = {id_: Wanted(of(text)) for id_, text in self.unjudged().items()}
        self._take(
            ask_all(requests, asker, concurrency=how.concurrency, on_answer=told.answer, on_interrupt=told.interrupt),
            self.verdicts,
        )

    def _take(self, asked: Asked, into: dict[str, Answer]) -> None:
        into.update(asked.answers)
        self.failed.update(asked.failed)
        self.stopped = self.stopped or asked.stopped

    def _judged(self, case: Case) -> str:
        """What a judge is asked about the answer to a prompt; empty where no judge is wanted."""
        answer = self.answers.get(case.id)
        if answer is None or case.item.grading != JUDGED:
            return ""
        said = answer_in(answer.text, recite=self.recite)
        return judge_prompt(case.item.question, case.item.answers, said) if said.strip() else ""

    def graded(self) -> Iterator[tuple[Graded, SweepAnswer]]:
        """Each prompt with its grade, in order of the grid."""
        for case in self.grid.cases:
            answer, found = self.answers.get(case.id), self._grade(case)
            yield Graded(case, found.right), SweepAnswer(
                case.id, case.item.id, case.multiple, case.position, case.repeat, case.tokens, found.right,
                answer.text if answer else None, answer.stop if answer else None, found.why,
            )  # fmt: skip

    def _grade(self, case: Case) -> Grade:
        answer = self.answers.get(case.id)
        if answer is None:
            return Grade(None, self.failed.get(case.id, "was not asked"))
        item = case.item
        found = grade(
            item.grading, item.answers, item.regex, answer_in(answer.text, recite=self.recite), item.question
        )  # fmt: skip
        if found.right is None:
            found = self._by_judge(case)
        return Grade(found.right, _why(found, answer))

    def _by_judge(self, case: Case) -> Grade:
        id_ = key(self._judged(case), 0)
        said = self.verdicts.get(id_)
        if said is None:
            return Grade(None, self.failed.get(id_, "no judge was asked"))
        right = verdict(said.text)
        if right is None:
            return Grade(None, f"the judge said neither yes nor no: {said.text[:60]!r}")
        return Grade(right, "" if right else "the judge says no")


def _why(found: Grade, answer: Answer) -> str:
    if found.right or not found.why:
        return ""
    how = {_CUT: "cut off; ", _REFUSED: "refused; "}.get(answer.stop or "", "")
    return f"{how}{found.why}"


def counted(answers: Mapping[str, Answer]) -> dict[str, int]:
    """How many answers were cut off, and how many refused."""
    stops = [answer.stop for answer in answers.values()]
    return {stop: stops.count(stop) for stop in (_CUT, _REFUSED)}
