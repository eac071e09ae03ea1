"""Folders, archives and marked-up texts through every command; what a command must not do to a source."""

import json
import zipfile
from pathlib import Path

import pytest

from support import FIXTURES, ctx

CHAT, SEARCH = FIXTURES / "openai-chat" / "messages.jsonl", FIXTURES / "compaction" / "search-index.json"
AIDER = FIXTURES / "aider" / "starts-within-a-session.md"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    file = tmp_path / "plain.zip"
    with zipfile.ZipFile(file, "w") as packed:
        packed.write(CHAT, "messages.jsonl")
    return file


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """An OpenHands conversation as the folder of its events."""
    folder = tmp_path / "conversation"
    (folder / "events").mkdir(parents=True)
    lines = next((FIXTURES / "openhands").glob("*.jsonl")).read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        (folder / "events" / f"event-{number:05}-x.json").write_text(line, "utf-8")
    return folder


def test_compact_takes_one_transcript_and_refuses_a_folder_of_several(tmp_path: Path) -> None:
    for file in (CHAT, SEARCH):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    done = ctx("compact", tmp_path, "--output-format", "openai-chat", "--dry-run")
    assert done.returncode == 2
    assert b"holds 2 transcripts; name one of them" in done.stderr
    (tmp_path / SEARCH.name).unlink()
    assert ctx("compact", tmp_path, "--dry-run").returncode == 0


def test_an_archive_is_not_written_back_but_in_another_format(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = ctx("compact", archive, "-o", out)
    assert done.returncode == 2
    assert b"is not written back; say --output-format" in done.stderr
    assert ctx("compact", archive, "-o", out, "--output-format", "openai-chat").returncode == 0
    assert ctx("audit", out).returncode == 0


@pytest.mark.parametrize("command", ["audit", "identifiers", "check", "formats"])
def test_a_folder_of_events_and_an_archive_are_read_by_each_command(command: str, archive: Path, events: Path) -> None:
    for source in (archive, events, f"{events}/"):
        assert ctx(command, source).returncode in (0, 1), source


def test_the_guard_reads_containers_too(archive: Path, events: Path) -> None:
    assert json.loads(ctx("guard", events, events, "--json").stdout)["before"]["format"] == "openhands"
    assert json.loads(ctx("guard", archive, archive, "--json").stdout)["before"]["format"] == "openai-chat"


def test_a_marked_up_transcript_is_no_plain_text(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert ctx("convert", AIDER, "--conversation", "1", "--to", "openai-chat", "-o", out).returncode == 0
    report = json.loads(ctx("guard", AIDER, out, "--conversation", "1", "--json").stdout)
    assert (report["before"]["format"], report["verdict"]) == ("aider", "pass")
    assert json.loads(ctx("identifiers", AIDER, "--conversation", "1", "--json").stdout)["format"] == "aider"


@pytest.mark.parametrize("name", ["events/event-00000-x.json", "new.jsonl"])
def test_nothing_is_written_into_a_folder_that_is_an_input(name: str, events: Path) -> None:
    before = {file: file.read_bytes() for file in events.rglob("*.json")}
    for arguments in (("audit", events), ("formats", events), ("convert", events, "--to", "pi")):
        done = ctx(*arguments, "-o", events / name)
        assert done.returncode == 2
        assert b"input" in done.stderr
    assert {file: file.read_bytes() for file in events.rglob("*") if file.is_file()} == before


def test_what_holds_no_transcript_is_said_in_its_own_words(tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("a.json", '{"nothing": 1}')
    done = ctx("formats", file)
    assert done.returncode == 2
    assert b"holds no transcript that ctx reads" in done.stderr
