"""What the tests of compaction share: generated histories, and a pass over a transcript."""

import random
from dataclasses import replace

from ctxcli.change import applied
from ctxcli.compact.session import Outcome, Session
from ctxcli.compact.settings import Settings
from ctxcli.guard import Policy
from ctxcli.model import Media, Message, Part, PartKind, Role, Transcript
from ctxcli.tokens import counter

WEIGH = counter("heuristic")
_WORDS = [
    "the",
    "build",
    "fails",
    "in",
    "src/app/main.py",
    "because",
    "of",
    "E0308,",
    "we",
    "chose",
    "sqlite",
    "over",
    "redis",
    "since",
    "it",
    "needs",
    "no",
    "server;",
    "never",
    "touch",
    "/etc/hosts,",
    "version",
    "1.4.2",
    "of",
    "libfoo,",
    "ticket",
    "PAY-17,",
    "commit",
    "3f9c2ab,",
    "see",
    "https://example.org/a/17",
    "and",
    "go",
    "on",
]


def compacted(transcript: Transcript, **settings: object) -> tuple[Session, Outcome]:
    """One pass over the context of a transcript, with these settings."""
    session = Session(transcript, Policy(), WEIGH)
    return session, session.compact(Settings(**settings))  # type: ignore[arg-type]


def after(transcript: Transcript, outcome: Outcome) -> Transcript:
    """The context after as a transcript of its own."""
    messages = tuple(replace(one, line=at) for at, one in enumerate(applied(transcript, outcome.change), 1))
    return replace(transcript, messages=messages, events=(), calls=())


def history(seed: int) -> Transcript:
    """A history as real ones go wrong: parallel calls, orphans, displaced and doubled results, thinking, empty text,
    user messages that hold results, lone surrogates, images, earlier summaries."""
    dice = random.Random(seed)
    messages: list[Message] = []
    if dice.random() < 0.6:
        messages.append(_message(Role.SYSTEM, [_text(dice, 6)]))
    for number in range(dice.randint(1, 12)):
        messages += _turn(dice, number)
    provider, format_ = dice.choice([("anthropic", "anthropic"), ("openai", "openai-chat")])
    lined = tuple(replace(one, line=at, lines=(at,)) for at, one in enumerate(messages, 1))
    return Transcript(format_, provider=provider, messages=lined)


def _turn(dice: random.Random, number: int) -> list[Message]:
    found = []
    if dice.random() < 0.7 or number == 0:
        found.append(_message(Role.USER, _said(dice, PartKind.TEXT)))
    if dice.random() < 0.05:
        found.append(Message(Role.USER, (Part(PartKind.SUMMARY, "An earlier summary of src/old.py"),), harness=True))
    answer = _said(dice, PartKind.TEXT)
    if dice.random() < 0.3:
        answer.insert(0, Part(PartKind.THINKING, _words(dice, 8), signed=dice.choice([True, None])))
    calls = [f"c{number}_{at}" for at in range(dice.choice([0, 0, 1, 1, 2, 4]))]
    answer += [Part(PartKind.TOOL_CALL, f'{{"path": "src/app/{ref}.py"}}', name="Read", ref=ref, address=f"src/app/{ref}.py") for ref in calls]  # fmt: skip
    found.append(_message(Role.ASSISTANT, answer))
    results = [_message(Role.TOOL, _result(dice, ref)) for ref in calls if dice.random() > 0.06]
    results += [_message(Role.TOOL, _result(dice, ref)) for ref in calls if dice.random() < 0.04]
    if dice.random() < 0.05:
        results.append(_message(Role.TOOL, _result(dice, f"orphan{number}")))
    if results and dice.random() < 0.08:
        results.insert(dice.randint(0, len(results)), _message(Role.USER, _said(dice, PartKind.TEXT)))
    if len(results) > 1 and dice.random() < 0.4:
        merged = tuple(part for one in results for part in one.parts)
        extra = (_text(dice, 3),) if dice.random() < 0.3 else ()
        results = [Message(Role.USER if extra else Role.TOOL, (*merged, *extra))]
    return found + results


def _message(role: Role, parts: list[Part]) -> Message:
    return Message(role, tuple(parts))


def _said(dice: random.Random, kind: PartKind) -> list[Part]:
    roll = dice.random()
    if roll < 0.05:
        return [Part(kind, dice.choice(["", " ", "\n"]))]
    if roll < 0.08:
        return []
    if roll < 0.11:
        return [Part(kind, "half \ud83d of a sign")]
    if roll < 0.15:
        return [_text(dice, 4), Part(PartKind.MEDIA, media=Media("image/png", 640, 480))]
    return [_text(dice, dice.randint(3, 40))]


def _text(dice: random.Random, words: int) -> Part:
    return Part(PartKind.TEXT, _words(dice, words))


def _words(dice: random.Random, words: int) -> str:
    return " ".join(dice.choice(_WORDS) for _ in range(words))


def _result(dice: random.Random, ref: str) -> list[Part]:
    text = _words(dice, dice.choice([1, 5, 60, 200]))
    return [Part(PartKind.TOOL_RESULT, text, name="Read", ref=ref, failed=dice.random() < 0.1, address=f"src/app/{ref}.py")]  # fmt: skip
