"""What tests of `ctx sweep` share: items, a corpus, a grid, and models that answer by rule."""

import hashlib
import json
from collections.abc import Callable

from ctxcli.sweep.answers import Answer
from ctxcli.sweep.corpus import Corpus
from ctxcli.sweep.grid import Case, Grid, Plan, grid
from ctxcli.sweep.item import Item
from ctxcli.sweep.run import Sweep
from ctxcli.tokens import counter
from support import FIXTURES

ITEMS = FIXTURES / "sweep" / "items.jsonl"
HANDBOOK = FIXTURES / "sweep" / "handbook.md"
WEIGH = counter("o200k_base")
PORT = Item("port", "On which port does the gateway listen?", "The gateway listens on port 8443.", ("8443",))
TEAM = Item("team", "Which team owns the exports?", "The exports belong to Team Heron since March.", ("Team Heron",))
SMALL = Plan((1, 4, 16), repeats=4)
RIGHT = {"On which port": "8443", "How often": "five", "Which team": "Team Heron", "Under which": "SRCH-2071"}
"""The answers to the fixture's questions, by how they begin."""


def corpus(text: str = "") -> Corpus:
    """The handbook as a corpus, or a text."""
    return Corpus([text or HANDBOOK.read_text("utf-8")], WEIGH)


def small_grid(plan: Plan = SMALL, *items: Item) -> Grid:
    """A grid of two items, padded from the handbook."""
    return grid(items or (PORT, TEAM), corpus(), plan, WEIGH)


def answered(laid: Grid, right: Callable[[Case], bool]) -> Sweep:
    """A sweep whose model is right where the rule says so."""
    return Sweep(
        laid,
        answers={case.id: Answer(case.id, case.item.answers[0] if right(case) else "unknown") for case in laid.cases},
    )


def text_in(prompt: str) -> str:
    """The text between the marks of a prompt."""
    return prompt.partition("<<<TEXT\n")[2].partition("\nTEXT>>>")[0]


def question_in(prompt: str) -> str:
    """The question of a prompt."""
    return prompt.partition("\nQuestion: ")[2].strip()


def right_answer(prompt: str) -> str:
    """The answer to the question of a prompt about the fixture's items."""
    return next(answer for start, answer in RIGHT.items() if question_in(prompt).startswith(start))


def falls(prompt: str) -> str:
    """A model that is right up to 4×, and from 16× on only where the span stands at an end."""
    text, answer = text_in(prompt), right_answer(prompt)
    span = _span_in(text)
    at_end = text.startswith(span) or text.endswith(span)
    return answer if len(text) < 900 or (at_end and dice(prompt) < 80) else "unknown"


def sags(prompt: str) -> str:
    """A model that gets worse with the length, and most in the middle: the answers of the fixture."""
    text, answer = text_in(prompt), right_answer(prompt)
    place = text.index(_span_in(text)) / len(text)
    share = 98 if len(text) < 900 else 80 if not 0.2 < place < 0.8 else 45
    return f"It is {answer}." if dice(prompt) < share else "unknown"


def dice(prompt: str) -> int:
    """A number below 100, the same in every run."""
    return int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16) % 100


def _span_in(text: str) -> str:
    spans = [json.loads(line)["span"] for line in ITEMS.read_text("utf-8").splitlines()]
    return next(span for span in spans if span in text)
