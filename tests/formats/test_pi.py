"""pi, openclaw and oh-my-pi: what their pitfalls come to."""

import json
from pathlib import Path

import pytest

from ctxcli.files.load import detect
from ctxcli.files.records import Tally, records_of
from ctxcli.formats import pi
from ctxcli.model import EventKind, Layer, PartKind, Record, Role, Transcript, Usage, layer_of
from ctxcli.replay import replay
from support import FIXTURES, SHARED, ctx, needs_shared, read

FOLDER = FIXTURES / "pi"


def session(*entries: object) -> Transcript:
    header = {"type": "session", "version": 3, "id": "s", "cwd": "/w"}
    (transcript,) = pi.read([Record(line, value) for line, value in enumerate((header, *entries), 1)])
    return transcript


def user(id_: str, parent: str | None, text: str) -> dict[str, object]:
    return {"type": "message", "id": id_, "parentId": parent, "message": {"role": "user", "content": text}}


def answer(id_: str, parent: str, text: str, **facts: object) -> dict[str, object]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "model": "m", **facts}
    return {"type": "message", "id": id_, "parentId": parent, "message": message}


def texts(transcript: Transcript, indices: object) -> list[str]:
    return [transcript.messages[index].parts[0].text for index in indices]  # type: ignore[attr-defined]


def context_at_last_call(transcript: Transcript) -> list[str]:
    held: list[int] = []
    for frame in replay(transcript):
        held = [index for index in held if index not in frame.left] + list(frame.entered)
    return texts(transcript, held)


def test_input_and_cache_figures_are_disjoint_and_add_up_to_the_prompt() -> None:
    (transcript,) = read(FOLDER / "v1-compaction-and-aborts.jsonl")
    assert transcript.calls[1].usage == Usage(1812, 12, 1500, 300, 20)
    assert [call.model for call in transcript.calls][-1] == "gpt-5.1-codex"


def test_answers_that_were_cut_off_or_failed_are_no_calls_and_not_in_the_context() -> None:
    (transcript,) = read(FOLDER / "v1-compaction-and-aborts.jsonl")
    assert len(transcript.calls) == 5
    assert all("The way ba" not in part.text for message in transcript.messages for part in message.parts)
    assert dict(transcript.bookkeeping)["message/assistant aborted"] == 1


def test_version_1_tells_the_first_kept_entry_by_its_place_in_the_file() -> None:
    (transcript,) = read(FOLDER / "v1-compaction-and-aborts.jsonl")
    (event,) = transcript.events
    assert (event.kind, event.tokens_before, event.drops) == (EventKind.SUMMARY, 1890, tuple(range(6)))
    assert transcript.messages[event.summary or 0].parts[0].kind is PartKind.SUMMARY
    assert context_at_last_call(transcript)[0] == "Back on 19 May at 17:15, ADR-7742."


def test_client_copies_and_what_is_kept_from_the_model_are_not_text() -> None:
    for file in FOLDER.glob("*.jsonl"):
        for transcript in read(file):
            assert all("xxxx" not in part.text for message in transcript.messages for part in message.parts), file.name


def test_another_branch_drops_the_one_left_and_its_summary_stands_for_it() -> None:
    (transcript,) = read(FOLDER / "v3-tree.jsonl")
    event = transcript.events[0]
    assert (event.kind, event.line) == (EventKind.REWIND, 15)
    assert texts(transcript, event.drops)[-1] == "Done in src/coupons.py."
    assert texts(transcript, [event.summary])[0].startswith("On the other branch")


def test_a_compaction_keeps_the_system_prompt_and_what_stands_from_the_first_kept_entry_on() -> None:
    (transcript,) = read(FOLDER / "v3-tree.jsonl")
    event = transcript.events[1]
    assert (event.kind, event.trigger, event.drops) == (EventKind.SUMMARY, "extension", (1, 2, 3, 4, 9))
    assert transcript.messages[0].role is Role.SYSTEM


def test_going_back_before_a_compaction_brings_back_what_it_dropped() -> None:
    (transcript,) = read(FOLDER / "v3-tree.jsonl")
    back = transcript.events[2]
    assert (back.kind, back.drops) == (EventKind.REWIND, (10, 11, 12, 13, 14))
    assert [message.copied for message in transcript.messages[15:20]] == [True] * 4 + [False]
    assert texts(transcript, [15, 18]) == ["Why does the coupon SAVE-20 fail?", "It expired on 2026-02-28."]


def test_an_edit_of_the_context_clears_a_result_and_takes_a_message_out() -> None:
    (transcript,) = read(FOLDER / "v3-tree.jsonl")
    clear, rewrite = transcript.events[3:]
    assert (clear.kind, clear.clears) == (EventKind.CLEAR, ((17, 0), (17, 1)))
    assert (rewrite.kind, texts(transcript, rewrite.drops)) == (
        EventKind.REWRITE,
        ["Back to the start: who set the date?"],
    )


def test_an_edited_message_says_something_else_at_its_place() -> None:
    edit = {"type": "context_edit", "id": "e", "parentId": "c", "targetId": "a", "replacement": {"content": "A"}}
    transcript = session(
        user("a", None, "old"), answer("b", "a", "B"), user("c", "b", "C"), edit, answer("d", "e", "D"),
    )  # fmt: skip
    assert context_at_last_call(transcript) == ["A", "B", "C"]


