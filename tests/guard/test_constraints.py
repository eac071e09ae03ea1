"""Boundaries: which sentences set one, and what became of them."""

import pytest

from ctxcli.constraints import is_demand, sentences
from guard_support import compare
from support import chat

DEMANDS = [
    "Don't commit.",
    "Please do not touch the schema.",
    "Latency must stay <= 200 ms.",
    "Keep emitting the current provider keys.",
    "let's not leave _all_ the tests to the very end...",
    "No new network dependency at runtime",
    "Use at most 3 retries.",
    "Only change files under src/.",
    "Fix it without changing the concept.",
    "we should not use sqlite here",
    "Never push to main.",
    "1. Do not log secrets",
    "I'd only like to exchange the thermostat.",
    "Refunds above $500 must never be approved automatically.",
]
NO_DEMANDS = [
    "I don't have the order ID with me right now.",
    "Keep in mind that humans edit too.",
    "I must have mixed it up.",
    "yes, but we don't need to commit",
    "No tests failed.",
    "It works without restarting.",
    "Should we never do this?",
    "Any reason we don't parse the stdin?",
    "I'm not sure which order it is.",
    "This may not be exercised in practice.",
    "when someone does a commit it's not really feasible",
    "No problem at all",
]


@pytest.mark.parametrize("sentence", DEMANDS)
def test_demands(sentence: str) -> None:
    assert is_demand(sentence)


@pytest.mark.parametrize("sentence", NO_DEMANDS)
def test_what_only_describes_or_asks(sentence: str) -> None:
    assert not is_demand(sentence)


def test_wrapped_lines_are_one_sentence_and_code_is_none() -> None:
    text = "Never push\nto main.\n\n```\nnever = 1\n```\n| must | not |\nDone."
    assert list(sentences(text)) == [(0, "Never push to main."), (7, "Done.")]


def fate(said: str, after: str) -> tuple[str, bool]:
    (row,) = compare(chat(("user", said)), after).constraints
    return row.status, row.fails


@pytest.mark.parametrize(
    ("said", "after", "expected"),
    [
        ("Do not touch the public schema.", "Constraints: do not touch the **public schema**.", "kept"),
        ("Never push to main.", "> never push to main", "kept"),
        ("Use at most 3 retries.", "Retries are limited to at most 3.", "kept"),
        ("Don't commit.", "The user does not want us to commit yet.", "kept"),
        ("Only change files under lib/.", "Files under lib/ only may be changed.", "kept"),
        ("Never touch legacy/, and keep as_money() as it is: it is public.", "Never touch legacy/; keep as_money() as it is.", "kept"),
        ("Do not touch the public schema.", "The public schema was touched up.", "weakened"),
        ("Latency must stay below 200 ms.", "Latency must stay below 250 ms.", "weakened"),
        ("Latency must stay below 200 ms.", "Latency should stay below 200 ms.", "weakened"),
        ("Only change files under lib/.", "Change files under lib/.", "weakened"),
        ("Never push to main.", "We pushed to main.", "lost"),
        ("Never push to main.", "We work on a branch.", "lost"),
        ("Don't commit.", "Next: commit the fix.", "lost"),
    ],
)  # fmt: skip
def test_fates(said: str, after: str, expected: str) -> None:
    assert fate(said, after) == (expected, expected in ("weakened", "lost"))


def test_a_paraphrase_is_reported_and_does_not_fail() -> None:
    said = "Never store the full card number of a customer in the application logs."
    assert fate(said, "Card numbers of customers stay out of our logs.") == ("unjudged", False)


def test_what_an_assistant_or_a_client_says_sets_no_boundary() -> None:
    assert not compare(chat(("assistant", "I must never push to main.")), "nothing").constraints


def test_instructions_of_a_system_prompt_are_required_where_the_context_has_one() -> None:
    before = chat(("system", "Never reveal the price list."), ("user", "Hello"))
    assert [row.fails for row in compare(before, "nothing").constraints] == [False]
    after = chat(("system", "Be kind to customers."), ("user", "Hello"))
    assert [row.fails for row in compare(before, after).constraints] == [True]


def test_a_pasted_document_is_only_reported() -> None:
    document = (
        "Plan for the module\n" + "A line of the plan that says what is planned in it.\n" * 60 + "Never push to main.\n"
    )
    (row,) = compare(chat(("user", document)), "nothing").constraints
    assert (row.status, row.required, row.fails) == ("lost", False, False)
