"""The parts of asking a model for a summary: pieces of a span, repair of an answer, and what is no answer."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compact_support import WEIGH
from ctxcli.ask import Reply, Stop
from ctxcli.compact.asking import Terms, UnusableError, answered
from ctxcli.compact.chunks import chunks
from ctxcli.compact.losses import Losses
from ctxcli.compact.modelling import fault_of
from ctxcli.compact.repair import repaired
from ctxcli.compact.session import Session
from ctxcli.compact.settings import Settings
from ctxcli.errors import SummaryError
from ctxcli.guard import Policy
from ctxcli.reports.slots import Slots
from ctxcli.slots import parse, render
from situation_support import OPENAI, call, document, passed, read_document, result, says, user, work

NOISE = [
    "- path: src/ghost.py, src/w1.py", "- Never deploy on Fridays.", "- chosen: redis | because: src/w7.pyc is gone",
    "- none", "```", "## OPEN", "## Identifiers", "- branch: fix/pay-18", "",
]  # fmt: skip
TURNS = (
    user("Fix PAY-17 on branch fix/pay-17. Never touch migrations/: they are frozen."), says("Which gateway?"),
    user("Only https://pay.example.org/v2. Do not log card numbers."),
    says("", call("c1", "edit_file", path="src/pay/card.py")), result("c1", "ok"), *work(5), says("All read."), user("Go on."),
)  # fmt: skip
BEFORE = document(OPENAI, *TURNS, system="You help.")
TARGET = {"strategies": ("summarise-middle",), "target": 0.2}


def whole_answer() -> str:
    """What extraction says of the same span, as the text of an answer."""
    session = Session(read_document(BEFORE, OPENAI), Policy(), WEIGH)
    return render(session.compact(Settings(**TARGET)).slots, lines=False)  # type: ignore[arg-type]


WHOLE = whole_answer()


@settings(max_examples=25)
@given(st.data())
def test_a_repair_passes_the_guard_whatever_the_answer_was(data: st.DataObject) -> None:
    """Law: what a repair gives holds, or there is none; `passed` asserts what holds of every pass."""
    lines = WHOLE.split("\n")
    kept = [line for line in lines if data.draw(st.booleans())]
    for _ in range(data.draw(st.integers(0, 4))):
        kept.insert(data.draw(st.integers(0, len(kept))), data.draw(st.sampled_from(NOISE)))
    answer = "\n".join(kept)
    wanted = Settings(ask=lambda _: answer, repair=True, attempts=1, **TARGET)  # type: ignore[arg-type]
    try:
        one = passed(BEFORE, OPENAI, wanted)
    except SummaryError as error:
        assert len(parse(answer).missing) == 4 or "longer than" in str(error)  # noqa: PT017
        return
    assert one.guard.verdict == "pass"
    assert "src/ghost.py" not in one.summary
    summed = one.outcome.summed
    assert summed is not None
    assert not any("Fridays" in entry.text for entry in summed.slots.constraints)
    if not parse(answer).missing and not summed.added and not summed.removed:
        assert summed.slots == parse(answer).slots


def test_a_whole_answer_needs_no_repair() -> None:
    one = passed(BEFORE, OPENAI, Settings(ask=lambda _: WHOLE, repair=True, attempts=1, **TARGET))  # type: ignore[arg-type]
    assert one.outcome.summed is not None
    assert (one.outcome.summed.added, one.outcome.summed.removed) == ((), ())
    assert "Repaired" not in one.summary


def test_what_nobody_named_goes_as_a_word_and_takes_nothing_else_along() -> None:
    slots = parse("## CONSTRAINTS\n## DECISIONS\n- keep src/pay/card.py\n- try src/pay\n## IDENTIFIERS\n- path: src/pay, src/pay/card.py\n## OPEN\n- none").slots  # fmt: skip
    rounds = iter([Losses(invented=("src/pay",)), Losses()])
    found = repaired(slots, (), lambda _: next(rounds), Slots)
    assert [one.text for one in found.slots.decisions] == ["keep src/pay/card.py"]
    assert found.slots.identifiers == {"path": ("src/pay/card.py",)}
    assert found.removed == ("src/pay",)


@given(st.lists(st.text("ab \n", max_size=60), max_size=8), st.integers(1, 30))
def test_pieces_are_the_texts_and_none_is_too_long(texts: list[str], most: int) -> None:
    def count(every: list[str]) -> list[int]:
        return [len(one) for one in every]

    pieces = chunks(texts, most, count)  # type: ignore[arg-type]
    assert "".join("".join(pieces).split()) == "".join("".join(texts).split())
    if sum(count(texts)) > most:
        assert all(len(piece.replace("\n\n", "")) <= most for piece in pieces)
    assert chunks(texts, None, count) == ["\n\n".join(texts)]  # type: ignore[arg-type]


def test_a_long_line_is_cut_between_words() -> None:
    line = "src/search/index.py, src/search/schema.sql; data/catalog.ndjson"
    pieces = chunks([line], 30, lambda every: [len(one) for one in every])
    assert pieces == ["src/search/index.py, ", "src/search/schema.sql", "; data/catalog.ndjson"]


def test_turns_stay_whole_where_they_fit() -> None:
    assert chunks(["one", "two", "three", "4"], 7, lambda every: [len(one) for one in every]) == ["one\n\ntwo", "three\n\n4"]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply("## OPEN"), ""),
        (Reply(" \n"), "it is empty"),
        (Reply("", Stop.LENGTH), "cut off at the limit of 9 tokens"),
        (Reply("x", Stop.TOOLS), "calls a tool"),
        (Reply("", Stop.REFUSED), "it refuses"),
        (Reply("x", Stop.OTHER), "broken off"),
    ],
)
def test_what_is_no_answer(reply: Reply, why: str) -> None:
    assert why in fault_of(reply, 9)
    assert bool(fault_of(reply, 9)) is bool(why)


def test_a_usable_answer_stands_where_the_next_one_is_none() -> None:
    """The second attempt fails: what the first one said is what is repaired or refused, not lost."""
    answers = iter(
        ["## CONSTRAINTS\n## DECISIONS\n## IDENTIFIERS\n- path: a.py\n## OPEN", UnusableError("it is empty")]
    )

    def ask(_: str) -> str:
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    with pytest.raises(SummaryError, match=r"the summary leaves these out, or changes them:\n  b\.py"):
        answered(ask, "span", lambda slots: [] if "b.py" in json.dumps(slots.identifiers) else ["b.py"], terms=Terms(2))


def test_of_two_pieces_each_slot_is_taken_together() -> None:
    def ask(prompt: str) -> str:
        at = "1" if "part 1 of 2" in prompt else "2"
        return f"## CONSTRAINTS\n- Never {at}.\n## DECISIONS\n- none\n## IDENTIFIERS\n- path: a{at}.py, b.py\n## OPEN\n- ask {at}"

    found = answered(ask, ["one", "two"], lambda _: []).slots
    assert [one.text for one in found.constraints] == ["Never 1.", "Never 2."]
    assert found.identifiers == {"path": ("a1.py", "b.py", "a2.py")}
    assert [one.text for one in found.open] == ["ask 1", "ask 2"]
    assert isinstance(found, Slots)
