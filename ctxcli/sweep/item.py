"""The items of a sweep: read from JSON lines, and checked before anything is asked."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ctxcli.contract import problems
from ctxcli.errors import SettingError
from ctxcli.sweep.grading import EXACT, GRADINGS, JUDGED, REGEX, gives_away, normal, searching_for, stands


@dataclass(frozen=True, slots=True)
class Item:
    """One question whose answer is known, with the text that decides it."""

    id: str
    question: str
    span: str
    answers: tuple[str, ...]
    """All that are right; empty where a pattern says so."""
    regex: str = ""
    grading: str = EXACT
    padding: tuple[str, ...] = ()
    """Its own, instead of the corpus."""
    line: int = 0

    def holds_answer(self, text: str) -> bool:
        """Whether a text would give an answer away: it holds one, or most words of one that is judged.

        So does what holds the span, and what is a piece of it.
        """
        if self.regex and searching_for(self.regex)(text):
            return True
        bare, span = normal(text), normal(self.span)
        if span in bare or bare in span or any(gives_away(bare, one) for one in self.answers):
            return True
        return self.grading == JUDGED and any(_says_most(bare, one) for one in self.answers)


_WORD = re.compile(r"\w{4,}")
_MOST = 0.7
"""Share of the longer words of an answer that a text may not hold."""


def _says_most(bare: str, answer: str) -> bool:
    words = set(_WORD.findall(normal(answer)))
    return bool(words) and len(words & set(_WORD.findall(bare))) >= _MOST * len(words)


def items_of(rows: Iterable[tuple[int, dict[str, Any]]], path: str) -> list[Item]:
    """The items of (line, object) rows; raises SettingError, naming file and line, for the first that is at fault."""
    items: list[Item] = []
    lines: dict[str, int] = {}
    for line, value in rows:
        place = f"{path}: line {line}"
        found = problems("sweep-item", value)
        if found:
            raise SettingError(f"{place}: {found[0]}; `ctx schema sweep-item` says what an item is")
        item = _item(value, line, place)
        if item.id in lines:
            raise SettingError(f"{place}: the id {item.id!r} stands in line {lines[item.id]} already")
        lines[item.id] = line
        items.append(item)
    return items


def _item(value: dict[str, Any], line: int, place: str) -> Item:
    answers = (*([value["answer"]] if value.get("answer", "").strip() else []), *value.get("answers", ()))
    pattern = value.get("regex", "")
    grading = value.get("grading", REGEX if pattern else EXACT)
    item = Item(
        value.get("id") or str(line), value["question"].strip(), value["span"].strip(), answers, pattern, grading,
        tuple(value.get("padding", ())), line,
    )  # fmt: skip
    try:
        fault = fault_of(item)
    except SettingError as error:
        fault = str(error)
    if fault:
        raise SettingError(f"{place}: {fault}")
    return item


def fault_of(item: Item) -> str:
    """Why an item cannot be asked; empty where it can. Raises SettingError for a pattern that is none."""
    if not item.question or not item.span:
        return "the question or the span is empty"
    if item.grading not in GRADINGS:
        return f"{item.grading!r} is no grading; there are {', '.join(GRADINGS)}"
    if (item.grading == REGEX) != bool(item.regex):
        return "grading regex goes with a regex, and no other does"
    if item.regex:
        if item.answers:
            return "has a regex and an answer; give one of them"
        return "" if searching_for(item.regex)(item.span) else "the regex is not found in the span, which has to answer"
    if not item.answers or not all(normal(one) for one in item.answers):
        return "has no answer: give answer, answers or regex"
    if item.grading == JUDGED or any(stands(normal(item.span), one) for one in item.answers):
        return ""
    return f"the answer {item.answers[0]!r} does not stand in the span; where it only follows from it: grading judged"


def is_given_away(item: Item) -> bool:
    """Whether the question itself holds the answer, as one that offers a choice does."""
    if item.regex:
        return searching_for(item.regex)(item.question)
    return any(stands(normal(item.question), one) for one in item.answers)
