"""Gemini CLI: what its pitfalls come to."""

import json
from pathlib import Path

import pytest

from ctxcli.files.load import detect
from ctxcli.files.records import Tally, records_of
from ctxcli.formats import FORMATS
from ctxcli.model import EventKind, PartKind, Record, Role, Transcript, Usage, is_human
from ctxcli.replay import replay
from support import FIXTURES, SHARED, ctx, needs_shared, read

FOLDER = FIXTURES / "gemini"


def said(transcript: Transcript) -> list[str]:
    return [part.text for message in transcript.messages for part in message.parts]


def texts(transcript: Transcript, indices: object) -> list[str]:
    return [transcript.messages[index].parts[0].text for index in indices]  # type: ignore[attr-defined]


def test_thoughts_are_beside_the_output_and_cached_tokens_in_the_prompt() -> None:
    (transcript,) = read(FOLDER / "session.json")
    assert transcript.calls[0].usage == Usage(9000, 5000, 4000, 0, 80, 50)


def test_tokens_of_the_providers_own_tools_are_in_the_context_of_the_call() -> None:
    (transcript,) = read(FOLDER / "session.json")
    assert transcript.calls[-1].usage == Usage(9620, 620, 9000, 0, 40, 0)


def test_a_stream_that_ended_early_is_a_call_without_figures() -> None:
    (transcript,) = read(FOLDER / "session.json")
    assert [call.usage is None for call in transcript.calls] == [False, False, True, False]


def test_calls_that_a_notice_cut_off_from_their_answer_belong_to_it() -> None:
    (transcript,) = read(FOLDER / "session.json")
    answer = transcript.messages[3]
    assert ([part.kind for part in answer.parts], answer.lines) == ([PartKind.TEXT, PartKind.TOOL_CALL], (87, 108))
    assert len(transcript.calls) == 4


def test_what_only_the_user_sees_is_not_text() -> None:
    for file in FOLDER.iterdir():
        assert not any("xxxx" in text for transcript in read(file) for text in said(transcript)), file.name


def test_a_failed_result_and_a_cancelled_call() -> None:
    (transcript,) = read(FOLDER / "session.json")
    results = transcript.messages[2].parts
    assert [(part.text, part.failed) for part in results] == [
        ("B-12: peas until 20 May", False),
        ("date: not allowed", True),
    ]
    assert transcript.messages[7].parts[1].ref == "rf-9"
    assert all(part.ref != "rf-9" for part in transcript.messages[8].parts)


def test_a_sub_agent_has_a_lane_and_its_own_file_is_a_conversation() -> None:
    (transcript,) = read(FOLDER / "session.json")
    assert [(lane.name, lane.spawned_by) for lane in transcript.lanes[1:]] == [("inv-77", "ag-1")]
    first, second = read(FOLDER / "sub-agent.jsonl")
    assert (first.id, second.id, len(second.calls)) == ("inv-77", "inv-78", 1)


def test_messages_of_a_document_stand_on_their_lines() -> None:
    (transcript,) = read(FOLDER / "session.json")
    lines = (FOLDER / "session.json").read_text("utf-8").splitlines()
    for message in transcript.messages:
        if message.id:
            assert f'"id": "{message.id}"' in "".join(lines[message.line - 1 : message.line + 1])


def test_a_message_written_again_counts_once_and_its_last_writing_counts() -> None:
    (transcript,) = read(FOLDER / "log.jsonl")
    answer = transcript.messages[2]
    assert (answer.lines, [part.ref for part in answer.parts]) == ((5, 6, 7), ["c1", "c2"])
    assert [call.id for call in transcript.calls] == ["g1", "g2", "g3", "g4"]
    assert transcript.calls[0].usage == Usage(12000, 4000, 8000, 0, 120, 90)


def test_results_that_stand_in_three_places_count_once() -> None:
    (transcript,) = read(FOLDER / "log.jsonl")
    assert said(transcript).count("home.toml") == 1
    assert said(transcript).count("[1 more file]") == 1
    assert transcript.duplicates == 1
    assert transcript.messages[3].role is Role.TOOL


def test_the_context_that_the_client_sets_up_is_not_the_users() -> None:
    (transcript,) = read(FOLDER / "log.jsonl")
    assert [is_human(message) for message in transcript.messages[:2]] == [False, True]


def test_a_rewind_drops_the_message_and_all_after_it() -> None:
    (transcript,) = read(FOLDER / "log.jsonl")
    (event,) = transcript.events
    assert (event.kind, texts(transcript, event.drops)) == (EventKind.REWIND, ["Switch it off instead.", "Off."])


def test_a_list_that_says_the_same_in_another_shape_changes_nothing_but_what_is_gone() -> None:
    (transcript,) = read(FOLDER / "log-with-rewritten-history.jsonl")
    event = transcript.events[1]
    assert (event.kind, event.line, texts(transcript, event.drops)) == (EventKind.REWIND, 17, ["This request fails."])


def test_a_masked_result_is_cleared() -> None:
    (transcript,) = read(FOLDER / "log-with-rewritten-history.jsonl")
    event = transcript.events[2]
    assert (event.kind, event.line, event.clears) == (EventKind.CLEAR, 18, ((3, 0),))


