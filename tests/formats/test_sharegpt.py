"""ShareGPT data sets: who speaks under which name, tools, media, and thousands of conversations in one file."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats import FORMATS
from ctxcli.model import PartKind, Record, Role, Transcript
from support import FIXTURES, needs_shared, read, shared_files

SHAREGPT = FIXTURES / "sharegpt"


def read_value(value: Any, tmp_path: Path) -> list[Transcript]:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(value), "utf-8")
    return read(file)


def turns(*said: tuple[str, str]) -> dict[str, Any]:
    return {"conversations": [{"from": name, "value": value} for name, value in said]}


NAMES = {
    Role.USER: ("human", "user", "Human"),
    Role.ASSISTANT: ("gpt", "chatgpt", "bing", "bard", "assistant", "model", "function_call"),
    Role.TOOL: ("observation", "tool", "function_response"),
    Role.SYSTEM: ("system",),
}


@pytest.mark.parametrize(("name", "role"), [(name, role) for role, names in NAMES.items() for name in names])
def test_every_name_has_a_role(name: str, role: Role, tmp_path: Path) -> None:
    (transcript,) = read_value(turns(("human", "Hi"), (name, "x"), ("gpt", "Bye")), tmp_path)
    assert transcript.messages[1].role is role


def test_conversations_are_independent_and_keep_their_ids() -> None:
    found = read(SHAREGPT / "array.json")
    assert [transcript.id for transcript in found] == ["tea_0", "tea_1", "3"]
    assert [len(transcript.calls) for transcript in found] == [1, 2, 1]
    assert [message.line for message in found[1].messages] == [12, 13, 14, 15]


def test_a_turn_from_an_unknown_name_is_counted_and_changes_nothing_else(tmp_path: Path) -> None:
    plain = read_value(turns(("human", "Hi"), ("gpt", "Yes?")), tmp_path)[0]
    odd = read_value(turns(("human", "Hi"), ("jury", "Guilty"), ("gpt", "Yes?")), tmp_path)[0]
    assert [(one.role, one.parts) for one in odd.messages] == [(one.role, one.parts) for one in plain.messages]
    assert [skip.reason for skip in odd.skips] == ["record type 'turn from jury' is not known: not counted"]


def test_tools_are_definitions_as_json_text_too_and_system_stands_first() -> None:
    first, second, *_ = read(SHAREGPT / "tools.jsonl")
    assert [(part.kind, part.name) for part in first.messages[0].parts] == [
        (PartKind.TOOLS, "find_room"),
        (PartKind.TEXT, ""),
    ]
    assert [part.name for part in second.messages[0].parts] == ["open_url"]


def test_calls_are_taken_apart_and_answered_in_their_order() -> None:
    _, second, *_ = read(SHAREGPT / "tools.jsonl")
    calls = [part for message in second.messages for part in message.parts if part.kind is PartKind.TOOL_CALL]
    results = [part for message in second.messages for part in message.parts if part.kind is PartKind.TOOL_RESULT]
    assert [call.text for call in calls] == [
        '{"url":"https://a.example/"}',
        '{"url":"https://b.example/"}',
        "open the garage",
    ]
    assert [(result.text, result.address) for result in results] == [
        ("Page A", "https://a.example/"),
        ("Page B", "https://b.example/"),
    ]


def test_of_two_answers_to_choose_from_the_chosen_one_is_read() -> None:
    third = read(SHAREGPT / "tools.jsonl")[2]
    assert third.messages[-1].parts[0].text == "Blue."
    assert third.notes


def test_images_take_the_place_of_their_placeholders() -> None:
    first, second = read(SHAREGPT / "images.json")
    kinds = [part.kind for part in first.messages[0].parts]
    assert kinds == [PartKind.MEDIA, PartKind.MEDIA, PartKind.TEXT]
    assert first.messages[0].parts[2].text == "Who is on the left, and who on the other?"
    assert first.messages[0].parts[0].address == "birds/1.jpg"
    media = first.messages[0].parts[1].media
    assert media is not None
    assert (media.width, media.height) == (640, 480)
    assert [part.kind for part in second.messages[0].parts] == [PartKind.MEDIA, PartKind.TEXT]
    assert "<image>" in second.messages[1].parts[0].text


def test_turns_on_lines_of_their_own_are_one_conversation() -> None:
    (transcript,) = read(SHAREGPT / "turns.jsonl")
    assert [len(transcript.messages), len(transcript.calls)] == [5, 2]


NOT_OURS: tuple[Any, ...] = (
    {"messages": [{"role": "user", "content": "Hi"}]},
    {"from": "ann@example.com", "value": 3},
    {"conversations": ["a", "b"]},
    {"conversations": [{"id": 1, "title": "x"}]},
    {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "images": ["a.png"]},
    [{"from": "a", "to": "b", "value": 1}],
    None, 3, "human", [], {},
)  # fmt: skip


@pytest.mark.parametrize("value", NOT_OURS, ids=repr)
def test_other_shapes_are_not_claimed(value: Any) -> None:
    assert not FORMATS["sharegpt"].claims([Record(1, value)])
    assert not FORMATS["sharegpt"].claims([])


@needs_shared
def test_a_real_data_set_holds_what_a_plain_count_says() -> None:
    (file,) = shared_files("sharegpt")
    source = json.loads(file.read_text("utf-8"))
    found = read(file)
    assert [transcript.id for transcript in found] == [one["id"] for one in source]
    said = [[part.text for message in one.messages for part in message.parts] for one in found]
    assert said == [[turn["value"] for turn in one["conversations"]] for one in source]
    answers = sum(turn["from"] == "gpt" for one in source for turn in one["conversations"])
    assert sum(len(one.calls) for one in found) == answers == 1000
