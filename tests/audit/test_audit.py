"""The audit: figures that add up, and figures counted a second way."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from ctxcli.audit import Settings, audit
from ctxcli.budget import Limits, model_window, quotas, usable_window
from ctxcli.model import Layer, Transcript
from ctxcli.reports.audit import AuditReport
from support import FIXTURES, fixture_files, name_of, read

SESSION = FIXTURES / "claude-code" / "session.jsonl"


def reports(file: Path, settings: Settings | None = None) -> list[AuditReport]:
    return [audit(transcript, settings) for transcript in read(file)]


@pytest.mark.parametrize("file", fixture_files(), ids=name_of)
def test_layers_add_up_at_every_call(file: Path) -> None:
    for report in reports(file):
        for call in report.calls:
            layers = call.layers
            parts = (layers.system, layers.tools, layers.history, layers.retrieved, layers.summary)
            assert sum(parts) == call.context.estimated
            assert min(parts) >= 0
            measured = call.context.measured
            assert layers.unattributed == (None if measured is None else measured - call.context.estimated)


@pytest.mark.parametrize("file", fixture_files(), ids=name_of)
def test_the_cache_adds_up_to_the_measured_context(file: Path) -> None:
    for report in reports(file):
        for call in report.calls:
            if call.cache is not None:
                assert call.cache.read + call.cache.write + call.cache.uncached == call.context.measured


@pytest.mark.parametrize("file", fixture_files(), ids=name_of)
def test_two_runs_give_the_same_report(file: Path) -> None:
    assert reports(file) == reports(file)


def test_totals_equal_an_independent_count() -> None:
    usage: dict[str, dict[str, int]] = {}
    for raw in SESSION.read_text("utf-8").split("\n"):
        record = json.loads(raw or "{}")
        inner = (record.get("data") or {}).get("message") if record.get("type") == "progress" else record
        message = (inner or {}).get("message") or {}
        if message.get("role") == "assistant" and message.get("model") != "<synthetic>":
            known = usage.setdefault(message["id"], {})
            for key, value in message["usage"].items():
                known[key] = max(known.get(key, 0), value)
    (report,) = reports(SESSION)
    assert report.totals.cache is not None
    assert len(report.calls) == len(usage) == 15
    assert report.totals.cache.read == sum(one["cache_read_input_tokens"] for one in usage.values())
    assert report.totals.output == sum(one["output_tokens"] for one in usage.values())
    assert report.totals.sent == sum(
        one["input_tokens"] + one["cache_creation_input_tokens"] + one["cache_read_input_tokens"]
        for one in usage.values()
    )


def test_a_lane_is_never_added_to_the_main_context() -> None:
    (report,) = reports(SESSION)
    main = [call for call in report.calls if call.lane == "main"]
    assert report.budget.peak == max(call.context.measured or 0 for call in main)
    assert [lane.calls for lane in report.lanes] == [13, 2]
    assert sum(lane.tokens or 0 for lane in report.lanes) == report.totals.sent


def test_an_image_is_media_and_weighs_by_its_size() -> None:
    (report,) = reports(SESSION)
    (image,) = [hot for hot in report.hot if hot.what == "media"]
    assert (image.tokens, report.counts.media) == (410, 1)


def test_a_compaction_shows_before_and_after() -> None:
    (report,) = reports(SESSION)
    clear, summary = report.compactions
    assert (clear.kind, clear.cleared_results, clear.call) == ("clear", 2, 12)
    assert (summary.kind, summary.tokens_before, summary.tokens_after, summary.call) == ("summary", 27610, 24566, 14)
    assert summary.summary_tokens is not None
    assert 100 < summary.summary_tokens < 200


def test_a_cleared_result_weighs_its_placeholder() -> None:
    (report,) = reports(SESSION)
    before, after = report.calls[10 + 2], report.calls[11 + 2]
    assert after.layers.retrieved < before.layers.retrieved


def test_the_models_own_tokenizer_is_exact() -> None:
    (report,) = reports(FIXTURES / "codex" / "session.jsonl")
    assert report.tokenizer.exact
    assert report.tokenizer.calibration is None
    (claude,) = reports(SESSION)
    assert not claude.tokenizer.exact
    assert claude.tokenizer.calibration is not None
    assert claude.tokenizer.calibration.origin == "fitted"


def test_a_counter_of_ones_own_can_be_handed_in() -> None:
    class Letters:
        name = "letters"
        engine = "test"

        def count(self, texts: Sequence[str]) -> list[int]:
            return [len(text) for text in texts]

    (transcript,) = read(FIXTURES / "openai-chat" / "messages.jsonl")
    report = audit(transcript, Settings(weigher=lambda _name: Letters()))
    assert report.tokenizer.name == "letters"
    said = "You help customers of a shop."
    assert report.calls[0].layers.system == len(said) + 3


@pytest.mark.parametrize(
    ("settings", "name", "calls"),
    [
        (Settings(Limits(max_context=27_000)), "max-context", (9, 10, 11, 12, 13)),
        (Settings(fail_over=0.164), "fail-over", (11, 13)),
        (Settings(max_growth=1_000), "max-growth", (8, 12)),
        (Settings(max_growth=10_000), "max-growth", ()),
    ],
)  # fmt: skip
def test_a_limit_names_the_calls_over_it(settings: Settings, name: str, calls: tuple[int, ...]) -> None:
    (report,) = reports(SESSION, settings)
    (limit,) = report.limits
    assert (limit.name, limit.calls, report.ok) == (name, calls, not calls)


def test_without_limits_or_within_them_a_report_is_ok() -> None:
    assert reports(SESSION)[0].ok
    assert reports(SESSION, Settings(Limits(max_context=28_000, reserve_output=0), fail_over=1.0, max_growth=2_000))[
        0
    ].ok


def test_a_call_over_the_assumed_window_is_warned_of() -> None:
    (transcript,) = read(SESSION)
    report = audit(Transcript(**{**{f: getattr(transcript, f) for f in Transcript.__slots__}, "window": 25_000}))
    assert report.window.origin == "transcript"
    assert len(report.window.exceeded_by) > 5
    assert any("exceeded the assumed window of 25,000" in note for note in report.notes)


WINDOWS = [
    ("claude-opus-4-5-20251101", 200_000), ("anthropic/claude-sonnet-4-6", 1_000_000), ("claude-sonnet-4-20250514", 200_000),
    ("gpt-4", 8_192), ("gpt-4-0613", 8_192), ("gpt-4o-mini", 128_000), ("gpt-5-codex", 272_000), ("gpt-5.5", 1_050_000),
    ("gpt-5.6-sol", 922_000), ("o3-mini", 200_000), ("gemini-2.5-pro", 1_048_576), ("my-own-model", None), ("", None),
    ("claude-opus-4-6[1m]", 1_000_000), ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", 200_000),
]  # fmt: skip


@pytest.mark.parametrize(("model", "context"), WINDOWS)
def test_the_table_of_models(model: str, context: int | None) -> None:
    window = model_window(model)
    assert (window.context if window else None) == context


def test_the_window_comes_from_flag_then_transcript_then_model_and_unknown_stays_unknown() -> None:
    assert usable_window(Limits(max_context=10_000), ["gpt-4"], 5_000).origin == "flag"
    assert usable_window(Limits(), ["gpt-4"], 5_000).origin == "transcript"
    known = usable_window(Limits(), ["gpt-4"], None)
    assert (known.origin, known.reserve, known.usable) == ("model", 2_048, 6_144)
    unknown = usable_window(Limits(), ["no-such"], None)
    assert (unknown.origin, unknown.max_context, unknown.usable) == ("unknown", None, None)
    assert usable_window(Limits(), [], 258_400, recorded_is_usable=True).reserve == 0
    assert usable_window(Limits(reserve_output=0), ["claude-opus-4-5"], None).usable == 200_000


def test_quotas_share_what_system_and_tools_leave() -> None:
    found = quotas(100_000, 20_000, {})
    assert (found[Layer.HISTORY], found[Layer.RETRIEVED], found[Layer.SYSTEM]) == (32_000, 48_000, None)
    found = quotas(100_000, 20_000, {Layer.HISTORY: 0.5, Layer.SUMMARY: 0.1})
    assert (found[Layer.HISTORY], found[Layer.SUMMARY], found[Layer.RETRIEVED]) == (40_000, 8_000, 32_000)
    assert set(quotas(None, 0, {}).values()) == {None}
