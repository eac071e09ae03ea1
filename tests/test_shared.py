"""Real transcripts, where they are at hand: figures held against independent counts."""

import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from ctxcli.audit import audit
from ctxcli.change import applied
from ctxcli.compact.context import start_of
from ctxcli.contract import problems
from ctxcli.files.load import claiming
from ctxcli.formats import conversation_of, convert
from ctxcli.identifiers import extract
from ctxcli.renderers.json import dump
from ctxcli.reports.audit import AuditReport
from ctxcli.rules import RULES
from ctxcli.validity import PROFILES, check
from guard_support import compare
from support import SHARED, name_of, needs_shared, read, shared_files

pytestmark = needs_shared
READABLE = shared_files("claude-code", "codex", "openai-chat")
CLAUDE, CODEX = shared_files("claude-code"), shared_files("codex")
EMPTY = [pytest.param(Path("none/none"), marks=pytest.mark.skip(reason="the real transcripts are not on this machine"))]


EVERY: list[Any] = [file for folder in sorted(SHARED.glob("*")) if folder.is_dir() for file in sorted(folder.glob("*"))]


@pytest.mark.parametrize("file", EVERY or EMPTY, ids=name_of)
def test_every_file_is_read_as_what_its_folder_says_and_wholly(file: Path) -> None:
    found = read(file)
    assert {one.format for one in found} == {file.parent.name}
    claiming_ = [card for card in claiming(str(file)) if not card.general] or claiming(str(file))
    assert [card.name for card in claiming_] == [file.parent.name]
    assert not [one.unknown for one in found if one.unknown]
    skips = [skip for one in found for skip in one.skips]
    assert all(skip.recovered for skip in skips)
    assert bool(skips) == (file.name == "malformed-line.jsonl")


ONLY_THOUGHT = {"two-compactions.jsonl": ["CLAUDE.md"]}
"""Identifiers that stand in the context in thinking alone, which no other API takes: it is said to be left out."""


@pytest.mark.parametrize("file", CLAUDE or EMPTY, ids=name_of)
def test_a_session_through_chat_to_the_messages_api_keeps_every_identifier_and_is_valid(
    file: Path, tmp_path: Path
) -> None:
    first, at = read(file)[0], tmp_path / "x.json"
    now = first
    for target in ("openai-chat", "anthropic"):
        data, _ = convert(conversation_of(now, applied(now, start_of(now))), target)
        at.write_bytes(data)
        (now,) = read(at)
        broken = [
            one
            for name in PROFILES
            for one in check(applied(now, start_of(now)), name)
            if RULES[one.rule].level == "error"
        ]
        assert not broken
    report = compare(first, now)
    assert [one.value for one in report.findings if one.fails] == ONLY_THOUGHT.get(file.name, [])


def values(file: Path) -> list[dict[str, Any]]:
    """The objects of a file by the standard library alone, joined lines included."""
    decoder, found = json.JSONDecoder(), []
    for line in file.read_text("utf-8").split("\n"):
        at = 0
        while at < len(line.rstrip()):
            value, at = decoder.raw_decode(line, at)
            found.append(value)
    return found


def reports(file: Path) -> list[AuditReport]:
    return [audit(transcript) for transcript in read(file)]


@pytest.mark.parametrize("file", READABLE or EMPTY, ids=name_of)
def test_layers_add_up_and_documents_hold_to_their_schema(file: Path) -> None:
    for report in reports(file):
        assert problems("audit", json.loads(dump(report))) == []
        for call in report.calls:
            layers = call.layers
            parts = (layers.system, layers.tools, layers.history, layers.retrieved, layers.summary)
            assert sum(parts) == call.context.estimated
            assert min(parts) >= 0


