"""The cache of `ctx simulate`: the providers' rules, and what they serve of a request."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.caching import CACHE_RULES, cache_rules
from ctxcli.model import Call
from ctxcli.simulate.cache import CacheTerms, served
from ctxcli.simulate.course import Request

MODELS = ("claude-sonnet-4-5", "claude-opus-4-7", "gpt-5.4", "gpt-5.6-sol", "gemini-2.5-flash", "mistral-large")


def request(n: int, context: int, same: int, *, model: str = MODELS[0], time: str = "", **given: object) -> Request:
    """A request of n messages, a block each, 1,000 tokens a message; system and tools take 2,000 of it."""
    made = Request(
        n, Call(n, time=time, model=model), time, context, 0, 2_000, rows=n, same=same, blocks=n, compacted=False,
        hidden=0, changed="" if same else "first call",
    )  # fmt: skip
    return replace(made, **given)


def growing(model: str, calls: int = 4, minutes: int = 1) -> list[Request]:
    """Each a message longer than the one before."""
    return [
        request(
            n, 10_000 + 1_000 * n, n - 1, model=model, time=f"2026-11-30T{9 + n * minutes // 60:02d}:{n * minutes % 60:02d}:00Z",
            prefix=10_000 + 1_000 * (n - 1) if n > 1 else 0, front=2_000 if n > 1 else None,
        )
        for n in range(1, calls + 1)
    ]  # fmt: skip


# -- the rules


@pytest.mark.parametrize(
    ("model", "name", "minimum", "write"),
    [
        ("claude-opus-4-5-20251101", "anthropic", 4_096, 1.25),
        ("claude-opus-4.8", "anthropic", 1_024, 1.25),
        ("claude-opus-4-7", "anthropic", 2_048, 1.25),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic", 1_024, 1.25),
        ("anthropic/claude-haiku-4.5", "anthropic", 4_096, 1.25),
        ("claude-3-5-haiku-20241022", "anthropic", 2_048, 1.25),
        ("claude-fable-5", "anthropic", 1_024 // 2, 1.25),
        ("gpt-4o-mini", "openai", 1_024, None),
        ("gpt-5.5", "openai-5.5", 1_024, None),
        ("gpt-5.6-sol", "openai-5.6", 1_024, 1.25),
        ("gpt-oss-120b", "prefix", 1_024, None),
        ("gemini-3.1-pro", "google", 4_096, None),
        ("mistral-large", "prefix", 1_024, None),
    ],
)
def test_which_rules_a_model_follows(model: str, name: str, minimum: int, write: float | None) -> None:
    rules = cache_rules(model)
    assert (rules.name, rules.minimum(model), rules.write(300)) == (name, minimum, write)


def test_without_a_model_the_provider_tells_the_rules() -> None:
    assert cache_rules("", "anthropic").name == "anthropic"
    assert cache_rules("", "").name == "prefix"
    assert CACHE_RULES["anthropic"].write(3_600) == 2


# -- the laws


@settings(max_examples=60)
@given(
    st.sampled_from(MODELS),
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30_000), st.integers(0, 90)), min_size=1, max_size=12),
    st.sampled_from([None, 300, 3_600]),
)
def test_what_is_served_adds_up_and_is_no_more_than_stood_before(
    model: str, steps: list[tuple[int, int, int]], life: int | None
) -> None:
    requests, minute, rows = [], 0, 0
    for kept, context, pause in steps:
        minute, same = minute + pause, min(kept, rows)
        rows = same + 1
        time = f"2026-11-{1 + minute // 1440:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:00Z"
        requests.append(
            request(
                rows, context, same, model=model, time=time, prefix=context * same // rows,
                front=min(2_000, context) if requests else None,
            )
        )  # fmt: skip
    rules = cache_rules(model)
    for one, now in zip(served(requests, CacheTerms("", life)), requests, strict=True):
        assert one.read + one.write + one.uncached == now.context
        assert min(one.read, one.write, one.uncached) >= 0
        assert one.read <= one.prefix
        assert one.read % rules.step == 0
        assert one.read == 0 or one.read >= rules.minimum(model)


@pytest.mark.parametrize("model", MODELS)
def test_a_context_that_only_grows_is_read_as_far_as_it_stood(model: str) -> None:
    requests, rules = growing(model), cache_rules(model)
    found = list(served(requests, CacheTerms("")))
    assert found[0].read == 0
    for one, (before, _) in zip(found[1:], pairwise(requests), strict=True):
        assert 0 <= before.context - one.read < rules.step or one.read == before.context
        assert not one.miss


def test_a_read_ends_at_a_breakpoint() -> None:
    one, two = growing("claude-sonnet-4-5", 2)
    edited = replace(two, same=1, rows=3, n=3, prefix=11_500, changed="earlier turns changed")
    assert list(served([one, two, edited], CacheTerms("")))[2].read == 11_000
    assert list(served([one, two, replace(edited, same=0)], CacheTerms("")))[2].read == 2_000
    assert list(served([one, two, replace(edited, same=0)], CacheTerms("", front=1_500)))[2].read == 1_500


def test_a_breakpoint_is_found_again_within_twenty_blocks() -> None:
    one, two = growing("claude-sonnet-4-5", 2)
    far = replace(two, blocks=one.blocks + 21)
    found = list(served([one, far], CacheTerms("")))[1]
    assert found.read == 2_000
    assert "looked back" in found.miss


def test_a_plain_prefix_needs_no_breakpoint_and_goes_in_steps() -> None:
    one, two = growing("gpt-5.4", 2)
    edited = replace(two, same=1, prefix=5_000, changed="earlier turns changed")
    found = list(served([one, edited], CacheTerms("")))[1]
    assert (found.read, found.write) == (4_992, 0)


def test_an_entry_lives_on_with_every_use() -> None:
    found = list(served(growing("claude-sonnet-4-5", 6, minutes=4), CacheTerms("")))
    assert all(one.read for one in found[1:])
    late = list(served(growing("claude-sonnet-4-5", 6, minutes=6), CacheTerms("")))
    assert not any(one.read for one in late)
    assert all("idle" in one.miss for one in late[1:])


def test_the_first_request_reads_what_was_cached_before_it() -> None:
    (first,) = served(growing("claude-sonnet-4-5", 1), CacheTerms("", first_read=9_000))
    assert (first.read, first.write) == (9_000, 2_000)
    assert "before it" in first.miss
