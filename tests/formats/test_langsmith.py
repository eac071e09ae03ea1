"""LangSmith: which runs are calls, in which order, whose figures; repeated prompts are one conversation."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.langsmith import claims
from ctxcli.model import EventKind, PartKind, Record, Role, Usage
from ctxcli.replay import live
from support import FIXTURES, read

FOLDER = FIXTURES / "langsmith"


def run(id_: str, **more: Any) -> dict[str, Any]:
    return {"id": id_, "trace_id": id_, "run_type": "llm", "start_time": "2025-06-02T09:00:00", "inputs": {}, **more}


def written(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return path


def test_runs_in_any_order_that_repeat_the_prompt_are_one_conversation() -> None:
    greenhouse, seeds = read(FOLDER / "runs.jsonl")
    assert [call.id for call in greenhouse.calls] == ["r1", "r2", "r3", "r4"]
    assert [call.id for call in seeds.calls] == ["w1", "w2"]
    said = [part.text for message in greenhouse.messages for part in message.parts if part.kind is PartKind.TEXT]
    assert [text for text, many in Counter(said).items() if many > 1] == []
    assert (greenhouse.id, greenhouse.provider, seeds.provider) == ("thread-3", "anthropic", "openai")


def test_only_runs_of_type_llm_are_calls_and_figures_count_once() -> None:
    greenhouse, seeds = read(FOLDER / "runs.jsonl")
    assert [call.usage.prompt for call in greenhouse.calls if call.usage] == [320, 380, 410, 200]
    assert seeds.calls[1].usage == Usage(prompt=84, uncached=20, cache_read=64, cache_write=0, output=6)
    assert greenhouse.bookkeeping == (("chain", 2), ("tool", 1))
    assert greenhouse.duplicates == 1


def test_a_run_that_failed_and_was_tried_again_says_nothing_twice() -> None:
    greenhouse, _ = read(FOLDER / "runs.jsonl")
    assert sum(message.role is Role.TOOL for message in greenhouse.messages) == 1


def test_a_summary_in_a_prompt_is_the_compaction_of_what_it_no_longer_holds() -> None:
    greenhouse, _ = read(FOLDER / "runs.jsonl")
    (event,) = greenhouse.events
    assert (event.kind, event.trigger, event.drops, event.summary) == (EventKind.SUMMARY, "client", (2, 3, 4, 5), 8)
    assert live(greenhouse)[0] == [0, 1, 6, 7, 8, 9, 10]


def test_tools_are_part_of_the_prompt() -> None:
    for transcript in read(FOLDER / "runs.jsonl"):
        assert transcript.messages[0].parts[0].kind is PartKind.TOOLS


def test_a_call_inside_a_call_is_not_counted() -> None:
    first, *_ = read(FOLDER / "shapes.json")
    assert first.bookkeeping == (("call inside a call", 1),)


def test_usage_of_each_api_is_normalised() -> None:
    found = read(FOLDER / "shapes.json")
    assert [call.usage for transcript in found for call in transcript.calls] == [
        Usage(prompt=40, uncached=4, cache_read=30, cache_write=6, output=3),
        Usage(prompt=50, uncached=40, cache_read=10, cache_write=0, output=12, reasoning=5),
        Usage(prompt=4, output=5),
        Usage(prompt=9, output=4),
    ]


def test_responses_items_are_messages() -> None:
    _, second, *_ = read(FOLDER / "shapes.json")
    kinds = [[part.kind for part in message.parts] for message in second.messages]
    assert kinds[2:] == [[PartKind.TOOL_CALL], [PartKind.TOOL_RESULT], [PartKind.THINKING, PartKind.TEXT]]


def test_a_run_without_an_answer_still_shows_its_context(tmp_path: Path) -> None:
    asked = {"messages": [{"role": "user", "content": "Anybody there?"}]}
    (transcript,) = read(written(tmp_path / "one.jsonl", run("a", inputs=asked, error="timed out")))
    assert [call.usage for call in transcript.calls] == [None]


def test_an_invented_type_of_run_changes_its_count_alone(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (FOLDER / "runs.jsonl").read_text("utf-8").splitlines()]
    without = read(written(tmp_path / "without.jsonl", *(row for row in rows if row["run_type"] != "hologram")))
    with_it = read(FOLDER / "runs.jsonl")
    assert [one.calls[0].usage for one in without] == [one.calls[0].usage for one in with_it]
    assert len(with_it[0].skips) == len(without[0].skips) + 1


@pytest.mark.parametrize(
    "value", [{"run_type": "llm"}, {"run_type": 3, "trace_id": "t", "id": "i"}, [], {"runs": [1]}, None, "llm"]
)
def test_other_records_are_not_claimed(value: Any) -> None:
    assert not claims([Record(1, value)])
