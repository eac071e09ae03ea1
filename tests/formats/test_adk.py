"""Google ADK: what of a session's events a model saw, compactions, rewinds, and the forms sessions are stored in."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.adk import claims
from ctxcli.model import EventKind, PartKind, Record, Role, Usage
from ctxcli.replay import live
from support import FIXTURES, SHARED, needs_shared, read

FOLDER = FIXTURES / "adk"
LOG = "events-with-compactions-and-rewind.jsonl"


def event(number: int, invocation: str, author: str, said: str = "", **more: Any) -> dict[str, Any]:
    content = {"content": {"role": "user" if author == "user" else "model", "parts": [{"text": said}]}} if said else {}
    return {"id": f"e{number}", "invocation_id": invocation, "author": author, "timestamp": number, **content, **more}


def written(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return path


def test_calls_and_results_without_ids_are_tied_in_order() -> None:
    (transcript,) = read(FOLDER / "session.json")
    assert [(part.ref, part.address) for part in transcript.messages[2].parts] == [
        ("ships/1", "/quay/5"),
        ("ships/2", "/quay/6"),
    ]
    assert transcript.messages[2].role is Role.TOOL


def test_thoughts_are_beside_the_output_and_cached_tokens_inside_the_prompt() -> None:
    (transcript,) = read(FOLDER / "session.json")
    assert transcript.calls[0].usage == Usage(
        prompt=200, uncached=72, cache_read=128, cache_write=0, output=32, reasoning=20
    )
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [200, 260, 280, 310, 305]


def test_what_no_model_saw_is_bookkeeping() -> None:
    (transcript,) = read(FOLDER / "session.json")
    assert dict(transcript.bookkeeping) == {"event without content": 1, "partial event": 1, "request to the user": 1}
    assert transcript.duplicates == 1
    assert "never in the context" not in str(transcript.messages)


def test_the_answer_of_a_long_running_tool_takes_the_place_of_the_first() -> None:
    (transcript,) = read(FOLDER / "session.json")
    (change,) = transcript.events
    assert (change.kind, change.drops) == (EventKind.REWRITE, (6,))
    assert 7 in live(transcript)[0]


def test_agents_side_by_side_are_a_note() -> None:
    (transcript,) = read(FOLDER / "session.json")
    assert "side by side" in transcript.notes[0]


def test_a_compaction_stands_for_its_span_and_a_summary_inside_it() -> None:
    (transcript,) = read(FOLDER / LOG)
    summaries = [one for one in transcript.events if one.kind is EventKind.SUMMARY]
    assert [(one.at, one.drops, one.summary) for one in summaries] == [(4, (0, 1), 4), (9, (2, 3, 4), 9)]
    assert live(transcript)[0] == [7, 8, 9, 10, 11]
    assert dict(transcript.bookkeeping) == {"compaction that failed": 1}


def test_a_rewind_takes_out_the_events_from_an_invocation_on() -> None:
    (transcript,) = read(FOLDER / LOG)
    (rewind,) = [one for one in transcript.events if one.kind is EventKind.REWIND]
    assert (rewind.at, rewind.drops) == (7, (5, 6))
    assert [skip.recovered for skip in transcript.skips] == [True]


def test_a_rewind_of_a_summary_gives_back_what_it_stood_for(tmp_path: Path) -> None:
    span = {"start_timestamp": 1, "end_timestamp": 2, "compacted_content": {"parts": [{"text": "One and two."}]}}
    events = [
        event(1, "a", "user", "One."),
        event(2, "a", "agent", "Two."),
        event(3, "b", "user", actions={"compaction": span}),
        event(4, "b", "agent", "Four."),
        event(5, "c", "user", actions={"rewind_before_invocation_id": "b"}),
    ]
    (transcript,) = read(written(tmp_path / "log.jsonl", *events))
    in_context = [transcript.messages[at] for at in live(transcript)[0]]
    assert [(message.parts[0].text, message.copied) for message in in_context] == [("One.", True), ("Two.", True)]


def test_speech_is_what_was_transcribed() -> None:
    (transcript,) = read(FOLDER / LOG)
    assert transcript.messages[-1].parts[0].text == "The gate."
    assert transcript.messages[-1].role is Role.ASSISTANT


def test_sessions_on_lines_are_conversations(tmp_path: Path) -> None:
    sessions = [{"id": name, "events": [event(1, "a", "user", "One.")]} for name in ("s1", "s2")]
    assert [one.id for one in read(written(tmp_path / "two.jsonl", *sessions))] == ["s1", "s2"]


@pytest.mark.parametrize("newer", [True, False], ids=["event_data", "columns"])
def test_a_database_holds_sessions(newer: bool, tmp_path: Path) -> None:
    events = [event(2, "a", "agent", "Two."), event(1, "a", "user", "One.")]
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("create table sessions (id text, app_name text)")
        base.execute("insert into sessions values ('s1', 'app')")
        if newer:
            base.execute("create table events (id text, session_id text, event_data text)")
            rows: list[tuple[Any, ...]] = [(one["id"], "s1", json.dumps(one)) for one in events]
        else:
            base.execute(
                "create table events (id text, session_id text, invocation_id text, author text, timestamp text,"
                " content text)"
            )
            rows = [
                (
                    one["id"],
                    "s1",
                    "a",
                    one["author"],
                    f"2025-01-01 10:00:0{one['timestamp']}.5",
                    json.dumps(one["content"]),
                )
                for one in events
            ]
        insert = "insert into events values (?, ?, ?)" if newer else "insert into events values (?, ?, ?, ?, ?, ?)"
        base.executemany(insert, rows)
        base.commit()
    (transcript,) = read(path)
    assert [part.text for message in transcript.messages for part in message.parts] == ["One.", "Two."]
    assert (transcript.id, len(transcript.calls), bool(transcript.notes)) == ("s1", 1, not newer)


def test_an_invented_part_changes_its_count_alone(tmp_path: Path) -> None:
    session = json.loads((FOLDER / "session.json").read_bytes())
    session["events"] = session["events"][:-1]
    session["events"][11]["content"]["parts"].pop()
    path = tmp_path / "less.json"
    path.write_text(json.dumps(session), "utf-8")
    (without,), (with_it,) = read(path), read(FOLDER / "session.json")
    assert [len(message.parts) for message in without.messages] == [len(message.parts) for message in with_it.messages]
    assert (len(without.skips), len(with_it.skips)) == (0, 2)


@pytest.mark.parametrize(
    "value",
    [
        {"author": "user", "content": {"parts": []}},
        {"events": []},
        {"tables": {"events": ["id"], "sessions": ["id"]}},
        {"role": "user", "parts": [{"text": "x"}]},
        [1, None],
    ],
)
def test_other_records_are_not_claimed(value: Any) -> None:
    assert not claims([Record(1, value)])


@needs_shared
def test_a_real_session_is_read_whole() -> None:
    path = SHARED / "adk" / "sample.session.json"
    parts = [part for one in json.loads(path.read_bytes())["events"] for part in one["content"]["parts"]]
    (transcript,) = read(path)
    found = [part for message in transcript.messages for part in message.parts]
    assert len(found) == len(parts)
    texts = [part["text"] for part in parts if "text" in part]
    assert [part.text for part in found if part.kind is PartKind.TEXT] == texts
    results = [part for part in found if part.kind is PartKind.TOOL_RESULT]
    assert all(part.ref and part.name == "transfer_to_other_agent" for part in results)
    assert not transcript.skips
