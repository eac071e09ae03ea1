"""Conversion: what a chat API takes, whatever the conversation was read from."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ctxcli.errors import UnreadableError
from ctxcli.files import load
from ctxcli.formats import TARGETS, conversation_of, convert
from ctxcli.model import Media, Message, Part, PartKind, Role
from ctxcli.replay import live
from ctxcli.shelf import Conversation
from support import chat, fixture_files, name_of, read, shared_files, tool_call, tool_result

FILES = fixture_files() + shared_files("claude-code", "codex", "openai-chat")


def written(messages: Sequence[Message], target: str) -> tuple[Any, list[str]]:
    """The document of a target, and what it could not hold."""
    data, remarks = convert(Conversation(messages), target)
    return json.loads(data), remarks


def to_chat(messages: Sequence[Message]) -> tuple[Any, list[str]]:
    return written(messages, "openai-chat")


def to_anthropic(messages: Sequence[Message]) -> tuple[Any, list[str]]:
    return written(messages, "anthropic")


def contexts(file: Path) -> list[list[Message]]:
    """The contexts of a file, but for those of which all that was said is encrypted."""
    found = [[one.messages[index] for index in live(one)[0]] for one in read(file)[:3]]
    return [
        messages for messages in found
        if any(part.text for message in messages for part in message.parts if message.role is not Role.SYSTEM)
    ]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_every_text_is_there_and_the_document_is_read_again(file: Path, target: str, tmp_path: Path) -> None:
    for messages in contexts(file):
        data, remarks = convert(Conversation(messages), target)
        assert data.endswith(b"\n")
        if not TARGETS[target].lines:
            assert convert(Conversation(messages), target, one_line=True)[0].count(b"\n") == 1
        again = tmp_path / "x.json"
        again.write_bytes(data)
        found = read(again)
        assert {one.format for one in found} == {target} or (
            target == "anthropic" and '"tool_use"' not in data.decode()
        )
        assert len(found) == 1
        said = "\0".join(part.text for one in found for message in one.messages for part in message.parts)
        for message in messages:
            for part in message.parts:
                if part.kind in (PartKind.TEXT, PartKind.SUMMARY, PartKind.DOCUMENT, PartKind.TOOL_RESULT):
                    assert part.text in said or not part.text.strip() or _has_no_place(message, target, remarks)


def _has_no_place(message: Message, target: str, remarks: list[str]) -> bool:
    """Whether a text is the system prompt, and the target told that it has none."""
    return message.role is Role.SYSTEM and target == "gemini" and any("of the system prompt" in one for one in remarks)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_what_was_converted_converts_to_the_same_again(file: Path, target: str, tmp_path: Path) -> None:
    """What a target holds comes back whole, calls with their results in place."""
    for one in read(file)[:3]:
        messages = [one.messages[index] for index in live(one)[0]]
        if all(message.role is Role.SYSTEM or not any(part.text for part in message.parts) for message in messages):
            continue  # all of it is encrypted
        once, _ = convert(conversation_of(one, messages), target)
        again = tmp_path / "x.json"
        again.write_bytes(once)
        (back,) = [loaded.transcript for loaded in load(str(again), format_name=target)]
        twice, _ = convert(conversation_of(back, [back.messages[index] for index in live(back)[0]]), target)
        assert twice == once


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_chat_results_follow_their_calls(file: Path) -> None:
    for messages in contexts(file):
        waiting: list[str] = []
        sent = to_chat(messages)[0]["messages"]
        for one in sent:
            if one["role"] == "tool":
                waiting.remove(one["tool_call_id"])
            else:
                assert not waiting
                waiting = [call["id"] for call in one.get("tool_calls", [])]
        assert not waiting or sent[-1].get("tool_calls")


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_the_sides_of_the_messages_api_take_turns_and_results_stand_first(file: Path) -> None:
    for messages in contexts(file):
        sent = to_anthropic(messages)[0]["messages"]
        assert [one["role"] for one in sent] == ["user" if at % 2 == 0 else "assistant" for at in range(len(sent))]
        for before, one in zip([{"content": []}, *sent], sent, strict=False):
            refs = [block["tool_use_id"] for block in one["content"] if block["type"] == "tool_result"]
            assert [block["type"] for block in one["content"][: len(refs)]] == ["tool_result"] * len(refs)
            asked = [block["id"] for block in before["content"] if block["type"] == "tool_use"]
            assert refs == asked
            assert all(block.get("text", "x").strip() for block in one["content"])


def test_what_neither_can_hold_is_told() -> None:
    thought = Message(Role.ASSISTANT, (Part(PartKind.THINKING, "hm"), Part(PartKind.OPAQUE), Part(PartKind.TEXT, "ok")))
    image = Message(Role.USER, (Part(PartKind.MEDIA, media=Media("image/png")), Part(PartKind.TEXT, " ")))
    other = Message(Role.USER, (Part(PartKind.TEXT, "sub"),), lane="a")
    document, remarks = to_chat([thought, image, other])
    assert [one["content"] for one in document["messages"]] == ["ok", "[image left out]"]
    assert remarks == [
        "1 part of thinking left out: it cannot be sent to another API.",
        "1 part that only the provider can read left out.",
        "1 part of media left out; a text stands in the place of each.",
        "1 message of sub-agents left out.",
    ]


def test_calls_without_ids_are_paired_in_order_and_halves_become_text() -> None:
    messages = [
        tool_call("read", '{"path":"a"}', ref=""), tool_call("read", "not json", ref=""),
        tool_result("first", ref=""), tool_result("second", ref="", failed=True), tool_result("stray", ref="x"),
        tool_call("gone", "{}", ref="y"), *chat(("user", "on")).messages,
    ]  # fmt: skip
    document, remarks = to_anthropic(messages)
    first = document["messages"][1]["content"]
    assert [block["id"] for block in first if block["type"] == "tool_use"] == ["call_1"]
    text = json.dumps(document)
    assert '"is_error": true' in text
    assert '"input": {"input": "not json"}' in text
    assert "[a result of a tool: stray]" in text
    assert "[gone was called, without a result: {}]" in text
    assert remarks[-1].startswith("“(continued)” written")


def test_system_text_within_the_conversation_stands_under_the_users_name() -> None:
    messages = chat(("system", "one"), ("system", "two"), ("user", "hi"), ("system", "now")).messages
    document, remarks = to_anthropic(messages)
    assert document["system"] == "one\n\ntwo"
    assert [block["text"] for block in document["messages"][0]["content"]] == ["hi", "now"]
    assert remarks == ["1 part of system text within the conversation written under the user's name."]
    assert [one["role"] for one in to_chat(messages)[0]["messages"]] == ["system", "system", "user", "system"]


def test_definitions_change_their_shape() -> None:
    tool = {"name": "get", "description": "Gets", "input_schema": {"type": "object", "required": ["a"]}}
    message = Message(Role.SYSTEM, (Part(PartKind.TOOLS, json.dumps(tool), name="get"),))
    told = Message(Role.USER, (Part(PartKind.TEXT, "Get it."),))
    (one,) = to_chat([message, told])[0]["tools"]
    assert one == {
        "type": "function",
        "function": {"name": "get", "description": "Gets", "parameters": {"type": "object", "required": ["a"]}},
    }
    assert to_anthropic([message, told])[0]["tools"] == [tool]


def test_a_context_of_which_nothing_can_be_written_is_refused() -> None:
    with pytest.raises(UnreadableError, match="nothing of this context"):
        convert(Conversation([Message(Role.USER, (Part(PartKind.OPAQUE),))]), "pi")


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(UnreadableError, match="openai-chat, anthropic"):
        convert(Conversation([]), "pdf")
