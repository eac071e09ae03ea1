"""Asking many things at once: limits, failures, interruptions, and the answers file."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ctxcli.ask import Estimate, Reply, Request, Spent, Stop
from ctxcli.errors import LimitReached, ModelError, UnreadableError
from ctxcli.sweep.answers import Answer, answers_in, by_id, line_of
from ctxcli.sweep.ask import Wanted, ask_all
from ctxcli.sweep.run import Sampling


class Scripted:
    """An asker that answers by a rule over the text of a request."""

    name, spent = "openai:scripted", Spent()

    def __init__(self, rule: Callable[[str], Reply]) -> None:
        self.rule, self.asked, self._lock = rule, [], threading.Lock()

    def ask(self, request: Request) -> Reply:
        with self._lock:
            self.asked.append(request.text)
        return self.rule(request.text)

    def body(self, request: Request) -> dict[str, Any]:
        return {"text": request.text}

    def estimate(self, request: Request) -> Estimate:
        return Estimate(len(request.text), request.max_output, None)


def requests(count: int, *groups: int) -> dict[str, Wanted]:
    """In groups in turn."""

    def of(number: int) -> Callable[[], Request]:
        return lambda: Request(str(number), max_output=9)

    return {f"k{number}": Wanted(of(number), groups[number % len(groups)] if groups else 0) for number in range(count)}


def test_each_is_asked_once_and_handed_on() -> None:
    asker, came = Scripted(lambda text: Reply(f"re {text}", prompt=3)), []
    asked = ask_all(requests(50), asker, concurrency=4, on_answer=came.append)
    assert sorted(asker.asked, key=int) == [str(number) for number in range(50)]
    assert {key: one.text for key, one in asked.answers.items()} == {
        f"k{number}": f"re {number}" for number in range(50)
    }
    assert sorted(one.id for one in came) == sorted(asked.answers)
    assert not asked.failed
    assert not asked.stopped


def test_a_limit_stops_cleanly() -> None:
    def rule(text: str) -> Reply:
        if int(text) >= 7:
            raise LimitReached("--max-calls: 7 questions were sent, and no more may be")
        return Reply(text)

    asker = Scripted(rule)
    asked = ask_all(requests(50), asker, concurrency=3, on_answer=lambda _: None)
    assert set(asked.answers) == {f"k{number}" for number in range(7)}
    assert "--max-calls" in asked.stopped
    assert len(asker.asked) <= 7 + 3


def test_a_failure_is_no_answer_and_five_in_a_row_stop() -> None:
    def some(text: str) -> Reply:
        if int(text) % 3 == 0:
            raise ModelError(f"no answer to {text}")
        return Reply(text)

    asked = ask_all(requests(30), Scripted(some), concurrency=1, on_answer=lambda _: None)
    assert (len(asked.answers), len(asked.failed), asked.stopped) == (20, 10, "")

    def none(text: str) -> Reply:
        raise ModelError("out of reach")

    asker = Scripted(none)
    asked = ask_all(requests(30), asker, concurrency=1, on_answer=lambda _: None)
    assert len(asker.asked) == 5
    assert "5 failures in a row, the last: out of reach" in asked.stopped


def test_a_length_that_fails_is_given_up_and_the_others_go_on() -> None:
    def rule(text: str) -> Reply:
        if int(text) % 3 == 2:
            raise ModelError("the context is too long")
        return Reply(text)

    asker = Scripted(rule)
    asked = ask_all(requests(60, 1, 4, 16), asker, concurrency=1, on_answer=lambda _: None)
    assert len(asked.answers) == 40
    assert len(asker.asked) == 45
    assert not asked.stopped
    why = set(asked.failed.values())
    assert why == {
        "the context is too long",
        "not asked, after five failures in a row of this length: the context is too long",
    }
    assert len(asked.failed) == 20


def test_an_interruption_keeps_what_is_on_its_way() -> None:
    came: list[Answer] = []
    told: list[int] = []

    def interrupted(answer: Answer) -> None:
        came.append(answer)
        if len(came) == 4:
            raise KeyboardInterrupt

    asked = ask_all(
        requests(40), Scripted(Reply), concurrency=4, on_answer=interrupted, on_interrupt=lambda: told.append(1)
    )
    assert asked.stopped == "interrupted"
    assert told == [1]
    assert 4 <= len(asked.answers) <= 9
    assert {one.id for one in came} == set(asked.answers)


def test_a_second_interruption_waits_for_nothing() -> None:
    held = threading.Event()

    def rule(text: str) -> Reply:
        if text != "0":
            held.wait(60)
        return Reply(text)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            ask_all(requests(40), Scripted(rule), concurrency=4, on_answer=interrupt, on_interrupt=interrupt)
        assert not held.is_set()
    finally:
        held.set()


def test_the_answers_file_reads_back_and_tolerates_a_torn_line() -> None:
    one = Answer("a", 'line\n"quoted" \ud800', "end", "openai:m", 0.5, 100, 10, 2, 0.25)
    other = Answer("b", "", "refused", "openai:m", None, 100)
    data = f"{line_of(one)}\n{line_of(other)}\n".encode()
    assert answers_in(data, "f").answers[0] == replace(one, cost=None)
    for cut in range(len(line_of(one)) + 2, len(data)):
        read = answers_in(data[:cut], "f")
        assert read.answers[:1] == answers_in(data, "f").answers[:1]
        assert len(read.answers) + len(read.faults) == 2
    torn = answers_in(data[:-20], "f.jsonl")
    assert torn.faults == ("f.jsonl: line 2: breaks off: passed over",)


def test_what_another_runner_failed_to_get_is_missing_and_not_wrong() -> None:
    read = answers_in(b'{"id": "a", "answer": null}\n{"id": "b", "answer": ""}\n', "a.jsonl")
    assert [one.id for one in read.answers] == ["b"]
    assert read.faults == ("a.jsonl: line 1: has no answer: passed over",)


def test_another_file_is_no_answers_file() -> None:
    with pytest.raises(UnreadableError, match="line 1: is no answer"):
        answers_in(b'{"id": "x", "question": "?"}\n', "items.jsonl")
    assert answers_in(b"", "f").answers == ()


def test_an_answer_of_another_model_or_temperature_is_none() -> None:
    how = Sampling(max_output=200)
    mine = Answer("a", "x", "end", "openai:m", None, 200)
    assert how.gave(mine, "openai:m")
    for other in (
        replace(mine, model="openai:n"),
        replace(mine, temperature=1.0),
        replace(mine, stop=Stop.LENGTH, max_output=100),
    ):
        assert not how.gave(other, "openai:m")
    assert how.gave(replace(mine, stop=Stop.LENGTH), "openai:m")
    found = by_id(
        [mine, replace(mine, text="later"), replace(mine, id="b", model="openai:n")],
        lambda one: how.gave(one, "openai:m"),
    )
    assert {key: one.text for key, one in found.items()} == {"a": "later"}
