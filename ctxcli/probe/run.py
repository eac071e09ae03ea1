"""A probe on its way: each question without a context, then before, then after, as far as that can tell something."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from ctxcli.ask import Asker, Request
from ctxcli.probe.prompts import AFTER, BEFORE, NONE, UNKNOWN, request_of
from ctxcli.probe.questions import Question
from ctxcli.probe.sides import Pair
from ctxcli.sweep.answers import Answer
from ctxcli.sweep.ask import Asked, Wanted, ask_all
from ctxcli.sweep.grading import JUDGED, answer_in, grade, judge_prompt, normal, verdict
from ctxcli.sweep.prompts import key


@dataclass(frozen=True, slots=True)
class How:
    """How the models are asked."""

    repeats: int = 3
    max_output: int = 1_024
    temperature: float | None = None
    concurrency: int = 4
    kept: bool = True
    """Whether answers are kept, so that the same command goes on where one was stopped."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One question, in one condition, once."""

    question: Question
    condition: str
    repeat: int

    @property
    def id(self) -> str:
        """Its key within a probe."""
        return f"{self.condition} {self.repeat} {self.question.id}"


@dataclass(slots=True)
class Probe:
    """The questions about a pair of contexts, and what has come back."""

    pair: Pair
    questions: Sequence[Question]
    how: How
    answers: dict[str, Answer] = field(default_factory=dict)
    """By the id of the cell."""
    verdicts: dict[str, Answer] = field(default_factory=dict)
    """By the key of the judge's prompt."""
    failed: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    """Why not all was asked; empty where it was."""

    def cells(self, questions: Iterable[Question], condition: str) -> Iterator[Cell]:
        """Each repeat of these questions."""
        return (Cell(one, condition, repeat) for one in questions for repeat in range(self.how.repeats))

    def request(self, cell: Cell) -> Request:
        """What is asked for a cell."""
        context = {BEFORE: self.pair.before, AFTER: self.pair.after}.get(cell.condition)
        text = None if context is None else context.text
        return request_of(text, cell.question.question, cell.repeat, self.how.max_output, self.how.temperature)

    def run(self, asker: Asker, judge: Asker, on_answer: Callable[[], None]) -> None:
        """Ask, condition by condition; a question that a condition showed to tell nothing is not asked further."""
        left = list(self.questions)
        for condition in (NONE, BEFORE, AFTER):
            cells = list(self.cells(left, condition))
            self._take(self._ask(cells, asker, on_answer), self.answers)
            self._judge(cells, judge)
            if self.stopped:
                return
            left = [one for one in left if self.is_worth(one, condition)]

    def is_worth(self, one: Question, condition: str) -> bool:
        """Whether to go on with a question: not guessed without a context, and answered with the one before."""
        grades = self.grades(one, condition)
        if None in grades or not grades:
            return False
        right = sum(map(bool, grades)) * 2
        return right < len(grades) if condition == NONE else right > len(grades)

    def grades(self, one: Question, condition: str) -> list[bool | None]:
        """Whether each repeat was right; None for one that has no answer, or no verdict."""
        return [self._grade(cell) for cell in self.cells([one], condition)]

    def said(self, one: Question, condition: str) -> str | None:
        """The answer that was given most often, of equals the first; None where there is none."""
        said = [self._said(cell) for cell in self.cells([one], condition) if cell.id in self.answers]
        return max(said, key=lambda text: (said.count(text), -said.index(text)), default=None)

    def _ask(self, cells: Sequence[Cell], asker: Asker, on_answer: Callable[[], None]) -> Asked:
        wanted = {cell.id: Wanted(partial(self.request, cell)) for cell in cells}
        return ask_all(wanted, asker, concurrency=self.how.concurrency, on_answer=lambda _: on_answer())

    def _judge(self, cells: Sequence[Cell], judge: Asker) -> None:
        texts = {key(text, 0): text for text in map(self._judged, cells) if text}
        wanted = {id_: Wanted(partial(self._to_judge, text)) for id_, text in texts.items() if id_ not in self.verdicts}
        self._take(
            ask_all(wanted, judge, concurrency=self.how.concurrency, on_answer=lambda _: None), self.verdicts
        )  # fmt: skip

    def _to_judge(self, text: str) -> Request:
        return Request(text, max_output=self.how.max_output, temperature=self.how.temperature)

    def _take(self, asked: Asked, into: dict[str, Answer]) -> None:
        into.update(asked.answers)
        self.failed.update(asked.failed)
        self.stopped = self.stopped or asked.stopped

    def _said(self, cell: Cell) -> str:
        return answer_in(self.answers[cell.id].text, recite=False).strip()

    def _judged(self, cell: Cell) -> str:
        """What a judge is asked about a cell; empty where none is wanted."""
        if cell.question.grading != JUDGED or cell.id not in self.answers:
            return ""
        said = self._said(cell)
        return "" if is_unknown(said) else judge_prompt(cell.question.question, cell.question.answers, said)

    def _grade(self, cell: Cell) -> bool | None:
        if cell.id not in self.answers:
            return None
        said, one = self._said(cell), cell.question
        if is_unknown(said):
            return False
        found = grade(one.grading, one.answers, one.regex, said, one.question)
        if found.right is not None:
            return found.right
        judged = self.verdicts.get(key(self._judged(cell), 0))
        return None if judged is None else verdict(judged.text)


def is_unknown(said: str) -> bool:
    """Whether a reply says that it does not know, or nothing."""
    return normal(said).strip(" .!") in ("", UNKNOWN)
