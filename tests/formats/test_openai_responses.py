"""OpenAI Responses: items in every shape they are stored in, chains, compactions, and what each tool's item holds."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats import FORMATS
from ctxcli.model import EventKind, Iteration, PartKind, Record, Role, Transcript, Usage
from ctxcli.replay import live
from support import FIXTURES, ctx, read

RESPONSES = FIXTURES / "openai-responses"


def texts(transcript: Transcript, indices: Any) -> list[str]:
    return [part.text for index in indices for part in transcript.messages[index].parts]


def parts(transcript: Transcript, kind: PartKind) -> list[Any]:
    return [part for message in transcript.messages for part in message.parts if part.kind is kind]


def test_a_log_that_repeats_its_prompt_is_one_conversation() -> None:
    (transcript,) = read(RESPONSES / "request-log.jsonl")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [310, 390, 420, 230]
    assert transcript.calls[1].usage == Usage(
        prompt=390, uncached=134, cache_read=256, cache_write=0, output=70, reasoning=48
    )
    said = [part.text for part in parts(transcript, PartKind.TEXT)]
    assert said.count("High water in Bergen?") == 1
    assert transcript.duplicates == 1  # the last line stands twice
    assert transcript.calls[0].time.startswith("2026-05-28T20:26:40")


def test_tools_and_instructions_stand_first_and_are_renewed() -> None:
    (transcript,) = read(RESPONSES / "request-log.jsonl")
    assert [part.name for part in transcript.messages[0].parts] == ["tide", "web_search"]
    assert transcript.messages[1].parts[0].text == "You know the sea."
    renewals = [event for event in transcript.events if event.kind is EventKind.RENEW]
    assert [texts(transcript, event.drops) for event in renewals] == [
        ["You know the sea."],
        ["You know the sea. Be brief."],
    ]


def test_reasoning_is_opaque_of_reported_size_and_leaves_with_the_next_turn() -> None:
    (transcript,) = read(RESPONSES / "request-log.jsonl")
    sealed = [part for part in parts(transcript, PartKind.OPAQUE) if part.name == "reasoning"]
    assert [part.tokens for part in sealed] == [40, 48]
    (strip,) = [event for event in transcript.events if event.kind is EventKind.STRIP]
    assert [transcript.messages[index].parts[at].tokens for index, at in strip.clears] == [40, 48]
    assert transcript.messages[strip.at].parts[0].text == "And in Hull?"


def test_newer_models_keep_their_reasoning() -> None:
    first = read(RESPONSES / "chained.jsonl")[0]
    assert [part.tokens for part in parts(first, PartKind.OPAQUE)] == [12]
    assert not [event for event in first.events if event.kind is EventKind.STRIP]


def test_a_compaction_among_the_output_drops_all_that_was_said_before() -> None:
    (transcript,) = read(RESPONSES / "request-log.jsonl")
    (event,) = [event for event in transcript.events if event.kind is EventKind.SUMMARY]
    assert (event.trigger, event.opaque) == ("provider", True)
    assert event.summary is not None
    assert transcript.messages[event.summary].parts[0].sums_up
    assert "06:12 and 18:40" in texts(transcript, event.drops)
    assert texts(transcript, live(transcript)[0])[2:] == [
        "", "I have no table for Hull.", "You know the sea.", "Then Leith.", "Leith: 04:01.",
    ]  # fmt: skip


def test_a_chain_of_response_ids_is_one_conversation_and_a_second_branch_a_rewind() -> None:
    first, *_ = read(RESPONSES / "chained.jsonl")
    assert [call.id for call in first.calls] == ["resp_a", "resp_b", "resp_c", "resp_d"]
    (rewind,) = first.events
    assert rewind.kind is EventKind.REWIND
    assert texts(first, rewind.drops) == ["And gulls?", "", '{"query": "gulls"}', "21", "Twenty-one."]


def test_what_came_before_an_unknown_response_shows_in_the_usage_alone() -> None:
    first, second, third = read(RESPONSES / "chained.jsonl")
    assert [len(second.messages), len(second.notes), len(first.notes), len(third.notes)] == [2, 1, 0, 0]
    assert second.calls[0].usage is not None
    assert second.calls[0].usage.prompt == 5_200


def test_a_conversation_that_the_provider_holds_goes_on() -> None:
    third = read(RESPONSES / "chained.jsonl")[2]
    assert third.id == "conv_9"
    assert texts(third, range(4)) == ["Remember: quay 4.", "Noted.", "Which quay?", "Quay 4."]
    assert not third.events


def test_the_window_that_a_compaction_returns_keeps_the_users_words_and_tools() -> None:
    (transcript,) = read(RESPONSES / "compact.jsonl")
    (event,) = transcript.events
    assert (event.kind, event.tokens_before, event.opaque) == (EventKind.SUMMARY, 390, True)
    kept = texts(transcript, live(transcript)[0])
    assert "Watch buoy 17 at /sea/buoy17.log" in kept
    assert "You know the sea." in kept
    assert "It drifts by 0.3 knots." not in kept


def test_the_call_that_compacted_is_billed_beside_the_conversation() -> None:
    (transcript,) = read(RESPONSES / "compact.jsonl")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [300, 360, 380, 330]
    assert transcript.calls[2].usage is not None
    assert transcript.calls[2].usage.iterations == (Iteration("compaction", 390, 120),)


def test_the_guard_says_that_a_sealed_summary_cannot_be_checked() -> None:
    done = ctx("guard", RESPONSES / "compact.jsonl", "--recorded")
    assert b"NOT VERIFIABLE" in done.stdout


def test_every_kind_of_item() -> None:
    (transcript,) = read(RESPONSES / "items.json")
    results = {part.name: (part.text, part.failed) for part in parts(transcript, PartKind.TOOL_RESULT)}
    assert results == {
        "file_search": ("Wreck at 61 N", False),
        "open_chart": ("no such chart", True),
        "code_interpreter": ("61", False),
        "computer": ("", False),
        "patch": ("done", False),
    }
    assert [part.name for part in parts(transcript, PartKind.MEDIA)] == [
        "", "code_interpreter", "image_generation", "computer",
    ]  # fmt: skip
    assert all((part.media.width, part.media.height) == (640, 480) for part in parts(transcript, PartKind.MEDIA))
    assert [part.name for part in parts(transcript, PartKind.TOOLS)] == ["open_chart"]
    assert [part.text for part in parts(transcript, PartKind.THINKING)] == ["The chart has a wreck."]
    assert [skip.reason for skip in transcript.skips] == ["record type 'item/sea_monster' is not known: not counted"]


def test_items_know_their_lines_and_answers_are_calls() -> None:
    (transcript,) = read(RESPONSES / "items.json")
    lines = (RESPONSES / "items.json").read_text("utf-8").splitlines()
    assert all(lines[message.line - 1].strip() == "{" for message in transcript.messages)
    (by_line,) = read(RESPONSES / "items.jsonl")
    assert [message.role for message in by_line.messages] == [
        Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.USER,
    ]  # fmt: skip
    assert len(by_line.calls) == 2


def test_of_a_stream_the_last_event_holds_the_response() -> None:
    (transcript,) = read(RESPONSES / "stream.jsonl")
    assert texts(transcript, range(len(transcript.messages))) == ["Calm."]
    assert sum(count for _, count in transcript.bookkeeping) == 4


def test_the_apis_list_runs_backwards() -> None:
    (transcript,) = read(RESPONSES / "list.json")
    assert texts(transcript, range(4)) == ["How many swans?", '{"query": "swans"}', "2", "Two swans."]


def test_the_lines_of_a_batch_are_conversations_of_their_own() -> None:
    found = read(RESPONSES / "batch.jsonl")
    assert [texts(one, range(len(one.messages))) for one in found] == [
        ["Say the number.", "One."], ["Two."], ["Say the number.", "3"],
    ]  # fmt: skip


def test_a_stream_that_broke_off_holds_the_items_that_were_done(tmp_path: Path) -> None:
    file = tmp_path / "cut.jsonl"
    file.write_text("\n".join((RESPONSES / "stream.jsonl").read_text("utf-8").splitlines()[:-1]), "utf-8")
    (transcript,) = read(file)
    assert texts(transcript, range(1)) == ["Calm."]


@pytest.mark.parametrize("name", ["items.jsonl", "request-log.jsonl"])
def test_an_unknown_item_changes_that_count_alone(name: str, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (RESPONSES / name).read_text("utf-8").splitlines()]
    odd = {"type": "sea_monster", "id": "sm"}
    if name == "items.jsonl":
        rows.insert(2, odd)
    else:
        rows[0]["response"]["output"].insert(1, odd)
    file = tmp_path / name
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (plain,), (other,) = read(RESPONSES / name), read(file)
    assert [[part.text for part in one.parts] for one in other.messages] == [
        [part.text for part in one.parts] for one in plain.messages
    ]
    assert [call.usage for call in other.calls] == [call.usage for call in plain.calls]
    assert [skip.reason.split(" is ")[0] for skip in other.skips] == ["record type 'item/sea_monster'"]


@pytest.mark.parametrize("name", ["request-log.jsonl", "compact.jsonl", "items.json"])
def test_what_is_converted_to_this_format_is_read_as_it(name: str, tmp_path: Path) -> None:
    done = ctx("convert", RESPONSES / name, "--to", "openai-responses")
    assert done.returncode == 0
    file = tmp_path / "x.json"
    file.write_bytes(done.stdout)
    assert {one.format for one in read(file)} == {"openai-responses"}


NOT_OURS: tuple[Any, ...] = (
    {"model": "text-embedding-3-small", "input": "embed me"},
    {"model": "text-embedding-3-small", "input": ["embed", "me"]},
    {"messages": [{"role": "user", "content": "Hi"}]},
    [{"role": "user", "content": "Hi"}],
    {"type": "response_item", "payload": {"type": "function_call", "call_id": "c", "name": "x", "arguments": "{}"}},
    {"id": "chatcmpl-1", "object": "chat.completion", "choices": []},
    {"input": "x", "output": "y"},
    {"object": "list", "data": [{"id": "gpt-5", "object": "model"}]},
    {"type": "reasoning", "text": "not of this API"},
    None, 3, "response", [], {}, [[]],
)  # fmt: skip


@pytest.mark.parametrize("value", NOT_OURS, ids=repr)
def test_other_shapes_are_not_claimed(value: Any) -> None:
    assert not FORMATS["openai-responses"].claims([Record(1, value)])
