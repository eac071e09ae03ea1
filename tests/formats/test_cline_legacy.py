"""Cline and Roo tasks: what their pitfalls come to."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.blocks.cline_text import Turn, calls_in, failed
from ctxcli.formats.blocks.cline_usage import Display
from ctxcli.formats.cline_legacy import claims
from ctxcli.model import EventKind, PartKind, Record, Role, Transcript, Usage
from ctxcli.replay import live, replay
from support import FIXTURES, ctx, golden, normal_form, read

FOLDER = FIXTURES / "cline-legacy"
TASK = "api_conversation_history.json"


def of(name: str) -> Transcript:
    (transcript,) = read(FOLDER / name)
    return transcript


@pytest.mark.parametrize("name", ["roo-task", "cline-task"])
def test_a_task_with_its_display_reads_to_its_golden_normal_form(name: str) -> None:
    golden(normal_form(of(f"{name}/{TASK}")), FIXTURES / "golden" / "formats" / "cline-legacy" / f"{name}.txt")


def test_calls_in_text_are_calls_and_their_results_know_them() -> None:
    transcript = of("xml-calls.json")
    calls = {part.ref: part for one in transcript.messages for part in one.parts if part.kind is PartKind.TOOL_CALL}
    results = [part for one in transcript.messages for part in one.parts if part.kind is PartKind.TOOL_RESULT]
    assert [(one.name, one.address) for one in calls.values()] == [
        ("read_file", "src/rows.ts"), ("execute_command", "npm test"), ("write_to_file", "out/count.txt"),
        ("attempt_completion", ""),
    ]  # fmt: skip
    assert [calls[one.ref].name for one in results] == ["read_file", "write_to_file", "execute_command"]
    assert [one.failed for one in results] == [False, False, True]


def test_a_call_within_the_text_of_another_is_none_and_neither_is_one_without_an_end() -> None:
    said = "<write_to_file><path>a</path><content><read_file><path>b</path></read_file></content></write_to_file>"
    (call,) = calls_in(said, 1, "x")
    assert (call.kind, call.address) == (PartKind.TOOL_CALL, "a")
    (text,) = calls_in("<read_file>\n<path>a</path>", 1, "x")
    assert text.kind is PartKind.TEXT


def test_the_words_of_the_user_of_the_client_and_of_tools_are_told_apart() -> None:
    turn = Turn(1, [])
    turn.text("<task>\nfix it\n</task>\n\n<environment_details>\nfiles\n</environment_details>")
    turn.text("[list_files for '.'] Result:")
    turn.text("a.ts")
    turn.text("<feedback>\nno\n</feedback>")
    turn.text("[TASK RESUMPTION] This task was interrupted")
    assert [(who, parts[0].text.split("\n")[0]) for who, parts in turn.said] == [
        ("human", "<task>"), ("client", "<environment_details>"), ("tool", "[list_files for '.'] Result:"),
        ("human", "<feedback>"), ("client", "[TASK RESUMPTION] This task was interrupted"),
    ]  # fmt: skip
    assert turn.said[2][1][0].text.endswith("\na.ts")


@pytest.mark.parametrize(
    ("said", "is_failed"),
    [
        ('{"status":"error","message":"x"}', True), ('{"status": "approved"}', False), ("an <error> in the text", False),
        ("[x] Result:\n\nThe tool execution failed with the following error:", True),
    ],
)  # fmt: skip
def test_what_a_failure_looks_like(said: str, is_failed: bool) -> None:
    assert failed(said) is is_failed


def test_what_names_a_summary_as_its_parent_is_out_of_the_context_and_an_orphan_is_in_it() -> None:
    transcript = of("condensed-and-cut.json")
    first, second, cut = transcript.events
    assert [one.kind for one in transcript.events] == [EventKind.SUMMARY, EventKind.SUMMARY, EventKind.TRIM]
    assert {transcript.messages[at].parts[-1].text[:12] for at in second.drops} == {"kept, first", "Summary one:"}
    now = [transcript.messages[at].parts[0].text for at in live(transcript)[0]]
    assert "orphaned, so in the context" in now
    assert not {"kept, second", "kept, third"} & set(now)
    assert first.summary is not None
    assert cut.summary is None


def test_the_messages_that_were_kept_came_before_the_summary_that_stands_before_them() -> None:
    transcript = of("condensed-and-cut.json")
    first = transcript.events[0]
    kept = [at for at, one in enumerate(transcript.messages) if one.parts[0].text.startswith("kept")]
    assert all(at < first.at for at in kept)
    assert not set(kept) & set(first.drops)


def test_a_summary_is_no_call_and_reasoning_before_an_answer_is_part_of_it() -> None:
    transcript = of("condensed-and-cut.json")
    assert [call.id for call in transcript.calls] == ["r1", "r2", "r3", "r4", "r5", "r6"]
    fourth = transcript.messages[transcript.calls[3].at]
    assert [part.kind for part in fourth.parts] == [PartKind.THINKING, PartKind.OPAQUE, PartKind.TOOL_CALL]


def test_roos_input_holds_the_cached_tokens_and_a_request_that_failed_is_no_call() -> None:
    transcript = of(f"roo-task/{TASK}")
    assert [(one.prompt, one.uncached) for call in transcript.calls if (one := call.usage)] == [
        (12_000, 1_000), (12_400, 1_000), (11_100, 11_100),
    ]  # fmt: skip
    assert transcript.notes == ("1 of 4 requests have no answer in this file: not counted.",)


def test_the_display_tells_when_a_task_was_condensed_and_how_large_it_was() -> None:
    (event,) = of(f"roo-task/{TASK}").events
    assert (event.at, event.tokens_before, event.tokens_after) == (8, 12_600, 900)


def test_clines_input_leaves_the_cached_tokens_out_but_for_openai() -> None:
    calls = of(f"cline-task/{TASK}").calls
    assert [(one.prompt, one.uncached) for call in calls if (one := call.usage)] == [
        (9_010, 10), (9_312, 12), (5_200, 4_800),
    ]  # fmt: skip
    assert [call.model for call in calls] == ["claude-sonnet-4-5", "claude-sonnet-4-5", "gpt-5.5"]


def test_what_cline_leaves_out_is_gone_from_the_next_request_on() -> None:
    transcript = of(f"cline-task/{TASK}")
    (event,) = transcript.events
    assert (event.kind, event.drops) == (EventKind.TRIM, (3, 4, 5))
    assert list(replay(transcript))[-1].left == (3, 4)


def request(**facts: Any) -> dict[str, Any]:
    return {"ts": 5, "type": "say", "say": "api_req_started", "text": json.dumps(facts)}


def used(*entries: dict[str, Any]) -> Usage | None:
    display = Display()
    display.take(entries)
    return display.usage_of(display.requests[0])


def test_an_early_roo_wrote_its_input_without_the_cached_tokens() -> None:
    early = used(request(apiProtocol="anthropic", tokensIn=4, cacheReads=900, cacheWrites=96, tokensOut=7))
    assert early is not None
    assert (early.prompt, early.uncached) == (1_000, 4)
    assert used(request(tokensOut=7)) is None


def test_as_many_requests_as_answers_are_paired_in_their_order_and_others_are_not(tmp_path: Path) -> None:
    (tmp_path / TASK).write_text((FOLDER / "xml-calls.json").read_text("utf-8"), "utf-8")
    display = tmp_path / "ui_messages.json"
    display.write_text(json.dumps([request(tokensIn=n, tokensOut=1) for n in (100, 200, 300, 400)]), "utf-8")
    assert [call.usage.prompt for call in read(tmp_path / TASK)[0].calls if call.usage] == [100, 200, 300, 400]
    display.write_text(json.dumps([request(tokensIn=n, tokensOut=1) for n in (100, 200)]), "utf-8")
    (transcript,) = read(tmp_path / TASK)
    assert not any(call.usage for call in transcript.calls)
    assert "nothing ties them to the 4 answers" in transcript.notes[0]


def test_figures_on_the_answers_serve_where_there_is_no_display(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "<task>\nhello\n</task>"},
        {"role": "assistant", "content": "hi", "modelInfo": {"modelId": "claude-x"},
         "metrics": {"tokens": {"prompt": 10, "completion": 3, "cached": 500}, "cost": 0.1}},
    ]  # fmt: skip
    (tmp_path / TASK).write_text(json.dumps(messages), "utf-8")
    (call,) = read(tmp_path / TASK)[0].calls
    assert call.usage == Usage(prompt=510, uncached=10, output=3)
    assert call.model == "claude-x"


def test_the_messages_of_the_second_version_say_the_same() -> None:
    transcript = of("second-version.json")
    assert [one.role for one in transcript.messages] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert transcript.messages[2].parts[0].address == "src"


def test_an_unknown_message_changes_only_its_count(tmp_path: Path) -> None:
    messages = json.loads((FOLDER / "xml-calls.json").read_text("utf-8"))
    messages.insert(2, {"role": "oracle", "content": "unheard"})
    (tmp_path / TASK).write_text(json.dumps(messages), "utf-8")
    (after,) = read(tmp_path / TASK)
    assert [one.parts[0].text for one in after.messages] == [one.parts[0].text for one in of("xml-calls.json").messages]
    assert [skip.reason for skip in after.skips] == ["record type 'message/oracle' is not known: not counted"]


def test_the_guard_checks_what_was_condensed() -> None:
    done = ctx("guard", FOLDER / "roo-task" / TASK, "--recorded")
    assert b"12,600 tokens before" in done.stdout
    assert b"3 of 3 stated" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize(
    "value",
    [
        None, 3, [], {}, [3, None], [{"role": "user", "content": "hello"}], {"version": 2, "messages": None},
        [{"ts": 1, "type": "say", "say": "text", "text": "<task>"}], {"version": 2, "sessionId": "x", "messages": []},
        [{"role": "user", "content": [{"type": "text", "text": 7}]}],
    ],
)  # fmt: skip
def test_it_claims_nothing_else(value: Any) -> None:
    assert not claims([Record(1, value)])
    assert not claims([])
