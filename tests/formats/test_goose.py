"""goose: what the pitfalls of its sessions come to."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.goose import claims
from ctxcli.model import EventKind, PartKind, Record, Role, Transcript
from ctxcli.replay import live
from support import FIXTURES, ctx, read

FOLDER = FIXTURES / "goose"


def of(name: str) -> Transcript:
    (transcript,) = read(FOLDER / name)
    return transcript


def every_text(transcript: Transcript) -> str:
    return "\n".join(part.text for one in transcript.messages for part in one.parts)


def test_what_is_for_the_users_eyes_is_not_in_the_context() -> None:
    said = every_text(of("session.jsonl"))
    assert "31 data/rows.csv" in said
    assert "shown to the user alone" not in said
    assert "shown only" not in said


def test_results_in_both_shapes_and_calls_that_failed() -> None:
    results = [part for one in of("session.jsonl").messages for part in one.parts if part.kind is PartKind.TOOL_RESULT]
    assert [(one.text, one.name, one.failed) for one in results] == [
        ("31 data/rows.csv", "developer__shell", False), ("-32603: could not be parsed", "", True),
        ("# Demo 2.4.1", "developer__text_editor", True),
    ]  # fmt: skip
    assert [one.role for one in of("session.jsonl").messages].count(Role.TOOL) == 2


def test_the_figures_of_a_session_are_those_of_its_last_call() -> None:
    transcript = of("session.jsonl")
    assert [call.usage.prompt if call.usage else None for call in transcript.calls] == [None, None, 5_200]
    assert "14,400 input and 250 output" in transcript.notes[0]
    assert transcript.folders == ("/work/demo",)


def test_times_are_in_seconds() -> None:
    assert of("session.jsonl").messages[0].time == "2026-05-28T20:26:40.000Z"


def test_each_compaction_takes_out_what_stood_before_it() -> None:
    transcript = of("export.json")
    first, second = transcript.events
    assert (first.kind, first.drops, first.summary) == (EventKind.SUMMARY, (0, 1), 2)
    assert second.drops == (2, 3, 4, 5, 6)
    assert [transcript.messages[at].parts[0].text[:20] for at in live(transcript)[0]] == [
        "src/rows.py was fixe", "Your context was com", "Release it as 2.4.2", "Released 2.4.2.", "a rule that the clie",
    ]  # fmt: skip


def test_the_prompt_that_a_compaction_writes_again_is_a_copy_and_its_command_was_never_seen() -> None:
    transcript = of("export.json")
    copies = [one.parts[0].text for one in transcript.messages if one.copied and one.role is Role.USER]
    assert copies == ["Release it as 2.4.2"]
    assert "/compact" not in every_text(transcript)


def test_what_the_client_says_is_neither_a_call_nor_the_users() -> None:
    transcript = of("export.json")
    assert [call.id for call in transcript.calls] == ["msg_2", "msg_7", "msg_12"]
    assert [one.harness for one in transcript.messages if "rule that" in one.parts[0].text] == [True]
    assert transcript.window == 200_000


def test_the_guard_finds_what_a_compaction_lost() -> None:
    done = ctx("guard", FOLDER / "export.json", "--recorded")
    assert done.returncode == 1
    assert b"ABC-9" in done.stdout
    assert b"91ac03e" in done.stdout
    assert b"PASS \xc2\xb7 2 of 2" in done.stdout  # the second one, behind which the prompt is written again


def visible(user: bool, agent: bool) -> str:
    return json.dumps({"userVisible": user, "agentVisible": agent})


def text(said: str) -> str:
    return json.dumps([{"type": "text", "text": said}])


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A database of two sessions whose messages stand between one another, and one without any."""
    file = tmp_path / "sessions.db"
    with closing(sqlite3.connect(file)) as made, made:
        made.executescript("""
            create table schema_version (version integer primary key);
            create table sessions (id text primary key, name text, working_dir text not null, total_tokens integer,
                input_tokens integer, output_tokens integer, accumulated_input_tokens integer,
                accumulated_output_tokens integer, provider_name text, model_config_json text);
            create table messages (id integer primary key autoincrement, message_id text, session_id text not null,
                role text not null, content_json text not null, created_timestamp integer not null, metadata_json text);
            insert into schema_version values (9);
        """)
        setup = json.dumps({"model_name": "gpt-5.5", "context_limit": 400000})
        made.executemany(
            "insert into sessions values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                ("s1", "one", "/work/one", 310, 300, 10, 900, 40, "openai", setup),
                ("s2", "two", "/work/two", None, None, None, None, None, None, None),
                ("s3", "empty", "/work/three", None, None, None, None, None, None, None),
            ],
        )
        made.executemany(
            "insert into messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) "
            "values (?, ?, ?, ?, ?, ?)",
            [
                ("a1", "s1", "user", text("first of one"), 1_780_000_000, visible(True, False)),
                ("b1", "s2", "user", text("first of two"), 1_780_000_001, None),
                ("a2", "s1", "user", text("the summary"), 1_780_000_002, visible(False, True)),
                ("b2", "s2", "assistant", text("answer of two"), 1_780_000_003, visible(True, True)),
                ("a3", "s1", "assistant", text("answer of one"), 1_780_000_004, visible(True, True)),
            ],
        )
    return file


def test_a_database_holds_a_conversation_for_each_session(base: Path) -> None:
    one, two = read(base)
    assert (one.id, two.id) == ("s1", "s2")
    assert [message.parts[0].text for message in one.messages] == ["first of one", "the summary", "answer of one"]
    assert [message.parts[0].text for message in two.messages] == ["first of two", "answer of two"]
    assert (one.events[0].drops, one.events[0].summary) == ((0,), 1)
    assert (one.models, one.provider, one.window, one.folders) == (["gpt-5.5"], "openai", 400_000, ("/work/one",))
    assert [call.usage.prompt if call.usage else None for call in one.calls] == [300]
    assert dict(one.bookkeeping) == {"schema_version": 1, "sessions": 3, "tables": 1}
    assert one.records + two.records == 1 + 1 + 3 + 5


def test_the_audit_of_a_database_lists_its_sessions(base: Path) -> None:
    done = ctx("audit", base)
    assert done.returncode == 0
    assert b"s1" in done.stdout
    assert b"s2" in done.stdout


def test_an_unknown_line_or_item_changes_only_its_count(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (FOLDER / "session.jsonl").read_text("utf-8").splitlines()]
    rows[1]["content"].append({"type": "smell", "text": "unheard"})
    rows.insert(3, {"type": "weather", "text": "unheard"})
    spoilt = tmp_path / "session.jsonl"
    spoilt.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (after,) = read(spoilt)
    before = of("session.jsonl")
    assert every_text(after) == every_text(before)
    assert {skip.reason for skip in after.skips} - {skip.reason for skip in before.skips} == {
        "record type 'weather' is not known: not counted",
        "record type 'content/smell' is not known: not counted",
    }


@pytest.mark.parametrize(
    "value",
    [
        None, 3, [], {}, {"tables": {"messages": ["id", "data"]}}, {"tables": None}, {"role": "user", "content": "x"},
        {"role": "user", "content": [], "created": "2026"}, {"conversation": []}, {"working_dir": "/x", "role": "user"},
    ],
)  # fmt: skip
def test_it_claims_nothing_else(value: Any) -> None:
    assert not claims([Record(1, value)])
    assert not claims([])
