"""ATIF: what is copied is counted once, continuations and sub-agents belong to their trajectory."""

import json
import zipfile
from pathlib import Path

import pytest

from ctxcli.formats.atif import claims
from ctxcli.model import EventKind, PartKind, Record, Role
from ctxcli.replay import live
from support import FIXTURES, SHARED, needs_shared, read

FOLDER = FIXTURES / "atif"
AGENTS = FOLDER / "compaction-and-agents.trajectory.json"


def test_a_continuation_goes_on_and_repeats_nothing() -> None:
    (transcript,) = read(FOLDER / "handoff.json")
    main = [message for message in transcript.messages if message.lane == "main"]
    task = [message.copied for message in main if message.parts[0].text.startswith("Solve tasks")]
    assert task == [False, True]
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [200, 250]  # not the copied 111
    (event,) = transcript.events
    assert (event.kind, event.drops) == (EventKind.SUMMARY, (0, 1, 2))
    assert event.summary is not None
    assert transcript.messages[event.summary].parts[0].kind is PartKind.SUMMARY
    assert 0 not in live(transcript)[0]


def test_a_continuation_alone_has_lost_what_its_summary_stands_for() -> None:
    (transcript,) = read(FOLDER / "handoff.cont-1.json")
    (event,) = transcript.events
    assert (event.kind, event.drops, event.summary) == (EventKind.SUMMARY, (), 1)
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [250]
    assert not any(message.copied for message in transcript.messages)
    assert dict(transcript.bookkeeping)["trajectory of another session"] == 1


def test_sub_agents_are_lanes_embedded_or_in_a_file_beside() -> None:
    (transcript,) = read(FOLDER / "handoff.json")
    files = {lane.name: Path(lane.file).name for lane in transcript.lanes}
    assert files["relay-9-summarization-1-summary"] == "handoff.summarization-1-summary.json"
    assert files["relay-9-summarization-1-answers"] == ""  # named, but not in the source
    (embedded,) = read(AGENTS)
    lane = next(lane for lane in embedded.lanes if lane.name == "asker-1")
    assert (lane.title, lane.spawned_by) == ("Asks around", "c2")
    assert [call.model for call in embedded.calls if call.lane == "asker-1"] == ["claude-pebble-4"]


def test_a_boundary_replaces_all_but_the_system_prompt_and_marked_steps_before_it_are_no_copies() -> None:
    (transcript,) = read(AGENTS)
    (event,) = transcript.events
    assert [transcript.messages[at].role for at in range(9) if at not in event.drops] == [Role.SYSTEM] * 2 + [Role.USER]
    assert transcript.messages[event.summary or 0].parts[0].text.startswith("Summary: Mira")
    assert not any(message.copied for message in transcript.messages)


def test_metrics_cached_tokens_are_inside_and_several_calls_tell_no_context() -> None:
    (transcript,) = read(AGENTS)
    figures = [
        (call.usage.prompt, call.usage.uncached, call.usage.cache_read, call.usage.cache_write, call.usage.output)
        for call in transcript.calls
        if call.usage and call.lane == "main"
    ]
    assert figures == [(500, 200, 0, 300, 40), (320, 64, 256, 0, 20), (None, None, None, None, 30)]
    assert any("several calls" in note for note in transcript.notes)


def test_steps_without_a_call_of_their_own_are_no_calls() -> None:
    (transcript,) = read(AGENTS)
    called = {call.at for call in transcript.calls}
    texts = [message.parts[0].text for at, message in enumerate(transcript.messages) if at in called]
    assert "The same answer goes on." not in texts
    assert "I wait for the lock." not in texts


def test_unknown_sources_and_types_change_only_their_count(tmp_path: Path) -> None:
    value = json.loads(AGENTS.read_text())
    value["steps"].insert(3, {"source": "hologram", "message": "boo"})
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(value))
    (before,), (after,) = read(AGENTS), read(file)
    assert [[part.text for part in one.parts] for one in after.messages] == [
        [part.text for part in one.parts] for one in before.messages
    ]
    assert len(after.messages) == len(before.messages)
    assert {skip.reason for skip in after.skips} - {skip.reason for skip in before.skips} == {
        "record type 'message/hologram' is not known: not counted"
    }


def test_members_of_an_archive_are_conversations_but_for_what_belongs_to_another(tmp_path: Path) -> None:
    file = tmp_path / "job.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("handoff.cont-1.json", "handoff.json", "handoff.summarization-1-summary.json"):
            archive.write(FOLDER / name, f"agent/{name.replace('handoff.json', 'handoff.a.json')}")
        archive.write(AGENTS, "other/trajectory.json")
    assert {transcript.id for transcript in read(file)} == {"relay-9", "quarry-1"}


@pytest.mark.parametrize(
    "value", [None, [], {"schema_version": 1, "steps": []}, {"schema_version": "ATIF-v1", "steps": 3}]
)
def test_odd_values_are_not_claimed(value: object) -> None:
    assert not claims([Record(1, value)])


@needs_shared
def test_real_trajectories_add_up_to_their_own_totals() -> None:
    for name in ("openhands.trajectory.json", "summarization.trajectory.json"):
        file = SHARED / "atif" / name
        (transcript,) = read(file)
        own = sorted(
            {str(file), *(str(one) for one in file.parent.glob("summ*cont*.json"))} if "summ" in name else [str(file)]
        )
        steps = [step for one in own for step in json.loads(Path(one).read_text())["steps"]]
        metrics = [step["metrics"] for step in steps if "metrics" in step and not step.get("is_copied_context")]
        usages = [call.usage for call in transcript.calls if call.usage]
        assert sum(usage.prompt or 0 for usage in usages) == sum(one["prompt_tokens"] for one in metrics)
        assert sum(usage.output or 0 for usage in usages) == sum(one["completion_tokens"] for one in metrics)
        assert not transcript.skips
