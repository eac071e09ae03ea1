"""Codex: what its pitfalls come to."""

import pytest

from ctxcli.formats.blocks.codex_items import keeps_reasoning
from ctxcli.model import EventKind, PartKind, Role
from support import FIXTURES, read

FOLDER = FIXTURES / "codex"


def test_events_repeat_items_and_are_not_counted() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    said = [part.text for message in transcript.messages for part in message.parts]
    assert len([text for text in said if text.startswith("I will look")]) == 1


def test_a_repeated_count_is_no_second_call() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [
        9_412,
        9_640,
        9_861,
        9_936,
        10_120,
        10_210,
    ]
    assert transcript.duplicates == 1


@pytest.mark.parametrize("name", ["session.jsonl", "old-order-and-reset.jsonl"])
def test_outputs_follow_the_answer_that_called_for_them_in_both_orders(name: str) -> None:
    (transcript,) = read(FOLDER / name)
    for call in transcript.calls:
        refs = {part.ref for part in transcript.messages[call.at].parts if part.kind is PartKind.TOOL_CALL}
        after = {
            part.ref
            for message in transcript.messages[call.at + 1 :]
            for part in message.parts
            if message.role is Role.TOOL
        }
        assert refs <= after


def test_cached_tokens_are_part_of_the_prompt() -> None:
    usage = read(FOLDER / "session.jsonl")[0].calls[0].usage
    assert usage is not None
    assert (usage.prompt, usage.cache_read, usage.uncached, usage.reasoning) == (9_412, 4_096, 5_316, 64)


def test_a_reset_counter_counts_each_call_once() -> None:
    (transcript,) = read(FOLDER / "old-order-and-reset.jsonl")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [5_000, 5_060, 5_110, 5_150]


def test_encrypted_reasoning_weighs_what_was_reported_and_older_models_lose_it() -> None:
    (transcript,) = read(FOLDER / "old-order-and-reset.jsonl")
    reasoning = transcript.messages[transcript.calls[0].at].parts[0]
    assert (reasoning.kind, reasoning.text, reasoning.tokens) == (PartKind.OPAQUE, "", 10)
    strip = next(event for event in transcript.events if event.kind is EventKind.STRIP)
    assert len(strip.clears) == 2


@pytest.mark.parametrize(
    ("model", "kept"), [("gpt-5.5", False), ("gpt-5.6-sol", True), ("gpt-6-sol", True), ("gpt-5.1-codex", False)]
)
def test_which_models_keep_their_reasoning(model: str, kept: bool) -> None:
    assert keeps_reasoning(model) is kept


def test_an_encrypted_compaction_is_opaque_and_its_count_is_no_call() -> None:
    (transcript,) = read(FOLDER / "compactions-and-rollback.jsonl")
    sealed, rollback, readable = transcript.events
    assert (sealed.kind, sealed.opaque, sealed.tokens_after) == (EventKind.SUMMARY, True, 1_900)
    assert (readable.kind, readable.opaque) == (EventKind.SUMMARY, False)
    assert transcript.messages[readable.summary or 0].parts[0].text == "foo was renamed to bar, commit 91ac03e."
    assert len(transcript.calls) == 5
    assert rollback.kind is EventKind.REWIND


def test_replaced_history_is_in_context_and_no_new_text() -> None:
    (transcript,) = read(FOLDER / "compactions-and-rollback.jsonl")
    copied = [message for message in transcript.messages if message.copied]
    assert [message.parts[0].text for message in copied] == ["Be careful.", "Rename foo to bar."]


def test_base_instructions_and_dynamic_tools_survive_a_compaction() -> None:
    (transcript,) = read(FOLDER / "compactions-and-rollback.jsonl")
    assert all(0 not in event.drops for event in transcript.events)
    assert [part.kind for part in transcript.messages[0].parts] == [PartKind.TEXT, PartKind.TOOLS]


def test_a_repeated_head_is_no_new_session() -> None:
    (transcript,) = read(FOLDER / "old-order-and-reset.jsonl")
    assert dict(transcript.bookkeeping)["session_meta"] == 1


def test_standing_instructions_are_no_users_words() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    users = [
        message.parts[0].text for message in transcript.messages if message.role is Role.USER and not message.harness
    ]
    assert users == [
        "Why does checkout time out after 30 s? Look at src/checkout/client.ts.",
        "Yes. Keep 60 s as the default.",
        "Run the tests too.",
    ]


def test_the_first_generation_is_read_without_usage() -> None:
    (transcript,) = read(FOLDER / "first-generation.jsonl")
    assert [call.usage for call in transcript.calls] == [None, None]
    assert "reports no usage" in transcript.notes[0]


def test_the_model_may_change_from_turn_to_turn() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    assert [call.model for call in transcript.calls] == ["gpt-5.6"] * 3 + ["gpt-5.6-sol"] * 3
    assert transcript.window == 258_400