def test_a_compression_drops_what_the_summary_stands_for() -> None:
    (transcript,) = read(FOLDER / "log-with-rewritten-history.jsonl")
    event = next(event for event in transcript.events if event.kind is EventKind.SUMMARY)
    assert texts(transcript, event.drops)[-1] == "The same on the weekend."
    summary = transcript.messages[event.summary or 0]
    assert (summary.parts[0].kind, summary.harness) == (PartKind.SUMMARY, True)
    held: list[int] = []
    frames = {frame.call.id: frame for frame in replay(transcript)}
    for name in ("g1", "g2", "g3", "g4", "g6", "g7"):
        held = [index for index in held if index not in frames[name].left] + list(frames[name].entered)
    assert texts(transcript, held)[:2] == ["What is the serial number?", "I would have to read it again."]
    assert len(held) == 5


def test_other_rewritings_are_told_by_what_they_change_and_count_no_call_twice() -> None:
    (transcript,) = read(FOLDER / "log-with-rewritten-history.jsonl")
    rewrite, trim, rewind = transcript.events[-3:]
    assert [event.kind for event in (rewrite, trim, rewind)] == [EventKind.REWRITE, EventKind.TRIM, EventKind.REWIND]
    assert [message.copied for message in transcript.messages[16:20]] == [False, True, True, True]
    assert len(rewind.drops) == 5
    assert [call.id for call in transcript.calls] == ["g1", "g2", "g3", "g4", "g6", "g7", "g8"]


def test_a_saved_chat_is_the_history_alone() -> None:
    (transcript,) = read(FOLDER / "saved-chat.json")
    (event,) = transcript.events
    assert (event.kind, event.drops, event.summary) == (EventKind.SUMMARY, (), 0)
    assert len(transcript.calls) == 3
    assert transcript.messages[3].parts[0].kind is PartKind.THINKING
    assert transcript.messages[4].role is Role.TOOL


@pytest.mark.parametrize("name", ["session.json", "saved-chat.json"])
def test_an_element_of_an_unknown_type_changes_only_its_count(name: str, tmp_path: Path) -> None:
    before = read(FOLDER / name)[0]
    document = json.loads((FOLDER / name).read_text("utf-8"))
    elements = document if isinstance(document, list) else document["messages"]
    elements.insert(3, {"id": "odd", "type": "invented", "role": "invented", "parts": [], "content": "x"})
    changed = tmp_path / name
    changed.write_text(json.dumps(document, indent=2), "utf-8")
    after = read(changed)[0]
    assert said(after) == said(before)
    assert [call.usage for call in after.calls] == [call.usage for call in before.calls]
    assert len(after.skips) == len(before.skips) + 1


def test_a_record_of_an_unknown_type_changes_only_its_count(tmp_path: Path) -> None:
    file = FOLDER / "log-with-rewritten-history.jsonl"
    before, lines, changed = read(file)[0], file.read_text("utf-8").splitlines(), tmp_path / file.name
    for place in range(1, len(lines) + 1):
        for odd in ({"id": "odd", "type": "invented"}, {"$unset": {"messages": []}}):
            changed.write_text("\n".join([*lines[:place], json.dumps(odd), *lines[place:]]), "utf-8")
            after = read(changed)[0]
            assert said(after) == said(before)
            assert [event.drops for event in after.events] == [event.drops for event in before.events]
            assert len(after.skips) == len(before.skips) + 1


def test_the_guard_judges_the_recorded_compression() -> None:
    run = ctx("guard", FOLDER / "log-with-rewritten-history.jsonl", "--recorded")
    assert "home.toml" in run.stdout.decode()


def test_a_log_of_contents_of_another_kind_is_not_claimed() -> None:
    ui = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}
    answer = {"id": "2", "role": "model", "parts": [{"type": "text", "text": "hi"}]}
    assert not FORMATS["gemini"].claims([Record(1, [ui, answer])])
    assert not FORMATS["gemini"].claims([Record(1, ui), Record(2, answer)])


@needs_shared
def test_totals_of_a_real_session_equal_an_independent_count() -> None:
    file = SHARED / "gemini" / "session.json"
    assert detect(list(records_of(str(file), Tally()))[:25], file.name).name == "gemini"
    figures = [message["tokens"] for message in json.loads(file.read_text("utf-8"))["messages"] if "tokens" in message]
    (transcript,) = read(file)
    usages = [call.usage for call in transcript.calls if call.usage is not None]
    assert sum(usage.prompt or 0 for usage in usages) == sum(one["input"] + one["tool"] for one in figures)
    assert sum(usage.cache_read or 0 for usage in usages) == sum(one["cached"] for one in figures)
    assert sum(usage.output or 0 for usage in usages) == sum(one["output"] + one["thoughts"] for one in figures)
    assert sum((usage.prompt or 0) + (usage.output or 0) for usage in usages) == sum(one["total"] for one in figures)
    assert len(usages) == sum(one["total"] > 0 for one in figures) == len(transcript.calls)


def test_a_log_of_answers_gives_the_last_figures_of_each_stream() -> None:
    (found,) = read(FIXTURES / "gemini" / "answers.jsonl")
    assert [(call.usage.prompt, call.usage.output, call.model) for call in found.calls if call.usage] == [
        (7100, 12, "gemini-2.5-pro"), (7200, 2, ""),
    ]  # fmt: skip
    assert [part.text for part in found.messages[0].parts] == [
        "The coupon SAVE-20 is over.",
        '{"path":"src/coupons.py"}',
    ]
    assert found.notes == ("A log of answers: what was sent to the model is known by its size alone.",)