def test_a_repeated_entry_counts_once() -> None:
    (transcript,) = read(FOLDER / "v3-tree.jsonl")
    assert (transcript.duplicates, [call.id for call in transcript.calls].count("g3")) == (1, 1)


def test_what_the_user_ran_is_retrieved_text_under_his_name() -> None:
    (transcript,) = read(FOLDER / "v3-tree.jsonl")
    ran = transcript.messages[5]
    assert (ran.harness, ran.parts[1].text, ran.parts[1].address) == (True, "9f3c2d1 Raise the limit", "git log -1")
    assert layer_of(ran, ran.parts[1]) is Layer.RETRIEVED


def test_an_empty_summary_is_opaque_and_an_entry_that_is_not_there_keeps_nothing() -> None:
    (transcript,) = read(FOLDER / "v2-hook-message.jsonl")
    (event,) = transcript.events
    assert (event.opaque, event.drops) == (True, (0, 1, 2))
    assert transcript.messages[1].harness
    assert transcript.calls[0].usage is None


def test_a_second_compaction_may_keep_nothing_of_the_first_summary() -> None:
    entries = [user("a", None, "A"), answer("b", "a", "B")]
    for name, parent, kept in (("c1", "b", "b"), ("c2", "c1", "b")):
        entries.append(
            {"type": "compaction", "id": name, "parentId": parent, "summary": name, "firstKeptEntryId": kept}
        )
    transcript = session(*entries, user("d", "c2", "D"), answer("e", "d", "E"))
    assert [texts(transcript, event.drops) for event in transcript.events] == [["A"], ["c1"]]
    assert context_at_last_call(transcript) == ["B", "c2", "D"]


def test_openclaw_goes_to_another_leaf_resets_and_repeats_what_it_delivered() -> None:
    (transcript,) = read(FOLDER / "openclaw-leaf-and-reset.jsonl")
    kinds = [(event.kind, event.trigger) for event in transcript.events]
    assert kinds == [(EventKind.REWIND, "user"), (EventKind.RESET, "daily"), (EventKind.REWIND, "user")]
    assert texts(transcript, transcript.events[0].drops) == ["No, on Sunday.", "Sunday then."]
    assert len(transcript.calls) == 4


def test_sessions_joined_to_one_file_are_several_conversations() -> None:
    first, second = read(FOLDER / "oh-my-pi-two-sessions.jsonl")
    assert [(one.id, one.many, len(one.calls)) for one in (first, second)] == [
        ("0mp0-0001", True, 1),
        ("0mp0-0002", True, 1),
    ]
    assert first.calls[0].usage == Usage(500, 500, 0, 0, 60, 40)
    document = first.messages[3].parts[0]
    assert (document.kind, document.address) == (PartKind.DOCUMENT, "src/a.ts")


ODD = ({"type": "invented", "id": "odd", "parentId": None}, {"type": "invented"}, {"type": "message", "id": "odd"})


@pytest.mark.parametrize("name", ["v3-tree", "v2-hook-message", "openclaw-leaf-and-reset", "oh-my-pi-two-sessions"])
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_record_of_an_unknown_type_changes_only_its_count(name: str, odd: object, tmp_path: Path) -> None:
    file = FOLDER / f"{name}.jsonl"
    lines, changed, before = file.read_text("utf-8").splitlines(), tmp_path / file.name, read(file)
    for place in range(2, len(lines) - 1):
        changed.write_text("\n".join([*lines[:place], json.dumps(odd), *lines[place:]]), "utf-8")
        after = read(changed)
        assert [len(one.messages) for one in after] == [len(one.messages) for one in before]
        assert [[event.drops for event in one.events] for one in after] == [
            [event.drops for event in one.events] for one in before
        ]
        assert sum(len(one.skips) for one in after) == sum(len(one.skips) for one in before) + 1


def test_the_guard_judges_the_recorded_compaction() -> None:
    run = ctx("guard", FOLDER / "v1-compaction-and-aborts.jsonl", "--recorded")
    assert run.returncode == 1
    assert "data/timetable.csv" in run.stdout.decode()


def test_a_log_of_deepseek_with_the_same_header_is_not_claimed() -> None:
    header = {"type": "session", "version": 3, "id": "s1", "cwd": "/w"}
    event = {"type": "user/message", "seq": 0, "data": {"role": "user", "content": []}}
    assert not pi.claims([Record(1, header), Record(2, event)])


@needs_shared
def test_totals_of_a_real_session_equal_an_independent_count() -> None:
    file = SHARED / "pi" / "large-session.jsonl"
    assert detect(list(records_of(str(file), Tally()))[:25], file.name).name == "pi"
    sums = [0, 0, 0, 0]
    for line in file.read_text("utf-8").splitlines():
        message = json.loads(line).get("message", {})
        if message.get("role") == "assistant" and message["stopReason"] not in ("aborted", "error"):
            figures = message["usage"]
            sums[0] += figures["input"]
            sums[1] += figures["cacheRead"]
            sums[2] += figures["cacheWrite"]
            sums[3] += figures["output"]
    (transcript,) = read(file)
    usages = [call.usage for call in transcript.calls if call.usage is not None]
    assert [
        sum(usage.uncached or 0 for usage in usages), sum(usage.cache_read or 0 for usage in usages),
        sum(usage.cache_write or 0 for usage in usages), sum(usage.output or 0 for usage in usages),
    ] == sums  # fmt: skip
    assert sum(usage.prompt or 0 for usage in usages) == sum(sums[:3])
    assert len(transcript.calls) == 431
