"""OpenAI Chat Completions and Anthropic Messages: the shapes people store them in, and their pitfalls."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.blocks.anthropic import usage_of
from ctxcli.model import EventKind, Iteration, PartKind, Role, Usage
from support import FIXTURES, read

OPENAI, ANTHROPIC = FIXTURES / "openai-chat", FIXTURES / "anthropic"


def test_messages_on_lines_are_one_conversation() -> None:
    (transcript,) = read(OPENAI / "messages.jsonl")
    assert (len(transcript.messages), len(transcript.calls)) == (6, 2)
    assert not transcript.many


def test_each_conversation_line_is_a_conversation_of_its_own() -> None:
    found = read(OPENAI / "conversations.jsonl")
    assert [transcript.id for transcript in found] == ["1", "2", "3"]
    assert [len(transcript.calls) for transcript in found] == [2, 1, 2]


def test_tools_count_as_a_list_and_as_a_json_string() -> None:
    first, second, _ = read(OPENAI / "conversations.jsonl")
    assert first.messages[0].parts[0].kind is PartKind.TOOLS
    assert first.messages[0].parts == second.messages[0].parts[:1] or second.messages[0].parts[0].name == "get_order"


def test_a_data_url_is_media_of_known_size() -> None:
    _, second, _ = read(OPENAI / "conversations.jsonl")
    image = next(part for message in second.messages for part in message.parts if part.media)
    assert image.media is not None
    assert (image.media.width, image.media.height) == (640, 480)


def test_an_array_knows_the_lines_of_its_messages() -> None:
    (transcript,) = read(OPENAI / "array.json")
    lines = (OPENAI / "array.json").read_text("utf-8").splitlines()
    for message in transcript.messages:
        assert lines[message.line - 1].strip() == "{"
    assert [message.role for message in transcript.messages] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]


def test_a_request_log_counts_the_repeated_prompt_once() -> None:
    first, second = read(OPENAI / "request-log.jsonl")
    assert [call.usage.prompt for call in first.calls if call.usage] == [92, 126, 148, 131]
    said = [part.text for message in first.messages for part in message.parts if part.kind is PartKind.TEXT]
    assert len(said) == len(set(said))
    assert len(second.calls) == 1


def test_a_trimmed_request_is_a_rewrite() -> None:
    first, _ = read(OPENAI / "request-log.jsonl")
    (event,) = first.events
    assert event.kind is EventKind.REWRITE
    assert {first.messages[index].role for index in event.drops} == {Role.ASSISTANT, Role.TOOL}


def test_cached_tokens_of_openai_are_inside_the_prompt() -> None:
    usage = read(OPENAI / "request-log.jsonl")[0].calls[1].usage
    assert usage == Usage(prompt=126, uncached=62, cache_read=64, cache_write=0, output=9)


def test_trajectories_are_conversations_with_ids() -> None:
    assert [transcript.id for transcript in read(OPENAI / "trajectories.json")] == ["0", "1"]


def test_requests_and_responses_of_the_messages_api() -> None:
    (transcript,) = read(ANTHROPIC / "request-log.jsonl")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [420, 950, 960]
    assert [part.kind for part in transcript.messages[0].parts] == [PartKind.TOOLS]
    assert transcript.messages[1].role is Role.SYSTEM


def test_tool_uses_that_the_provider_cleared_leave_the_context_images_too() -> None:
    (transcript,) = read(ANTHROPIC / "request-log.jsonl")
    (event,) = transcript.events
    kinds = [transcript.messages[index].parts[part].kind for index, part in event.clears]
    assert (event.kind, kinds) == (EventKind.CLEAR, [PartKind.TOOL_RESULT, PartKind.TOOL_RESULT, PartKind.MEDIA])


def test_a_compaction_block_drops_what_stands_before_it() -> None:
    (transcript,) = read(ANTHROPIC / "compaction.jsonl")
    first, second = transcript.events
    assert [transcript.messages[index].parts[0].text for index in first.drops] == [
        "Weather in Oslo and Rome?", "Oslo -3 °C, Rome 17 °C.", "And tomorrow?",
    ]  # fmt: skip
    assert (first.opaque, second.opaque) == (False, True)


def test_compaction_iterations_are_billed_beside_the_call() -> None:
    (transcript,) = read(ANTHROPIC / "compaction.jsonl")
    usages = [call.usage for call in transcript.calls if call.usage]
    assert usages[0].prompt == 361
    assert usages[0].iterations == (Iteration("compaction", 5_200, 44),)
    assert (usages[1].prompt, usages[1].iterations) == (None, (Iteration("compaction", 400, 20),))


def test_of_several_message_iterations_the_last_is_the_context() -> None:
    steps = [
        {"type": "message", "input_tokens": 100, "output_tokens": 5},
        {"type": "message", "input_tokens": 140, "output_tokens": 7},
    ]
    usage = usage_of({"input_tokens": 240, "output_tokens": 12, "iterations": steps})
    assert usage is not None
    assert (usage.prompt, usage.output) == (140, 12)
    assert usage.iterations == (Iteration("message", 100, 5),)


def test_a_request_without_its_answer_still_shows_its_context() -> None:
    (transcript,) = read(ANTHROPIC / "request.json")
    assert [call.usage for call in transcript.calls] == [None, None]
    assert transcript.calls[-1].at == len(transcript.messages) - 1
    kinds = {part.kind for message in transcript.messages for part in message.parts}
    assert {PartKind.DOCUMENT, PartKind.OPAQUE, PartKind.TOOL_RESULT} <= kinds


BOTH: tuple[dict[str, Any], ...] = (
    {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]},
    {
        "messages": [
            {"role": "developer", "content": "Be brief"},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        ]
    },
)


@pytest.mark.parametrize("value", BOTH, ids=repr)
def test_plain_messages_are_openai_chat(value: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(value))
    assert read(file)[0].format == "openai-chat"


NAMES = {
    "user": Role.USER, "human": Role.USER, "Human": Role.USER, "assistant": Role.ASSISTANT, "Assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT, "model": Role.ASSISTANT, "bot": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.TOOL,
}  # fmt: skip


@pytest.mark.parametrize("shape", ["lines", "array", "object", "lines of objects"])
@pytest.mark.parametrize("name", NAMES)
def test_messages_of_somebodys_own_making_are_read_whoever_speaks(name: str, shape: str, tmp_path: Path) -> None:
    said = [
        {"role": "human", "content": "Where?", "session_id": "s1", "mood": 3},
        {"role": "ai", "content": "Here.", "uuid": "u2", "extra": {"role": "x"}},
        {"role": name, "content": "There."},
    ]
    written = {
        "lines": "\n".join(map(json.dumps, said)),
        "array": json.dumps(said, indent=1),
        "object": json.dumps({"session_id": "s1", "messages": said}),
        "lines of objects": json.dumps({"messages": said}) + "\n" + json.dumps({"messages": said[:2]}),
    }
    file = tmp_path / "own.jsonl"
    file.write_text(written[shape], "utf-8")
    first, *_ = read(file)
    assert first.format == "openai-chat"
    spoken = [message for message in first.messages if message.parts]
    assert [message.role for message in spoken] == [Role.USER, Role.ASSISTANT, NAMES[name]]
    assert [message.parts[0].text for message in spoken] == ["Where?", "Here.", "There."]
    assert not first.skips


def test_a_message_of_a_role_that_nobody_knows_keeps_its_words(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    file.write_text(json.dumps([{"role": "user", "content": "Go"}, {"role": "critic", "content": "No."}]), "utf-8")
    (transcript,) = read(file)
    assert [message.parts[0].text for message in transcript.messages if message.parts] == ["Go", "No."]


def test_a_bad_line_after_the_last_conversation_is_told(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    line = '{"id": "%s", "messages": [{"role": "user", "content": "%s"}, {"role": "assistant", "content": "ok"}]}'
    file.write_text("\n".join((line % ("a", "one"), line % ("b", "two"), "[1, 2]")), "utf-8")
    found = read(file)
    assert [len(one.skips) for one in found] == [0, 1]
    assert found[1].skips[0].line == 3
    assert sum(one.records for one in found) == 3
