"""Notes out of transcripts: each turn once, raw turns only, no secret, and what was removed stays away."""

from dataclasses import replace

import pytest

from ctxcli.compact.extracting import notes_from, placed_at, strays
from ctxcli.model import MAIN, Event, EventKind, Message, Part, PartKind, Role, Transcript
from ctxcli.notes import Mark, Note, Notebook, Removal, hash_of, parse, record, to_slots
from ctxcli.slots import SYNTHETIC
from ctxcli.tokens import counter
from support import chat, fixture_files, name_of, read, tool_call, tool_result

WEIGH = counter("heuristic")
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def kept(before: list[bytes], transcript: Transcript) -> tuple[list[bytes], list[Note], Mark | None]:
    """The lines of a notes file after one more extraction, and what was added."""
    notes, mark = notes_from(transcript, parse(before), WEIGH)
    items = [*notes, *([mark] if mark else [])]
    return [*before, *(record(item).encode() + b"\n" for item in items)], notes, mark


def cut(transcript: Transcript, count: int) -> Transcript:
    return replace(
        transcript,
        messages=transcript.messages[:count],
        events=tuple(event for event in transcript.events if event.at <= count and (event.summary or 0) < count),
        calls=tuple(call for call in transcript.calls if call.at < count),
    )


def texts(notes: list[Note], slot: str) -> list[str]:
    return [note.text for note in notes if note.slot == slot and not note.superseded]


FIRST = (
    ("user", "Fix the refunds. Never touch src/ledger.py. The ticket is PAY-1432."),
    ("assistant", "I chose a guard instead of a trigger, because the trigger cannot see the tier. See src/guard.py."),
)
LATER = (
    ("user", "Now write the tests in tests/test_guard.py. Only use pytest."),
    ("assistant", "Done. Should I commit to feat/refunds?"),
)


@pytest.mark.parametrize("file", fixture_files(), ids=name_of)
def test_extracting_twice_adds_nothing(file) -> None:  # type: ignore[no-untyped-def]
    for transcript in read(file):
        lines, notes, mark = kept([], transcript)
        assert mark is not None or not [one for one in transcript.messages if one.lane == MAIN]
        assert not parse(lines).faults
        assert kept(lines, transcript) == (lines, [], None)
        assert len({note.id for note in notes}) == len(notes)
        assert strays(transcript, parse(lines)) == (sum(note.line is not None for note in notes), [])
        # without the marks everything is looked at again, and nothing is new
        unmarked = [line for line in lines if b'"ctx.note.extracted"' not in line]
        assert kept(unmarked, transcript)[1] == []


@pytest.mark.parametrize("file", fixture_files(), ids=name_of)
def test_a_longer_version_adds_only_what_its_new_turns_say(file) -> None:  # type: ignore[no-untyped-def]
    for transcript in read(file):
        half = len(transcript.messages) // 2
        old = {message.line for message in transcript.messages[:half]}
        lines, _, mark = kept([], cut(transcript, half))
        _, notes, _ = kept(lines, transcript)
        if mark is not None and not any(message.line in old for message in transcript.messages[half:]):
            again = [note for note in notes if note.line in old and not note.superseded]
            assert all(note.text.startswith("task: ") for note in again)


def test_what_is_noted_says_where_it_stands_and_when() -> None:
    transcript = chat(*FIRST)
    timed = replace(
        transcript, id="c1", messages=tuple(replace(one, time=f"t{one.line}") for one in transcript.messages)
    )
    _, notes, mark = kept([], replace(timed, path="/home/somebody/work/s.jsonl"))
    assert texts(notes, "constraints") == ["Never touch src/ledger.py."]
    assert texts(notes, "decisions") == [
        "I chose a guard instead of a trigger, because the trigger cannot see the tier."
    ]
    assert {(note.type, note.text) for note in notes if note.slot == "identifiers"} == {
        ("path", "src/ledger.py"), ("path", "src/guard.py"), ("ticket", "PAY-1432"),
    }  # fmt: skip
    for note in notes:
        message = timed.messages[(note.line or 0) - 1]
        assert (note.hash, note.time) == (hash_of(message), message.time)
        assert note.source is not None
        assert (note.source.path, note.source.conversation) == ("s.jsonl", "c1")
    assert mark is not None
    assert (mark.line, mark.messages, mark.time) == (2, 2, "t2")


def test_what_later_turns_overtake_is_superseded() -> None:
    lines, _, _ = kept([], chat(*FIRST))
    lines, notes, _ = kept(lines, chat(*FIRST, *LATER))
    assert [note.text for note in notes if note.superseded] == [f"latest request: {FIRST[0][1]}"]
    assert texts(notes, "constraints") == ["Only use pytest."]
    assert texts(notes, "open") == [
        f"task: {FIRST[0][1]}", f"latest request: {LATER[0][1]}",
        "asked, not answered: Should I commit to feat/refunds?",
    ]  # fmt: skip
    assert [entry.text for entry in to_slots(parse(lines)).open] == texts(notes, "open")


