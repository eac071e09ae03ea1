"""What each strategy promises, and what the settings of a pass do, on histories that are written by hand."""

import re

import pytest

from ctxcli.compact.context import Keep
from ctxcli.task import Results
from situation_support import (
    ANTHROPIC,
    LONG,
    OPENAI,
    SHAPES,
    Json,
    Shortened,
    call,
    result,
    says,
    shortened,
    user,
    work,
)

each_shape = pytest.mark.parametrize("shape", SHAPES)
CLEARED = "[cleared by ctx: "


def cleared(one: Shortened) -> dict[str, str]:
    """The placeholders, by the id of the result."""
    return {ref: text for ref, text in one.results().items() if text.startswith(CLEARED)}


# -- drop-oldest


@each_shape
def test_drop_oldest_keeps_the_system_prompt_the_task_and_the_newest_that_fits(shape: str) -> None:
    one = shortened(shape, user("Read them."), *work(6), says("Read."), user("So?"), system="You code.", strategies=("drop-oldest",), target=0.5)  # fmt: skip
    assert one.after.messages[0].parts[0].text == "You code."
    assert "Read them." in one.text
    calls, results = one.refs
    assert calls == results == [f"w{at}" for at in range(6)][-len(calls) :]
    assert 1 <= len(calls) < 6
    assert one.tokens <= one.target
    assert not one.summary


# -- clear-stale


def stale(*turns: Json, target: float = 0.01) -> Shortened:
    return shortened(
        ANTHROPIC, user("Go."), *turns, says("Done."), user("So?"), strategies=("clear-stale",), target=target
    )


def test_clear_stale_clears_a_read_that_was_repeated_and_keeps_the_newest() -> None:
    other = LONG.replace("value", "other")
    one = stale(says("", call("old", path="src/a.py")), result("old"), says("Again.", call("new", path="src/a.py")), result("new", other))  # fmt: skip
    assert re.fullmatch(
        r"\[cleared by ctx: the same call stands at line \d+; again with: src/a\.py\]", cleared(one)["old"]
    )
    assert one.results()["new"] == other


def test_clear_stale_clears_a_text_that_stands_again_under_another_call() -> None:
    one = stale(says("", call("old", "shell", command="cat a")), result("old"), says("", call("new", "shell", command="head a")), result("new"))  # fmt: skip
    assert cleared(one)["old"].startswith("[cleared by ctx: the same text stands at line ")
    assert one.results()["new"] == LONG


def test_clear_stale_clears_what_was_written_anew() -> None:
    one = stale(says("", call("old", path="src/a.py")), result("old"), says("", call("w", "write_file", path="src/a.py", content="x")), result("w", "ok"))  # fmt: skip
    assert "the file was written anew" in cleared(one)["old"]


def test_clear_stale_clears_a_failure_that_was_solved_and_keeps_one_that_was_not() -> None:
    one = stale(
        says("", call("bad", "shell", command="make all")), result("bad", "error: " + LONG, failed=True),
        says("", call("red", "shell", command="make docs")), result("red", "docs: " + LONG, failed=True),
        says("", call("good", "shell", command="make all")), result("good", "built"),
    )  # fmt: skip
    assert cleared(one)["bad"].startswith("[cleared by ctx: failed, and worked at line ")
    assert set(cleared(one)) == {"bad"}
    assert one.results()["red"].startswith("docs: ")


def test_clear_stale_keeps_two_that_both_say_ok_and_stops_at_the_target() -> None:
    short = (says("", call("a", "shell", command="true")), result("a", "ok"), says("", call("b", "shell", command="date")), result("b", "ok"))  # fmt: skip
    assert not cleared(stale(*short))
    twice = [turn for at in range(4) for turn in (says("", call(f"r{at}", path="src/a.py")), result(f"r{at}"))]
    assert set(cleared(stale(*twice))) == {"r0", "r1", "r2"}
    assert set(cleared(stale(*twice, target=0.8))) == {"r0"}


# -- clear-tool-results


