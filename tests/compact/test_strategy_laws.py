"""Laws over the shelf of strategies, on generated histories, in every profile."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compact_support import after, compacted, history
from ctxcli.change import applied, placed
from ctxcli.compact.context import pinned_in
from ctxcli.compact.settings import Settings
from ctxcli.rules import RULES
from ctxcli.strategies import STRATEGIES, semantic
from ctxcli.task import Results
from ctxcli.validity import PROFILES, check

HISTORIES = int(os.environ.get("CTX_HISTORIES", "8"))
"""For each strategy and profile; set CTX_HISTORIES to run more."""
REPAIR = 20
"""Tokens that a repair may add: a word where a message said nothing, so that the speakers still take turns."""
# the extra `semantic` is heavy, so the law holds for it where it is installed
USABLE = [name for name in STRATEGIES if name != "semantic" or semantic.is_available()]
SEEDS = st.integers(0, 10**9)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", USABLE)
@settings(max_examples=HISTORIES)
@given(seed=SEEDS, share=st.sampled_from([0.05, 0.3, 0.7]), keep=st.sampled_from([0, 1, 3]))
def test_what_comes_out_is_valid_lighter_and_whole(name: str, profile: str, seed: int, share: float, keep: int) -> None:
    transcript = history(seed)
    session, outcome = compacted(
        transcript, strategies=(name,), target=share, profile=profile, results=Results(keep=keep)
    )
    change = outcome.change
    assert list(change.keep) == sorted(set(change.keep))
    assert set(change.keep) <= set(outcome.start.keep)
    assert session.weight(change) <= session.tokens + REPAIR * len(outcome.mended.repairs)
    rows = list(placed(transcript, change))
    kept = {row.index: row.message for row in rows if row.index is not None}
    for index in pinned_in(transcript, outcome.start.keep, ()):
        before = transcript.messages[index]
        assert index in kept or index not in change.keep or not before.parts or outcome.mended.repairs
        if index in kept and not outcome.mended.repairs:
            assert kept[index] == before
    messages = applied(transcript, change)
    broken = [one for one in check(messages, profile, before=session.messages) if RULES[one.rule].level == "error"]
    assert not broken, outcome.mended.repairs


@pytest.mark.parametrize("name", USABLE)
@settings(max_examples=HISTORIES)
@given(seed=SEEDS, share=st.sampled_from([0.05, 0.3, 0.7]))
def test_twice_is_the_same_as_once_where_the_target_was_met_and_never_heavier(
    name: str, seed: int, share: float
) -> None:
    transcript = history(seed)
    session, first = compacted(transcript, strategies=(name,), target=share, profile="lenient")
    once = after(transcript, first)
    target = session.target(Settings(target=share))
    again, second = compacted(once, strategies=(name,), target=target, profile="lenient")
    assert again.weight(second.change) <= again.tokens
    if session.weight(first.change) <= target or not first.steps:
        assert again.tokens > target or applied(once, second.change) == once.messages
