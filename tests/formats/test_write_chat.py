"""Chat conversations written back: what stays is byte for byte what it was, whatever the file is like."""

import json
from pathlib import Path

import pytest

from ctxcli.change import Change
from ctxcli.formats import FORMATS
from ctxcli.model import PartKind, Transcript
from support import FIXTURES, read

SAID = "[Compacted by ctx]\nall of it"
OPENAI, ANTHROPIC = FIXTURES / "openai-chat", FIXTURES / "anthropic"


def compacted(file: Path, change: Change, number: int = 0) -> str:
    found = read(file)
    work = [(one, change if at == number else None) for at, one in enumerate(found)]
    writer = FORMATS[found[0].format].write
    assert writer is not None
    return writer(file.read_bytes(), work).decode("utf-8", "surrogateescape")


def reread(file: Path, text: str) -> list[Transcript]:
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return read(file)


def test_kept_lines_stay_and_the_summary_is_a_line() -> None:
    lines = (OPENAI / "messages.jsonl").read_text("utf-8").splitlines(keepends=True)
    written = compacted(OPENAI / "messages.jsonl", Change((0, 1, 5), summary=SAID, at=2))
    summary = json.dumps({"role": "user", "content": SAID}, separators=(",", ":")) + "\n"
    assert written == "".join([lines[0], lines[1], summary, lines[5]])


def test_a_pretty_printed_array_keeps_its_style() -> None:
    text = (OPENAI / "array.json").read_text("utf-8")
    written = compacted(OPENAI / "array.json", Change((0, 1, 4), summary=SAID, at=2))
    assert written == json.dumps(
        [*json.loads(text)[:2], {"role": "user", "content": SAID}, json.loads(text)[4]], indent=2
    ) + ("\n" if text.endswith("\n") else "")


def test_all_around_the_messages_stays() -> None:
    before = (OPENAI / "trajectories.json").read_text("utf-8")
    written = compacted(OPENAI / "trajectories.json", Change((0, 1), summary=SAID, at=2))
    assert written.startswith(before[: before.index('"Where is order W4923227?"')])
    assert written.endswith(before[before.index('"task_id": 1') :])
    assert json.loads(written)[0]["traj"][2] == {"role": "user", "content": SAID}


def test_calls_that_go_leave_no_empty_list_and_text_that_goes_is_null() -> None:
    file = OPENAI / "messages.jsonl"
    without = json.loads(compacted(file, Change((0, 1, 2, 4), gone=frozenset({(4, 0)}))).splitlines()[-1])
    assert without["role"] == "assistant"
    rows = [json.loads(row) for row in compacted(file, Change((0, 1, 2), gone=frozenset({(2, 0)}))).splitlines()]
    assert [row["role"] for row in rows] == ["system", "user"]


def test_only_the_content_of_a_cleared_result_changes(tmp_path: Path) -> None:
    image = '{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}'
    text = (
        '{"system": "s", "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": '
        '[ {"type": "thinking", "thinking": "t", "signature": "x"},{"type":"tool_use","id":"a","name":"n","input":{"b": 1.50}}]},\n'
        f' {{"role": "user", "content": [{{"is_error": true, "type": "tool_result", "tool_use_id": "a", "content": [{image}]}}]}}]}}\n'
    )
    file = tmp_path / "x.json"
    (transcript,) = reread(file, text)
    assert [part.kind for part in transcript.messages[3].parts] == [PartKind.TOOL_RESULT, PartKind.MEDIA]
    change = Change((0, 1, 2, 3), {(3, 0): "[cleared]"}, frozenset({(2, 0), (3, 1)}))
    wanted = text.replace('{"type": "thinking", "thinking": "t", "signature": "x"},', "").replace(
        f"[{image}]", '"[cleared]"'
    )
    assert compacted(file, change) == wanted


def test_a_log_becomes_one_request_and_other_conversations_stay(tmp_path: Path) -> None:
    first, other = read(OPENAI / "request-log.jsonl")
    lines = (OPENAI / "request-log.jsonl").read_text("utf-8").splitlines()
    last = len(first.messages) - 1
    written = compacted(OPENAI / "request-log.jsonl", Change((0, 1, 2, last), summary=SAID, at=3)).splitlines()
    request = json.loads(written[0])
    assert list(request) == ["model", "tools", "messages"]
    assert [one["role"] for one in request["messages"]] == ["system", "user", "user", "assistant"]
    assert written[1:] == lines[4:]
    again = reread(tmp_path / "log.jsonl", "\n".join(written))
    assert [one.messages[0].parts for one in again[1:]] == [other.messages[0].parts] or len(again) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\ufeff{A}\n{B}\n{C}\n", "\ufeff{A}\n{S}\n{C}\n"),
        ("{A}\r\n{B}\r\n{C}\r\n", "{A}\r\n{S}\r\n{C}\r\n"),
        ("{A}{B}{C}\n", "{A}{S} {C}\n"),
        ("{A}\n{B}\n\n{C}", "{A}\n\n{S}\n{C}"),
        ("{A}\n{B}\n{torn\n{C}", "{A}\n{torn\n{S}\n{C}"),
        ("{A}\n\udcff{B}\n{C}\udcff\n", "{A}\n\udcff{B}\n{S} {C}\udcff\n"),
    ],
    ids=["mark", "crlf", "a row", "blank", "torn", "not utf-8"],
)
def test_files_as_they_are(before: str, after: str, tmp_path: Path) -> None:
    rows = {
        "{A}": '{"role": "user", "weight": NaN, "content": "one \\ud83d \udcff"}',
        "{B}": '{"role": "assistant", "content": "two"}',
        "{C}": '{"role": "user", "content": "three", "content": "three, again"}',
        "{S}": '{"role": "user", "content": "[Compacted by ctx]\\nall of it"}',
    }
    for name, row in rows.items():
        before, after = before.replace(name, row), after.replace(name, row)
    file = tmp_path / "x.jsonl"
    (transcript,) = reread(file, before)
    keep = tuple(at for at, one in enumerate(transcript.messages) if one.parts and one.parts[0].text != "two")
    written = compacted(file, Change(keep, summary=SAID, at=keep[-1]))
    assert written.encode("utf-8", "surrogateescape") == after.encode("utf-8", "surrogateescape")


def test_a_summary_by_ctx_is_known_again_and_drops_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    (transcript,) = reread(file, compacted(OPENAI / "messages.jsonl", Change((0, 1, 5), summary=SAID, at=2)))
    (event,) = transcript.events
    assert (event.trigger, event.drops, event.summary, event.opaque) == ("ctx", (), 2, False)
    assert transcript.messages[2].harness
    assert transcript.messages[2].parts[0].kind is PartKind.SUMMARY
    assert not transcript.messages[1].harness