def test_a_boundary_that_was_taken_back_is_marked_and_not_lost() -> None:
    lines, _, _ = kept([], chat(*FIRST))
    back = ("user", "You may now touch src/ledger.py after all.")
    lines, notes, _ = kept(lines, chat(*FIRST, back))
    assert [(note.text, note.superseded) for note in notes if note.slot == "constraints"] == [
        ("Never touch src/ledger.py.", True)
    ]
    assert to_slots(parse(lines)).constraints[0].text == "Never touch src/ledger.py. (superseded)"


def test_what_was_removed_does_not_come_back_with_new_turns() -> None:
    lines, notes, _ = kept([], chat(*FIRST))
    gone = next(note for note in notes if note.slot == "constraints")
    lines.append(record(Removal(gone.id)).encode() + b"\n")
    lines, notes, _ = kept(lines, chat(*FIRST, *LATER))
    assert gone.id not in {note.id for note in parse(lines).entries}
    lines, notes, _ = kept(lines, chat(*FIRST, *LATER, ("user", "Never touch src/ledger.py.")))
    assert gone.id in {note.id for note in notes}


def test_turns_that_are_not_what_they_were_are_extracted_anew() -> None:
    lines, _, _ = kept([], chat(*FIRST))
    other = chat(("user", "Never touch docs/index.md, please."), *FIRST[1:], *LATER)
    _, notes, mark = kept(lines, other)
    assert "Never touch docs/index.md, please." in texts(notes, "constraints")
    assert mark is not None
    assert mark.messages == 4


def test_a_renamed_file_is_known_by_what_it_says() -> None:
    lines, _, _ = kept([], chat(*FIRST))
    assert kept(lines, replace(chat(*FIRST), path="copy.json")) == (lines, [], None)


def test_summaries_are_not_read_nor_what_was_rewound_nor_other_lanes() -> None:
    prose = "Never deploy on a Friday. The file is src/prose.py."
    messages = (
        *chat(*FIRST).messages,
        Message(Role.USER, (Part(PartKind.SUMMARY, prose),), line=3, harness=True),
        Message(Role.USER, (Part(PartKind.TEXT, f"{SYNTHETIC} …]\n{prose}"),), line=4),
        Message(Role.USER, (Part(PartKind.TEXT, prose.replace("prose", "rewound")),), line=5),
        Message(Role.USER, (Part(PartKind.TEXT, prose.replace("prose", "agent")),), line=6, lane="agent"),
        Message(Role.USER, (Part(PartKind.TEXT, prose.replace("prose", "copied")),), line=7, copied=True),
    )
    transcript = Transcript("chat", messages=messages, events=(Event(EventKind.REWIND, 6, drops=(4,)),), path="a.json")
    _, notes, mark = kept([], transcript)
    assert not [
        note
        for note in notes
        if "Friday" in note.text or "prose" in note.text or ("src/" in note.text and (note.line or 0) > 2)
    ]
    assert mark is not None
    assert mark.messages == 6


def test_secrets_are_masked() -> None:
    transcript = chat(
        ("user", f"Never print {SECRET}. Use token={SECRET} only."),
        ("assistant", f"I chose {SECRET} instead of the old one, because {SECRET} is newer."),
        tool_call("shell", f'{{"command":"curl -H {SECRET} https://api.example.com/v1"}}', address=f"curl {SECRET}"),
        tool_result(f"{SECRET} failed", failed=True),
    )
    lines, notes, _ = kept([], transcript)
    assert notes
    assert SECRET.encode() not in b"".join(lines)
    assert b"masked" in b"".join(lines)
    assert kept(lines, transcript)[1] == []


def test_half_characters_survive() -> None:
    transcript = chat(("user", "Never write \ud83d to src/a.py."), ("assistant", "ok \udc00"))
    lines, notes, _ = kept([], transcript)
    assert texts(notes, "constraints") == ["Never write \ud83d to src/a.py."]
    assert parse(lines).entries == tuple(notes)
    assert kept(lines, transcript) == (lines, [], None)


def test_an_empty_transcript_has_nothing_to_say() -> None:
    assert notes_from(Transcript("chat"), Notebook(), WEIGH) == ([], None)


def test_entries_that_do_not_stand_where_they_say() -> None:
    transcript = chat(*FIRST)
    lines, notes, _ = kept([], transcript)
    moved = replace(
        transcript,
        messages=tuple(
            replace(one, line=one.line + 5, parts=tuple(replace(part, line=part.line + 5) for part in one.parts))
            for one in transcript.messages
        ),
    )
    count, found = strays(moved, parse(lines))
    assert count == len(found) == len(notes)
    assert {(one.line, one.found) for one in found} <= {(1, 6), (2, 7)}
    changed = chat(("user", "Something else."), *FIRST[1:])
    assert {one.line for one in strays(changed, parse(lines))[1]} == {1}
    assert strays(replace(transcript, path="other.json"), parse(lines)) == (0, [])


def test_an_entry_by_hand_gets_its_place() -> None:
    transcript = chat(*FIRST)
    note = placed_at(transcript, Note("open", "Which tier?", time="now"), 2)
    assert note is not None
    assert (note.line, note.hash, note.time) == (2, hash_of(transcript.messages[1]), "now")
    assert placed_at(transcript, Note("open", "x"), 99) is None
