"""Copilot Chat in VS Code: each pitfall of its export and of its log of requests, with the value that is right."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.blocks.vscode_parts import rendered
from ctxcli.formats.blocks.wrapped import asked_in
from ctxcli.model import COMPACTION, EventKind, PartKind, Role, Transcript
from ctxcli.replay import live, replay
from support import FIXTURES, SHARED, needs_shared, read

FOLDER = FIXTURES / "vscode-copilot-chat"
EXPORT = FOLDER / "export-with-summary.json"
LOG = FOLDER / "requests-repeat-the-prompt.chatreplay.json"


def one(path: Path = EXPORT) -> Transcript:
    (transcript,) = read(path)
    return transcript


def value_of(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def saved(tmp_path: Path, value: object) -> Path:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(value), "utf-8")
    return file


def words(transcript: Transcript) -> str:
    return "\n".join(part.text for message in transcript.messages for part in message.parts)


# -- the export


def test_what_the_screen_showed_is_not_in_the_context_where_the_rounds_are_there() -> None:
    assert "shown on the screen only" not in words(one())
    assert "Reading" not in words(one())


def test_each_round_is_a_call_and_has_no_usage() -> None:
    found = one()
    assert [(call.id, call.model, call.usage) for call in found.calls] == [
        (name, "claude-sonnet-4.5", None) for name in ("r1", "r2", "r3", "r4", "r5", "response_3")
    ]
    assert "no usage" in found.notes[0]


def test_without_rounds_the_answer_is_what_the_screen_showed() -> None:
    assert one().messages[-1].parts[0].text == "The title is fine."


def test_the_users_words_are_told_apart_from_the_prompt_around_them() -> None:
    human = [message.parts[0].text for message in one().messages if message.role is Role.USER and not message.harness]
    assert human == ["Why is the deploy red? Keep next.config.js as it is.", "Fix it then.", "And the title?"]


@pytest.mark.parametrize(
    ("sent", "own"),
    [
        ("<context>\n1\n</context>\n<userRequest>\nhi\n</userRequest>\n", ["hi"]),
        ("<userRequest>old</userRequest> <userRequest>new</userRequest>", ["new"]),
        ("<environment_info>\n1\n</environment_info>", []),
        ("just words, 1 < 2", ["just words, 1 < 2"]),
    ],
)
def test_the_users_words_stand_in_a_tag(sent: str, own: list[str]) -> None:
    assert [text for ours, text in asked_in(sent) if not ours] == own


def test_what_all_prompts_share_is_said_once_until_it_changes() -> None:
    found = one()
    assert [message.line for message in found.messages if "OS is" in message.parts[0].text] == [6, 297]
    (renewal,) = [event for event in found.events if event.kind is EventKind.RENEW]
    assert renewal.drops == (0,)


def test_results_are_texts_trees_and_images() -> None:
    parts = {
        part.ref: part for message in one().messages for part in message.parts if part.kind is PartKind.TOOL_RESULT
    }
    assert parts["toolu_1__vscode-1"].text == "Error 404: /base/app.js\nat line 40\nexit 1"
    assert parts["toolu_1__vscode-1"].address == "/work/site/deploy.log"
    assert parts["toolu_2__vscode-2"].text == "Took the screenshot"
    media = [part.media for message in one().messages for part in message.parts if part.media]
    assert [(found.type, found.width, found.height) for found in media] == [("image/png", 10, 10)]


@pytest.mark.parametrize(
    "node", [None, 7, [], {}, {"type": 2}, {"type": 1, "children": None}, {"type": 1, "children": [None, 7]}]
)
def test_an_odd_tree_has_no_text(node: object) -> None:
    assert rendered(node) == ""


def test_a_tree_of_any_depth_is_read() -> None:
    node: dict[str, Any] = {"type": 2, "text": "deep"}
    for _ in range(20_000):
        node = {"type": 1, "children": [node]}
    assert rendered(node) == "deep"


def test_thinking_may_be_several_texts_or_sealed() -> None:
    found = [
        part
        for message in one().messages
        for part in message.parts
        if part.kind in (PartKind.THINKING, PartKind.OPAQUE)
    ]
    assert [(part.kind, part.text, part.tokens) for part in found] == [
        (PartKind.THINKING, "The log\ntells more.", None), (PartKind.OPAQUE, "", 40),
    ]  # fmt: skip


def test_a_result_of_a_call_that_is_gone_was_not_seen() -> None:
    assert "of a call that is gone" not in words(one())
    assert dict(one().bookkeeping)["result of no call"] == 1


def test_a_summary_on_a_round_stands_for_all_up_to_that_round() -> None:
    found = one()
    (event,) = [event for event in found.events if event.kind is EventKind.SUMMARY]
    assert found.messages[event.at - 1].parts[0].text == "The file was edited."
    assert event.summary == event.at
    assert set(event.drops) == set(range(1, event.at))
    frame = next(frame for frame in replay(found) if frame.call.id == "r5")
    assert [found.messages[index].parts[0].kind for index in frame.entered] == [PartKind.SUMMARY]


def test_a_summary_may_stand_beside_the_rounds(tmp_path: Path) -> None:
    value = value_of(EXPORT)
    metadata = value["requests"][1]["result"]["metadata"]
    metadata["summary"] = {"toolCallRoundId": "r4", "text": metadata["toolCallRounds"][0].pop("summary")}
    assert one(saved(tmp_path, value)).events == one(saved(tmp_path, value_of(EXPORT))).events


def test_a_compaction_by_the_provider_is_opaque_and_drops_what_was_before(tmp_path: Path) -> None:
    value = value_of(EXPORT)
    rounds = value["requests"][0]["result"]["metadata"]["toolCallRounds"]
    rounds[1]["compaction"] = {"type": "compaction", "id": "c", "encrypted_content": "gAAAAsealed"}
    found = one(saved(tmp_path, value))
    event = found.events[0]
    assert (event.kind, event.opaque, event.trigger) == (EventKind.SUMMARY, True, "provider")
    assert found.messages[event.at].parts[0].name == COMPACTION
    assert "gAAAA" not in words(found)


def test_a_request_of_an_unknown_kind_is_counted_and_changes_nothing_else(tmp_path: Path) -> None:
    value = value_of(EXPORT)
    before = one(saved(tmp_path, value))
    value["requests"].append({"kind": "second sight"})
    after = one(saved(tmp_path, value))
    assert (after.messages, after.calls, after.events) == (before.messages, before.calls, before.events)
    assert {skip.reason for skip in after.skips} - {skip.reason for skip in before.skips} == {
        "record type 'request/second sight' is not known: not counted"
    }


# -- the log of requests


def test_a_prompt_that_each_request_repeats_is_counted_once() -> None:
    found = read(LOG)[1]
    assert words(found).count("Remove the tests that name old.json") == 1
    assert words(found).count("2 matches") == 1
    assert words(found).count("You are an expert programmer.") == 1
    assert not found.events


def test_the_usage_of_each_request_is_counted_once() -> None:
    usages = [
        log["metadata"]["usage"]
        for prompt in value_of(LOG)["prompts"] for log in prompt["logs"] if "usage" in log.get("metadata", {})
    ]  # fmt: skip
    calls = [call for transcript in read(LOG) for call in transcript.calls]
    assert [call.usage.prompt for call in calls if call.usage] == [usage["prompt_tokens"] for usage in usages]
    assert sum(call.usage.output or 0 for call in calls if call.usage) == sum(
        usage["completion_tokens"] for usage in usages
    )
    assert [call.usage.cache_read for call in calls if call.usage] == [0, 1408, 1900, 2200]
    assert len(calls) == len(usages)


def test_the_calls_of_an_answer_come_from_the_next_request_or_from_the_entries_of_its_tools() -> None:
    parts = [part for message in read(LOG)[1].messages for part in message.parts if part.kind is PartKind.TOOL_CALL]
    assert [(part.name, part.ref) for part in parts] == [
        ("grep_search", "call_1"), ("apply_patch", "call_2"), ("read_file", "call_3"),
    ]  # fmt: skip
    assert "*** Delete File" in parts[1].text  # as it was sent again, not as the entry shortens it


def test_requests_that_do_not_go_on_from_one_another_are_conversations_of_their_own() -> None:
    assert [(transcript.id, transcript.models) for transcript in read(LOG)] == [
        ("log0", ["gpt-4o-mini"]), ("log1", ["gpt-5.1"]),
    ]  # fmt: skip


def test_the_log_knows_tools_system_prompt_and_window() -> None:
    found = read(LOG)[1]
    assert [part.name for message in found.messages for part in message.parts if part.kind is PartKind.TOOLS] == [
        "grep_search"
    ]
    assert (found.window, found.window_is_usable) == (127_997, True)
    assert len(live(found)[0]) == len(found.messages)


def test_entries_that_are_no_requests_are_accounted_for() -> None:
    first = read(LOG)[0]
    assert dict(first.bookkeeping) == {"element": 1, "error": 1, "toolCall": 3}
    assert [skip.reason for skip in first.skips] == ["record type 'hologram' is not known: not counted"]


def test_the_log_of_one_prompt_and_one_entry_of_it_are_read_too(tmp_path: Path) -> None:
    prompt = value_of(LOG)["prompts"][1]
    (alone,) = read(saved(tmp_path, prompt))
    assert [call.id for call in alone.calls] == ["log2", "log4"]
    (entry,) = read(saved(tmp_path, prompt["logs"][0]))
    assert [call.id for call in entry.calls] == ["log2"]


def test_a_log_without_requests_is_no_conversation(tmp_path: Path) -> None:
    value = {"totalLogEntries": 1, "prompts": [{"prompt": "hi", "logs": [{"kind": "element"}]}]}
    with pytest.raises(Exception, match="it holds no message"):
        read(saved(tmp_path, value))


# -- a real one


@needs_shared
def test_a_real_export_holds_what_its_rounds_hold() -> None:
    path = SHARED / "vscode-copilot-chat" / "fix-deploy.json"
    (request,) = value_of(path)["requests"]
    metadata = request["result"]["metadata"]
    rounds, results = metadata["toolCallRounds"], metadata["toolCallResults"]
    found = one(path)
    assert len(found.calls) == len(rounds) == 31
    said = [part for message in found.messages for part in message.parts]
    assert sum(part.kind is PartKind.TOOL_CALL for part in said) == sum(len(one_["toolCalls"]) for one_ in rounds) == 30
    results_of = [part for part in said if part.kind is PartKind.TOOL_RESULT]
    assert len(results_of) == len(results) == 30
    plain = sum(
        len(item["value"])
        for result in results.values()
        for item in result["content"]
        if isinstance(item.get("value"), str)
    )
    trees = {
        ref for ref, result in results.items() if any(isinstance(item.get("value"), dict) for item in result["content"])
    }
    assert sum(len(part.text) for part in results_of if part.ref not in trees) == plain
    answers = [
        part.text
        for message in found.messages
        if message.role is Role.ASSISTANT
        for part in message.parts
        if part.kind is PartKind.TEXT
    ]
    assert answers == [one_["response"] for one_ in rounds if one_["response"]]
    human = [message.parts[0].text for message in found.messages if message.role is Role.USER and not message.harness]
    assert human == [request["message"]["text"]]
