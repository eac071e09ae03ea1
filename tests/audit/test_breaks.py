"""Prompts that were written anew although the cache held them, and compactions that no record marks."""

from dataclasses import replace

import pytest

from ctxcli.audit import audit
from ctxcli.model import Call, Event, EventKind, Message, Part, PartKind, Role, Transcript, Usage


def spoken(*usages: tuple[int, int, int], minutes: tuple[int, ...] = (), models: tuple[str, ...] = ()) -> Transcript:
    """Calls with (read, write, uncached) of each."""
    messages, calls = [], []
    for at, (read, write, uncached) in enumerate(usages):
        for role, text in ((Role.USER, f"do {at}"), (Role.ASSISTANT, f"done {at}")):
            messages.append(Message(role, (Part(PartKind.TEXT, text, line=len(messages) + 1),), line=len(messages) + 1))
        minute = minutes[at] if minutes else at
        usage = Usage(read + write + uncached, uncached, read, write, 10)
        model = models[at] if models else "claude-opus-4-5"
        calls.append(Call(2 * at + 1, line=2 * at + 2, time=f"2026-01-01T10:{minute:02}:00Z", model=model, usage=usage))
    return Transcript("anthropic", provider="anthropic", messages=tuple(messages), calls=tuple(calls))


def causes(transcript: Transcript) -> list[tuple[int, str]]:
    return [(one.call, one.cause) for one in audit(transcript).cache_breaks]


def test_a_prompt_that_is_read_from_the_cache_is_no_break() -> None:
    assert causes(spoken((0, 20_000, 5), (20_000, 300, 5), (20_300, 200, 5))) == []


def test_a_break_says_what_was_held_read_and_sent_anew_and_what_that_cost() -> None:
    (one,) = audit(spoken((0, 20_000, 5), (0, 20_400, 5), minutes=(0, 6))).cache_breaks
    assert (one.call, one.held, one.read, one.anew, one.idle) == (2, 20_000, 0, 20_000, 360)
    assert one.cost == round(20_000 * (1.25 - 0.1))
    assert one.cause == "idle for more than 5 minutes"


def test_what_lives_an_hour_costs_twice_the_input_and_outlives_a_short_pause() -> None:
    one, two = spoken((0, 20_000, 5), (0, 20_400, 5), minutes=(0, 6)).calls
    transcript = spoken((0, 20_000, 5), (0, 20_400, 5), minutes=(0, 6))
    hourly = [replace(call, usage=replace(call.usage, cache_write_1h=call.usage.cache_write)) for call in (one, two)]
    (found,) = audit(replace(transcript, calls=tuple(hourly))).cache_breaks
    assert found.cost == round(20_000 * (2 - 0.1))
    assert found.cause == "system prompt or tools changed, or the cache gave way"


@pytest.mark.parametrize(
    ("minutes", "read", "cause"),
    [
        ((0, 1), 0, "system prompt or tools changed, or the cache gave way"),
        ((0, 1), 4_000, "history changed in the middle, or the cache gave way"),
        ((0, 59), 0, "idle for more than 5 minutes"),
    ],
)
def test_the_likely_cause(minutes: tuple[int, ...], read: int, cause: str) -> None:
    assert causes(spoken((0, 20_000, 5), (read, 20_400 - read, 5), minutes=minutes)) == [(2, cause)]


def test_another_model_has_a_cache_of_its_own() -> None:
    models = ("claude-opus-4-5", "claude-haiku-4-5")
    assert causes(spoken((0, 20_000, 5), (0, 20_400, 5), models=models)) == [(2, "model switch")]


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        (EventKind.SUMMARY, "compaction"), (EventKind.CLEAR, "results cleared"), (EventKind.REWIND, "rewind"),
        (EventKind.RENEW, "system prompt or tools changed"), (EventKind.RESET, "context cleared"),
    ],
)  # fmt: skip
def test_what_the_transcript_records_is_the_cause_whatever_the_pause(kind: EventKind, cause: str) -> None:
    plain = spoken((0, 20_000, 5), (0, 20_400, 5), minutes=(0, 30))
    assert causes(replace(plain, events=(Event(kind, 2, line=2),))) == [(2, cause)]


def test_a_little_less_than_was_held_is_no_break() -> None:
    assert causes(spoken((0, 40_000, 5), (38_500, 2_000, 5))) == []


def contexts(*sizes: int) -> Transcript:
    plain = spoken(*((0, size, 0) for size in sizes))
    return replace(
        plain, calls=tuple(replace(call, usage=Usage(size)) for call, size in zip(plain.calls, sizes, strict=True))
    )


def test_a_fall_that_does_not_come_back_is_an_inferred_compaction() -> None:
    report = audit(contexts(100_000, 120_000, 40_000, 45_000, 50_000))
    (row,) = report.compactions
    assert (row.call, row.kind, row.trigger, row.inferred) == (3, "rewrite", "inferred", True)
    assert (row.tokens_before, row.tokens_after) == (120_000, 40_000)
    assert not [note for note in report.notes if "no record says why" in note]


def test_a_compaction_that_is_inferred_is_the_cause_of_what_is_written_anew() -> None:
    found = spoken((0, 60_000, 5), (60_000, 500, 5), (14_000, 1_000, 5), (15_000, 300, 5), minutes=(0, 1, 20, 21))
    assert causes(found) == [(3, "compaction that no record tells of")]
    assert [row.call for row in audit(found).compactions] == [3]


def test_a_fall_that_comes_back_is_none() -> None:
    report = audit(contexts(100_000, 120_000, 40_000, 121_000, 125_000))
    assert report.compactions == ()
    assert [note for note in report.notes if "The context fell by 80,000 tokens at call 3" in note]


def test_a_recorded_compaction_is_not_inferred_a_second_time() -> None:
    plain = contexts(100_000, 120_000, 40_000, 45_000)
    report = audit(replace(plain, events=(Event(EventKind.SUMMARY, 4, line=4),)))
    assert [row.inferred for row in report.compactions] == [False]
