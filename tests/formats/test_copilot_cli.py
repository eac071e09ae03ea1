"""Copilot CLI: each pitfall of its events, with the value that is right."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.blocks.copilot_events import usage_of
from ctxcli.formats.blocks.wrapped import own_words
from ctxcli.formats.copilot_cli import FORMAT
from ctxcli.model import EventKind, PartKind, Role, Transcript
from ctxcli.replay import live, replay
from support import FIXTURES, ctx, read

EVENTS = FIXTURES / "copilot-cli" / "resumed-and-compacted.jsonl"


def one(path: Path = EVENTS) -> Transcript:
    (transcript,) = read(path)
    return transcript


def of(tmp_path: Path, *events: tuple[str, dict[str, Any]] | dict[str, Any]) -> Transcript:
    """A session of these events, each a type and its data, or a whole record."""
    lines = [
        json.dumps(event if isinstance(event, dict) else {"type": event[0], "data": event[1], "id": f"e{number}", "parentId": None, "timestamp": "t"})
        for number, event in enumerate(events)
    ]  # fmt: skip
    (tmp_path / "events.jsonl").write_text("\n".join(lines), "utf-8")
    return one(tmp_path / "events.jsonl")


def texts(transcript: Transcript, lane: str = "main") -> list[str]:
    return ["".join(part.text for part in message.parts) for message in transcript.messages if message.lane == lane]


def test_the_output_of_each_call_is_counted_once_and_nothing_is_made_up_for_what_was_sent() -> None:
    found = one()
    events = {value["id"]: value for value in map(json.loads, EVENTS.read_text("utf-8").splitlines())}
    answers = [value["data"] for value in events.values() if value["type"] == "assistant.message"]
    outputs: dict[str, int] = {}
    for answer in answers:
        key = answer.get("apiCallId") or answer["messageId"]
        outputs[key] = max(outputs.get(key, 0), answer.get("outputTokens", 0))
    known = [call for call in found.calls if call.id in outputs]
    assert sum(call.usage.output or 0 for call in known if call.usage) == sum(outputs.values())
    assert len(known) == len(outputs) == 10
    assert [call.id for call in found.calls if call.usage and call.usage.prompt is not None] == ["GH:1", "api-10"]
    assert "does not record what a call sent" in found.notes[0]


def test_the_sums_of_the_session_are_told_and_not_added_to_the_calls() -> None:
    assert "70,000 tokens sent (61,000 of them from the cache)" in one().notes[1]
    assert sum(call.usage.prompt or 0 for call in one().calls if call.usage) == 18_700 + 7_400


def test_what_was_really_sent_is_read_and_the_users_own_words_are_told_apart() -> None:
    prompt = [message for message in one().messages if message.line == 4]
    assert [(message.harness, message.parts[0].text.strip()) for message in prompt] == [
        (True, "<current_datetime>2026-09-21T10:00:00Z</current_datetime>"),
        (False, "Why does refund() fail for order ORD-7781?"),
        (True, "<reminder>Use the tools.</reminder>"),
    ]
    assert [part.kind for part in prompt[1].parts] == [PartKind.TEXT, PartKind.MEDIA]


@pytest.mark.parametrize(
    ("sent", "typed", "own"),
    [
        ("hi", "hi", "hi"),
        ("<a>hi</a>\n<request>\nhi\n</request>", "hi", "hi"),
        ("there is no such word", "hi", "there is no such word"),
        ("whichever", "hi", "whichever"),
        ("", "", ""),
        ("<x>1</x>\n\n  do (this) [now]\n", "do (this) [now]", "do (this) [now]"),
    ],
)
def test_the_users_words_in_a_prompt(sent: str, typed: str, own: str) -> None:
    pieces = own_words(sent, typed)
    assert [text for ours, text in pieces if not ours] == [own]
    assert "".join(text for _, text in pieces).split() == sent.split()


def test_what_is_for_the_screen_is_not_in_the_context() -> None:
    words = "\n".join(texts(one()) + texts(one(), "call_2"))
    assert "only for the screen" not in words
    assert "shown on the screen" not in words
    assert "gAAAA" not in words


def test_a_failed_tool_says_why() -> None:
    (result,) = [
        part
        for message in one().messages
        for part in message.parts
        if part.ref == "call_3" and part.kind is PartKind.TOOL_RESULT
    ]
    assert (result.text, result.failed, result.name, result.address) == ("exit code 2", True, "bash", "pytest -q")


def test_a_sub_agent_is_a_lane_of_the_call_that_started_it() -> None:
    found = one()
    lane = found.lanes[1]
    assert (lane.name, lane.title, lane.spawned_by, lane.tokens) == ("call_2", "Explore", "call_2", 5120)
    assert texts(found, "call_2") == [
        "You explore code.", "Who calls refund()?", '{"pattern":"refund("}', "billing.py:40: refund(order)", "billing.py line 40 calls it.",
    ]  # fmt: skip
    assert {call.model for call in found.calls if call.lane == "call_2"} == {"claude-haiku-4.5"}


def test_a_compaction_keeps_what_was_said_while_it_ran_and_a_failed_one_changes_nothing() -> None:
    found = one()
    (summary,) = [event for event in found.events if event.kind is EventKind.SUMMARY]
    assert (summary.line, summary.trigger, summary.tokens_before, summary.tokens_after) == (
        26,
        "threshold",
        19_000,
        8_200,
    )
    kept = [index for index in range(summary.at) if found.messages[index].lane == "main" and index not in summary.drops]
    assert [found.messages[index].parts[0].text for index in kept] == [
        "You are the agent of a shop.",
        "The tests do not start.",
    ]
    assert dict(found.bookkeeping)["session.compaction_complete/failed"] == 1


def test_the_call_that_wrote_the_summary_saw_the_context_before() -> None:
    frames = list(replay(one()))
    writer = next(at for at, frame in enumerate(frames) if frame.call.id == "GH:1")
    assert not frames[writer].events
    assert [event.kind for event in frames[writer + 1].events] == [EventKind.SUMMARY]


def test_a_compaction_that_removes_only_the_oldest_leaves_no_result_without_its_call(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        ("user.message", {"content": "one"}),
        ("assistant.message", {"messageId": "a", "content": "", "toolRequests": [{"toolCallId": "c", "name": "ls", "arguments": {}}]}),
        ("tool.execution_complete", {"toolCallId": "c", "success": True, "result": {"content": "file"}}),
        ("user.message", {"content": "two"}),
        ("session.compaction_complete", {"success": True, "messagesRemoved": 2, "summaryContent": "said: one"}),
        ("assistant.message", {"messageId": "b", "content": "yes"}),
    )  # fmt: skip
    (event,) = found.events
    assert event.drops == (0, 1, 2)
    assert texts(found) == ["one", "{}", "file", "two", "said: one", "yes"]


def test_a_summary_that_is_not_in_the_file_is_opaque(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        ("user.message", {"content": "one"}),
        ("session.compaction_complete", {"success": True}),
        ("assistant.message", {"content": "yes"}),
    )
    assert [(event.opaque, event.drops) for event in found.events] == [(True, (0,))]
    assert found.messages[1].parts[0].kind is PartKind.OPAQUE


def test_a_notice_is_said_once_whether_a_prompt_holds_it_or_not() -> None:
    said = texts(one())
    assert sum("The build is done.</system" in text for text in said) == 1
    assert sum("A second shell ended." in text for text in said) == 1


def test_what_nobody_typed_is_the_clients() -> None:
    human = [
        message.parts[0].text
        for message in one().messages
        if message.role is Role.USER and not message.harness and message.lane == "main"
    ]
    assert human == [
        "Why does refund() fail for order ORD-7781?", "Never change pay(). Fix it in refund().", "Forget this.", "A new start.",
    ]  # fmt: skip


def test_a_resumed_session_does_not_say_its_system_prompt_twice() -> None:
    assert texts(one()).count("You are the agent of a shop.") == 1
    assert one().duplicates == 3  # the prompt, a notice, a line that stands twice


def test_rewinds_truncations_and_clears() -> None:
    found = one()
    assert [event.kind for event in found.events] == [
        EventKind.SUMMARY,
        EventKind.REWIND,
        EventKind.TRIM,
        EventKind.RESET,
    ]
    assert [found.messages[index].parts[0].text for index in found.events[1].drops] == ["Forget this.", "Forgotten."]
    assert found.window == 128_000
    assert [found.messages[index].parts[0].text for index in live(found)[0]] == [
        "You are the agent of a shop.",
        "A new start.",
        "Yes.",
    ]


@pytest.mark.parametrize(
    ("data", "prompt", "uncached"),
    [
        ({"inputTokens": 100, "cacheReadTokens": 60, "cacheWriteTokens": 30}, 100, 10),
        ({"inputTokens": 10, "cacheReadTokens": 60}, 70, 10),
        ({"input": 100, "cachedInput": 60, "output": 5}, 100, 40),
        ({"inputTokens": 100}, 100, None),
    ],
)
def test_cached_tokens_are_among_the_input(data: object, prompt: int, uncached: int | None) -> None:
    usage = usage_of(data)
    assert usage is not None
    assert (usage.prompt, usage.uncached) == (prompt, uncached)


def test_an_event_of_an_unknown_type_is_counted_and_changes_nothing_else(tmp_path: Path) -> None:
    lines = EVENTS.read_text("utf-8").splitlines()
    new = {
        "type": "session.crystal_ball",
        "data": {"content": "x"},
        "id": "new",
        "parentId": "ev-046",
        "timestamp": "t",
    }
    (tmp_path / "events.jsonl").write_text("\n".join([*lines, json.dumps(new)]), "utf-8")
    before, after = one(), one(tmp_path / "events.jsonl")
    assert (after.messages, after.calls, after.events, after.bookkeeping) == (
        before.messages,
        before.calls,
        before.events,
        before.bookkeeping,
    )
    assert {skip.reason for skip in after.skips} - {skip.reason for skip in before.skips} == {
        "record type 'session.crystal_ball' is not known: not counted"
    }


def test_events_of_others_in_a_like_envelope_are_not_claimed(tmp_path: Path) -> None:
    for type_ in ("user/message", "order.created", "session"):
        (tmp_path / "other.jsonl").write_text(
            json.dumps({"type": type_, "data": {}, "id": "1", "timestamp": "t"}), "utf-8"
        )
        run = ctx("audit", tmp_path / "other.jsonl")
        assert run.returncode != 0
    assert "copilot-cli" in FORMAT.name
