"""The laws of every transcript format, held over all fixtures."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ctxcli.errors import CtxError
from ctxcli.files.load import detect
from ctxcli.files.records import Tally, records_of
from ctxcli.formats import FORMATS, TEXTS
from ctxcli.model import Record, Transcript
from support import FIXTURES, ROOT, every_fixture, golden, name_of, normal_form, read

ALL = every_fixture()
LINES = [file for file in ALL if file.suffix == ".jsonl"]


def records(file: Path) -> list[Record]:
    return list(records_of(str(file), Tally()))


@pytest.mark.parametrize("file", ALL, ids=name_of)
def test_a_fixture_reads_to_its_golden_normal_form(file: Path) -> None:
    text = "\n".join(map(normal_form, read(file)))
    golden(text, FIXTURES / "golden" / "formats" / file.parent.name / f"{file.name}.txt")


@pytest.mark.parametrize("file", ALL, ids=name_of)
def test_exactly_one_format_claims_a_fixture(file: Path) -> None:
    first = records(file)[:25]
    claiming = {name: card.general for name, card in FORMATS.items() if card.claims(first)}
    assert [name for name in claiming if not claiming[name]] or [*claiming] == [file.parent.name]
    assert detect(first, file.name).name == file.parent.name


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_fixture(name: str) -> None:
    assert any(file.parent.name == name for file in ALL)


def without_places(transcripts: list[Transcript]) -> list[str]:
    """What was said, without the lines it stands on."""
    return [
        f"{message.lane} {message.role} {message.harness} {[(part.kind, part.text, part.name) for part in message.parts]}"
        for transcript in transcripts
        for message in transcript.messages
    ] + [str((call.id, call.usage)) for transcript in transcripts for call in transcript.calls]


GARBAGE = (b"{oh no", b"\x00\x01\x02\x03", b"3.14", b'"only a string"', b"[1, 2, 3]", b"{}", b"null", b"\xff\xfe\xfd")


@pytest.mark.parametrize("garbage", GARBAGE, ids=repr)
@pytest.mark.parametrize("file", LINES, ids=name_of)
def test_a_bad_line_becomes_a_skip_and_nothing_else_changes(file: Path, garbage: bytes, tmp_path: Path) -> None:
    lines = file.read_bytes().rstrip(b"\n").split(b"\n")
    middle = max(1, len(lines) // 2)
    spoilt = tmp_path / file.name
    spoilt.write_bytes(b"\n".join([*lines[:middle], garbage, *lines[middle:]]))
    before, after = read(file), read(spoilt)
    if not any(lane.file for transcript in before for lane in transcript.lanes):  # companions stayed behind
        assert without_places(after) == without_places(before)
    skips = [skip for transcript in after for skip in transcript.skips]
    assert len(skips) >= sum(len(transcript.skips) for transcript in before) + 1
    assert any(skip.line == middle + 1 for skip in skips)


@pytest.mark.parametrize("file", LINES, ids=name_of)
def test_messages_bookkeeping_duplicates_and_skips_account_for_every_record(file: Path) -> None:
    found = read(file)
    if file.parent.name not in ("claude-code", "codex"):
        assert sum(transcript.records for transcript in found) == len(records(file))
        return
    companions = [line for lane in found[0].lanes if lane.file for line in Path(lane.file).read_bytes().splitlines()]
    taken = {
        (message.lane if companions else "", line)
        for transcript in found
        for message in transcript.messages
        for line in message.lines
    }
    books = sum(count for transcript in found for _, count in transcript.bookkeeping)
    # `compacted` and `session_meta` records hold messages or are bookkeeping, a line joined of two holds both
    unread = [
        skip for transcript in found for skip in transcript.skips
        if "stands where a record should" in skip.reason or "is not known" in skip.reason
    ]  # fmt: skip
    duplicates = sum(transcript.duplicates for transcript in found)
    assert len(taken) + books + len(unread) + duplicates == sum(transcript.records for transcript in found)


@pytest.mark.parametrize("file", LINES, ids=name_of)
def test_a_last_line_that_is_torn_costs_that_line_alone(file: Path, tmp_path: Path) -> None:
    lines = file.read_bytes().rstrip(b"\n").split(b"\n")
    if file.name == "torn.jsonl":
        pytest.skip("its last line is torn already")
    if len(lines) < 2:
        pytest.skip("it has only one line")
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    whole.write_bytes(b"\n".join(lines[:-1]))
    torn.write_bytes(b"\n".join([*lines[:-1], lines[-1][: len(lines[-1]) // 2]]))
    assert without_places(read(torn)) == without_places(read(whole))
    assert [skip.line for transcript in read(torn) for skip in transcript.skips][-1] == len(lines)


@pytest.mark.parametrize("file", ALL, ids=name_of)
def test_no_base64_and_no_encrypted_text_is_ever_text(file: Path) -> None:
    for transcript in read(file):
        for message in transcript.messages:
            for part in message.parts:
                assert "iVBORw0KGgo" not in part.text
                assert "c2lnbmF0dXJl" not in part.text
                assert "gAAAA" not in part.text
                assert part.text != "REDACTED"


def test_the_shelf_holds_every_reader_under_its_own_name_and_imports_none_ahead() -> None:
    modules = {file.stem for file in (ROOT / "ctxcli" / "formats").glob("*.py")} - {"__init__"}
    assert {name.replace("-", "_") for name in FORMATS} == modules
    assert [card.name for card in FORMATS.values()] == list(FORMATS)
    assert [name for name, card in FORMATS.items() if card.general] == list(FORMATS)[-2:]
    assert tuple(name for name, card in FORMATS.items() if card.text) == TEXTS
    code = "import sys, ctxcli.formats; print([one for one in sys.modules if one.startswith('ctxcli.formats.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {f"ctxcli.formats.{name}" for name in modules} & set(eval(done.stdout))  # noqa: S307


@pytest.mark.parametrize(
    "content",
    [
        b"Dear all,\nwe met on Monday.\n",
        b"name,age\nAna,31\nBo,29\n",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00",
        b'{"a": [1, 2, {"b": null}]}',
    ],
    ids=["text", "csv", "png", "json"],
)
def test_what_is_no_transcript_is_claimed_by_none(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(content)
    with pytest.raises(CtxError) as caught:
        read(file)
    assert str(file) in str(caught.value)
    assert re.search("ctx formats|Is it a transcript", str(caught.value))


@pytest.mark.parametrize("file", ALL, ids=name_of)
def test_a_record_of_an_invented_type_changes_only_the_count_of_what_is_not_known(file: Path, tmp_path: Path) -> None:
    if file.suffix != ".jsonl" or file.parent.name in NO_TYPES:
        pytest.skip("its records have no types of their own; the format's own tests add a part or an element")
    spoilt = tmp_path / file.name
    last = file.read_bytes().rstrip(b"\n")
    spoilt.write_bytes(last + b'\n{"type":"invented-by-a-test","payload":{"x":1},"uuid":"u-invented"}\n')
    before, after = read(file), read(spoilt)
    if any(lane.file for transcript in before for lane in transcript.lanes):
        pytest.skip("its companions stay behind")
    assert without_places(after) == without_places(before)
    told = [skip.reason for transcript in after for skip in transcript.skips]
    known = [skip.reason for transcript in before for skip in transcript.skips]
    assert len(told) > len(known)


NO_TYPES = ("openai-chat", "anthropic", "sharegpt", "openai-responses")
