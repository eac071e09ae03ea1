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


def test_numbers_and_truth_values_are_elements_too() -> None:
    text = '{"x": [\n1,\n-2.5e+3,\ntrue,\nnull,\n{"y": 3},\n"z",\n[]\n]}'
    assert element_lines(text)[("x",)] == (2, 3, 4, 5, 6, 7, 8)


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
    (nothing,) = find([str(tmp_path / "nothing")])
    assert "no such file or folder" in nothing.error
    (tmp_path / "empty").mkdir()
    (empty,) = find([str(tmp_path / "empty")])
    assert "named like a transcript" in empty.error


def test_compressed_data_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    file = tmp_path / "torn.jsonl.gz"
    lines = [json.dumps({"role": "user", "content": f"message {number} " + "x" * number}) for number in range(2_000)]
    file.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0)[:-3_000])
    (transcript,) = read(file)
    assert 0 < len(transcript.messages) < 2_000
    assert "Is the file still being written?" in transcript.skips[-1].reason


def test_a_byte_order_mark_inside_a_compressed_file_is_none_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + CHAT.read_bytes()))
    assert same_but_for_places(read(tmp_path / "a.gz"), read(CHAT))


def test_what_is_odd_in_an_array_is_a_skip_and_the_rest_is_read(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hello"}, {"role": "assistant"}, 5, {"role": "narrator", "content": "x"}]
    (tmp_path / "a.json").write_text(json.dumps([{"messages": talk}, 7, {"messages": talk[:1]}]))
    first, second = read(tmp_path / "a.json")
    assert [len(first.messages), len(second.messages)] == [3, 2]
    reasons = [skip.reason for transcript in (first, second) for skip in transcript.skips]
    assert sorted(reasons) == [
        "element 2 of the array is no conversation: skipped",
        "element 3 of the messages is no message: skipped",
    ]


@pytest.mark.parametrize(
    "content", [{"type": "text", "text": "kept"}, 7, ["kept", None, 7], [{"type": []}], [{"type": {}}]], ids=str
)
def test_content_of_an_odd_shape_is_text_and_never_lost(content: object, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        json.dumps([{"role": "user", "content": content}, {"role": "assistant", "content": "ok"}])
    )
    (transcript,) = read(tmp_path / "a.json")
    assert transcript.messages[0].parts


@pytest.mark.parametrize(
    "odd", [{"type": {}}, {"type": []}, {"role": ["user"], "content": "x"}, {"role": "user", "content": "x"}], ids=str
)
def test_one_odd_record_does_not_hide_a_format(odd: object, tmp_path: Path) -> None:
    for name in ("claude-code", "codex"):
        file = tmp_path / f"{name}.jsonl"
        file.write_bytes(json.dumps(odd).encode() + b"\n" + (FIXTURES / name / "session.jsonl").read_bytes())
        assert read(file)[0].format == name


@pytest.mark.parametrize("depth", [200, 600, 900])
def test_arguments_as_deep_as_the_parser_reads_are_walked(depth: int, tmp_path: Path) -> None:
    deep = "[" * depth + "]" * depth
    call = f'{{"type":"tool_use","id":"t","name":"f","input":{{"a":{deep}}}}}'
    result = f'{{"type":"tool_result","tool_use_id":"t","content":{{"a":{deep}}}}}'
    rows = [f'{{"role":"assistant","content":[{call}]}}', f'{{"role":"user","content":[{result}]}}']
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    (transcript,) = read(tmp_path / "a.jsonl")
    assert all(len(message.parts[0].text) > depth for message in transcript.messages)
