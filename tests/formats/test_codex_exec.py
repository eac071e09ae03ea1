"""`codex exec --json`: calls and results that are one item, and usage that is a running total."""

from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats import FORMATS
from ctxcli.model import PartKind, Record, Role, Transcript, Usage
from support import FIXTURES, ctx, read

EXEC = FIXTURES / "codex-exec"


def parts(transcript: Transcript, kind: PartKind) -> list[Any]:
    return [part for message in transcript.messages for part in message.parts if part.kind is kind]


def test_the_running_total_is_differenced_and_given_to_the_call_of_a_turn_that_made_one() -> None:
    (transcript,) = read(EXEC / "turns.jsonl")
    assert [call.usage for call in transcript.calls] == [
        Usage(prompt=8_200, uncached=1_200, cache_read=7_000, cache_write=0, output=14),
        None,
        None,
        Usage(prompt=33_400 - 24_900, uncached=400, cache_read=31_200 - 23_100, cache_write=0, output=6),
    ]


def test_the_usage_of_a_turn_of_several_calls_is_noted_and_is_no_context() -> None:
    (transcript,) = read(EXEC / "turns.jsonl")
    assert any(f"{24_900 - 8_200:,} tokens sent and {120 - 14} received" in note for note in transcript.notes)


def test_calls_that_were_started_together_are_one_answer() -> None:
    (transcript,) = read(EXEC / "turns.jsonl")
    assert [message.role for message in transcript.messages[1:5]] == [
        Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.ASSISTANT,
    ]  # fmt: skip
    assert [(part.text, part.failed) for part in parts(transcript, PartKind.TOOL_RESULT)] == [
        ("12 rpm\n", False),
        ("cat: south.txt: No such file or directory\n", True),
    ]


def test_a_summary_of_reasoning_is_not_what_the_model_sees() -> None:
    (transcript,) = read(EXEC / "turns.jsonl")
    assert [part.name for part in parts(transcript, PartKind.OPAQUE)] == ["reasoning"]
    assert not any("Looking" in part.text for message in transcript.messages for part in message.parts)


def test_every_kind_of_item() -> None:
    (transcript,) = read(EXEC / "items.jsonl")
    assert [part.name for part in parts(transcript, PartKind.TOOL_CALL)] == [
        "update_plan", "file_change", "mcp__camera__shoot", "mcp__scale__weigh", "mcp__scale__tare", "web_search",
        "update_plan", "spawn_agent", "command_execution",
    ]  # fmt: skip
    results = {part.name: (part.text, part.failed) for part in parts(transcript, PartKind.TOOL_RESULT)}
    assert results["mcp__camera__shoot"] == ("one picture", False)
    assert results["mcp__scale__weigh"] == ('{"kg":3}', False)
    assert results["mcp__scale__tare"] == ("no power", True)
    assert results["command_execution"] == ("wood cut", False)
    (image,) = parts(transcript, PartKind.MEDIA)
    assert (image.media.width, image.media.height) == (640, 480)
    assert [(lane.name, lane.spawned_by) for lane in transcript.lanes[1:]] == [("child-1", "item_6")]


def test_the_state_of_the_plan_that_ends_a_turn_is_a_repetition() -> None:
    (transcript,) = read(EXEC / "items.jsonl")
    assert transcript.duplicates == 1
    assert [skip.reason for skip in transcript.skips] == ["record type 'item/hologram' is not known: not counted"]


def test_a_thread_that_is_resumed_goes_on_and_its_items_are_told_apart() -> None:
    first, second = read(EXEC / "resumed-and-another.jsonl")
    assert [call.ref for call in parts(first, PartKind.TOOL_CALL)] == ["item_0", "2.item_0"]
    assert [part.text for part in parts(first, PartKind.TOOL_RESULT)] == ["dam.md", "# Dam"]
    assert any("33,000 tokens sent and 90 received" in note for note in first.notes)
    assert [call.usage.prompt for call in second.calls if call.usage] == [7_000, 6_000]


@pytest.mark.parametrize("name", ["turns", "items"])
@pytest.mark.parametrize(
    "odd", ['{"type":"thread.dreamt"}', '{"type":"item.completed","item":{"id":"x","type":"poem"}}']
)
def test_an_unknown_event_or_item_changes_that_count_alone(name: str, odd: str, tmp_path: Path) -> None:
    lines = (EXEC / f"{name}.jsonl").read_text("utf-8").splitlines()
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join([*lines[:4], odd, *lines[4:]]), "utf-8")
    (plain,), (other,) = read(EXEC / f"{name}.jsonl"), read(file)
    said = [[[part.text for part in message.parts] for message in one.messages] for one in (plain, other)]
    assert said[0] == said[1]
    assert [call.usage for call in plain.calls] == [call.usage for call in other.calls]
    assert len(other.skips) == len(plain.skips) + 1


def test_an_audit_says_what_the_figures_are() -> None:
    done = ctx("audit", EXEC / "turns.jsonl")
    assert done.returncode == 0
    assert "16,700 tokens sent" in " ".join(done.stdout.decode().split())


NOT_OURS: tuple[Any, ...] = (
    {"type": "turn.completed"},
    {"type": "thread.started"},
    {"type": "item.completed", "item": "x"},
    {"type": "response.output_item.done", "item": {"type": "message"}},
    {"type": "session.start", "data": {}},
    {"type": {"a": 1}},
    None, 3, "thread.started", [], {},
)  # fmt: skip


@pytest.mark.parametrize("value", NOT_OURS, ids=repr)
def test_other_events_are_not_claimed(value: Any) -> None:
    assert not FORMATS["codex-exec"].claims([Record(1, value)])
