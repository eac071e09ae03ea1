"""Vercel AI SDK: steps inside a message, what is shown and not sent, figures, the forms of each version."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.ai_sdk import claims
from ctxcli.model import EventKind, PartKind, Record, Role, Usage
from ctxcli.replay import live
from support import FIXTURES, read

FOLDER = FIXTURES / "ai-sdk"


def written(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return path


def test_each_step_of_a_message_is_a_call_followed_by_its_results() -> None:
    (transcript,) = read(FOLDER / "ui-messages-v5.json")
    roles = [message.role for message in transcript.messages[2:7]]
    assert roles == [Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert [call.at for call in transcript.calls] == [2, 4, 6, 8, 10]
    assert len({call.id for call in transcript.calls}) == 5
    assert transcript.id == "chat-9"


def test_failed_and_denied_calls_have_failed_results() -> None:
    (transcript,) = read(FOLDER / "ui-messages-v5.json")
    results = [part for message in transcript.messages for part in message.parts if part.kind is PartKind.TOOL_RESULT]
    assert [(part.text, part.failed) for part in results[1:]] == [
        ("no such line", True),
        ('[{"title":"Brig"}]', False),
        ("Not today.", True),
    ]


def test_what_is_only_shown_is_bookkeeping() -> None:
    (transcript,) = read(FOLDER / "ui-messages-v5.json")
    assert dict(transcript.bookkeeping) == {
        "part data": 1,
        "part source-url": 1,
        "part of a call that is not whole": 1,
    }


def test_usage_of_one_call_is_taken_and_of_several_together_is_not() -> None:
    (transcript,) = read(FOLDER / "ui-messages-v5.json")
    assert [call.usage for call in transcript.calls] == [
        None,
        None,
        None,
        Usage(prompt=420, uncached=20, cache_read=400, cache_write=0, output=9, reasoning=2),
        Usage(prompt=450, uncached=30, cache_read=420, cache_write=0, output=8, reasoning=0),
    ]
    assert "one figure for all of them" in transcript.notes[0]


def test_content_invocations_and_parts_of_version_4_count_once() -> None:
    (transcript,) = read(FOLDER / "ui-messages-v4.jsonl")
    texts = [part.text for message in transcript.messages for part in message.parts if part.kind is PartKind.TEXT]
    assert texts.count("It is 4 degrees.") == 1
    calls = [part.ref for message in transcript.messages for part in message.parts if part.kind is PartKind.TOOL_CALL]
    assert calls == ["c1", "c2"]
    assert transcript.duplicates == 1


def test_invocations_without_parts_come_before_the_text() -> None:
    (transcript,) = read(FOLDER / "ui-messages-v4.jsonl")
    assert [message.role for message in transcript.messages[5:8]] == [Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert transcript.messages[7].parts[-1].text == "It is 6 degrees."


def test_model_messages_of_both_versions() -> None:
    (transcript,) = read(FOLDER / "model-messages.json")
    results = [part for message in transcript.messages for part in message.parts if part.kind is PartKind.TOOL_RESULT]
    assert [(part.text, part.failed, part.name) for part in results] == [
        ('{"coins":312}', False, "count"),
        ("one picture", False, "photo"),
        ("the coins are not ours", True, "melt"),
        ("7", False, "count"),
    ]
    assert [message.role for message in transcript.messages if message.role is Role.TOOL] == [Role.TOOL] * 2


def test_a_message_of_a_known_id_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    one, two = ({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]} for text in ("One.", "Two."))
    (transcript,) = read(written(tmp_path / "two.jsonl", one, two))
    assert [(event.kind, event.drops) for event in transcript.events] == [(EventKind.REWRITE, (0,))]
    assert live(transcript)[0] == [1]


def test_an_invented_part_and_role_change_their_counts_alone(tmp_path: Path) -> None:
    chat = json.loads((FOLDER / "ui-messages-v5.json").read_bytes())
    chat["messages"][3]["parts"].pop()
    (without,), (with_it,) = read(written(tmp_path / "less.json", chat)), read(FOLDER / "ui-messages-v5.json")
    assert [len(message.parts) for message in without.messages] == [len(message.parts) for message in with_it.messages]
    assert [skip.reason for skip in with_it.skips] == ["record type 'part hologram' is not known: not counted"]
    assert not without.skips


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user", "content": "x"},
        {"role": "user", "parts": [{"text": "x"}]},
        {"role": "user", "parts": [{"type": "text", "content": "x"}]},
        {"role": "model", "parts": [{"type": "text", "text": "x"}]},
        {"info": {}, "role": "user", "parts": [{"type": "text", "text": "x"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]},
        {"role": "user", "parts": []},
        [None, 1],
    ],
)
def test_other_records_are_not_claimed(value: Any) -> None:
    assert not claims([Record(1, value)])
