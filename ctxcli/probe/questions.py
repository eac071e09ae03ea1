"""The questions: made of what the compaction took out, or given by the user."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxcli.contract import problems
from ctxcli.errors import SettingError
from ctxcli.identifiers.secrets import mask, secrets_in
from ctxcli.model import PartKind
from ctxcli.probe.gaps import gaps
from ctxcli.probe.sides import Pair
from ctxcli.probe.states import states
from ctxcli.shelf import Material, Weigh
from ctxcli.summarisers.extractive.pending import ASKED, ERROR, REQUEST, TASK, TO_DO, TRIED, open_items
from ctxcli.sweep.facts import items_from
from ctxcli.sweep.grading import EXACT, GRADINGS, JUDGED, REGEX, gives_away, normal, searching_for, stands

FILE, OPEN, OWN = "file", "open", "own"
_FOUND = ("setting", "path", "fact", "decision", "constraint")
"""Those that items of a sweep are made of too."""
SLOTS = (*_FOUND, FILE, OPEN)
_EVERY = 100_000
_LONGEST = 600
"""Characters of an answer that a judge is shown."""
_OPEN = {
    REQUEST: ("request", "What did the user ask for last?"),
    TO_DO: ("tasks", "Which tasks of the task list are not done yet?"),
    ERROR: ("error", "Which failure has not been resolved?"),
    TRIED: ("tried", "What was tried last, and how did it end?"),
    ASKED: ("question", "Which question of the assistant has the user not answered yet?"),
    TASK: ("task", "What did the user ask for first?"),
}
"""By how an open item begins, the name and the wording of what it answers."""
_LOOKS = re.compile(
    r"\w*(?:read|view|open|cat|get|grep|glob|search|find|list|ls|fetch|todo|plan|task|edit|write|create|patch)\w*\b"
    r"|\w+ (?:cd [^&;]*&& ?)?(?:cat|ls|head|tail|grep|rg|find|sed -n|wc|jq|git (?:log|diff|show|status|blame))\b",
    re.IGNORECASE,
)
"""How a call begins that only looks, or writes a file, which is asked for otherwise: by its tool, or its command."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its right answers."""

    id: str
    slot: str
    question: str
    answers: tuple[str, ...]
    regex: str = ""
    grading: str = EXACT
    line: int | None = None

    def row(self) -> dict[str, Any]:
        """As a line of a file of questions."""
        given = {"answers": list(self.answers)} if self.answers else {"regex": self.regex}
        line = {"line": self.line} if self.line else {}
        return {"id": self.id, "slot": self.slot, "question": self.question, **given, "grading": self.grading, **line}


# -- made of the contexts


def made_of(pair: Pair, weigh: Weigh, most: int) -> list[Question]:
    """Questions about what a compaction took out, at most so many, spread over slots and lines; the same each time.

    Each answer stands in the context before, where somebody said it and not in a tool's result alone, which can be
    fetched again; in no message that stayed as it was; and not in its own question.
    """
    side = pair.before
    kept, said = normal("\n".join(part.text for part in pair.stays)), normal("\n".join(side.said))
    touched = normal("\n".join((*side.said, *side.called)))
    sound = [
        one
        for one in dict.fromkeys(_every(pair, weigh))
        if one.line in pair.leaving
        and (one.slot == OPEN or _stands(touched if one.slot in ("path", FILE) else said, one))
        and not _stands(kept, one)
        and not is_given_away(one)
        and not any(secrets_in(answer) or mask(answer, side.secrets) != answer for answer in one.answers)
    ]
    return _spread({slot: [one for one in sound if one.slot == slot] for slot in SLOTS}, most)


def _every(pair: Pair, weigh: Weigh) -> Iterator[Question]:
    side = pair.before
    indices = tuple(range(len(side.transcript.messages)))
    material = Material(
        side.transcript, indices, (), (), _EVERY, weigh, mask=lambda text: mask(text, side.secrets)
    )  # fmt: skip
    items = items_from(side.transcript, weigh, _FOUND, _EVERY)
    asked = {(item.line, answer) for item in items for answer in item.answers}
    for number, (slot, line, question, answer) in enumerate(gaps(material), 1):
        if (line, answer) not in asked:
            yield Question(f"{slot}-{line}-gap-{number}", slot, material.mask(question), (answer,), line=line)
    for item in items:
        slot, answers = item.id.partition("-")[0], item.answers
        yield Question(item.id, slot, material.mask(item.question), answers, "", item.grading, item.line)
    for name, line, question, answers in states(material):
        yield Question(f"{FILE}-{name}", FILE, question, answers, line=line)
    yield from _pending(material)


