"""Situations of bug reports in which compaction ran without end, gained nothing, or made the context larger."""

import pytest

from compact_support import WEIGH
from ctxcli.compact.session import Session
from ctxcli.guard import Policy
from ctxcli.strategies import STRATEGIES
from situation_support import LONG, OPENAI, SHAPES, Shortened, call, read_document, result, says, shortened, user, work

STRATEGY_NAMES = [name for name in STRATEGIES if name != "semantic"]
each_shape = pytest.mark.parametrize("shape", SHAPES)
each_strategy = pytest.mark.parametrize("strategy", STRATEGY_NAMES)


def once_more(one: Shortened, shape: str, strategy: str, **settings: object) -> Shortened:
    """The same pass over its own result."""
    rows = [{"raw": row} for row in one.rows]
    return shortened(shape, *rows, strategies=(strategy,), target=one.target, **settings)


@each_shape
@each_strategy
@pytest.mark.parametrize("target", [0.1, 0.3, 0.6])
def test_a_second_pass_over_the_result_changes_not_a_byte(shape: str, strategy: str, target: float) -> None:
    """opencode#27924, hermes-agent#53008 (less than 0.5 % a cycle), senpi#527, claude-code#24179: it never ended."""
    turns = (user("Read them all."), *work(5), says("All read."), user("And now?"))
    first = shortened(shape, *turns, strategies=(strategy,), target=target, keep_last=2)
    second = once_more(first, shape, strategy, keep_last=2)
    if first.tokens <= first.target or not first.outcome.steps:
        assert second.document == first.document
    third = once_more(second, shape, strategy, keep_last=2)
    assert third.document == second.document


@each_shape
@each_strategy
def test_a_floor_above_the_target_ends_in_one_pass(shape: str, strategy: str) -> None:
    """anthropic-sdk-python PR 1091, senpi#527: system prompt and task alone were above the threshold."""
    turns = (user("Never forget: " + LONG), says("Yes."), user("Go on."))
    one = shortened(shape, *turns, strategies=(strategy,), target=50, system=LONG)
    assert one.document == one.before
    assert not one.outcome.steps


@each_shape
@each_strategy
def test_one_turn_above_the_target_is_not_taken_apart(shape: str, strategy: str) -> None:
    """opencode#27924: the newest turn alone was above the threshold."""
    turns = (user("Read it."), says("", call("c1", path="src/a.py")), result("c1", LONG * 3))
    one = shortened(shape, *turns, strategies=(strategy,), target=0.1)
    assert one.document == one.before


@each_shape
@each_strategy
@pytest.mark.parametrize("target", [0.05, 0.5, 0.95])
def test_what_is_short_does_not_become_long(shape: str, strategy: str, target: float) -> None:
    """gemini-cli#3814 ("compressed" 801,900 to 800,760), gemini-cli#3574 (from 661 to 1,752), adk-go#1434."""
    turns = (user("Hi."), says("Hello."), user("How are you?"), says("Well."), user("Good."), says("Yes."), user("So?"))
    one = shortened(shape, *turns, strategies=(strategy,), target=target)
    assert one.tokens <= one.session.tokens
    if strategy not in ("drop-oldest", "relevant"):
        assert one.document == one.before


@each_shape
def test_a_pass_that_gains_next_to_nothing_is_none(shape: str) -> None:
    """hermes-agent#53008: each cycle gained less than half a percent, and the next one followed at once."""
    turns = (user("Go. " + LONG), says("ok"), user("yes?"), says("yes"), user("Go on. " + LONG))
    one = shortened(shape, *turns, target=0.5)
    assert one.document == one.before


@each_shape
def test_a_turn_after_the_pass_does_not_bring_the_next_one(shape: str) -> None:
    """claude-code#24179, gemini-cli#6563: 211 compactions without progress; a pass leaves room for more."""
    first = shortened(shape, user("Read them all."), *work(6), says("All read."), user("And now?"), target=0.3)
    rows = [{"raw": row} for row in first.rows]
    again = shortened(shape, *rows, says("I look.", call("n1", path="src/n.py")), result("n1", "n = 1"), target=first.session.tokens // 2)  # fmt: skip
    assert not again.outcome.steps


@each_shape
def test_a_result_that_was_cleared_is_not_cleared_again_and_says_how_to_fetch_it(shape: str) -> None:
    """claude-code#15426, codex#35226: files were read again and again after a compaction."""
    turns = (user("Read."), *work(6), says("All read."), user("And now?"))
    first = shortened(shape, *turns, strategies=("clear-tool-results",), target=0.1)
    assert [text for text in first.results().values() if text.startswith("[cleared")] == [
        f"[cleared by ctx: an old result; again with: src/w{at}.py]" for at in range(3)
    ]
    second = once_more(first, shape, "clear-tool-results")
    assert second.document == first.document


def test_zero_of_a_target_is_not_off() -> None:
    """adk-python#6397, openclaw#77738: a zero meant "every turn", or "never", in silence."""
    one = shortened(OPENAI, user("Read."), *work(3), says("All read."), user("And now?"), target=0)
    assert one.outcome.steps
    assert one.rows[-1]["content"] == "And now?"


@each_shape
@each_strategy
def test_next_to_nothing_is_left_as_it_is(shape: str, strategy: str) -> None:
    """A system prompt alone, one message alone: nothing can go, and nothing fails."""
    for turns, system in (((user("Hi."),), ""), ((user("Hi."),), "You code."), ((user("Hi."), says("Yes?")), "")):
        one = shortened(shape, *turns, strategies=(strategy,), target=1, system=system)
        assert one.document == one.before


def test_the_same_bytes_come_out_of_the_same_bytes() -> None:
    """openclaw#150577: the gate was the same each time, what it gated was not."""
    turns = (user("Read."), *work(5), says("All read."), user("And now?"))
    first, second = (shortened(OPENAI, *turns, target=0.15) for _ in range(2))
    assert first.document == second.document


def test_the_context_counts_what_is_sent_and_no_answer_that_is_still_to_come() -> None:
    """A request without its answer ends on its last message, which is what the newest is."""
    value = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi."}, {"role": "user", "content": "You?"}]}
    session = Session(read_document(value, OPENAI), Policy(), WEIGH)
    assert [message.parts[0].text for message in session.messages] == ["Hi.", "You?"]
