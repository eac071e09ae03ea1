"""The answers file: a line for each answer as it comes, so that a sweep that was stopped goes on where it was."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from ctxcli.errors import UnreadableError
from ctxcli.files.jsonl import JsonLine, parsed_lines


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one prompt."""

    id: str
    """The key of the prompt."""
    text: str
    stop: str | None = None
    """Why it ends; None where it came from elsewhere."""
    model: str = ""
    """PROVIDER:MODEL that was asked; empty where it came from elsewhere."""
    temperature: float | None = None
    max_output: int | None = None
    """Tokens that it was allowed."""
    prompt: int | None = None
    output: int | None = None
    cost: float | None = None


def line_of(answer: Answer) -> str:
    """An answer as a line of the file."""
    row = asdict(answer)
    return json.dumps({"id": row.pop("id"), "answer": row.pop("text"), **row})


@dataclass(frozen=True, slots=True)
class Read:
    """What an answers file holds."""

    answers: tuple[Answer, ...]
    faults: tuple[str, ...]
    """Lines that could not be read, or hold no answer, in words; they are passed over, since a run that died may leave
    one torn, and what failed is no wrong answer."""


def answers_in(data: bytes, path: str) -> Read:
    """The answers in the bytes of a file, in order.

    Raises UnreadableError, naming the line, for JSON that is no answer: the file is another one.
    """
    answers, faults = [], []
    for one in parsed_lines(data.splitlines(keepends=True)):
        if one.fault:
            torn = "breaks off" if not one.whole else one.fault
            faults.append(f"{path}: line {one.line}: {torn}: passed over")
        elif "answer" in one.value and one.value["answer"] is None and isinstance(one.value.get("id"), str):
            faults.append(f"{path}: line {one.line}: has no answer: passed over")
        else:
            answers.append(_answer(one, path))
    return Read(tuple(answers), tuple(faults))


def _answer(one: JsonLine, path: str) -> Answer:
    value = one.value
    id_, text = value.get("id"), value.get("answer")
    if not isinstance(id_, str) or not isinstance(text, str):
        raise UnreadableError(f'{path}: line {one.line}: is no answer; one is {{"id": "…", "answer": "…"}}')
    stop, model = value.get("stop"), value.get("model")
    return Answer(
        id_, text, stop if isinstance(stop, str) else None, model if isinstance(model, str) else "",
        _figure(value.get("temperature")), _count(value.get("max_output")), _count(value.get("prompt")),
        _count(value.get("output")),
    )  # fmt: skip


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _figure(value: object) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def by_id(answers: Iterable[Answer], asked: Callable[[Answer], bool] = bool) -> dict[str, Answer]:
    """The answers that were asked in the way that counts, by their key; the last one counts."""
    return {one.id: one for one in answers if asked(one)}
