"""Amp threads: what their pitfalls come to."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.amp import claims
from ctxcli.model import MAIN, EventKind, Part, PartKind, Record, Role, Transcript
from ctxcli.replay import live
from support import FIXTURES, ctx, read

FOLDER = FIXTURES / "amp"


def of(name: str) -> Transcript:
    (transcript,) = read(FOLDER / name)
    return transcript


def results(transcript: Transcript) -> dict[str, Part]:
    return {part.ref: part for one in transcript.messages for part in one.parts if part.kind is PartKind.TOOL_RESULT}


def test_the_prompt_is_the_sum_of_what_was_sent_and_what_the_cache_held() -> None:
    usage = [call.usage for call in of("thread.json").calls if call.usage and call.lane == MAIN]
    assert [(one.prompt, one.uncached, one.cache_read, one.cache_write) for one in usage] == [
        (9_010, 10, 0, 9_000), (9_412, 12, 9_000, 400), (2_000, 2_000, None, None),
    ]  # fmt: skip


def test_the_ledger_and_the_usage_on_the_messages_are_counted_once() -> None:
    transcript = of("ledger.json")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [150, 167]
    assert transcript.notes == ("1 of 3 entries of the ledger name no answer here: not counted.",)


def test_a_ledger_that_names_no_messages_goes_by_order(tmp_path: Path) -> None:
    value = json.loads((FOLDER / "ledger.json").read_text("utf-8"))
    events = value["usageLedger"]["events"] = value["usageLedger"]["events"][:2]
    for event in events:
        del event["toMessageId"]
    del value["messages"][1]["usage"]
    (tmp_path / "T-1.json").write_text(json.dumps(value), "utf-8")
    (transcript,) = read(tmp_path / "T-1.json")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [150, 167]
    assert not transcript.notes


def test_what_runs_of_tools_came_to() -> None:
    found = results(of("thread.json"))
    assert [(one.text[:20], one.failed) for one in found.values()] == [
        ('{"absolutePath":"/wo', False), ("1 failing", True), ("old_str not found", True), ("broken by 91ac03e", False),
        ("not allowed", True),
    ]  # fmt: skip
    assert found["tu_1"].address == "/work/demo/src/parse.ts"


def test_results_and_the_users_words_in_one_message_are_two() -> None:
    after = [one for one in of("thread.json").messages if one.line == 237]
    assert [one.role for one in after] == [Role.TOOL, Role.USER]
    assert not after[1].harness


def test_a_summary_takes_the_place_of_what_stood_before_it_in_the_main_lane() -> None:
    transcript = of("thread.json")
    (event,) = transcript.events
    assert (event.kind, event.drops, event.summary) == (EventKind.SUMMARY, (0, 1, 3, 4, 5, 6, 7), 8)
    assert [transcript.messages[at].parts[0].text for at in live(transcript)[0]] == [
        "src/parse.ts is being fixed.", "go on", "Done.",
    ]  # fmt: skip


def test_a_sub_agent_has_a_lane_of_its_own() -> None:
    transcript = of("thread.json")
    assert [(lane.name, lane.spawned_by) for lane in transcript.lanes] == [(MAIN, ""), ("tu_4", "tu_4")]
    assert [call.lane for call in transcript.calls] == [MAIN, "tu_4", MAIN, MAIN]


def test_a_command_by_hand_is_told_and_a_hidden_one_is_not() -> None:
    transcript = of("thread.json")
    (told,) = [one for one in transcript.messages if one.line == 255]
    assert (told.harness, told.parts[0].text) == (True, "$ git status\nclean")
    assert dict(transcript.bookkeeping)["info/hidden command"] == 1


def test_a_failed_answer_without_a_word_is_no_call() -> None:
    transcript = of("thread.json")
    assert dict(transcript.bookkeeping)["message/error"] == 1
    assert [call.id for call in transcript.calls] == ["1", "2", "4", "10"]


def test_what_the_thread_says_of_itself() -> None:
    transcript = of("thread.json")
    assert transcript.folders == ("/work/demo", "/work/my demo")
    assert (transcript.window, transcript.window_is_usable, transcript.provider) == (168_000, True, "anthropic")


def test_the_guard_finds_what_a_summary_lost() -> None:
    done = ctx("guard", FOLDER / "thread.json", "--recorded")
    assert done.returncode == 1
    assert b"ABC-12" in done.stdout


def test_an_unknown_message_or_block_changes_only_its_count(tmp_path: Path) -> None:
    value = json.loads((FOLDER / "ledger.json").read_text("utf-8"))
    value["messages"].insert(1, {"role": "chorus", "messageId": 50, "content": []})
    value["messages"][0]["content"].append({"type": "smell"})
    (tmp_path / "T-1.json").write_text(json.dumps(value), "utf-8")
    (after,) = read(tmp_path / "T-1.json")
    before = of("ledger.json")
    assert [one.parts[0].text for one in after.messages] == [one.parts[0].text for one in before.messages]
    assert [call.usage for call in after.calls] == [call.usage for call in before.calls]
    assert [skip.reason for skip in after.skips] == [
        "record type 'content/smell' is not known: not counted", "record type 'message/chorus' is not known: not counted",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        None, 3, [], {}, {"messages": []}, {"id": "T-1", "messages": None}, {"created": 1, "messages": []},
        {"id": "T-1", "sessionId": "x", "created": 1, "messages": []}, {"messages": [{"role": "user", "content": []}]},
    ],
)  # fmt: skip
def test_it_claims_nothing_else(value: Any) -> None:
    assert not claims([Record(1, value)])
    assert not claims([])