def _pending(material: Material) -> Iterator[Question]:
    """What was open at the end of the context before; of a kind of item all together.

    A context that begins with a summary tells of requests before the first one in it, a call that only looks is no
    try and no failure, and of several failures nobody knows which is meant.
    """
    entries = open_items(material)
    goes_on = any(part.kind is PartKind.SUMMARY for message in material.transcript.messages for part in message.parts)
    for begins, (name, question) in _OPEN.items():
        own = [one for one in entries if one.text.startswith(begins)]
        if (
            (begins == TASK and goes_on) or (begins == ERROR and len(own) > 1)
            or (begins in (TRIED, ERROR) and any(_LOOKS.match(one.text.removeprefix(begins)) for one in own))
        ):  # fmt: skip
            continue
        told = (one.text.removeprefix(begins) for one in own)
        answer = "; ".join(text.partition("): ")[2] if begins == TO_DO else text for text in told)
        if own and len(answer) <= _LONGEST:
            yield Question(f"{OPEN}-{name}", OPEN, question, (answer,), "", JUDGED, own[0].line)


def _stands(bare: str, one: Question) -> bool:
    """Whether a text says an answer; what is judged only follows from it, so that its words are looked for."""
    if one.slot == OPEN:
        words = {word for word in normal(" ".join(one.answers)).split() if len(word) > 3}
        return bool(words) and sum(word in bare for word in words) >= 0.8 * len(words)
    if one.grading == JUDGED:
        return any(normal(answer) in bare for answer in one.answers)
    return any(stands(bare, answer) for answer in one.answers)


def _spread(slots: Mapping[str, Sequence[Question]], most: int) -> list[Question]:
    """A question of each slot in turn, of a slot evenly over its lines."""
    counts = dict.fromkeys(slots, 0)
    while sum(counts.values()) < min(most, sum(map(len, slots.values()))):
        for slot, found in slots.items():
            if counts[slot] < len(found) and sum(counts.values()) < most:
                counts[slot] += 1
    return [
        found[place * len(found) // counts[slot]]
        for slot, found in ((slot, sorted(found, key=_place)) for slot, found in slots.items())
        for place in range(counts[slot])
    ]


def _place(one: Question) -> tuple[int, str]:
    return one.line or 0, one.id


def is_given_away(one: Question) -> bool:
    """Whether a question holds its own answer."""
    bare = normal(one.question)
    return searching_for(one.regex)(one.question) if one.regex else any(gives_away(bare, each) for each in one.answers)


# -- given by the user


def given(rows: Iterable[tuple[int, dict[str, Any]]], path: str) -> list[Question]:
    """The questions of (line, object) rows; raises SettingError, naming file and line, for one that is at fault."""
    found: dict[str, Question] = {}
    for line, value in rows:
        place = f"{path}: line {line}"
        faults = problems("probe-question", value)
        if faults:
            raise SettingError(f"{place}: {faults[0]}; `ctx schema probe-question` says what a question is")
        one = _question(value, line)
        fault = _fault(one, place)
        if one.id in found:
            fault = f"the id {one.id!r} stands there twice"
        if fault:
            raise SettingError(f"{place}: {fault}")
        found[one.id] = one
    return list(found.values())


def _question(value: Mapping[str, Any], line: int) -> Question:
    answers = (*([value["answer"]] if value.get("answer", "").strip() else ()), *value.get("answers", ()))
    regex = value.get("regex", "")
    grading = value.get("grading", REGEX if regex else EXACT)
    return Question(
        value.get("id") or str(line), value.get("slot") or OWN, value["question"], answers, regex, grading,
        value.get("line") or None,
    )  # fmt: skip


def _fault(one: Question, place: str) -> str:
    """Why a question cannot be asked; empty where it can."""
    if not one.question.strip():
        return "the question is empty"
    if one.grading not in GRADINGS:
        return f"{one.grading!r} is no grading; there are {', '.join(GRADINGS)}"
    if (one.grading == REGEX) != bool(one.regex) or (one.regex and one.answers):
        return "give either a regex (grading regex), or an answer (grading exact or judged)"
    try:
        away = is_given_away(one)
    except SettingError as error:
        raise SettingError(f"{place}: {error}") from None
    if not one.regex and not (one.answers and all(normal(each) for each in one.answers)):
        return "has no answer: give answer, answers or regex"
    return "the question holds its own answer" if away and one.grading != JUDGED else ""


def missing_in(pair: Pair, questions: Sequence[Question]) -> list[Question]:
    """Those whose answer does not stand in the context before, word for word."""
    bare = normal(pair.before.text)
    return [one for one in questions if one.grading == EXACT and not _stands(bare, one)]
