"""Inspect: calls that repeat their prompt, attachments and pools, samples and epochs, agents as lanes."""

import json
import zipfile
from pathlib import Path

import pytest

from ctxcli.formats.inspect_ai import claims
from ctxcli.model import EventKind, PartKind, Record, Transcript
from ctxcli.replay import live
from support import FIXTURES, SHARED, needs_shared, read

LOG = FIXTURES / "inspect-ai" / "lighthouse.json"


def texts(transcript: Transcript, lane: str = "") -> list[str]:
    return [part.text for one in transcript.messages if not lane or one.lane == lane for part in one.parts]


def test_each_sample_of_each_epoch_is_a_conversation() -> None:
    assert [transcript.id for transcript in read(LOG)] == ["log_epoch_1", "log_epoch_2", "7_epoch_1"]


def test_attachments_are_resolved_and_a_repeated_prompt_counts_once() -> None:
    first = read(LOG)[0]
    assert not any("attachment://" in text for text in texts(first))
    assert sum(text.startswith("The lighthouse log of night 1") for text in texts(first)) == 1
    assert "Runs a command." in texts(first)[0]


def test_encrypted_reasoning_shows_its_summary_and_errors_are_what_the_model_saw() -> None:
    first = read(LOG)[0]
    answer = first.messages[3]
    assert [part.kind for part in answer.parts[:2]] == [PartKind.THINKING, PartKind.OPAQUE]
    failed = [part.text for message in first.messages for part in message.parts if part.failed]
    assert failed == ["The lamp must not be touched."]


def test_an_edit_clears_a_result_and_a_summary_takes_the_place_of_what_was_said() -> None:
    first = read(LOG)[0]
    clear, summary = first.events
    assert (clear.kind, clear.tokens_before, clear.tokens_after) == (EventKind.CLEAR, 1400, 1320)
    assert [first.messages[at].parts[part].ref for at, part in clear.clears] == ["c1"]
    assert (summary.kind, summary.tokens_before, summary.tokens_after) == (EventKind.SUMMARY, 1400, 300)
    assert summary.summary is not None
    assert first.messages[summary.summary].parts[0].kind is PartKind.SUMMARY
    left = [first.messages[at].parts[0].text for at in live(first)[0]]
    assert left[-3:] == [first.messages[summary.summary].parts[0].text, "I write night 3.", "night 3"]
    assert "I read the log." not in left


def test_agents_and_scorers_are_lanes_of_their_own() -> None:
    first = read(LOG)[0]
    lanes = {lane.name: (lane.title, lane.spawned_by) for lane in first.lanes}
    assert lanes == {"main": ("", ""), "sub": ("helper", "c2"), "scorers": ("scorers", "")}
    assert texts(first, "sub") == ["You help.", "Which night is missing?", "Night 3 is missing."]


def test_a_call_without_an_answer_is_none_and_what_came_after_the_last_call_is_there() -> None:
    first = read(LOG)[0]
    assert dict(first.bookkeeping)["event/model without an answer"] == 1
    assert len([call for call in first.calls if call.lane == "main"]) == 6
    assert first.messages[-1].parts[0].ref == "c5"


def test_a_pool_of_messages_and_a_trim() -> None:
    second = read(LOG)[1]
    assert texts(second) == ["Count the lamps.", "One.", "Go on.", "Two.", "Go on.", "Three."]
    (trim,) = second.events
    assert (trim.kind, trim.drops) == (EventKind.TRIM, (0, 1))


def test_the_total_tells_whether_cached_tokens_are_inside() -> None:
    first, second, third = read(LOG)
    inside = [call.usage for call in first.calls if call.usage][2]
    assert (inside.prompt, inside.uncached, inside.cache_read) == (1300, 300, 1000)
    outside = second.calls[0].usage
    assert outside is not None
    assert (outside.prompt, outside.uncached, outside.cache_read, outside.cache_write) == (500, 10, 90, 400)
    assert [call.usage for call in third.calls] == [None]
    assert any("44 tokens" in note for note in third.notes)


