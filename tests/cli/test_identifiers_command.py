"""`ctx identifiers` as people run it: a real process, transcripts and texts."""

import gzip
import json
from pathlib import Path

import pytest

from ctxcli.contract import problems
from support import FIXTURES, ctx, fixture_files, formats_of, golden, name_of

SESSION = "fixtures/claude-code/session.jsonl"


def rows(*arguments: object, stdin: bytes | None = None) -> list[dict[str, object]]:
    result = ctx("identifiers", *arguments, "-f", "jsonl", stdin=stdin)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_table_is_the_golden_one() -> None:
    golden(
        ctx("identifiers", SESSION, "--source", "stated", COLUMNS="100").stdout.decode(),
        FIXTURES / "golden" / "identifiers" / "session-100.txt",
    )


def test_where_a_path_was_used_and_by_whom() -> None:
    (row,) = [row for row in rows(SESSION) if row["value"] == "src/shop/refunds.py"]
    assert (row["kind"], row["line"], row["role"], row["source"]) == ("path", 3, "user", "stated")
    raw = Path(FIXTURES / "claude-code" / "session.jsonl").read_text("utf-8").splitlines()
    lines = [number for number, line in enumerate(raw, 1) if "src/shop/refunds.py" in line]
    assert row["first_line"] in lines
    assert row["last_line"] in lines


@pytest.mark.parametrize("file", fixture_files(), ids=name_of)
def test_the_document_holds_to_its_schema(file: Path) -> None:
    document = json.loads(ctx("identifiers", str(file), "--json").stdout)
    for one in document if isinstance(document, list) else [document]:
        assert problems("identifiers", one) == []


@pytest.mark.parametrize("format_", formats_of("identifiers"))
def test_plain_text_from_standard_input(format_: str) -> None:
    text = b"# Note\n\nsee `src/a.py:12`, v1.2.3 and #512\nsrc/a.py again\n"
    result = ctx("identifiers", "-", "-f", format_, stdin=text)
    assert result.returncode == 0
    assert all(value in result.stdout.decode().replace("\\", "") for value in ("src/a.py:12", "v1.2.3", "#512"))


def test_lines_of_a_text_are_its_own() -> None:
    found = {row["value"]: row for row in rows("-", stdin=b"one\ntwo src/a.py\nthree src/a.py\n")}
    row = found["src/a.py"]
    assert [row["line"], row["last_line"], row["uses"], row["role"]] == [2, 3, 2, None]


def test_kinds_and_sources_choose() -> None:
    assert {row["kind"] for row in rows(SESSION, "--kinds", "path,ticket")} == {"path", "ticket"}
    assert {row["source"] for row in rows(SESSION, "--source", "touched")} == {"touched"}


def test_a_transcript_on_standard_input_compressed_or_not(tmp_path: Path) -> None:
    raw = (FIXTURES / "claude-code" / "session.jsonl").read_bytes()
    values = [row["value"] for row in rows(SESSION)]
    assert [row["value"] for row in rows("-", stdin=raw)] == values
    assert [row["value"] for row in rows("-", stdin=gzip.compress(raw))] == values
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"see src/a.py"))
    assert [row["value"] for row in rows(str(tmp_path / "a.gz"))] == ["src/a.py"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"text \0 more", "binary"),
        (b'{"a": 1}', "no transcript format"),
        (b"[INFO] see src/a.py", ""),
        (b"[guide](docs/a.md)", ""),
        (b"caf\xe9 src/a.py", "0xE9"),
    ],
    ids=str,
)
def test_odd_input_has_a_message_and_an_exit_code(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(content)
    result = ctx("identifiers", str(tmp_path / "a.md"))
    fine = says in ("", "0xE9")
    assert result.returncode == (0 if fine else 2)
    assert says in result.stderr.decode()
    assert b"Traceback" not in result.stderr
    assert bool(result.stdout) == fine


def test_json_can_be_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"main": "src/a.py"}')
    assert [row["value"] for row in rows(str(tmp_path / "a.json"), "--from", "text")] == ["src/a.py"]


def test_an_unknown_kind_is_named() -> None:
    result = ctx("identifiers", SESSION, "--kinds", "paths")
    assert result.returncode == 2
    assert b"'paths' is no kind" in result.stderr


def test_what_an_exporter_hid_is_no_identifier() -> None:
    assert [row["value"] for row in rows("-", stdin=b"export TOKEN=REDACTED\n$REDACTED\n")] == ["TOKEN"]


def test_kinds_of_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / "ctx.toml").write_text("[kinds.order]\npattern = 'ORD-\\d{6}'\nexamples = ['ORD-123456']\n")
    result = ctx("identifiers", "-", "-f", "jsonl", "--kinds", "order", stdin=b"ORD-654321 and src/a.py", cwd=tmp_path)
    assert [json.loads(line)["value"] for line in result.stdout.splitlines()] == ["ORD-654321"]
    assert ctx("audit", FIXTURES / "claude-code" / "session.jsonl", cwd=tmp_path).returncode == 0
    (tmp_path / "ctx.toml").write_text("[kinds.order]\npattern = '('\nexamples = ['x']\n")
    result = ctx("identifiers", "-", stdin=b"text", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"kinds.order: the pattern is not valid" in result.stderr
