"""OpenHands: usage is differenced, condensations take out what they forget, in each of the shapes it is stored in."""

import json
import zipfile
from pathlib import Path

import pytest

from ctxcli.formats.openhands import claims
from ctxcli.model import EventKind, PartKind, Record, Role, Transcript
from ctxcli.replay import live
from support import FIXTURES, SHARED, needs_shared, read

FOLDER = FIXTURES / "openhands"
EVENTS, OUTPUT = FOLDER / "events.jsonl", FOLDER / "output.jsonl"


def prompts(transcript: Transcript) -> list[int | None]:
    return [call.usage.prompt if call.usage else -1 for call in transcript.calls]


def texts(transcript: Transcript) -> list[str]:
    return [part.text for message in transcript.messages for part in message.parts]


def test_sums_are_differenced_and_what_holds_several_calls_tells_no_prompt() -> None:
    (transcript,) = read(EVENTS)
    assert prompts(transcript) == [1000, 1200, 900, 800, None]
    assert [call.usage.cache_read for call in transcript.calls if call.usage][:4] == [0, 1000, 800, 700]
    assert [note for note in transcript.notes if "condenser 960" in note]  # not among the conversation's calls
    assert transcript.calls[-1].usage is not None
    assert transcript.messages[transcript.calls[-1].at].parts == ()


def test_parallel_calls_of_one_response_are_one_message_and_a_repeated_thought_counts_once() -> None:
    (transcript,) = read(EVENTS)
    answer = transcript.messages[transcript.calls[0].at]
    assert [part.kind for part in answer.parts] == [PartKind.TEXT, PartKind.TOOL_CALL, PartKind.TOOL_CALL]
    assert answer.lines == (5, 6)
    assert "security_risk" in answer.parts[1].text  # the arguments as the model wrote them, not the action


def test_a_condensation_forgets_events_and_its_summary_gives_way_to_the_next() -> None:
    (transcript,) = read(EVENTS)
    first, second = transcript.events
    assert (first.kind, first.trigger, first.drops) == (EventKind.SUMMARY, "context_limit", (3, 4, 5))
    assert first.summary in second.drops
    left = [transcript.messages[at].parts[0].text for at in live(transcript)[0] if transcript.messages[at].parts]
    assert left[-2:] == ["Only the check is left.", "All ships are counted once."]


def test_refusals_and_errors_are_failed_results() -> None:
    (transcript,) = read(EVENTS)
    failed = [part.text for message in transcript.messages for part in message.parts if part.failed]
    assert failed == ["ls: cannot access 'log'", "The terminal is busy.", "Action rejected: Not the log!"]


def test_what_the_client_adds_to_a_message_is_not_the_users() -> None:
    (transcript,) = read(EVENTS)
    added = next(message for message in transcript.messages if message.parts[0].text.startswith("Skill:"))
    assert (added.role, added.harness) == (Role.USER, True)


def folder(where: Path, *, stats: object = None) -> Path:
    """The same events as a folder of files, with the state beside them."""
    (where / "events").mkdir(parents=True)
    events = [json.loads(line) for line in EVENTS.read_text().splitlines()]
    for number, event in enumerate(events):
        (where / "events" / f"event-{number:05}-{event['id']}.json").write_text(json.dumps(event))
    state = {"id": "conv-7", "agent": {"llm": {"model": "claude-harbour-4"}}, "stats": stats or {}}
    (where / "base_state.json").write_text(json.dumps(state))
    (where / "TASKS.json").write_text("[]")
    return where


def test_a_folder_of_events_reads_as_the_lines_do(tmp_path: Path) -> None:
    (lines,), (files,) = read(EVENTS), read(folder(tmp_path / "conv"))
    assert texts(files) == texts(lines)
    assert prompts(files) == prompts(lines)
    assert [(event.kind, event.drops) for event in files.events] == [
        (event.kind, event.drops) for event in lines.events
    ]
    assert dict(files.bookkeeping)["base_state"] == 1
    assert files.format == "openhands"


def test_a_zip_of_that_folder_reads_as_well(tmp_path: Path) -> None:
    source = folder(tmp_path / "conv")
    file = tmp_path / "conv.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for one in sorted(source.rglob("*.json")):
            archive.write(one, one.relative_to(tmp_path))
    (transcript,) = read(file)
    assert texts(transcript) == texts(read(EVENTS)[0])


