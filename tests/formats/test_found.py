"""Each fault that was found in use, as the smallest input that shows it."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.audit import audit
from ctxcli.model import MAIN, EventKind, PartKind, Role, Transcript
from support import read

BYTES = base64.b64encode(bytes(range(256)) * 40).decode()


def written(folder: Path, rows: list[dict[str, Any]]) -> list[Transcript]:
    file = folder / "x.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return read(file)


# -- Claude Code


def claude(type_: str, uuid: str, parent: str | None, content: Any = None, **facts: Any) -> dict[str, Any]:
    """A session record; `id` and `tokens` make an answer of it."""
    row = {"type": type_, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False}
    if content is not None:
        row["message"] = {"role": type_, "content": content}
    if "id" in facts:
        usage = {"input_tokens": facts.pop("tokens", 100), "output_tokens": 5}
        row["message"] |= {
            "id": facts.pop("id"),
            "model": facts.pop("model", "claude-opus-4-6"),
            "usage": usage,
            "stop_reason": "end_turn",
        }
    return {**row, **facts}


def result(ref: str, text: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": ref, "content": text}]


def call(ref: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": ref, "name": "Read", "input": {}}]


def boundary(uuid: str, **facts: Any) -> dict[str, Any]:
    return {**claude("system", uuid, None), "subtype": "compact_boundary", **facts}


def live_at_end(transcript: Transcript, lane: str = MAIN) -> list[str]:
    """The texts that are in a lane's context after everything."""
    gone = {index for event in transcript.events for index in event.drops}
    return [
        part.text
        for index, message in enumerate(transcript.messages)
        if index not in gone and message.lane == lane
        for part in message.parts
    ]


def test_a_resumed_session_sends_only_the_path_to_its_last_record(tmp_path: Path) -> None:
    (transcript,) = written(tmp_path, [
        claude("user", "1", None, "go"),
        claude("assistant", "2", "1", call("a"), id="m1"),
        claude("assistant", "3", "2", call("b"), id="m1"),
        claude("user", "4", "2", result("a", "beside the path")),
        claude("user", "5", "3", result("b", "on the path")),
        claude("assistant", "6", "5", "done", id="m2"),
        claude("user", "7", "6", "<command-name>/exit</command-name>"),
        claude("user", "8", "7", "and now?"),
    ])  # fmt: skip
    assert "on the path" in live_at_end(transcript)
    assert "beside the path" not in live_at_end(transcript)


@pytest.mark.parametrize(
    "attachment",
    [
        {
            "type": "queued_command",
            "prompt": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BYTES}}],
        },
        {"type": "file", "filename": "a.pdf", "content": {"type": "pdf", "file": {"base64": BYTES}}},
        {"type": "mcp_resource", "content": {"contents": [{"blob": BYTES, "mimeType": "audio/wav"}]}},
    ],
    ids=lambda attachment: str(attachment["type"]),
)
def test_base64_in_an_attachment_is_media(attachment: dict[str, Any], tmp_path: Path) -> None:
    rows = [claude("user", "1", None, "look"), {**claude("attachment", "2", "1"), "attachment": attachment}]
    (transcript,) = written(tmp_path, rows)
    parts = [part for message in transcript.messages for part in message.parts]
    assert any(part.media for part in parts)
    assert all(len(part.text) < 200 for part in parts)


def test_a_sub_agents_compaction_says_nothing_of_the_main_window(tmp_path: Path) -> None:
    rows = [
        claude("user", "1", None, "go"), claude("assistant", "2", "1", "ok", id="m1"),
        claude("user", "3", None, "sub", isSidechain=True, agentId="a"),
        boundary("4", isSidechain=True, agentId="a", compactMetadata={"trigger": "auto", "preTokens": 150_000}),
    ]  # fmt: skip
    assert written(tmp_path, rows)[0].window is None


def test_a_preserved_span_may_begin_at_a_record_that_is_no_message(tmp_path: Path) -> None:
    (transcript,) = written(tmp_path, [
        claude("user", "1", None, "gone"),
        {**claude("attachment", "2", "1"), "attachment": {"type": "hook_success", "content": ""}},
        claude("user", "3", "2", "kept"),
        boundary("4", compactMetadata={"preservedSegment": {"headUuid": "2", "tailUuid": "3"}}),
        claude("user", "5", "4", "summary", isCompactSummary=True),
    ])  # fmt: skip
    assert live_at_end(transcript) == ["kept", "summary"]


