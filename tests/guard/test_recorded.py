"""Compactions that a transcript records: contexts, hindsight, rounds, what cannot be read."""

import json

import pytest

from ctxcli.guard import Policy, guard_recorded
from ctxcli.model import Event, EventKind, Message, Part, PartKind, Role, Transcript
from guard_support import WEIGH, finding, status
from support import FIXTURES, SHARED, chat, needs_shared, read


def reports(transcript: Transcript, **policy: object) -> list:
    return list(guard_recorded(transcript, Policy(**policy), WEIGH))  # type: ignore[arg-type]


def summary(text: str, kind: PartKind = PartKind.SUMMARY) -> Message:
    return Message(Role.USER, (Part(kind, text),), harness=True)


def session(*, opaque: bool = False) -> Transcript:
    """Two compactions: PAY-7 goes in the first, PAY-8 is kept by both, and both are used at the end."""
    kind = PartKind.OPAQUE if opaque else PartKind.SUMMARY
    base = chat(
        ("user", "Do PAY-7 and PAY-8 in lib/tax.py"),
        ("assistant", "I did."),
        summary("Working on PAY-8", kind),
        ("user", "Now PAY-9 too"),
        ("assistant", "PAY-9 is done."),
        summary("PAY-8 and PAY-9 are done"),
        ("assistant", "So PAY-7, PAY-8 and lib/tax.py are next."),
    )
    events = (
        Event(EventKind.SUMMARY, 2, line=3, trigger="auto", drops=(0, 1), summary=2, opaque=opaque),
        Event(EventKind.SUMMARY, 5, line=6, trigger="manual", drops=(2, 3, 4), summary=5),
    )
    return Transcript(base.format, messages=base.messages, events=events, path="s.jsonl")


def test_each_compaction_is_compared_with_its_own_context() -> None:
    first, second = reports(session())
    assert (first.compaction.n, first.compaction.of, first.compaction.line) == (1, 2, 3)
    assert {one.value for one in first.findings if one.fails} == {"PAY-7", "lib/tax.py"}
    assert status(first, "PAY-8") == "kept"
    assert second.verdict == "pass"
    assert status(second, "PAY-8") == status(second, "PAY-9") == "kept"


def test_what_only_the_summary_still_says_was_stated_all_the_same() -> None:
    base = session()
    messages = (*base.messages[:5], summary("Nothing of note."), base.messages[6])
    _, second = reports(Transcript(base.format, messages=messages, events=base.events))
    lost = finding(second, "PAY-8")
    assert (lost.source, lost.role, lost.line, lost.fails) == ("stated", "user", 1, True)


def test_hindsight_and_rounds() -> None:
    first, second = reports(session())
    # used after the first: PAY-7, PAY-8, lib/tax.py (PAY-9 had not appeared before it)
    assert (first.hindsight.used, first.hindsight.held) == (3, 1)
    assert first.hindsight.recall == pytest.approx(0.3333)
    # the second context before held neither PAY-7 nor lib/tax.py any more
    assert (second.hindsight.used, second.hindsight.held, second.hindsight.recall) == (1, 1, 1.0)
    assert [(row.n, row.required, row.held) for row in first.rounds] == [(1, 3, 1)]
    assert [(row.n, row.required, row.held) for row in second.rounds] == [(1, 3, 1), (2, 1, 1)]


def test_an_encrypted_summary_is_never_a_pass() -> None:
    first, second = reports(session(opaque=True))
    assert first.verdict == "unverifiable"
    assert not first.ok
    assert not first.findings
    assert first.hindsight is None
    assert first.counts.required == 3
    assert second.verdict in ("loss", "pass")
    assert reports(session(opaque=True), allow_unverifiable=True)[0].ok


def test_a_file_that_begins_in_the_middle_proves_no_invention() -> None:
    base = session()
    event = Event(EventKind.SUMMARY, 2, line=3, drops=(0, 1), summary=2, tokens_before=150_000)
    messages = (*base.messages[:2], summary("PAY-7, PAY-8, lib/tax.py, and RF-2026-00817"), *base.messages[3:])
    (report,) = reports(Transcript(base.format, messages=messages, events=(event,)))
    invented = finding(report, "RF-2026-00817")
    assert (invented.status, invented.required, invented.fails) == ("invented", False, False)
    assert any("begins in the middle" in remark for remark in report.remarks)


def test_a_cleared_result_takes_nothing_that_was_stated() -> None:
    (transcript,) = read(FIXTURES / "claude-code" / "session.jsonl")
    clear, full = reports(transcript)
    assert (clear.compaction.kind, clear.verdict) == ("clear", "pass")
    assert clear.by_source["seen"].gone > 0
    assert {one.value for one in full.findings if one.fails}


@needs_shared
def test_counts_agree_with_a_count_by_hand_of_a_real_session() -> None:
    """Of the values that fail in the first compaction, none stands in the summary record, and each stands in its line."""
    path = SHARED / "claude-code" / "three-compactions.jsonl"
    lines = path.read_text("utf-8").split("\n")
    for report in reports(read(path)[0]):
        after = json.loads(lines[report.compaction.line])["message"]["content"]
        for one in report.findings:
            if one.fails and one.status == "lost":
                assert one.value not in after
            if one.fails and one.status != "invented":
                assert one.value.rstrip("/").rsplit("/", 1)[-1] in lines[one.line - 1]


@needs_shared
@pytest.mark.parametrize("name", ["two-compactions.jsonl", "compaction-and-abort.jsonl"])
def test_real_encrypted_compactions_are_unverifiable(name: str) -> None:
    found = reports(read(SHARED / "codex" / name)[0])
    assert found
    assert {report.verdict for report in found} == {"unverifiable"}
