"""OpenTelemetry GenAI: which spans are calls, the conventions of messages, figures with and without content."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.otel_genai import claims
from ctxcli.model import EventKind, PartKind, Record, Role, Usage
from ctxcli.replay import live
from support import FIXTURES, read

FOLDER = FIXTURES / "otel-genai"


def written(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return path


def span(number: int, **attributes: Any) -> dict[str, Any]:
    return {
        "name": "chat",
        "context": {"trace_id": "t", "span_id": f"s{number}"},
        "start_time": f"2025-07-01T10:00:0{number}Z",
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", **attributes},
    }


def test_calls_of_a_trace_that_repeat_the_history_are_one_conversation() -> None:
    (transcript,) = read(FOLDER / "otlp.json")
    said = [part.text for message in transcript.messages for part in message.parts if part.kind is PartKind.TEXT]
    assert len(said) == len(set(said)) == 7
    assert (transcript.id, transcript.provider, len(transcript.calls)) == ("conv-5", "openai", 4)


def test_a_span_of_an_agent_repeats_the_figures_of_its_calls() -> None:
    (transcript,) = read(FOLDER / "otlp.json")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [150, 190, 215, 140]
    assert dict(transcript.bookkeeping) == {"invoke_agent": 1, "execute_tool": 1, "span": 1}


def test_cached_tokens_are_in_the_input_unless_they_do_not_fit_in_it() -> None:
    (otlp,) = read(FOLDER / "otlp.json")
    assert otlp.calls[1].usage == Usage(prompt=190, uncached=62, cache_read=128, cache_write=0, output=8)
    first, *_ = read(FOLDER / "spans.jsonl")
    assert first.calls[0].usage == Usage(prompt=120, uncached=10, cache_read=90, cache_write=20, output=14)


def test_tools_instructions_media_and_results_are_read() -> None:
    (transcript,) = read(FOLDER / "otlp.json")
    kinds = [[part.kind for part in message.parts] for message in transcript.messages[:5]]
    assert kinds == [
        [PartKind.TOOLS],
        [PartKind.TEXT],
        [PartKind.TEXT, PartKind.MEDIA],
        [PartKind.THINKING, PartKind.TOOL_CALL],
        [PartKind.TOOL_RESULT],
    ]
    assert transcript.messages[4].role is Role.TOOL


def test_a_compaction_part_is_the_summary_of_what_is_no_longer_sent() -> None:
    (transcript,) = read(FOLDER / "otlp.json")
    (event,) = transcript.events
    assert (event.kind, event.drops, event.summary) == (EventKind.SUMMARY, (2, 3, 4, 5), 8)
    assert live(transcript)[0] == [0, 1, 6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("at", "texts", "tool"),
    [
        (0, ["You know the shelves.", "List /srv/shelf/2.", "three jars", "Three jars."], "list"),
        (1, ["Be brief.", "Where is the lamp?", "in the attic", "In the attic."], "lookup"),
        (2, ["Weigh the crate.", "12 kg", "Twelve kilos."], "weigh"),
    ],
    ids=["OpenLLMetry", "span events", "OpenInference"],
)
def test_older_conventions_say_the_same(at: int, texts: list[str], tool: str) -> None:
    transcript = read(FOLDER / "spans.jsonl")[at]
    parts = [part for message in transcript.messages for part in message.parts]
    assert [part.text for part in parts if part.kind in (PartKind.TEXT, PartKind.TOOL_RESULT)] == texts
    assert [part.name for part in parts if part.kind is PartKind.TOOL_CALL] == [tool]
    assert len(transcript.calls) == 2


def test_calls_without_content_still_tell_the_figures_of_their_conversation() -> None:
    first, *_, quiet = read(FOLDER / "spans.jsonl")
    assert quiet.id == "quiet-1"
    assert [call.usage.prompt for call in quiet.calls if call.usage] == [300, 400]
    assert not quiet.events
    assert "without what was said" in first.notes[0]


def test_a_call_inside_a_call_is_not_counted(tmp_path: Path) -> None:
    inside = {**span(2, **{"gen_ai.usage.input_tokens": 9}), "parent_id": "s1"}
    (transcript,) = read(written(tmp_path / "two.jsonl", span(1, **{"gen_ai.usage.input_tokens": 9}), inside))
    assert len(transcript.calls) == 1


def test_an_invented_record_and_part_change_their_counts_alone(tmp_path: Path) -> None:
    lines = (FOLDER / "spans.jsonl").read_text("utf-8").splitlines()
    without = read(written(tmp_path / "less.jsonl", *map(json.loads, lines[:-1])))
    with_it = read(FOLDER / "spans.jsonl")
    assert [one.messages for one in with_it] == [one.messages for one in without]
    assert [skip.reason for skip in with_it[0].skips] == ["record type 'hologram' is not known: not counted"]
    (otlp,) = read(FOLDER / "otlp.json")
    assert [skip.reason for skip in otlp.skips] == ["record type 'part hologram' is not known: not counted"]


@pytest.mark.parametrize(
    "value",
    [{"name": "GET /", "attributes": {"http.method": "GET"}}, {"attributes": {"gen_ai.system": "x"}}, [], [1], None],
)
def test_other_records_are_not_claimed(value: Any) -> None:
    assert not claims([Record(1, value)])


def test_metrics_and_logs_are_bookkeeping(tmp_path: Path) -> None:
    batch = {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "GET", "spanId": "a"}]}]}]}
    call = span(1, **{"gen_ai.usage.input_tokens": 9})
    (transcript,) = read(written(tmp_path / "mixed.jsonl", batch, {"resourceLogs": []}, {"resourceMetrics": []}, call))
    assert dict(transcript.bookkeeping) == {"resourceLogs": 1, "resourceMetrics": 1, "span": 1}
