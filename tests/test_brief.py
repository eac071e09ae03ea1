"""Brief slots: what a limit below 300 tokens holds, what overtakes what, and that the text is read again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.change import applied
from ctxcli.compact.context import Keep
from ctxcli.compact.session import Session
from ctxcli.compact.settings import Settings
from ctxcli.guard import Policy
from ctxcli.reports.slots import Brief, Entry, Slots
from ctxcli.slots import parse, render
from ctxcli.summarisers.extractive.facts import asks, is_fact
from ctxcli.summarisers.extractive.subjects import is_same, last_states, subject_of
from guard_support import WEIGH
from support import chat

SAID = chat(
    ("user", "Set the importer up."),
    ("user", "The staging database is MySQL 8 in us-west-1."),
    ("assistant", "Noted."),
    ("user", "The retry limit is 3. Never push to main."),
    ("assistant", "Noted."),
    ("user", "The production database is Postgres 15 in eu-north-2."),
    ("assistant", "The schema of the importer has forty tables, and I looked at each of them in turn. " * 12),
    ("user", "The retry limit is now 5."),
    ("assistant", "Noted."),
)


def test_each_thing_stands_once_in_its_last_state() -> None:
    session = Session(SAID, Policy(), WEIGH)
    outcome = session.compact(Settings(("summarise-middle",), 130, keep_last=Keep(messages=0), summary_tokens=120))
    text = "\n".join(part.text for message in applied(SAID, outcome.change) for part in message.parts)
    assert isinstance(outcome.slots, Brief)
    assert "Never push to main." in text
    assert "MySQL 8" in text
    assert "Postgres 15" in text
    assert "retry limit now 5" in text
    assert "limit is 3" not in text
    assert "none" not in text
    assert parse(text).slots.constraints == outcome.slots.constraints
    assert parse(text).slots.identifiers == outcome.slots.identifiers


@settings(max_examples=15)
@given(st.integers(30, 250))
def test_the_limit_holds_and_what_is_left_out_is_counted(tokens: int) -> None:
    found = Session(SAID, Policy(), WEIGH).compact(
        Settings(("summarise-middle",), 1, keep_last=Keep(messages=0), summary_tokens=tokens)
    )
    if found.change.summary:
        assert WEIGH.count([render(found.slots)])[0] <= tokens
        assert bool(found.slots.left_out) or "MySQL" in found.change.summary


def test_brief_slots_are_read_again() -> None:
    slots = Slots((Entry("Never push."),), (), {"fact": ("port is 8080", "a, b")}, (Entry("latest request: go"),))
    brief = Brief(slots.constraints, slots.decisions, slots.identifiers, slots.open)
    assert parse(render(brief)).slots == slots


SAME = [
    ("The port is 8080", "The port is 9090"),
    ("Deadline: 2027-01-02", "The deadline moved to 2027-02-02"),
    ("At most 3 retries per request", "At most 5 retries per request"),
    ("Next up: the parser", "The next step is the writer"),
    ("We refer to the service by the name Lark", "The service's name is Heron"),
    ("GET /v1/search must stay below 120 ms", "GET /v1/search must stay below 90 ms"),
    ("Do not release before the approval, or without a word from Ann", "Do not release without a word from Bob"),
]
TWO = [
    ("Do not touch src/auth", "Do not touch src/billing"),
    ("The file src/a.py must never change", "The file src/b.py must never change"),
    ("Tests for auth live in tests/auth", "Tests for billing live in tests/billing"),
    ("Keep functions under 40 lines", "Keep files under 300 lines"),
    ("Port 8080 is the API server", "Port 9090 is the metrics server"),
    ("The staging database is MySQL 8", "The production database is MySQL 9"),
    ("The hotel costs $300", "The flight costs $500"),
    ("Always keep /srv/a1/one2.toml as it is", "Always keep /srv/b3/two4.toml as it is"),
    ("Leave the settings in /etc/a.conf alone", "Leave the settings in /etc/b.conf alone"),
    ("Do not call worker1 without asking me first", "Do not call worker2 without asking me first"),
    ("The export of a12 must not take more than 13 seconds", "The export of b34 must not take more than 65 seconds"),
    ("GET /v1/search must stay below 120 ms", "GET /v1/orders must stay below 90 ms"),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_a_value_that_is_given_again_overtakes_the_one_before(first: str, second: str) -> None:
    assert last_states([first, "Something else", second], str) == ["Something else", second]


@pytest.mark.parametrize(("first", "second"), TWO)
def test_two_things_are_two(first: str, second: str) -> None:
    assert not is_same(subject_of(first), subject_of(second))


@pytest.mark.parametrize(
    "text", ["The port is 8080.", "I prefer short answers.", "User wants metric units.", "Next step: the parser."]
)
def test_what_the_user_told_is_a_fact(text: str) -> None:
    assert is_fact(text)
    assert not asks(text)


@pytest.mark.parametrize(
    "text", ["Fix the parser.", "Is the port 8080?", "We need a test for it.", "Please fix the parser."]
)
def test_what_the_user_asks_for_is_none(text: str) -> None:
    assert asks(text)


def test_a_boundary_stands_word_for_word() -> None:
    said = "Never touch the migrations/, they are frozen until the release."
    talk = chat(("user", "Look."), ("user", said), *(("assistant", "A long tale. " * 90),) * 3, ("user", "Go on."))
    outcome = Session(talk, Policy(), WEIGH).compact(
        Settings(("summarise-middle",), 130, keep_last=Keep(messages=0), summary_tokens=120)
    )
    assert outcome.slots.constraints == (Entry(said),)
