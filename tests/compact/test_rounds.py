"""Several compactions of one conversation, with more of its turns between: what round one held stands after the last."""

from dataclasses import replace

import pytest

from compact_support import WEIGH
from ctxcli.change import applied
from ctxcli.compact.extracting import notes_from
from ctxcli.compact.session import Session
from ctxcli.compact.settings import Settings
from ctxcli.guard import Policy
from ctxcli.identifiers import extract
from ctxcli.model import MAIN, PartKind, Transcript
from ctxcli.notes import Notebook, new, notes_of, parse, record, to_slots
from ctxcli.reports.slots import Slots
from support import FIXTURES, SHARED, needs_shared, read

ROUNDS = 5


def rounds(transcript: Transcript, share: float) -> tuple[list[Slots], Notebook, Transcript]:
    """The slots of each round, the notes after the last, and the context after it."""
    turns = [one for one in transcript.messages if one.lane == MAIN]
    step = -(-len(turns) // (ROUNDS + 1))
    context = replace(transcript, messages=tuple(turns[:step]), events=(), calls=())
    lines: list[str] = []
    found = []
    for number in range(1, ROUNDS + 1):
        more = turns[number * step : (number + 1) * step]
        context = replace(context, messages=(*context.messages, *more))
        book = parse(line.encode() for line in lines)
        session = Session(context, Policy(), WEIGH)
        notes, _ = notes_from(context, book, WEIGH, extract)
        lines += [record(note) for note in new(book, notes)]
        outcome = session.compact(Settings(target=share, notes_name="notes.jsonl", notes=to_slots(book)))
        found.append(outcome.slots)
        context = replace(context, messages=applied(context, outcome.change))
    return found, parse(line.encode() for line in lines), context


def said_in(transcript: Transcript) -> str:
    return "\n".join(" ".join(part.text.split()) for message in transcript.messages for part in message.parts)


def check(transcript: Transcript, share: float) -> None:
    slots, book, context = rounds(transcript, share)
    first = next(one for one in slots if one.decisions or one.constraints)
    last = said_in(context) + "\n".join(" ".join(note.text.split()) for note in book.entries)
    for one in (*first.constraints, *first.decisions):
        assert " ".join(one.text.partition(" (superseded")[0].split()) in last, one
    raw = said_in(transcript)
    summaries = [part for message in context.messages for part in message.parts if part.kind is PartKind.SUMMARY]
    assert len(summaries) <= 1
    quoted = [note for note in notes_of(slots[-1]) if note.slot == "decisions"]
    for note in quoted:
        own = note.text.removeprefix("committed: ").replace("`", "").replace("**", "")
        assert own[:60] in raw.replace("`", "").replace("**", "") or note.text.startswith("asked: "), note


def test_five_rounds_over_a_short_session() -> None:
    (transcript,) = read(FIXTURES / "compaction" / "search-index.json")
    check(transcript, 0.3)


@needs_shared
@pytest.mark.parametrize("name", ["claude-code/newest-2.1.218.jsonl", "codex/count-reset.jsonl"])
def test_five_rounds_over_a_long_session(name: str) -> None:
    (transcript,) = read(SHARED / name)
    check(transcript, 0.25)
