"""LangChain: three forms of one message, calls that stand twice, removals and summaries."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.langchain import claims
from ctxcli.model import EventKind, PartKind, Record, Role, Usage
from ctxcli.replay import live
from support import FIXTURES, SHARED, needs_shared, read

FOLDER = FIXTURES / "langchain"


def lines(*values: Any, path: Path) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return path


def test_the_three_forms_of_a_message_say_the_same(tmp_path: Path) -> None:
    fields = {"content": "Good morning.", "id": "h1"}
    forms = (
        {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "HumanMessage"], "kwargs": fields},
        {"type": "human", "data": fields},
        {"type": "human", **fields},
    )
    for form in forms:
        (transcript,) = read(lines(form, path=tmp_path / "one.jsonl"))
        (message,) = [message for message in transcript.messages if message.parts]
        assert (message.role, message.id, message.parts[0].text) == (Role.USER, "h1", "Good morning.")


def test_a_call_in_the_content_and_in_tool_calls_is_one() -> None:
    (transcript,) = read(FOLDER / "constructors.json")
    kinds = [part.kind for part in transcript.messages[2].parts]
    assert kinds == [PartKind.THINKING, PartKind.TEXT, PartKind.TOOL_CALL]
    assert transcript.messages[2].parts[0].signed


def test_a_call_of_additional_kwargs_is_the_one_of_tool_calls_again() -> None:
    (transcript,) = read(FOLDER / "removals-and-summary.jsonl")
    calls = [part.name for part in transcript.messages[2].parts if part.kind is PartKind.TOOL_CALL]
    assert calls == ["list_orders"]


def test_the_prompt_of_usage_metadata_holds_what_was_cached() -> None:
    (transcript,) = read(FOLDER / "constructors.json")
    assert [call.usage for call in transcript.calls] == [
        Usage(prompt=903, uncached=3, cache_read=0, cache_write=900, output=40, cache_write_1h=0),
        Usage(prompt=965, uncached=5, cache_read=900, cache_write=60, output=22, cache_write_1h=0),
    ]


def test_an_artifact_and_the_files_of_a_state_are_not_in_the_context() -> None:
    for name in ("constructors.json", "state.json"):
        (transcript,) = read(FOLDER / name)
        said = " ".join(part.text for message in transcript.messages for part in message.parts)
        assert "never sent" not in said
        assert "not in the context" not in said


def test_a_removal_of_all_and_a_summary_are_a_compaction_that_keeps_what_is_given_back() -> None:
    (transcript,) = read(FOLDER / "removals-and-summary.jsonl")
    summary, trim = transcript.events
    assert (summary.kind, summary.at, summary.drops, summary.summary) == (EventKind.SUMMARY, 8, (0, 1, 2, 3, 4), 8)
    assert (trim.kind, trim.at, trim.drops) == (EventKind.TRIM, 12, (5,))
    assert transcript.messages[8].harness
    assert live(transcript)[0] == [6, 7, 8, 9, 10, 11, 12, 13]
    assert transcript.duplicates == 4


def test_a_summary_whose_history_is_gone_is_a_compaction_without_drops() -> None:
    (transcript,) = read(FOLDER / "state.json")
    (event,) = transcript.events
    assert (event.kind, event.at, event.drops, event.summary) == (EventKind.SUMMARY, 0, (), 0)
    assert transcript.id == "thread-7"


def test_a_summary_beside_the_messages_stands_for_those_before_its_cutoff() -> None:
    transcript, other = read(FOLDER / "conversations.jsonl")
    assert live(transcript)[0] == [2, 3, 4]
    assert "does not say when" in transcript.notes[0]
    assert other.messages[0].parts[0].kind is PartKind.TOOLS


def test_a_message_of_a_known_id_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    first, second = ({"type": "human", "content": text, "id": "h1"} for text in ("One.", "Two."))
    (transcript,) = read(lines(first, second, path=tmp_path / "two.jsonl"))
    (event,) = transcript.events
    assert (event.kind, event.drops) == (EventKind.REWRITE, (0,))


def test_a_removal_of_all_that_gives_nothing_back_is_a_reset(tmp_path: Path) -> None:
    human = {"type": "human", "content": "One.", "id": "h1"}
    gone = {"type": "remove", "id": "__remove_all__", "content": ""}
    (transcript,) = read(lines(human, gone, {**human, "id": "h2"}, path=tmp_path / "reset.jsonl"))
    assert [(event.kind, event.drops) for event in transcript.events] == [(EventKind.RESET, (0,))]


@pytest.mark.parametrize("name", ["constructors.json", "removals-and-summary.jsonl"])
def test_an_invented_type_changes_its_count_alone(name: str, tmp_path: Path) -> None:
    text = (FOLDER / name).read_text("utf-8")
    less = [line for line in text.splitlines() if "hologram" not in line] if name.endswith("l") else None
    whole = json.dumps([one for one in json.loads(text) if "Hologram" not in str(one)]) if less is None else ""
    path = tmp_path / name
    path.write_text("\n".join(less or [whole]), "utf-8")
    (with_it,), (without,) = read(FOLDER / name), read(path)
    assert len(with_it.skips) == len(without.skips) + 1
    assert [part.text for message in with_it.messages for part in message.parts] == [
        part.text for message in without.messages for part in message.parts
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"type": "system", "content": "x", "sessionId": "s", "uuid": "u"},
        {"role": "user", "content": "x"},
        {"type": "human"},
        {"type": "message", "data": {"content": "x"}},
        {"messages": [{"role": "user", "content": "x"}]},
        {"conversations": [{"from": "human", "value": "x"}]},
        [1, None, "human"],
    ],
)
def test_other_records_are_not_claimed(value: Any) -> None:
    assert not claims([Record(1, value)])


@needs_shared
def test_the_usage_of_a_real_dump_is_what_json_alone_says() -> None:
    path = SHARED / "langchain" / "seed-messages.json"
    figures = [one["kwargs"].get("usage_metadata") for one in json.loads(path.read_bytes())]
    (transcript,) = read(path)
    assert [(call.usage.prompt, call.usage.output) for call in transcript.calls if call.usage] == [
        (one["input_tokens"], one["output_tokens"]) for one in figures if one
    ]
