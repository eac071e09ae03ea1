"""The summariser without a model: the contract holds, the budget holds, and nothing is cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.compact.material import material_of
from ctxcli.guard import Policy
from ctxcli.guard.reading import Reading
from ctxcli.guard.sides import Before
from ctxcli.model import Transcript
from ctxcli.replay import live
from ctxcli.reports.slots import Slots
from ctxcli.slots import parse, render
from ctxcli.summarisers import SUMMARISERS
from guard_support import WEIGH, compare
from support import FIXTURES, chat, fixture_files, name_of, read, tool_call, tool_result


def slots_of(transcript: Transcript, tokens: int = 4000) -> Slots:
    reading = Reading(transcript)
    indices, cleared = live(transcript)
    before = Before(reading, reading.parts(indices, cleared), reading.parts(range(len(transcript.messages))))
    return SUMMARISERS["extractive"].summarise(material_of(before, Policy(), WEIGH, tokens))


@pytest.mark.parametrize("path", [*fixture_files(), FIXTURES / "guard" / "refunds.json"], ids=name_of)
def test_the_guard_passes_it(path) -> None:
    for transcript in read(path):
        text = render(slots_of(transcript))
        report = compare(transcript, text, strict=True)
        assert report.verdict == "pass", [one for one in report.findings if one.fails]
        assert parse(text).missing == ()


def test_the_four_slots_of_a_session() -> None:
    (transcript,) = read(FIXTURES / "guard" / "refunds.json")
    slots = slots_of(transcript)
    assert [entry.text for entry in slots.constraints][:2] == [
        "Refunds above $500 must never be approved automatically.",
        "Only change files under services/refunds/.",
    ]
    (chosen,) = [one for one in slots.decisions if "database trigger" in one.text]
    assert chosen.reason == "the trigger cannot see the customer's tier."
    assert any(one.text == "committed: Refunds: enforce the limit" for one in slots.decisions)
    assert "services/refunds/policy.py" in slots.identifiers["path"]
    assert slots.open[0].text.startswith("task: PAY-1432: refunds are too slow")
    assert slots.open[1].text.startswith("latest request: Good. RF-2026-00817 counts. Go on with the rate limit")
    assert any(entry.text.startswith("last tried: shell git commit") for entry in slots.open)
    assert "sk_test_4eC39HqLyjWDarjtT1zdp7dc" not in render(slots)


def test_a_decision_says_something_and_stands_without_its_bullet() -> None:
    said = chat(
        ("user", "Choose."),
        (
            "assistant",
            "The fix is straightforward.\n\n- I went with sqlite instead of a file\n1. The fix is: locking it",
        ),
        ("user", "Go on."),
    )
    assert {one.text for one in slots_of(said).decisions} == {
        "I went with sqlite instead of a file", "The fix is: locking it",
    }  # fmt: skip


def test_what_was_rejected_is_given_whole() -> None:
    over = "the hand-written parser in src/legacy/parser.py that three teams still call through the old facade module"
    said = chat(
        ("user", "Choose."),
        ("assistant", f"I went with tree-sitter rather than {over}, because it is tested."),
        ("user", "Go on."),
    )
    (chosen,) = slots_of(said).decisions
    assert chosen.rejected == (over,)


def test_tasks_that_are_not_done_and_a_question_are_open() -> None:
    todo = '{"todos": [{"content": "Write tests", "status": "pending"}, {"content": "Read", "status": "completed"}]}'
    said = chat(
        ("user", "Do it"),
        tool_call("todo", todo),
        tool_result("ok"),
        tool_call("shell", '{"command": "make"}', "t2", "make"),
        tool_result("error: no rule\nmore", "t2", failed=True),
        ("assistant", "It fails. Shall I add the rule?"),
    )
    assert [entry.text for entry in slots_of(said).open] == [
        "latest request: Do it",
        "to do (pending): Write tests",
        "last tried: shell make, failed: error: no rule",
        "asked, not answered: Shall I add the rule?",
    ]


@settings(max_examples=25)
@given(st.integers(60, 3000))
def test_the_budget_holds_and_what_is_required_comes_first(tokens: int) -> None:
    names = [f"src/module{number}/file{number}.py" for number in range(40)]
    said = chat(
        ("user", "Look at " + " and ".join(names)), ("assistant", "I chose SQLite because it ships with Python.")
    )
    slots = slots_of(said, tokens)
    floor = WEIGH.count([render(Slots(slots.constraints, (), {}, slots.open))])[0]
    assert WEIGH.count([render(slots)])[0] <= max(tokens, floor) + 3
    held = slots.identifiers.get("path", ())
    assert set(held) <= set(names)
    if slots.decisions and len(held) < len(names):
        assert tokens < 1500


def test_it_is_the_same_every_time() -> None:
    (transcript,) = read(FIXTURES / "guard" / "refunds.json")
    assert render(slots_of(transcript)) == render(slots_of(transcript))
