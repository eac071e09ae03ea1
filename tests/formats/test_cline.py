"""Cline SDK sessions: what their pitfalls come to."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.cline import claims
from ctxcli.model import EventKind, PartKind, Record, Role, Transcript
from ctxcli.replay import live, replay
from support import FIXTURES, SHARED, ctx, needs_shared, read

FOLDER = FIXTURES / "cline"


def session() -> Transcript:
    (transcript,) = read(FOLDER / "session.messages.json")
    return transcript


def test_the_cached_tokens_are_part_of_the_input() -> None:
    usage = session().calls[1].usage
    assert usage is not None
    assert (usage.prompt, usage.uncached, usage.cache_read, usage.cache_write) == (12_600, 2_000, 9_400, 1_200)


def test_input_that_is_less_than_its_cached_share_was_written_without_it() -> None:
    usage = session().calls[2].usage
    assert usage is not None
    assert (usage.prompt, usage.uncached) == (12_903, 3)


def test_what_is_not_said_is_not_nothing() -> None:
    first, last = session().calls[0], session().calls[-1]
    assert first.usage is None
    assert last.usage is not None
    assert last.usage.cache_read is None


def test_an_attached_file_is_in_the_context_under_its_path() -> None:
    _, document, image = session().messages[1].parts
    assert document.kind is PartKind.DOCUMENT
    assert document.text.startswith("/work/demo/src/parser.ts\nexport const LIMIT = 4096;")
    assert image.media is not None
    assert (image.media.width, image.media.height) == (10, 20)


def test_what_the_client_says_is_not_the_users() -> None:
    said = {part.text[:20]: one.harness for one in session().messages for part in one.parts if one.role is Role.USER}
    assert said["The run was interrup"]
    assert said["<SYSTEM_NOTICE>\nThe "]
    assert not said["go on"]


def test_display_and_errors_reach_no_model() -> None:
    transcript = session()
    assert transcript.bookkeeping == (("message/error", 1),)
    assert "display only" not in "".join(part.text for one in transcript.messages for part in one.parts)


def test_an_unknown_block_or_message_changes_only_its_count(tmp_path: Path) -> None:
    value = json.loads((FOLDER / "session.messages.json").read_text("utf-8"))
    value["messages"].insert(3, {"id": "x", "role": "oracle", "content": [{"type": "text", "text": "unheard"}]})
    value["messages"][1]["content"].append({"type": "smell", "text": "unheard"})
    spoilt = tmp_path / "session.messages.json"
    spoilt.write_text(json.dumps(value), "utf-8")
    (after,) = read(spoilt)
    before = session()
    assert [one.parts for one in after.messages if one.lines] != []
    assert [[part.text for part in one.parts] for one in after.messages] == [
        [part.text for part in one.parts] for one in before.messages
    ]
    new = {skip.reason for skip in after.skips} - {skip.reason for skip in before.skips}
    assert new == {
        "record type 'message/oracle' is not known: not counted",
        "record type 'content/smell' is not known: not counted",
    }


def test_a_rewritten_session_has_its_summary_and_nothing_of_what_it_dropped() -> None:
    (transcript,) = read(FOLDER / "rewritten-by-a-summary.json")
    (event,) = transcript.events
    assert (event.kind, event.drops, event.summary, event.tokens_before) == (EventKind.SUMMARY, (), 1, 4_200)
    assert transcript.messages[1].parts[0].kind is PartKind.SUMMARY
    assert transcript.messages[1].harness


def test_a_fold_leaves_the_users_words_and_one_event_for_all_its_notices() -> None:
    (transcript,) = read(FOLDER / "rewritten-by-a-fold.json")
    (event,) = transcript.events
    assert (event.tokens_before, event.trigger) == (None, "auto_compaction")
    own = [one.parts[0].text for one in transcript.messages if one.role is Role.USER and not one.harness]
    assert own == ["Fix parseRows.", "And the docs?", "Now write a test for it."]
    assert sum(part.kind is PartKind.SUMMARY for one in transcript.messages for part in one.parts) == 2
    assert "25,603 input" in transcript.notes[0]


def test_answers_that_a_fold_kept_are_no_calls() -> None:
    (transcript,) = read(FOLDER / "rewritten-by-a-fold.json")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [5_100]
    assert len(transcript.calls) == 1


@pytest.mark.parametrize("name", ["rewritten-by-a-summary.json", "rewritten-by-a-fold.json"])
def test_the_guard_says_that_what_was_dropped_cannot_be_checked(name: str) -> None:
    done = ctx("guard", FOLDER / name, "--recorded")
    assert done.returncode == 3, done.stdout.decode()
    assert b"does not hold what this compaction took out" in done.stdout


def message(number: int, role: str, said: str, **more: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "role": role, "ts": 1_780_000_000_000 + number, "content": [{"type": "text", "text": said}], **more}  # fmt: skip


def beside(folder: Path, **state: Any) -> Transcript:
    """A session of six messages whose first four were compacted, and what stands beside it."""
    figures = {"metrics": {"inputTokens": 900, "outputTokens": 10}}
    messages = [
        message(1, "user", "Rename /work/a.py to /work/b.py, never edit /work/c.py"),
        message(2, "assistant", "renamed, ticket ABC-123", **figures),
        message(3, "user", "and the tests?"),
        message(4, "assistant", "tests pass", **figures),
        message(5, "user", "go on"),
        message(6, "assistant", "done", **figures),
    ]
    own = {"version": 1, "updated_at": "2026-05-28T20:40:00.000Z", "sessionId": "s1", "messages": messages}
    summary = message(0, "user", "Context summary: /work/a.py is now /work/b.py")
    summary["metadata"] = {"kind": "compaction_summary", "tokensBefore": 800}
    state = {
        "version": 1, "updated_at": "2026-05-28T20:41:00.000Z", "conversation_id": "s1",
        "source_message_count": 4, "source_prefix_hash": "sha256:00", "messages": [summary, *messages[2:4]],
    } | state  # fmt: skip
    (folder / "s1.messages.json").write_text(json.dumps(own), "utf-8")
    (folder / "s1.compaction.json").write_text(json.dumps(state), "utf-8")
    (transcript,) = read(folder / "s1.messages.json")
    return transcript


def test_the_file_beside_the_session_is_the_context_from_its_place_on(tmp_path: Path) -> None:
    transcript = beside(tmp_path)
    (event,) = transcript.events
    assert (event.at, event.drops, event.summary, event.tokens_before) == (4, (0, 1, 2, 3), 4, 800)
    assert [transcript.messages[at].parts[0].text for at in live(transcript)[0]] == [
        "Context summary: /work/a.py is now /work/b.py", "and the tests?", "tests pass", "go on", "done",
    ]  # fmt: skip
    assert len(transcript.calls) == 3
    assert list(replay(transcript))[-1].left == (0, 1, 2)


def test_the_guard_finds_what_the_file_beside_the_session_lost(tmp_path: Path) -> None:
    beside(tmp_path)
    done = ctx("guard", tmp_path / "s1.messages.json", "--recorded")
    assert done.returncode == 1
    assert b"ABC-123" in done.stdout


def test_the_compacted_context_alone_counts_no_call_twice(tmp_path: Path) -> None:
    beside(tmp_path)
    (transcript,) = read(tmp_path / "s1.compaction.json")
    assert len(transcript.messages) == 3
    assert not transcript.calls


@pytest.mark.parametrize("state", [{"source_message_count": 40}, {"source_message_count": "four"}, {"messages": None}])
def test_a_state_of_other_messages_changes_nothing(tmp_path: Path, state: dict[str, Any]) -> None:
    assert not beside(tmp_path, **state).events


@pytest.mark.parametrize(
    "value", [None, 3, "x", [], {}, {"messages": []}, {"version": 1, "messages": 7}, [{"role": "user"}]]
)
def test_it_claims_nothing_else(value: Any) -> None:
    assert not claims([Record(1, value)])
    assert not claims([])


@needs_shared
def test_a_real_session_against_a_count_of_its_own() -> None:
    file = SHARED / "cline" / "session.messages.json"
    (transcript,) = read(file)
    figures = [one["metrics"] for one in json.loads(file.read_text("utf-8"))["messages"] if "metrics" in one]
    usage = [call.usage for call in transcript.calls if call.usage]
    assert sum(one.prompt or 0 for one in usage) == sum(one["inputTokens"] for one in figures) == 630_254
    assert sum(one.cache_read or 0 for one in usage) == sum(one["cacheReadTokens"] for one in figures) == 534_435
    assert sum(one.output or 0 for one in usage) == sum(one["outputTokens"] for one in figures) == 4_395


@needs_shared
@pytest.mark.parametrize(("after", "held"), [("agentic", 6), ("basic", 15)])
def test_the_guard_over_a_real_triple(after: str, held: int) -> None:
    folder = SHARED / "cline"
    done = ctx("guard", folder / "session.messages.json", folder / f"{after}.compaction.json", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["counts"]["required"], report["counts"]["kept"]) == (0, 2, 2)
    assert report["by_source"]["stated"]["held"] == held
