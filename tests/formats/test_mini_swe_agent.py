"""mini-swe-agent: told from other arrays of messages by its prompts, actions in prose, usage under `extra`."""

import json
from pathlib import Path

import pytest

from ctxcli.files.load import detect
from ctxcli.model import PartKind, Record, Role
from support import FIXTURES, SHARED, needs_shared, read

FOLDER = FIXTURES / "mini-swe-agent"
BARE, USAGE, RESPONSES = (FOLDER / f"{name}.traj.json" for name in ("bare-array", "with-usage", "responses-api"))


def test_an_array_of_messages_without_its_words_stays_with_the_general_format() -> None:
    messages = [{"role": "system", "content": "You help."}, {"role": "user", "content": "```bash\nls\n```"}]
    assert detect([Record(1, messages)], "x.json").name == "openai-chat"
    late = [*messages, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "mswea_bash_command"}]
    assert detect([Record(1, late)], "x.json").name == "openai-chat"


@pytest.mark.parametrize("value", [[], [1, 2], [None], {"messages": [], "trajectory_format": 3}, {"info": [1]}, "x"])
def test_odd_values_are_not_claimed(value: object) -> None:
    from ctxcli.formats.mini_swe_agent import claims

    assert not claims([Record(1, value)])


def test_an_action_is_a_call_only_where_it_is_the_only_one() -> None:
    (transcript,) = read(BARE)
    calls = [part for message in transcript.messages for part in message.parts if part.kind is PartKind.TOOL_CALL]
    assert [part.address for part in calls] == ["cat pears/count.py", "sed -i 's/ + 1//' pears/count.py && false"]
    results = [message for message in transcript.messages if message.role is Role.TOOL]
    assert [message.parts[0].failed for message in results] == [False, True]
    assert transcript.messages[5].harness


def test_the_text_of_each_message_stays_whole() -> None:
    (transcript,) = read(BARE)
    raw = [one["content"] for one in json.loads(BARE.read_text()) if one["role"] != "oracle"]
    said = ["".join(part.text for part in message.parts) for message in transcript.messages]
    assert [text.split() for text in said] == [text.split() for text in raw]


def test_usage_stands_in_the_response_and_cached_tokens_are_part_of_the_prompt() -> None:
    (transcript,) = read(USAGE)
    figures = [(call.usage.prompt, call.usage.cache_read, call.usage.output) for call in transcript.calls if call.usage]
    assert figures == [(900, 0, 40), (990, 896, 20), (1040, 960, 30)]
    assert transcript.models == ["claude-orchard-4-20310101"]
    assert not transcript.notes


def test_what_the_client_says_is_told_from_what_the_user_interrupts_with() -> None:
    (transcript,) = read(USAGE)
    users = [
        (message.parts[0].text[:4], message.harness) for message in transcript.messages if message.role is Role.USER
    ]
    assert users == [("Coun", False), ("No t", True), ("Mind", False)]
    assert dict(transcript.bookkeeping)["exit"] == 1  # no model saw it


def test_items_of_the_responses_api() -> None:
    (transcript,) = read(RESPONSES)
    assert [part.kind for part in transcript.messages[2].parts] == [
        PartKind.OPAQUE,
        PartKind.TEXT,
        PartKind.TOOL_CALL,
    ]
    assert transcript.messages[3].parts[0].name == "bash"
    assert [skip.reason for skip in transcript.skips] == ["record type 'output/hologram' is not known: not counted"]


@needs_shared
def test_the_real_sample_is_told_by_the_name_of_its_fence(tmp_path: Path) -> None:
    file = SHARED / "mini-swe-agent" / "github-issue.traj.json"
    (transcript,), raw = read(file), json.loads(file.read_text())
    assert transcript.format == "mini-swe-agent"
    assert len(transcript.messages) == len(raw)
    assert sum(message.role is Role.TOOL for message in transcript.messages) == 10
    assert sum(part.kind is PartKind.TOOL_CALL for one in transcript.messages for part in one.parts) == 10