def test_figures_listed_call_by_call_go_before_the_sums(tmp_path: Path) -> None:
    listed = [{"response_id": "r2", "prompt_tokens": 1207, "completion_tokens": 41, "cache_read_tokens": 7}]
    stats = {"usage_to_metrics": {"default": {"token_usages": listed}}}
    (transcript,) = read(folder(tmp_path / "conv", stats=stats))
    assert {call.id: call.usage.prompt for call in transcript.calls if call.usage} == {"r2": 1207}


def test_usage_that_is_reported_after_the_answer_belongs_to_it(tmp_path: Path) -> None:
    lines = EVENTS.read_text().splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    stats, action = kinds.index("ConversationStateUpdateEvent", 1), kinds.index("ActionEvent")
    lines.insert(action + 1, lines.pop(stats))
    file = tmp_path / "late.jsonl"
    file.write_text("\n".join(lines))
    assert prompts(read(file)[0])[:2] == [1000, 1200]


def test_an_instance_a_line_and_the_response_once_however_many_actions_it_chose() -> None:
    first, second = read(OUTPUT)
    assert (first.id, second.id) == ("harbour__1", "harbour__2")
    assert prompts(first) == [700, 820]
    assert texts(first).count("I build first.") == 1
    (event,) = first.events
    assert event.drops == (3, 4, 5)
    assert "a text for the screen" not in " ".join(texts(first))


def test_pairs_of_old_histories_sums_of_metrics_and_a_delegate() -> None:
    _, second = read(OUTPUT)
    assert prompts(second) == [300, 350, 150]
    lane = second.lanes[1]
    assert (lane.title, lane.spawned_by) == ("BrowsingAgent", "action-3")
    assert [call.lane for call in second.calls] == ["main", "main", lane.name]
    assert second.messages[-1].lane == "main"
    assert second.messages[-1].parts[0].name == "delegate"


def test_a_list_of_events_and_a_folder_of_numbered_files(tmp_path: Path) -> None:
    history = json.loads(OUTPUT.read_text().splitlines()[0])["history"]
    file = tmp_path / "trajectory.json"
    file.write_text(json.dumps(history))
    (tmp_path / "conv" / "events").mkdir(parents=True)
    for event in history:
        (tmp_path / "conv" / "events" / f"{event['id']}.json").write_text(json.dumps(event))
    wanted = texts(read(OUTPUT)[0])
    for source in (file, tmp_path / "conv"):  # 10.json stands before 2.json, but comes after it
        (transcript,) = read(source)
        assert texts(transcript) == wanted
        assert prompts(transcript) == [700, 820]


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        [],
        [[1]],
        {"kind": "Event", "source": 3},
        {"action": "ls", "observation": "x"},
        {"history": [1]},
        {"id": 1},
    ],
)
def test_odd_values_are_not_claimed(value: object) -> None:
    assert not claims([Record(1, value)])


def test_an_unknown_kind_changes_only_its_count(tmp_path: Path) -> None:
    lines = EVENTS.read_text().splitlines()
    lines.insert(9, json.dumps({"id": "h", "timestamp": "x", "source": "agent", "kind": "Wormhole"}))
    file = tmp_path / "odd.jsonl"
    file.write_text("\n".join(lines))
    (before,), (after,) = read(EVENTS), read(file)
    assert texts(after) == texts(before)
    assert prompts(after) == prompts(before)
    assert [skip for skip in after.skips if "'Wormhole'" in skip.reason]


@needs_shared
def test_the_real_sample_adds_up_to_its_last_report() -> None:
    file = SHARED / "openhands" / "events.jsonl"
    (transcript,) = read(file)
    values = [json.loads(line) for line in file.read_text().splitlines()]
    last = [one["value"] for one in values if one.get("key") == "stats"][-1]["usage_to_metrics"]["default"]
    usages = [call.usage for call in transcript.calls if call.usage]
    total = last["accumulated_token_usage"]
    assert sum(usage.prompt or 0 for usage in usages) == total["prompt_tokens"]
    assert sum(usage.output or 0 for usage in usages) == total["completion_tokens"]
    assert sum(usage.cache_read or 0 for usage in usages) == total["cache_read_tokens"]
    assert len(transcript.calls) == 4
    assert not transcript.skips
