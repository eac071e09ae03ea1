"""Bytes to JSON values: every way in which real files are torn."""

import gzip
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.errors import UnknownFormatError, UnreadableError
from ctxcli.files import find, load
from ctxcli.files.values import decode, element_lines
from ctxcli.model import Transcript
from support import FIXTURES, read

CHAT = FIXTURES / "openai-chat" / "messages.jsonl"

CASES = [
    (b"", [], []),
    (b"  \r\n", [], []),
    (b'{"a":1}\r\n', [{"a": 1}], []),
    (b"42", [42], []),
    (b'{"a":1}{"b":2}', [{"a": 1}, {"b": 2}], [("2 values on one line: all read", True)]),
    (
        b'{"a":1} {"b":',
        [{"a": 1}],
        [("a value that breaks off after a whole value, from character 9 on: skipped", False)],
    ),
    (b'{"a":', [], [("a value that breaks off: skipped", False)]),
    (b"hello", [], [("text that is not JSON: skipped", False)]),
    (b"\x00\x01\x02", [], [("binary data: skipped", False)]),
    (b'{"a":"\\ud83d"}', [{"a": "\ud83d"}], [("a lone surrogate: read all the same", True)]),
    (b'{"a":NaN}', None, [("not strict JSON: read all the same", True)]),
    (b'{"a":"\xff"}', [{"a": "\ufffd"}], [("byte 0xFF at 7 is not UTF-8: read as U+FFFD", True)]),
    ('{"a":"x\u2028y"}'.encode(), [{"a": "x\u2028y"}], []),
    (b'{"a":' * 3000 + b"1" + b"}" * 3000, [], [("nested deeper than 1,000 levels: skipped", False)]),
    (b"[" * 100_000, [], [("nested deeper than 1,000 levels: skipped", False)]),
]


@pytest.mark.parametrize(("raw", "values", "torn"), CASES, ids=[repr(raw[:24]) for raw, _, _ in CASES])
def test_a_line_gives_its_values_and_what_was_wrong(
    raw: bytes, values: list[object] | None, torn: list[tuple[str, bool]]
) -> None:
    found, reasons = decode(raw)
    assert [(one.reason, one.recovered) for one in reasons] == torn
    if values is not None:
        assert found == values


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(), JSON), min_size=1, max_size=4))
def test_objects_joined_on_a_line_are_all_read(values: list[dict[str, object]]) -> None:
    raw = "".join(json.dumps(value) for value in values).encode()
    assert decode(raw)[0] == values


@given(st.binary(max_size=200))
def test_no_bytes_raise_and_what_gives_no_value_gives_a_reason(raw: bytes) -> None:
    values, torn = decode(raw)
    assert values or torn or not raw.strip()


@given(st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=3), min_size=1, max_size=5))
def test_the_lines_of_array_elements_are_those_they_start_on(values: list[dict[str, object]]) -> None:
    text = json.dumps({"x": [1], "messages": values}, indent=1)
    lines = text.splitlines() if "\u2028" not in text else text.split("\n")
    found = element_lines(text)[("messages",)]
    assert len(found) == len(values)
    assert all(lines[line - 1].strip()[:1] == "{" for line in found)


def test_a_twenty_megabyte_line_is_read(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_bytes(CHAT.read_bytes() + json.dumps({"role": "user", "content": "x" * 20_000_000}).encode() + b"\n")
    assert len(read(file)[0].messages[-1].parts[0].text) == 20_000_000


def same_but_for_places(first: list[Transcript], second: list[Transcript]) -> bool:
    return [one.messages for one in first] == [other.messages for other in second]


def test_gzip_zstandard_bom_and_crlf_read_the_same(tmp_path: Path) -> None:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    plain = CHAT.read_bytes()
    forms = {
        "a.gz": gzip.compress(plain),
        "a.zst": zstd.compress(plain),
        "bom.jsonl": b"\xef\xbb\xbf" + plain,
        "crlf.jsonl": plain.replace(b"\n", b"\r\n"),
        "no-end.jsonl": plain.rstrip(b"\n"),
        "blank-lines.jsonl": plain + b"\n\n",
    }
    for name, content in forms.items():
        (tmp_path / name).write_bytes(content)
        assert same_but_for_places(read(tmp_path / name), read(CHAT)), name
        assert not read(tmp_path / name)[0].skips


def test_pretty_printed_documents_in_a_row_are_read(tmp_path: Path) -> None:
    file = tmp_path / "row.json"
    conversation = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    file.write_text(json.dumps(conversation, indent=2) + "\n" + json.dumps(conversation, indent=2), "utf-8")
    assert len(read(file)) == 2


BAD = [
    (b"", "is empty"),
    (b"\n\n  \n", "is empty"),
    (b"Dear diary,\ntoday I\n", "holds no JSON object (line 1: text that is not JSON: skipped, and so 1 more)"),
    (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "holds no JSON"),
    (b"a,b,c\n1,2,3\n", "holds no JSON"),
    (b'{"name": "x", "version": 1}', "begins with an object with the keys name, version"),
    (b"[1, 2, 3]", "begins with an array of 3"),
    (b"42\n43\n", "holds no JSON object"),
    (b"[]", "begins with an array of 0"),
    (b"\xff\xfe{\x00}\x00", "UTF-16"),
    (b"PK\x03\x04rest", "zip archive"),
    (b'{\n "messages": [\n  {"role": "user"', "not valid JSON from line 3"),
    (gzip.compress(CHAT.read_bytes(), mtime=0)[:-20], "cannot be read beyond line"),
    (b"\x28\xb5\x2f\xfdnot zstandard", "damaged compressed data"),
]


@pytest.mark.parametrize(("content", "says"), BAD, ids=[says for _, says in BAD])
def test_what_is_no_transcript_is_a_clear_error(content: bytes, says: str, tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.write_bytes(content)
    with pytest.raises((UnreadableError, UnknownFormatError)) as caught:
        list(load(str(file)))
    assert says in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_folder_gives_its_files_by_name_and_passes_over_the_hidden(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.json", "notes.txt", "node_modules/x.json", "sub/c.jsonl.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert [Path(found.path).name for found in find([str(tmp_path)])] == ["a.json", "b.jsonl", "c.jsonl.gz"]
    with pytest.raises(UnreadableError, match="no such file or folder"):
        list(find([str(tmp_path / "nothing")]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableError, match="named like a transcript"):
        list(find([str(tmp_path / "empty")]))
