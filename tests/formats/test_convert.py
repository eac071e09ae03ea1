"""Conversion: what a chat API takes, whatever the conversation was read from."""

import json
from pathlib import Path

import pytest

from ctxcli.errors import UnreadableError
from ctxcli.formats import TARGETS, convert
from ctxcli.formats.blocks.convert import to_anthropic, to_chat
from ctxcli.model import Media, Message, Part, PartKind, Role
from ctxcli.replay import live
from support import chat, fixture_files, name_of, read, shared_files, tool_call, tool_result

FILES = fixture_files() + shared_files("claude-code", "codex", "openai-chat")


def contexts(file: Path) -> list[list[Message]]:
    return [[one.messages[index] for index in live(one)[0]] for one in read(file)[:3]]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_every_text_is_there_and_the_document_is_read_again(file: Path, target: str, tmp_path: Path) -> None:
    for messages in contexts(file):
        if not any(part.text for message in messages for part in message.parts if message.role is not Role.SYSTEM):
            continue  # all of it is encrypted
        written, _ = convert(messages, target)
        assert written.endswith(b"\n")
        assert convert(messages, target, one_line=True)[0].count(b"\n") == 1
        again = tmp_path / "x.json"
        again.write_bytes(written)
        said = "\0".join(part.text for one in read(again) for message in one.messages for part in message.parts)
        for message in messages:
            for part in message.parts:
                if part.kind in (PartKind.TEXT, PartKind.SUMMARY, PartKind.DOCUMENT, PartKind.TOOL_RESULT):
                    assert part.text in said or not part.text.strip()


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
    (one,) = to_chat([message])[0]["tools"]
    assert one == {
        "type": "function",
        "function": {"name": "get", "description": "Gets", "parameters": {"type": "object", "required": ["a"]}},
    }
    assert to_anthropic([message])[0]["tools"] == [tool]


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(UnreadableError, match="openai-chat or anthropic"):
        convert([], "pdf")
