"""Folders, archives, databases and texts as sources: what is torn in them is a skip, and nothing is written beside them."""

import json
import os
import random
import sqlite3
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from ctxcli.errors import UnreadableError
from ctxcli.files.find import find
from ctxcli.files.records import Tally, records_of
from ctxcli.model import Record
from support import ctx

TOOL = {"id": "msg_1", "sessionID": "ses_1", "role": "user"}


def taken(path: Path) -> tuple[list[Record], Tally]:
    """The records of a source, and what was counted of it."""
    tally = Tally()
    return list(records_of(str(path), tally)), tally


def reasons(tally: Tally) -> list[str]:
    return [skip.reason for skip in tally.skips]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


# -- folders


def folder_of(root: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    for name, data in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def test_a_folder_gives_each_json_file_by_name_with_the_file_that_it_came_from(tmp_path: Path) -> None:
    folder_of(
        tmp_path,
        [("b/2.json", b'{"n": 2}'), ("a/1.json", b'\xef\xbb\xbf{"n": 1}'), ("c.jsonl", b'{"n": 3}\n\n{"n": 4}\n')],
    )
    found, tally = taken(tmp_path)
    assert [(record.file, record.line, record.value["n"]) for record in found] == [
        ("a/1.json", 1, 1), ("b/2.json", 1, 2), ("c.jsonl", 1, 3), ("c.jsonl", 3, 4),
    ]  # fmt: skip
    assert tally.records == 4
    assert tally.bytes > 30


def test_files_that_only_look_like_json_by_a_part_of_their_name_are_left_alone(tmp_path: Path) -> None:
    folder_of(
        tmp_path,
        [("a.json.bak", b"{"), ("b.jsonc", b"{"), ("c.json.gz", b"\x1f\x8b"), ("json", b"{"), ("d.json", b"{}")],
    )
    found, tally = taken(tmp_path)
    assert [record.file for record in found] == ["d.json"]
    assert not tally.skips


def test_broken_json_in_a_folder_costs_that_file_alone_and_is_named(tmp_path: Path) -> None:
    folder_of(
        tmp_path, [("bad.json", b'{"n": '), ("good.json", b'{"n": 1}'), ("empty.json", b""), ("null.json", b"\0\0")]
    )
    found, tally = taken(tmp_path)
    assert [record.file for record in found] == ["good.json"]
    assert sorted(skip.file for skip in tally.skips) == ["bad.json", "null.json"]
    assert reasons(tally)[0].startswith("bad.json: a value that breaks off")


def test_text_that_is_not_utf_8_in_a_file_of_a_folder_is_read_all_the_same(tmp_path: Path) -> None:
    folder_of(tmp_path, [("a.json", b'{"text": "caf\xe9"}')])
    found, tally = taken(tmp_path)
    assert found[0].value == {"text": "caf�"}
    assert [skip.recovered for skip in tally.skips] == [True]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_folder_that_may_not_be_searched_is_a_skip(tmp_path: Path) -> None:
    folder_of(tmp_path, [("shut/a.json", b"{}"), ("b.json", b"{}")])
    (tmp_path / "shut").chmod(0)
    try:
        found, tally = taken(tmp_path)
    finally:
        (tmp_path / "shut").chmod(0o700)
    assert [record.file for record in found] == ["b.json"]
    assert "cannot be searched" in reasons(tally)[0]


def test_a_link_to_nothing_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    assert taken(tmp_path)[0] == []


def test_an_empty_folder_says_that_nothing_in_it_is_a_transcript(tmp_path: Path) -> None:
    (only,) = find([str(tmp_path)])
    assert "no file in this folder is named like a transcript" in only.error
    run = ctx("audit", tmp_path)
    assert run.returncode != 0
    assert b"no file in this folder is named like a transcript" in run.stderr


def test_a_folder_that_is_one_transcript_is_one_source_named_or_found(tmp_path: Path) -> None:
    store = folder_of(tmp_path / "data" / "storage", [("message/ses_1/msg_1.json", json.dumps(TOOL).encode())])
    assert [(found.path, found.named) for found in find([str(store)])] == [(str(store), True)]
    assert [(found.path, found.named) for found in find([str(tmp_path / "data")])] == [(str(store), False)]


# -- archives


def archive_of(file: Path, members: Iterable[tuple[str, bytes]], how: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file


def test_an_archive_gives_its_top_members_first_and_only_json(tmp_path: Path) -> None:
    members = [
        ("samples/1.json", b'{"n": 2}'), ("readme.txt", b"no"), ("header.json", b'{"n": 1}'), ("__MACOSX/._header.json", b"\0\5"),
        ("lines.jsonl", b'{"n": 5}\n{"n": 6}'),
    ]  # fmt: skip
    found, tally = taken(archive_of(tmp_path / "run.eval", members))
    assert [(record.file, record.line, record.value["n"]) for record in found] == [
        ("header.json", 1, 1), ("lines.jsonl", 1, 5), ("lines.jsonl", 2, 6), ("samples/1.json", 1, 2),
    ]  # fmt: skip
    assert not tally.skips


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_that_cannot_be_unpacked_costs_that_member_alone(how: int, tmp_path: Path) -> None:
    body = json.dumps({"text": random.Random(1).randbytes(2_000).hex()}).encode()
    file = archive_of(tmp_path / "run.eval", [("a.json", body), ("b.json", b'{"n": 2}')], how)
    data = bytearray(file.read_bytes())
    start = data.index(b"a.json") + 60
    data[start : start + 200] = bytes(reversed(data[start : start + 200]))
    file.write_bytes(bytes(data))
    found, tally = taken(file)
    assert [record.file for record in found] == ["b.json"]
    assert [skip.file for skip in tally.skips] == ["a.json"]
    assert reasons(tally)[0].startswith("a.json: cannot be unpacked")


def test_an_unknown_compression_is_named(tmp_path: Path) -> None:
    file = archive_of(tmp_path / "run.eval", [("a.json", b"{}")], zipfile.ZIP_STORED)
    data = bytearray(file.read_bytes())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.index(mark) + place
        data[at : at + 2] = (97).to_bytes(2, "little")
    file.write_bytes(bytes(data))
    found, tally = taken(file)
    assert found == []
    assert "a.json: cannot be unpacked" in reasons(tally)[0]


@pytest.mark.parametrize("keep", [4, 30, 60])
def test_a_zip_that_is_cut_off_is_unreadable_and_says_so(keep: int, tmp_path: Path) -> None:
    file = archive_of(tmp_path / "run.eval", [("a.json", b'{"n": 1}'), ("b.json", b'{"n": 2}')])
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(UnreadableError, match="a zip archive that cannot be read"):
        taken(file)


# -- databases


def base_of(file: Path, *statements: str, wal: bool = False) -> sqlite3.Connection:
    base = sqlite3.connect(file)
    if wal:
        base.execute("pragma journal_mode=wal")
    for statement in statements:
        base.execute(statement)
    base.commit()
    return base


def test_a_database_gives_its_tables_then_their_rows_with_json_parsed_and_blobs_left_out(tmp_path: Path) -> None:
    file = tmp_path / "some.db"
    base_of(
        file,
        "create table message (id text, data text, raw blob, note text)",
        """insert into message values ('m1', '{"role": "user"}', x'00ff', '[not json')""",
        'create table "odd ""name" (n integer)',
        'insert into "odd ""name" values (7)',
        "create view seen as select * from message",
    ).close()
    found, tally = taken(file)
    assert found[0].value == {"tables": {"message": ["id", "data", "raw", "note"], 'odd "name': ["n"]}}
    assert [record.value for record in found[1:]] == [
        {"table": "message", "row": {"id": "m1", "data": {"role": "user"}, "note": "[not json"}},
        {"table": 'odd "name', "row": {"n": 7}},
    ]
    assert [record.line for record in found] == [0, 1, 2]
    assert tally.bytes > 0


def test_what_stands_in_the_log_beside_a_database_is_read_and_nothing_there_changes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    base = base_of(home / "some.db", "create table message (n integer)", wal=True)
    base.execute("pragma wal_checkpoint(truncate)")
    base.execute("insert into message values (1)")
    base.commit()
    before = everything(home)
    assert before[str(home / "some.db-wal")]
    found, _ = taken(home / "some.db")
    assert [record.value["row"] for record in found[1:]] == [{"n": 1}]
    assert everything(home) == before
    base.close()


def test_a_database_is_read_from_a_place_that_may_not_be_written_to(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    base_of(home / "some.db", "create table message (n integer)", "insert into message values (1)").close()
    before = everything(home)
    home.chmod(0o500)
    try:
        assert len(taken(home / "some.db")[0]) == 2
    finally:
        home.chmod(0o700)
    assert everything(home) == before


def test_a_table_that_is_torn_costs_its_rows_from_there_on_and_no_other_table(tmp_path: Path) -> None:
    file = tmp_path / "torn.db"
    rows = ["insert into big values (1, printf('%.*c', 900, 'x'))"] * 60
    base_of(
        file,
        "create table big (n integer, text text)",
        *rows,
        "create table small (n integer)",
        "insert into small values (1)",
    ).close()
    data = bytearray(file.read_bytes())
    page = int.from_bytes(data[16:18], "big")
    whole, _ = taken(file)
    at = data.index(b"x" * 50, 8 * page) // page * page
    data[at : at + page] = b"\xff" * page
    file.write_bytes(bytes(data))
    found, tally = taken(file)
    tables = [record.value.get("table") for record in found]
    assert 0 < tables.count("big") < sum(record.value.get("table") == "big" for record in whole)
    assert tables.count("small") == 1
    assert reasons(tally)[0].startswith("table big cannot be read beyond its row")


@pytest.mark.parametrize("keep", [16, 100, 2_000])
def test_a_database_without_its_schema_is_unreadable_and_says_so(keep: int, tmp_path: Path) -> None:
    file = tmp_path / "torn.db"
    base_of(file, "create table message (n integer)").close()
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(UnreadableError, match="a SQLite database that cannot be read"):
        taken(file)


def test_a_text_column_that_is_not_utf_8_does_not_stop_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "some.db"
    base_of(file, "create table message (text text)", "insert into message values (cast(x'636166e9' as text))").close()
    assert taken(file)[0][1].value["row"] == {"text": "caf�"}


def test_a_database_that_is_no_transcript_is_refused_in_words(tmp_path: Path) -> None:
    base_of(tmp_path / "shop.db", "create table orders (n integer)").close()
    run = ctx("audit", tmp_path / "shop.db")
    assert run.returncode != 0
    assert b"holds no transcript that ctx reads" in run.stderr
    assert b"Traceback" not in run.stderr


# -- texts and pipes

AIDER = b"# aider chat started at 2026-09-21 10:00:00\n\n> Aider v0.90.0  \n\n#### hi  \n\nHello.\n"


def test_a_text_is_read_by_lines_and_what_is_not_utf_8_in_it_is_told(tmp_path: Path) -> None:
    file = tmp_path / ".aider.chat.history.md"
    file.write_bytes(AIDER.replace(b"\n", b"\r\n") + b"caf\xe9 \xe2\x80\xa8 still the same line\r\n")
    found, tally = taken(file)
    assert found[0].value == "# aider chat started at 2026-09-21 10:00:00"
    assert found[-1].value == "caf� \u2028 still the same line"
    assert [record.line for record in found] == list(range(1, 9))
    assert [(skip.line, skip.recovered) for skip in tally.skips] == [(8, True)]
    assert tally.lines == 8


def test_a_text_that_begins_with_blank_lines_or_with_a_number_is_a_text_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "history.md"
    for head in (b"\n\n", b"42\n", b"\xef\xbb\xbf"):
        file.write_bytes(head + AIDER)
        found, _ = taken(file)
        assert all(isinstance(record.value, str) for record in found)
        assert len(found) == (head + AIDER).count(b"\n")


def test_lines_of_json_values_that_are_no_text_of_any_format_stay_json(tmp_path: Path) -> None:
    file = tmp_path / "values.jsonl"
    file.write_bytes(b'3.14\n{"n": 1}\n')
    assert [record.value for record in taken(file)[0]] == [3.14, {"n": 1}]


@pytest.mark.skipif(os.name == "nt", reason="no named pipes")
def test_a_pipe_loses_none_of_its_bytes_to_a_look_at_its_head(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if os.fork() == 0:
        pipe.write_bytes(b'{"n": 1}\n{"n": 2}\n')
        os._exit(0)
    found, _ = taken(pipe)
    os.wait()
    assert [record.value["n"] for record in found] == [1, 2]
