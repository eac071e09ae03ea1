"""`ctx formats`: what can be read, and how a source was understood."""

import json
from pathlib import Path

import pytest

from ctxcli.contract import problems
from ctxcli.formats import FORMATS, TARGETS
from support import FIXTURES, ctx, every_fixture, formats_of, golden

TORN = FIXTURES / "claude-code" / "torn.jsonl"


def test_the_list_says_what_is_read_and_written() -> None:
    rows = {row["name"]: row for row in json.loads(ctx("formats", "--json").stdout)}
    assert list(rows) == list(FORMATS)
    assert rows["codex"]["writes"] is True
    assert rows["aider"]["writes"] is False
    assert {name for name, row in rows.items() if row["converts_to"]} == set(TARGETS)


def test_records_that_are_not_known_are_counted_by_type() -> None:
    done = ctx("formats", TORN, "--json")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert not problems("formats", report)
    assert report["ok"] is False
    assert report["unknown"] == [{"type": "new-kind-of-record", "count": 1}]
    assert report["bookkeeping"] == [{"type": "file-history-snapshot", "count": 1}]
    assert {skip["line"] for skip in report["skips"]} == {2, 3, 4, 5, 6, 8, 10}
    assert ctx("formats", TORN, "--strict").returncode == 1
    assert ctx("formats", FIXTURES / "codex" / "session.jsonl", "--strict").returncode == 0


@pytest.mark.parametrize("name", formats_of("formats"))
def test_each_output_format(name: str, tmp_path: Path) -> None:
    (tmp_path / "fixtures").symlink_to(FIXTURES)
    done = ctx(
        "formats", "fixtures/claude-code/torn.jsonl", "fixtures/anthropic/request.json", "-f", name, cwd=tmp_path
    )
    assert done.returncode == 0
    golden(done.stdout.decode(), FIXTURES / "golden" / "formats-command" / f"two.{name}")


def test_a_general_format_is_said_to_have_given_way() -> None:
    report = json.loads(ctx("formats", FIXTURES / "goose" / "session.jsonl", "--json").stdout)
    assert report["format"] == "goose"
    assert report["gave_way"] == ["anthropic"]


def test_files_beside_a_source_are_named() -> None:
    report = json.loads(ctx("formats", FIXTURES / "claude-code" / "with-agents.jsonl", "--json").stdout)
    assert report["companions"]
    assert all(Path(one).is_file() for one in report["companions"])


def test_the_report_of_each_fixture_keeps_to_its_schema() -> None:
    reports = json.loads(ctx("formats", *every_fixture(), "--json").stdout)
    assert [
        (report["format"], Path(report["path"]).parent.name) for report in reports if problems("formats", report)
    ] == []
    assert {report["format"] for report in reports} == set(FORMATS)


def test_what_is_no_transcript_is_said() -> None:
    done = ctx("formats", FIXTURES / "guard" / "refunds-kept.md")
    assert done.returncode == 2
    assert b"refunds-kept.md" in done.stderr