def test_messages_written_again_after_a_compaction_are_in_the_new_context(tmp_path: Path) -> None:
    (transcript,) = written(tmp_path, [
        claude("user", "1", None, "q"), claude("assistant", "2", "1", "answer", id="m1"),
        boundary("3", compactMetadata={}), claude("user", "4", "3", "summary", isCompactSummary=True),
        claude("assistant", "5", "4", "answer", id="m1"),
    ])  # fmt: skip
    assert live_at_end(transcript) == ["summary", "answer"]
    assert len(transcript.calls) == 1


def test_a_summary_without_a_boundary_stands_for_all_before(tmp_path: Path) -> None:
    rows = [claude("user", "1", None, "old"), claude("user", "2", "1", "summary", isCompactSummary=True)]
    (transcript,) = written(tmp_path, rows)
    assert live_at_end(transcript) == ["summary"]


def test_interleaved_sessions_do_not_clear_one_another(tmp_path: Path) -> None:
    first, second = written(tmp_path, [
        claude("user", "1", None, "one"), claude("user", "2", None, "two", sessionId="t"),
        claude("assistant", "3", "1", "a", id="m1"), claude("assistant", "4", "2", "b", id="m2", sessionId="t"),
    ])  # fmt: skip
    assert (live_at_end(first), live_at_end(second)) == (["one", "a"], ["two", "b"])
    assert not first.events + second.events


# -- Codex