def results_cleared(shape: str = OPENAI, *, target: float | int = 0.01, **settings: object) -> set[str]:
    one = shortened(shape, user("Go."), *work(5), says("", call("q", "ask", path="q.md")), result("q"), says("Done."), user("So?"),
                    strategies=("clear-tool-results",), target=target, results=Results(**settings))  # type: ignore[arg-type] # fmt: skip
    return set(cleared(one))


@each_shape
def test_keep_results_keeps_the_newest_so_many(shape: str) -> None:
    assert results_cleared(shape) == {"w0", "w1", "w2"}
    assert results_cleared(shape, keep=1) == {"w0", "w1", "w2", "w3", "w4"}
    assert results_cleared(shape, keep=0) == {"w0", "w1", "w2", "w3", "w4", "q"}
    assert results_cleared(shape, keep=99) == set()
    assert results_cleared(shape, target=0.8) == {"w0", "w1"}


@each_shape
def test_results_of_an_excluded_tool_stay(shape: str) -> None:
    assert results_cleared(shape, keep=0, exclude=frozenset({"ask"})) == {"w0", "w1", "w2", "w3", "w4"}
    assert results_cleared(shape, keep=0, exclude=frozenset({"read_file"})) == {"q"}


@each_shape
def test_too_little_is_not_cleared_at_all(shape: str) -> None:
    assert results_cleared(shape, at_least=100_000) == set()
    assert results_cleared(shape, at_least=100) == {"w0", "w1", "w2"}


# -- relevant


@each_shape
def test_relevant_keeps_the_turn_that_answers_the_newest_request(shape: str) -> None:
    said = [
        "The invoices run on port 8443 behind nginx.",
        "The carousel has nine pictures of shoes.",
        "The footer is grey.",
    ]
    turns = [
        turn
        for number, text in enumerate(said)
        for turn in (user(f"Question {number}?"), says(f"{text} {'Well. ' * 60}"))
    ]
    one = shortened(shape, user("Answer me."), says("Yes."), *turns, user("Which port do the invoices run on?"), strategies=("relevant",), target=0.5)  # fmt: skip
    assert said[0] in one.text
    assert said[1] not in one.text
    assert one.rows[0]["content"] == "Answer me."


# -- those that sum up


@each_shape
def test_summarise_middle_puts_one_synthetic_message_between_task_and_tail(shape: str) -> None:
    one = shortened(shape, user("Read them."), *work(5), says("Read."), user("So?"), strategies=("summarise-middle",), target=0.3, keep_last=2)  # fmt: skip
    assert len(one.rows) == 4
    assert [row["role"] for row in one.rows] == ["user", "user", "assistant", "user"]
    assert one.rows[1]["content"].startswith(
        "[Compacted by ctx: a record of the conversation so far, not the user's words."
    )
    assert [one.rows[0], *one.rows[2:]] == [one.before["messages"][0], *one.before["messages"][-2:]]


@each_shape
def test_rolling_keeps_as_much_verbatim_as_fits(shape: str) -> None:
    turns = (user("Read them."), *work(8), says("Read."), user("So?"))
    kept = []
    for target in (0.2, 0.5, 0.8):
        one = shortened(shape, *turns, strategies=("rolling",), target=target, keep_last=2)
        assert one.tokens <= one.target
        assert one.summary
        calls = one.refs[0]
        assert calls == [f"w{at}" for at in range(8)][8 - len(calls) :]
        unit = one.session.tokens // 8
        assert one.target - one.tokens < 2 * unit
        kept.append(len(calls))
    assert kept == sorted(set(kept))


# -- contract


@each_shape
def test_contract_does_the_lightest_that_meets_the_target(shape: str) -> None:
    again = (says("", call("again", path="src/w0.py")), result("again"))
    turns = (user("Read them."), *work(6), *again, says("Read."), user("So?"))
    nothing = shortened(shape, *turns, target=1.0)
    assert nothing.document == nothing.before
    light = shortened(shape, *turns, target=0.9)
    assert not light.summary
    assert next(iter(cleared(light).values())).startswith(f"{CLEARED}the same ")
    old = shortened(shape, *((user("Read them."), *different(6), says("Read."), user("So?"))), target=0.6)
    assert not old.summary
    assert set(cleared(old)) == {"d0", "d1", "d2"}
    assert len(old.rows) == len(old.before["messages"])
    summed = shortened(shape, *((user("Read them."), *different(6), says("Read."), user("So?"))), target=0.2)
    assert summed.summary
    assert summed.tokens <= summed.target