@pytest.mark.parametrize("file", CLAUDE or EMPTY, ids=name_of)
def test_totals_of_claude_code_equal_an_independent_count(file: Path) -> None:
    usage: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for value in values(file):
        inner = (value.get("data") or {}).get("message") if value.get("type") == "progress" else value
        message = inner.get("message") if isinstance(inner, dict) else None
        if isinstance(message, dict) and message.get("role") == "assistant" and message.get("model") != "<synthetic>":
            for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"):
                usage[message["id"]][key] = max(usage[message["id"]][key], message["usage"].get(key) or 0)
    (report,) = reports(file)
    cache = report.totals.cache
    assert cache is not None
    assert len(report.calls) == len(usage)
    assert cache.read == sum(one["cache_read_input_tokens"] for one in usage.values())
    assert cache.write == sum(one["cache_creation_input_tokens"] for one in usage.values())
    assert cache.uncached == sum(one["input_tokens"] for one in usage.values())
    assert report.totals.output == sum(one["output_tokens"] for one in usage.values())
    assert report.totals.sent == cache.read + cache.write + cache.uncached


@pytest.mark.parametrize("file", CODEX or EMPTY, ids=name_of)
def test_totals_of_codex_count_each_changed_count_once(file: Path) -> None:
    before, calls = None, []
    for value in values(file):
        info = value["payload"].get("info") if value["payload"].get("type") == "token_count" else None
        if info and info["last_token_usage"]["input_tokens"] and info["total_token_usage"] != before:
            before = info["total_token_usage"]
            calls.append(info["last_token_usage"])
    (report,) = reports(file)
    assert len(report.calls) == len(calls)
    assert report.totals.sent == sum(call["input_tokens"] for call in calls)
    assert report.totals.output == sum(call["output_tokens"] for call in calls)


@pytest.mark.parametrize("file", (CLAUDE + CODEX) or EMPTY, ids=name_of)
def test_estimated_growth_is_near_the_measured_growth(file: Path) -> None:
    for report in reports(file):
        grown = [call for call in report.calls if call.growth and call.growth > 0]
        off = [abs(call.added - (call.growth or 0)) / (call.growth or 1) for call in grown]
        assert statistics.median(off) <= 0.15


KNOWN = {
    "three-compactions.jsonl": (225, 3), "two-compactions.jsonl": (280, 2), "malformed-line.jsonl": (98, 1),
    "two-sessions.jsonl": (56, 0), "newest-2.1.218.jsonl": (102, 0), "image.jsonl": (134, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_known_calls_and_compactions(name: str) -> None:
    (report,) = reports(SHARED / "claude-code" / name)
    assert (len(report.calls), sum(row.kind == "summary" for row in report.compactions)) == KNOWN[name]
    assert report.counts.skipped == 0


def test_the_joined_line_loses_nothing() -> None:
    (report,) = reports(SHARED / "claude-code" / "malformed-line.jsonl")
    assert [(skip.line, skip.recovered) for skip in report.skips] == [(300, True)]


def test_an_image_is_media_and_never_text() -> None:
    (report,) = reports(SHARED / "claude-code" / "image.jsonl")
    assert report.counts.media == 1
    assert all(hot.tokens < 20_000 for hot in report.hot)


def test_encrypted_compactions_are_opaque() -> None:
    (report,) = reports(SHARED / "codex" / "two-compactions.jsonl")
    assert [row.opaque for row in report.compactions] == [True, True]
    assert [row.recorded_after for row in report.compactions] == [18_826, 17_830]


def test_fifty_conversations_on_fifty_lines() -> None:
    found = reports(SHARED / "openai-chat" / "reason-tool-use.jsonl")
    assert len(found) == 50
    assert sum(len(report.calls) for report in found) == 112


@needs_shared
def test_labelled_lines_are_recognised_as_people_labelled_them() -> None:
    main = ("path", "location", "url", "uuid", "hash", "version", "package", "ticket", "error", "flag", "env")
    labels = SHARED.parent / "labels" / "identifiers.jsonl"
    right = wrong = missed = 0
    for row in map(json.loads, labels.read_text("utf-8").splitlines()):
        wanted = {(one["kind"], one["value"]) for one in row["identifiers"]}
        found = {(hit.kind, hit.value) for hit in extract.of_line(row["text"], by_user=row["stratum"] == "user-prose")}
        assert not {value for kind, value in found - wanted if kind in main} & set(row["tempting"])
        right += len({one for one in found & wanted if one[0] in main})
        missed += len({one for one in wanted - found if one[0] in main})
        wrong += len(
            {one for one in found - wanted if one[0] in main and not any(one[1] in value for _, value in wanted)}
        )
    assert right / (right + wrong) >= 0.97
    assert right / (right + missed) >= 0.97