def codex(type_: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": type_, "payload": payload}


def said(role: str, text: str) -> dict[str, Any]:
    return codex("response_item", type="message", role=role, content=[{"type": "text", "text": text}])


def counted(total: int, prompt: int, output: int = 10) -> dict[str, Any]:
    last = {"input_tokens": prompt, "output_tokens": output, "total_tokens": prompt + output}
    return codex(
        "event_msg", type="token_count", info={"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    )


def test_a_total_that_returns_to_an_earlier_one_drops_what_came_between(tmp_path: Path) -> None:
    (transcript,) = written(tmp_path, [
        codex("session_meta", id="c"), said("user", "one"), said("assistant", "first"), counted(110, 100),
        said("user", "two"), said("assistant", "second"), counted(330, 210),
        codex("event_msg", type="task_started"), said("user", "three"), said("assistant", "third"), counted(260, 140),
    ])  # fmt: skip
    assert live_at_end(transcript) == ["one", "first", "three", "third"]
    assert [event.kind for event in transcript.events] == [EventKind.REWIND]


def test_mail_of_another_agent_ends_an_answer_that_was_cut_off(tmp_path: Path) -> None:
    (transcript,) = written(tmp_path, [
        codex("session_meta", id="c"), said("user", "go"), said("assistant", "cut off"),
        codex("response_item", type="agent_message", author="b", content="mail"), said("assistant", "whole"), counted(110, 100),
    ])  # fmt: skip
    (one,) = transcript.calls
    assert [part.text for part in transcript.messages[one.at].parts] == ["whole"]
    assert transcript.messages[one.at - 1].parts[0].text == "mail"


def test_a_summary_that_the_history_repeats_counts_once(tmp_path: Path) -> None:
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        for text in ("task", "the summary")
    ]
    rows = [
        codex("session_meta", id="c"),
        said("user", "task"),
        codex("compacted", message="the summary", replacement_history=history),
    ]
    (transcript,) = written(tmp_path, rows)
    assert live_at_end(transcript) == ["task", "the summary"]
    assert transcript.messages[-1].parts[0].kind is PartKind.SUMMARY


def test_a_chunk_without_its_head_puts_no_instructions_in_the_middle(tmp_path: Path) -> None:
    rows = [
        said("user", "go"),
        said("assistant", "ok"),
        counted(110, 100),
        codex("session_meta", id="c", base_instructions={"text": "long"}),
    ]
    (transcript,) = written(tmp_path, rows)
    assert "long" not in live_at_end(transcript)
    assert transcript.id == "c"


# -- request logs


def logged(messages: list[Any], answer: str, prompt: int, **facts: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": prompt, "completion_tokens": 5}
    choices = [{"message": {"role": "assistant", "content": answer}}]
    request = {"model": "gpt-4.1", "messages": [{"role": role, "content": text} for role, text in messages]}
    return {"request": request, "response": {"choices": choices, "usage": usage, "model": "gpt-4.1"}, **facts}


def test_conversations_that_take_turns_in_a_log_stay_apart(tmp_path: Path) -> None:
    def turn(name: str, count: int) -> dict[str, Any]:
        messages = [("user", f"{name}0")]
        for number in range(count):
            messages += [("assistant", f"{name}a{number}"), ("user", f"{name}{number + 1}")]
        return logged(messages, f"{name}a{count}", 10 + count)

    found = written(tmp_path, [turn(name, count) for count in range(3) for name in "AB"])
    assert [len(transcript.calls) for transcript in found] == [3, 3]
    assert all(call.usage for transcript in found for call in transcript.calls)
    assert not any(transcript.events for transcript in found)


def test_an_id_of_the_logs_own_keeps_a_summarised_conversation_together(tmp_path: Path) -> None:
    first = logged([("user", "long talk")], "long answer", 50, conversation_id="k")
    second = logged([("user", "a summary"), ("user", "go on")], "yes", 20, conversation_id="k")
    (transcript,) = written(tmp_path, [first, second])
    assert [event.kind for event in transcript.events] == [EventKind.REWRITE]
    assert transcript.id == "k"


def test_answers_in_the_first_logged_request_are_no_calls(tmp_path: Path) -> None:
    few_shot = [("user", "2+2"), ("assistant", "4"), ("user", "3+3"), ("assistant", "6"), ("user", "5+5")]
    (transcript,) = written(tmp_path, [logged(few_shot, "10", 40)])
    assert len(transcript.calls) == 1


def test_another_system_prompt_is_a_renewal_and_no_compaction(tmp_path: Path) -> None:
    rows = [
        logged([("system", "It is 9:00."), ("user", "Hi")], "Hello", 20),
        logged([("system", "It is 9:01."), ("user", "Hi"), ("assistant", "Hello"), ("user", "Bye")], "Bye", 30),
    ]
    (transcript,) = written(tmp_path, rows)
    assert [event.kind for event in transcript.events] == [EventKind.RENEW]
    report = audit(transcript)
    assert (report.compactions, report.calls[1].growth) == ((), 10)
    assert "It is 9:00." not in live_at_end(transcript)


def test_an_answer_asked_for_again_is_taken_back(tmp_path: Path) -> None:
    start = [("user", "a"), ("assistant", "b"), ("user", "c")]
    rows = [
        logged(start[:1], "b", 10),
        logged(start, "d", 20),
        logged(start, "e", 20),
        logged([*start, ("assistant", "e"), ("user", "f")], "g", 30),
    ]
    (transcript,) = written(tmp_path, rows)
    assert [event.kind for event in transcript.events] == [EventKind.REWIND]
    assert live_at_end(transcript) == ["a", "b", "c", "e", "f", "g"]


def anthropic(content: list[dict[str, Any]], output: int, **facts: Any) -> dict[str, Any]:
    usage = {"input_tokens": 100, "output_tokens": output, **facts.pop("usage", {})}
    response = {
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": "end_turn",
        "usage": usage,
        **facts,
    }
    return {
        "request": {"model": "claude-sonnet-4-6", "system": "s", "messages": [{"role": "user", "content": "go"}]},
        "response": response,
    }


@pytest.mark.parametrize("kind", ["compaction", "code_execution_tool_result"])
def test_what_the_model_did_not_write_weighs_its_text(kind: str, tmp_path: Path) -> None:
    words = "some words of the text " * 400
    (transcript,) = written(
        tmp_path, [anthropic([{"type": kind, "content": words}, {"type": "text", "text": "done"}], 5)]
    )
    (report,) = [audit(transcript)]
    assert report.hot[0].tokens > 1_500


def test_cleared_tool_uses_are_the_oldest_each_time_and_an_event_only_once(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    rows = []
    for number in range(5):
        answer = call(f"t{number}")
        edits = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": max(0, number - 1)}]}
        row = anthropic(answer, 5, context_management=edits)
        row["request"]["messages"] = list(messages)
        rows.append(row)
        messages += [
            {"role": "assistant", "content": answer},
            {"role": "user", "content": result(f"t{number}", f"result {number}")},
        ]
    (transcript,) = written(tmp_path, rows)
    cleared = [
        transcript.messages[index].parts[part].text for event in transcript.events for index, part in event.clears
    ]
    assert cleared == ["result 0", "result 1", "result 2"]


@pytest.mark.parametrize(
    "piece",
    [
        {"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{BYTES}"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": BYTES}},
    ],
    ids=lambda piece: str(piece["type"]),
)
def test_base64_in_a_chat_message_is_media(piece: dict[str, Any], tmp_path: Path) -> None:
    (transcript,) = written(tmp_path, [{"role": "user", "content": [piece]}, {"role": "assistant", "content": "ok"}])
    parts = transcript.messages[0].parts
    assert any(part.media for part in parts)
    assert all(len(part.text) < 300 for part in parts)


def test_a_custom_tool_call_keeps_its_name_and_input(tmp_path: Path) -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "run", "input": "ls"}}
    (transcript,) = written(
        tmp_path, [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [custom]}]
    )
    part = transcript.messages[1].parts[0]
    assert (part.name, part.text) == ("run", "ls")
    assert transcript.messages[1].role is Role.ASSISTANT