def different(number: int) -> list[Json]:
    """Results of which none is like another."""
    return [
        turn
        for at in range(number)
        for turn in (
            says("", call(f"d{at}", path=f"src/d{at}.py")),
            result(f"d{at}", LONG.replace("value", f"item{at}")),
        )
    ]


# -- pins and the tail


@each_shape
@pytest.mark.parametrize("strategy", ["contract", "drop-oldest", "relevant", "summarise-middle", "rolling"])
def test_a_pin_by_expression_keeps_its_message_and_the_pair_it_is_in(shape: str, strategy: str) -> None:
    turns = (user("Read them."), *work(3), says("The plan: A, then B."), *work(0), user("Fine."), says("", call("p", path="src/pin.py")), result("p", f"# keep-me\n{LONG}"), *different(3), says("Read."), user("So?"))  # fmt: skip
    one = shortened(shape, *turns, strategies=(strategy,), target=0.1, pins=("^The plan:", "keep-me"))
    assert "The plan: A, then B." in one.text
    assert one.results()["p"] == f"# keep-me\n{LONG}"
    assert "p" in one.refs[0]


@each_shape
def test_a_pin_by_line_keeps_the_message_that_stands_there(shape: str) -> None:
    turns = (user("Read them."), says("Yes."), user("The 2nd thing."), *work(4), says("Read."), user("So?"))
    plain = shortened(shape, *turns, strategies=("drop-oldest",), target=0.1)
    line = next(m.line for m in plain.session.messages if m.parts[0].text == "The 2nd thing.")
    assert "The 2nd thing." not in plain.text
    pinned = shortened(shape, *turns, strategies=("drop-oldest",), target=0.1, pins=(str(line),))
    assert "The 2nd thing." in pinned.text


@each_shape
@pytest.mark.parametrize(("keep", "last"), [(0, 0), (1, 1), (2, 2), (4, 5), (5, 5)])
def test_keep_last_in_messages_widens_to_whole_pairs(shape: str, keep: int, last: int) -> None:
    turns = (
        user("Read them."),
        *work(3),
        says("", call("c", path="src/c.py")),
        result("c"),
        says("Read."),
        user("Fine."),
        says("So."),
    )
    one = shortened(shape, *turns, strategies=("summarise-middle",), target=0.1, keep_last=keep)
    assert len(one.rows) == 2 + last
    assert one.rows[2:] == one.before["messages"][len(one.before["messages"]) - last :]


@each_shape
def test_keep_last_in_tokens_keeps_the_units_that_fit_and_at_least_the_newest(shape: str) -> None:
    turns = (user("Read them."), *work(6), says("Read."), user("So?"))
    for tokens, refs in ((1, []), (800, ["w5"]), (1_500, ["w4", "w5"])):
        one = shortened(shape, *turns, strategies=("summarise-middle",), target=0.1, keep_last=Keep(tokens=tokens))
        assert one.refs[0] == refs
        assert one.rows[-1]["content"] == "So?"


def test_two_strategies_run_in_their_order_until_the_target_is_met() -> None:
    turns = (user("Read them."), *different(6), says("Read."), user("So?"))
    one = shortened(OPENAI, *turns, strategies=("clear-tool-results", "drop-oldest"), target=0.6)
    assert [step.strategy for step in one.outcome.steps] == ["clear-tool-results"]
    one = shortened(OPENAI, *turns, strategies=("clear-tool-results", "drop-oldest"), target=0.3)
    assert [step.strategy for step in one.outcome.steps] == ["clear-tool-results", "drop-oldest"]
    assert one.tokens <= one.target
