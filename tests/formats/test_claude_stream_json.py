"""Claude Code's stream-json: lines of one response, sub-agents, compactions, and a result that is never added."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats import FORMATS
from ctxcli.model import MAIN, EventKind, PartKind, Record, Role, Transcript
from ctxcli.replay import live
from support import FIXTURES, ctx, read

STREAM = FIXTURES / "claude-stream-json"


def texts(transcript: Transcript, indices: list[int]) -> list[str]:
    return [part.text for index in indices for part in transcript.messages[index].parts]


def test_lines_of_one_response_are_one_call_and_the_result_is_not_added() -> None:
    (transcript,) = read(STREAM / "session.jsonl")
    assert [(call.id, call.usage.prompt) for call in transcript.calls if call.usage] == [
        ("msg_01", 4 + 16_000 + 2_000),
        ("msg_02", 6 + 150 + 18_000),
    ]
    assert [part.kind for part in transcript.messages[1].parts] == [
        PartKind.THINKING, PartKind.TEXT, PartKind.TOOL_CALL,
    ]  # fmt: skip
    assert transcript.messages[1].lines == (2, 3, 4)
    assert transcript.window == 200_000


def test_output_is_a_placeholder_and_the_note_gives_the_figure_of_the_run() -> None:
    (transcript,) = read(STREAM / "session.jsonl")
    assert [call.usage.output_final for call in transcript.calls if call.usage] == [False, False]
    assert any("180 output tokens" in note for note in transcript.notes)


def test_tools_are_named_and_the_prompt_is_missing() -> None:
    (transcript,) = read(STREAM / "session.jsonl")
    assert [part.name for part in transcript.messages[0].parts] == ["Task", "Bash", "Read"]
    assert {part.kind for part in transcript.messages[0].parts} == {PartKind.TOOLS}
    assert any("prompt" in note for note in transcript.notes)


def test_an_answer_that_the_client_made_up_and_other_lines_are_no_messages() -> None:
    (transcript,) = read(STREAM / "session.jsonl")
    assert dict(transcript.bookkeeping) == {"assistant/api error": 1, "rate_limit_event": 1, "result": 1}
    assert [(skip.line, skip.reason) for skip in transcript.skips] == [
        (7, "record type 'weir_report' is not known: not counted")
    ]


def test_sub_agents_have_lanes_of_their_own() -> None:
    (transcript,) = read(STREAM / "sub-agents.jsonl")
    north, south = transcript.lanes[1:]
    assert (north.name, north.title, north.spawned_by, north.tokens) == ("toolu_A", "Explore", "toolu_A", 5_066)
    assert (south.title, south.tokens) == ("Read the south gauge", 4_806)
    prompts = {call.id: call.usage.prompt for call in transcript.calls if call.usage and call.lane == MAIN}
    assert prompts == {"msg_11": 15_003, "msg_15": 15_304}
    assert transcript.window == 1_000_000


def test_a_compaction_keeps_tools_and_what_it_says_it_preserved() -> None:
    (transcript,) = read(STREAM / "compaction.jsonl")
    first, second, renewal = transcript.events
    assert (first.kind, first.trigger, first.tokens_before, first.tokens_after) == (
        EventKind.SUMMARY, "manual", 14_139, 2_053,
    )  # fmt: skip
    assert "Keep the gate at 40 %." not in texts(transcript, list(first.drops))
    assert first.summary is not None
    assert transcript.messages[first.summary].parts[0].kind is PartKind.SUMMARY
    assert (second.summary, second.opaque) == (None, True)
    assert renewal.kind is EventKind.RENEW
    assert texts(transcript, live(transcript)[0]) == ["I go on.", "Read", "Write", "Note it down.", "Noted."]


def test_the_guard_judges_the_recorded_compaction() -> None:
    done = ctx("guard", STREAM / "compaction.jsonl", "--recorded", "--format", "json")
    assert done.returncode in (0, 1)
    assert "gate.log" in done.stdout.decode()


def test_streamed_pieces_tell_the_output_of_their_response() -> None:
    (transcript,) = read(STREAM / "partial.jsonl")
    (call,) = transcript.calls
    assert call.usage is not None
    assert (call.usage.prompt, call.usage.output, call.usage.output_final) == (9_003, 27, True)
    assert len(transcript.messages) == 3


def test_an_array_of_two_runs_is_two_conversations() -> None:
    found = read(STREAM / "two-runs.json")
    assert [(one.id or "")[-1] for one in found] == ["5", "6"]
    assert [[call.usage.prompt for call in one.calls if call.usage] for one in found] == [[8_005], [8_105]]
    assert [message.line for message in found[1].messages] == [5, 6]


def test_of_a_run_whose_result_alone_was_kept_the_answer_is_read() -> None:
    (transcript,) = read(STREAM / "only-result.json")
    (message,) = transcript.messages
    assert (message.role, message.parts[0].text) == (Role.ASSISTANT, "All is well.")
    assert transcript.calls[0].usage is not None
    assert transcript.calls[0].usage.prompt == 8_105


@pytest.mark.parametrize("name", ["session", "sub-agents", "compaction", "partial"])
def test_a_line_of_an_unknown_type_changes_that_count_alone(name: str, tmp_path: Path) -> None:
    lines = (STREAM / f"{name}.jsonl").read_text("utf-8").splitlines()
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join([*lines[:3], '{"type":"brand_new","session_id":"s"}', *lines[3:]]), "utf-8")
    (plain,), (odd,) = read(STREAM / f"{name}.jsonl"), read(file)
    assert [message.parts and message.parts[0].text for message in odd.messages] == [
        message.parts and message.parts[0].text for message in plain.messages
    ]
    assert [call.usage for call in odd.calls] == [call.usage for call in plain.calls]
    assert len(odd.skips) == len(plain.skips) + 1


NOT_OURS: tuple[Any, ...] = (
    {"type": "user", "sessionId": "s", "session_id": "s", "uuid": "u", "parentUuid": None, "message": {"content": "x"}},
    {"type": "init", "session_id": "s", "model": "gemini"},
    {"type": "result", "session_id": "s", "status": "success", "stats": {}},
    {"type": "user", "message": {"role": "user", "parts": []}, "session_id": "s"},
    {"type": "session", "session_id": "s"},
    {"type": ["user"], "session_id": "s", "message": {}},
    None, 3, "x", [], {}, [[]],
)  # fmt: skip


@pytest.mark.parametrize("value", NOT_OURS, ids=repr)
def test_other_lines_are_not_claimed(value: Any) -> None:
    assert not FORMATS["claude-stream-json"].claims([Record(1, value)])


def test_the_same_lines_are_no_session_file() -> None:
    lines = (STREAM / "session.jsonl").read_text("utf-8").splitlines()
    assert not FORMATS["claude-code"].claims([Record(1, json.loads(line)) for line in lines])
