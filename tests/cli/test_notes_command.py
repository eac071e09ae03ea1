"""`ctx notes` as a user runs it."""

import csv
import io
import json
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ctxcli.cli.notes import command
from ctxcli.contract import schema
from ctxcli.notes import Note, parse, record
from support import FIXTURES, ctx, formats_of, golden

REFUNDS = "fixtures/guard/refunds.json"
NOTES = "fixtures/notes/refunds.jsonl"
"""What was extracted from it."""
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
CLOCK = {"SOURCE_DATE_EPOCH": "1767225600"}


def said(result: subprocess.CompletedProcess[bytes], code: int = 0) -> str:
    assert result.returncode == code, result.stderr
    assert b"Traceback" not in result.stderr
    return result.stdout.decode()


def add(notes: Path, slot: str, text: str, *more: object, code: int = 0) -> str:
    return said(ctx("notes", "add", notes, "--slot", slot, "--text", text, *more, **CLOCK), code)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A file with an entry of each slot."""
    path = tmp_path / "notes.jsonl"
    add(path, "constraints", "Never touch it.")
    add(path, "decisions", "pnpm instead of npm", "--reason", "its lock file is there")
    add(path, "identifiers", "src/guard.py")
    add(path, "open", "Does it build?")
    return path


@pytest.fixture(scope="session")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("notes") / "notes.jsonl"
    said(ctx("notes", "extract", path, REFUNDS))
    return path


@pytest.mark.parametrize("name", list(command.commands))
def test_every_command_has_help(name: str) -> None:
    assert ctx("notes", name, "--help").returncode == 0
    for parameter in command.commands[name].params:
        assert parameter.name in {"notes", "transcript", "name"} or getattr(parameter, "help", None), parameter.name


# -- add


def test_add_writes_one_line_and_the_same_once(notes: Path) -> None:
    before = notes.read_bytes()
    assert "stands already" in add(notes, "constraints", "Never  touch it.\n")
    assert notes.read_bytes() == before
    assert before.count(b"\n") == 4
    book = parse(before.splitlines(keepends=True))
    assert [note.time for note in book.entries] == ["2026-01-01T00:00:00Z"] * 4
    decision, name = book.entries[1:3]
    assert (decision.text, decision.reason) == (
        "pnpm instead of npm | because: its lock file is there",
        "its lock file is there",
    )
    assert name.type == "path"
    assert sorted(file.name for file in notes.parent.iterdir()) == ["notes.jsonl"]


def test_a_decision_in_fields_is_read(tmp_path: Path) -> None:
    add(tmp_path / "n", "decisions", "chosen: pnpm | rejected: npm, yarn | because: it is fast")
    (note,) = parse((tmp_path / "n").read_bytes().splitlines()).entries
    assert (note.chosen, note.reason) == ("pnpm", "it is fast")
    assert note.rejected == ("npm, yarn",)


def test_add_reads_standard_input_and_masks_secrets(tmp_path: Path) -> None:
    result = ctx("notes", "add", tmp_path / "n", "--slot", "open", "--text", "-", "--reason", f"see {SECRET}",
                 stdin=f"Rotate {SECRET}.\n".encode())  # fmt: skip
    said(result)
    assert b"masked" in result.stderr
    assert SECRET.encode() not in (tmp_path / "n").read_bytes()
    assert SECRET.encode() not in result.stdout + result.stderr


def test_add_with_a_place_is_verified_against_it(notes: Path) -> None:
    add(notes, "open", "Which tier?", "--source", REFUNDS, "--line", "5")
    assert "1 entry held against" in said(ctx("notes", "verify", notes, REFUNDS))
    add(notes, "open", "x", "--source", REFUNDS, "--line", "9999", code=2)
    add(notes, "open", "x", "--source", REFUNDS, code=2)
    add(notes, "open", "x", "--source", "none.json", "--line", "1", code=2)
    add(notes, "open", " ", code=2)
    add(notes, "open", "x", "--type", "path", code=2)


# -- extract


def test_extract_twice_adds_nothing(extracted: Path) -> None:
    before = extracted.read_bytes()
    assert "nothing new" in said(ctx("notes", "extract", extracted, REFUNDS))
    assert extracted.read_bytes() == before
    assert b"sk_test_4eC39HqLyjWDarjtT1zdp7dc" not in before
    assert str(Path.cwd()).encode() not in before


def test_extract_is_the_same_bytes_each_time(extracted: Path, tmp_path: Path) -> None:
    said(ctx("notes", "extract", tmp_path / "again", REFUNDS))
    assert (tmp_path / "again").read_bytes() == extracted.read_bytes()


def test_extract_reads_standard_input_and_one_of_several(tmp_path: Path) -> None:
    path, several = tmp_path / "n", FIXTURES / "openai-chat" / "conversations.jsonl"
    said(ctx("notes", "extract", path, "-", "--conversation", "2", stdin=several.read_bytes()))
    assert len(parse(path.read_bytes().splitlines()).marks) == 1
    said(ctx("notes", "extract", path, several))
    assert len(parse(path.read_bytes().splitlines()).marks) >= 2


def test_extract_of_what_cannot_be_read_writes_nothing(tmp_path: Path) -> None:
    for name in ("none.json", "README.md"):
        said(ctx("notes", "extract", tmp_path / "n", name), 2)
    assert not list(tmp_path.iterdir())


# -- show


def test_show_says_the_four_slots(notes: Path) -> None:
    assert said(ctx("notes", "show", notes)) == (
        "## CONSTRAINTS\n- Never touch it.\n\n"
        "## DECISIONS\n- pnpm instead of npm | because: its lock file is there\n\n"
        "## IDENTIFIERS\n- path: src/guard.py\n\n"
        "## OPEN\n- Does it build?\n"
    )
    assert said(ctx("notes", "show", notes, "--slot", "open")) == "## OPEN\n- Does it build?\n"
    add(notes, "open", "Is ## OPEN a heading?")
    assert "Is ## OPEN a heading?" in said(ctx("notes", "show", notes, "--slot", "open"))
    assert said(ctx("notes", "show", "-", stdin=notes.read_bytes())).startswith("## CONSTRAINTS")


def test_what_was_removed_from_the_notes_is_lost_for_the_guard(tmp_path: Path) -> None:
    before, after, notes = tmp_path / "before.json", tmp_path / "after.md", tmp_path / "notes.jsonl"
    said_so = [{"role": "user", "content": "Only touch services/refunds/policy.py in the repository."}]
    before.write_text(json.dumps({"messages": said_so}), "utf-8")
    after.write_text("Only touch the file of notes.jsonl in the repository.", "utf-8")
    add(notes, "identifiers", "services/refunds/policy.py", "--type", "path")
    lost = ["guard", before, after, "--notes", notes, "--json"]
    values = {one["value"] for one in json.loads(ctx(*lost).stdout)["findings"] if one["fails"]}
    assert "services/refunds/policy.py" not in values
    (entry,) = parse(notes.read_bytes().splitlines()).entries
    said(ctx("notes", "remove", notes, entry.id, **CLOCK))
    values = {one["value"] for one in json.loads(ctx(*lost).stdout)["findings"] if one["fails"]}
    assert "services/refunds/policy.py" in values


def test_every_line_of_the_file_fits_its_schema(tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    said(ctx("notes", "extract", notes, REFUNDS, **CLOCK))
    first = parse(notes.read_bytes().splitlines()).entries[0].id
    said(ctx("notes", "remove", notes, first, "--reason", "gone", **CLOCK))
    check = Draft202012Validator(schema("notes-line"))
    lines = [json.loads(line) for line in notes.read_bytes().splitlines()]
    assert {line["kind"] for line in lines} == {"ctx.note", "ctx.note.removed", "ctx.note.extracted"}
    for line in lines:
        assert not list(check.iter_errors(line))
        assert list(check.iter_errors({**line, "invented": 1}))


@pytest.mark.parametrize("name", formats_of("notes"))
def test_show_in_each_format(name: str) -> None:
    text = said(ctx("notes", "show", NOTES, "--format", name))
    assert "services/refunds/policy.py" in text.replace("\\", "")
    golden(text, FIXTURES / "golden" / "notes" / f"refunds.{name}")


def test_show_as_json_fits_its_schema(notes: Path) -> None:
    said(
        ctx("notes", "remove", notes, parse(notes.read_bytes().splitlines()).entries[0].id, "--reason", "gone", **CLOCK)
    )
    with notes.open("ab") as stream:
        stream.write(b'{"kind":"ctx.note","ver')
    for arguments in (("show", notes, "--json"), ("show", notes, "--format", "json", "--slot", "open")):
        document = json.loads(said(ctx("notes", *arguments)))
        assert not list(Draft202012Validator(schema("notes")).iter_errors(document))
        assert document["ok"] is False
        assert document["removed"][0]["reason"] == "gone"
    assert {entry["slot"] for entry in document["entries"]} == {"open"}


def test_rows_are_rows(notes: Path) -> None:
    add(notes, "open", "=HYPERLINK(1)")
    rows = list(csv.DictReader(io.StringIO(said(ctx("notes", "show", notes, "--format", "csv")))))
    assert [row["slot"] for row in rows] == ["constraints", "decisions", "identifiers", "open", "open"]
    assert rows[-1]["text"] == "'=HYPERLINK(1)"
    lines = said(ctx("notes", "show", notes, "--format", "jsonl")).splitlines()
    assert [json.loads(line)["id"] for line in lines] == [row["id"] for row in rows]


# -- remove


def test_remove_takes_a_prefix_and_adding_again_makes_it_stand(notes: Path) -> None:
    first = parse(notes.read_bytes().splitlines()).entries[0]
    said(ctx("notes", "remove", notes, first.id[:6].upper(), "--reason", "lifted"))
    assert "Never touch it." not in said(ctx("notes", "show", notes))
    gone = ctx("notes", "remove", notes, first.id)
    said(gone, 2)
    assert b"removed already" in gone.stderr
    assert "added" in add(notes, "constraints", "Never touch it.")
    assert "Never touch it." in said(ctx("notes", "show", notes))


def test_remove_says_what_to_do_about_an_id_that_means_none_or_several(notes: Path) -> None:
    before = notes.read_bytes()
    for prefix in ("zz", ""):
        result = ctx("notes", "remove", notes, prefix)
        said(result, 2)
        assert b"notes show" in result.stderr
    entries = parse(before.splitlines()).entries
    number = 0
    while len({note.id[0] for note in entries}) == len(entries):
        add(notes, "open", f"more {number}")
        entries, number = parse(notes.read_bytes().splitlines()).entries, number + 1
    firsts = [note.id[0] for note in entries]
    twice = next(one for one in firsts if firsts.count(one) > 1)
    result = ctx("notes", "remove", notes, twice)
    said(result, 2)
    assert b"give more of it" in result.stderr


# -- verify


def test_verify_a_file_that_is_as_it_was_written(extracted: Path) -> None:
    assert "every line is as ctx wrote it, and each entry stands" in said(ctx("notes", "verify", extracted, REFUNDS))


def test_verify_names_torn_altered_and_foreign_lines(notes: Path) -> None:
    lines = notes.read_bytes().splitlines(keepends=True)
    notes.write_bytes(lines[0].replace(b"Never", b"Always") + lines[1] + b"# mine\n" + lines[2][:-30])
    text = said(ctx("notes", "verify", notes), 1)
    assert "line 1: altered" in text
    assert "line 3: no record of ctx" in text
    assert "line 4: a record that breaks off" in text
    for name in ("json", "markdown"):
        said(ctx("notes", "verify", notes, "--format", name), 1)
    said(ctx("notes", "verify", notes, "--exit-zero"))
    shown = ctx("notes", "show", notes)
    assert b"line 1: altered" in shown.stderr
    said(shown)


def test_verify_against_a_transcript_that_changed(extracted: Path, tmp_path: Path) -> None:
    changed = tmp_path / "refunds.json"
    changed.write_bytes((FIXTURES / "guard" / "refunds.json").read_bytes().replace(b"too slow", b"too fast"))
    text = said(ctx("notes", "verify", extracted, changed), 1)
    assert "does not stand" in text
    document = json.loads(said(ctx("notes", "verify", extracted, changed, "--json"), 1))
    assert not list(Draft202012Validator(schema("notes")).iter_errors(document))
    assert document["counts"]["strays"] == len(document["strays"]) > 0
    assert {stray["line"] for stray in document["strays"]} == {5}


def test_verify_against_another_transcript_checks_nothing(extracted: Path) -> None:
    result = ctx("notes", "verify", extracted, "fixtures/claude-code/session.jsonl")
    said(result, 3)
    assert b"nothing could be held against it" in result.stderr


# -- resume


def test_resume_says_what_a_fresh_context_needs() -> None:
    text = said(ctx("notes", "resume", NOTES))
    golden(text, FIXTURES / "golden" / "notes" / "refunds.resume.md")
    assert "25 entries stand in fixtures/notes/refunds.jsonl" in text


@pytest.mark.parametrize("tokens", [200, 300, 500, 5000])
def test_resume_within_a_limit_says_what_it_left_out(tokens: int) -> None:
    from ctxcli.tokens import counter

    text = said(ctx("notes", "resume", NOTES, "--tokens", tokens))
    assert counter("o200k_base").count([text])[0] <= tokens
    assert ("Left out here" in text) == (tokens < 5000)
    assert "- Refunds above $500 must never be approved automatically." in text
    if tokens == 200:
        assert "left out\n" in text


# -- the file


def test_an_absent_file_and_one_of_another_kind(tmp_path: Path) -> None:
    for name in ("show", "verify", "resume"):
        absent = ctx("notes", name, tmp_path / "none.jsonl")
        said(absent, 2)
        assert b"ctx notes add" in absent.stderr
        said(ctx("notes", name, "README.md"), 2)
        said(ctx("notes", name, tmp_path), 2)
    said(ctx("notes", "remove", tmp_path / "none.jsonl", "abc"), 2)
    assert not list(tmp_path.iterdir())


def test_nothing_is_added_to_a_file_of_another_kind(tmp_path: Path) -> None:
    other = tmp_path / "session.jsonl"
    other.write_bytes((FIXTURES / "claude-code" / "session.jsonl").read_bytes())
    before = other.read_bytes()
    for arguments in (
        ("add", other, "--slot", "open", "--text", "x"),
        ("extract", other, REFUNDS),
        ("remove", other, "ab"),
    ):
        said(ctx("notes", *arguments), 2)
    assert other.read_bytes() == before


def test_standard_input_is_not_added_to() -> None:
    for arguments in (("add", "-", "--slot", "open", "--text", "x"), ("extract", "-", REFUNDS), ("remove", "-", "ab")):
        said(ctx("notes", *arguments, stdin=record(Note("open", "x")).encode()), 2)


def test_nothing_is_written_over_the_notes(notes: Path) -> None:
    before = notes.read_bytes()
    for name in ("show", "verify", "resume"):
        said(ctx("notes", name, notes, "-o", notes), 2)
    assert notes.read_bytes() == before


def test_half_characters_reach_no_user_as_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "n"
    path.write_text(record(Note("open", "half \ud83d of it")) + "\n")
    for arguments in (
        ("show",),
        ("show", "--json"),
        ("show", "-f", "table"),
        ("verify",),
        ("resume",),
        ("resume", "--tokens", "300"),
    ):
        said(ctx("notes", arguments[0], path, *arguments[1:]))


def test_a_clock_that_is_none(tmp_path: Path) -> None:
    result = ctx("notes", "add", tmp_path / "n", "--slot", "open", "--text", "x", SOURCE_DATE_EPOCH="soon")
    said(result, 2)
    assert b"SOURCE_DATE_EPOCH" in result.stderr