def archive(where: Path) -> Path:
    """The same log as an archive: the header, the journal, and a file for each sample."""
    log = json.loads(LOG.read_text())
    samples = log.pop("samples")[:3]
    file = where / "log.eval"
    with zipfile.ZipFile(file, "w") as zipped:
        for sample in samples:
            zipped.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        zipped.writestr("_journal/start.json", json.dumps({key: log[key] for key in ("version", "eval", "plan")}))
        zipped.writestr("_journal/summaries/1.json", json.dumps([{"id": "log", "epoch": 1}]))
        zipped.writestr("header.json", json.dumps(log))
        zipped.writestr("summaries.json", "[]")
    return file


def test_an_archive_reads_as_the_document_does(tmp_path: Path) -> None:
    before = {transcript.id: transcript for transcript in read(LOG)}
    after = {transcript.id: transcript for transcript in read(archive(tmp_path))}
    assert before.keys() == after.keys()
    for name, transcript in after.items():
        assert texts(transcript) == texts(before[name])
        assert [call.usage for call in transcript.calls] == [call.usage for call in before[name].calls]
        assert transcript.format == "inspect-ai"
    assert sum(transcript.records for transcript in after.values()) == 7
    books = [dict(transcript.bookkeeping) for transcript in after.values()]
    assert sum(one.get("header", 0) for one in books) == 2


def test_an_unknown_event_changes_only_its_count(tmp_path: Path) -> None:
    log = json.loads(LOG.read_text())
    log["samples"][0]["events"].insert(6, {"event": "wormhole", "span_id": "ag"})
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(log))
    before, after = read(LOG)[0], read(file)[0]
    assert texts(after) == texts(before)
    assert len(after.calls) == len(before.calls)
    assert [skip for skip in after.skips if "'event/wormhole'" in skip.reason]


def test_a_conversation_that_shares_nothing_with_the_agents_is_beside_it(tmp_path: Path) -> None:
    log = json.loads(LOG.read_text())
    events = log["samples"][1]["events"]
    critique = {"role": "user", "content": "Is that a good answer?", "id": "k0"}
    answer = {"role": "assistant", "content": "Yes.", "id": "k1"}
    events.insert(
        2, {**events[1], "input": [critique], "input_refs": None, "output": {"choices": [{"message": answer}]}}
    )
    file = tmp_path / "critique.json"
    file.write_text(json.dumps(log))
    second = read(file)[1]
    assert [call.lane for call in second.calls] == ["main", "main beside 1", "main", "main"]
    assert [event.kind for event in second.events] == [EventKind.TRIM]


@pytest.mark.parametrize(
    "value", [None, [], {"eval": 3, "version": 2}, {"eval": {"model": "x"}}, {"messages": [], "id": 1}]
)
def test_odd_values_are_not_claimed(value: object) -> None:
    assert not claims([Record(1, value)])


@needs_shared
def test_real_logs_add_up_to_their_own_totals() -> None:
    file = SHARED / "inspect-ai" / "browser.json"
    (transcript,), log = read(file), json.loads(file.read_text())
    total = log["stats"]["model_usage"]["openai/gpt-4o-mini"]
    usages = [call.usage for call in transcript.calls if call.usage]
    assert sum(usage.prompt or 0 for usage in usages) == total["input_tokens"]
    assert sum(usage.output or 0 for usage in usages) == total["output_tokens"]
    assert sum(usage.cache_read or 0 for usage in usages) == total["input_tokens_cache_read"]
    assert len(transcript.messages) == len(log["samples"][0]["messages"]) + 1  # and the tools
    assert not transcript.skips
    assert not transcript.events


@needs_shared
def test_a_real_archive_with_a_pool_holds_its_final_messages() -> None:
    (transcript,) = read(SHARED / "inspect-ai" / "message-pool.eval")
    with zipfile.ZipFile(SHARED / "inspect-ai" / "message-pool.eval") as zipped:
        sample = json.loads(zipped.read("samples/0_epoch_1.json"))
    said = [message for message in transcript.messages if message.role != "system"]
    assert [message.role.value for message in said] == [one["role"] for one in sample["messages"]]
    assert len(transcript.calls) == sum(event["event"] == "model" for event in sample["events"]) == 6
    assert not transcript.events
