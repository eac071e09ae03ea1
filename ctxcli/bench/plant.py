"""Facts that nobody could guess, planted into real turns: what becomes of them is known for sure."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ctxcli.guard.judging import Judge
from ctxcli.model import Message, Part, PartKind, Role, Transcript
from ctxcli.reports.guard import KEPT
from ctxcli.slots import CONSTRAINTS, DECISIONS, IDENTIFIERS, OPEN

HEAD, MIDDLE, TAIL = "head", "middle", "tail"
_PLACES = {HEAD: 0.1, MIDDLE: 0.5, TAIL: 0.85}
"""How far into the first context, as a share of its turns."""
_SYLLABLES = ("ka", "mo", "ri", "ve", "tu", "na", "lo", "shi", "pe", "zu", "bra", "fen", "gol", "dax")


@dataclass(frozen=True, slots=True)
class Fact:
    """One planted fact."""

    slot: str
    place: str
    role: Role
    text: str
    """The sentence that says it."""
    values: tuple[str, ...]
    """What has to stand there character for character."""

    @property
    def name(self) -> str:
        """The slot and the place."""
        return f"{self.slot}, {self.place}"

    def stands_in(self, text: str, judge: Judge) -> bool:
        """Whether a text holds it: every value as a whole word; of a boundary the whole sentence, polarity and all."""
        whole = all(re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", text) for value in self.values)
        return whole and (self.slot != CONSTRAINTS or judge.judge(self.text).status == KEPT)


@dataclass(frozen=True, slots=True)
class Garden:
    """A transcript with what was planted in it."""

    transcript: Transcript
    facts: tuple[Fact, ...]


def planted(transcript: Transcript, end: int, many: int, seed: str) -> Garden:
    """So many facts of each slot at the head, the middle and the tail of the messages before `end`, each a message.

    The same seed plants the same into the same turns, wherever their file lies and whatever its name is. A fact never
    stands between a tool call and its result.
    """
    texts = (part.text for message in transcript.messages[:end] for part in message.parts)
    dice = random.Random("\n".join((seed, *texts)))  # noqa: S311 - made up, no secret
    facts = tuple(_facts(many, dice))
    messages = list(transcript.messages[:end])
    for place, share in reversed(_PLACES.items()):
        at = _gap(messages, int(end * share))
        mine = [fact for fact in facts if fact.place == place]
        messages[at:at] = [_message(fact, messages[min(at, len(messages) - 1)]) for fact in mine]
    return Garden(replace(transcript, messages=(*messages, *transcript.messages[end:])), facts)


def _gap(messages: list[Message], at: int) -> int:
    """The next place, from `at` on, where no call waits for its result."""
    waiting: set[str] = set()
    for place, message in enumerate(messages):
        if place >= max(at, 1) and not waiting:
            return place
        for part in message.parts:
            if part.kind is PartKind.TOOL_CALL and part.ref:
                waiting.add(part.ref)
            elif part.kind is PartKind.TOOL_RESULT:
                waiting.discard(part.ref)
    return len(messages)


def _message(fact: Fact, beside: Message) -> Message:
    return Message(fact.role, (Part(PartKind.TEXT, fact.text, line=beside.line),), line=beside.line, time=beside.time)


def _facts(many: int, dice: random.Random) -> Iterator[Fact]:
    for place in _PLACES:
        for number in range(many):
            yield _constraint(place, number, dice)
            yield _decision(place, number, dice)
            yield _identifier(place, number, dice)
            yield _open(place, number, dice)


def _word(dice: random.Random) -> str:
    return "".join(dice.choice(_SYLLABLES) for _ in range(3)) + f"{dice.randrange(100, 1000)}"


def _constraint(place: str, number: int, dice: random.Random) -> Fact:
    value = f"/srv/{_word(dice)}/{_word(dice)}.toml"
    limit, where = f"{dice.randrange(11, 97)}", _word(dice)
    forms = (
        (f"Never write to {value}.", (value,)),
        (f"The export of {where} must not take more than {limit} seconds.", (where, limit)),
        (f"Do not call {where} without asking me first.", (where,)),
        (f"Always keep {value} as it is.", (value,)),
    )
    text, values = forms[(number + dice.randrange(len(forms))) % len(forms)]
    return Fact(CONSTRAINTS, place, Role.USER, text, values)


def _decision(place: str, number: int, dice: random.Random) -> Fact:
    chosen, rejected, reason = _word(dice), _word(dice), _word(dice)
    forms = (
        f"I decided to use {chosen} instead of {rejected} because {reason} cannot be rolled back.",
        f"We went with {chosen} rather than {rejected}, since {reason} holds a lock on every write.",
        f"I ruled out {rejected} and settled on {chosen}, because it reads {reason} only once.",
    )
    return Fact(DECISIONS, place, Role.ASSISTANT, forms[number % len(forms)], (chosen, rejected, reason))


def _identifier(place: str, number: int, dice: random.Random) -> Fact:
    path, host = f"services/{_word(dice)}/{_word(dice)}.yaml", f"{_word(dice)}.internal:{dice.randrange(2000, 9000)}"
    issue, commit = f"{_word(dice)[:4].upper()}-{dice.randrange(1000, 9999)}", f"{dice.randrange(16**10, 16**11):x}"
    forms = (
        (f"The settings of the importer are in {path}.", path),
        (f"The staging database is {host}.", host),
        (f"This belongs to the ticket {issue}.", issue),
        (f"It worked until commit {commit}.", commit),
    )
    text, value = forms[(number + dice.randrange(len(forms))) % len(forms)]
    return Fact(IDENTIFIERS, place, Role.USER, text, (value,))


def _open(place: str, number: int, dice: random.Random) -> Fact:
    one, other = _word(dice), _word(dice)
    forms = (
        f"Open question: should {one} retry when {other} is full?",
        f"Still to do: migrate {one} before {other} is switched off.",
        f"Not decided yet: who owns {one} once {other} is gone.",
    )
    return Fact(OPEN, place, Role.USER, forms[number % len(forms)], (one, other))
