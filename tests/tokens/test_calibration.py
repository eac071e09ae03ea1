"""Calibration, media and constants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.model import Media
from ctxcli.tokens import Growth, constant_ratio, fit, media_tokens


def rows(words: float, results: float, overhead: int, count: int) -> list[Growth]:
    sizes = [(40 + 13 * n % 97, 300 + 311 * n % 2900) for n in range(count)]
    return [Growth(round(words * w + results * r + overhead), w, r, 0, 0) for w, r in sizes]


def test_a_fit_finds_the_ratios_and_the_overhead() -> None:
    found = fit(rows(1.3, 1.6, 50, 60), "claude-x", exact=False)
    assert found.origin == "fitted"
    assert found.of("results") == pytest.approx(1.6, abs=0.05)
    assert found.median_error is not None
    assert found.median_error < 0.03


def test_an_outlier_does_not_move_a_fit() -> None:
    clean = fit(rows(1.2, 1.5, 40, 40), "claude-x", exact=False)
    spoilt = fit([*rows(1.2, 1.5, 40, 40), Growth(90_000, 10, 10, 0, 0)], "claude-x", exact=False)
    assert spoilt.of("results") == pytest.approx(clean.of("results"), abs=0.03)


@pytest.mark.parametrize(
    ("count", "origin"), [(0, "constant"), (2, "constant"), (3, "fitted"), (7, "fitted"), (8, "fitted")]
)
def test_too_few_calls_are_not_fitted(count: int, origin: str) -> None:
    assert fit(rows(1.2, 1.2, 0, count), "claude-x", exact=False).origin == origin


def test_an_exact_tokenizer_keeps_its_ratio() -> None:
    found = fit(rows(1.0, 1.0, 12, 20), "gpt-5.6", exact=True)
    assert (found.ratio, found.kinds, found.overhead, found.origin) == (1.0, (), 12, "exact")


@given(st.lists(st.builds(Growth, *[st.integers(1, 10**6)] * 2, *[st.integers(0, 10**6)] * 3), max_size=30))
def test_no_data_breaks_a_fit_and_ratios_stay_sane(data: list[Growth]) -> None:
    found = fit(data, "claude-x", exact=False)
    assert found.overhead >= 0
    assert all(0.5 <= ratio <= 4 for ratio in (found.ratio, *dict(found.kinds).values()))


@pytest.mark.parametrize(
    ("model", "ratio"),
    [("", 1.0), ("gpt-5", 1.0), ("claude-sonnet-4-5", 1.2), ("claude-opus-4-6", 1.2), ("claude-opus-4-7", 1.5),
     ("claude-opus-5-5", 1.5), ("claude-fable-5", 1.5), ("claude-opus-4-20250514", 1.2), ("gemini-2.5-pro", 1.2)],
)  # fmt: skip
def test_constants(model: str, ratio: float) -> None:
    assert constant_ratio(model) == ratio


@pytest.mark.parametrize(
    ("media", "provider", "tokens"),
    [
        (Media("image/png", 640, 480), "anthropic", 410),
        (Media("image/png", 4000, 4000), "anthropic", 1600),
        (Media("image/png", 512, 512), "openai", 255),
        (Media("image/png", 1024, 1024), "openai", 765),
        (Media("image/png", 300, 300), "google", 258),
        (Media("image/png", 1536, 768), "google", 516),
        (Media("image/png"), "anthropic", 1500),
        (Media("application/pdf"), "anthropic", 3000),
    ],
)
def test_media_weigh_by_rule_and_never_by_their_bytes(media: Media, provider: str, tokens: int) -> None:
    assert media_tokens(media, provider) == tokens
