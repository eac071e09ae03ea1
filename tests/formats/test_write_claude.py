"""A session written back: what is added, and what goes on after it."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.audit import audit
from ctxcli.change import Change
from ctxcli.errors import UnreadableError
from ctxcli.formats import FORMATS
from ctxcli.model import MAIN, EventKind, Message, Transcript
from ctxcli.replay import live
from support import FIXTURES, read

FOLDER = FIXTURES / "claude-code"
SAID = "[Compacted by ctx]\nall of it"


def compacted(file: Path, change: Change, number: int = 0) -> bytes:
    found = read(file)
    writer = FORMATS["claude-code"].write
    assert writer is not None
    return writer(file.read_bytes(), [(one, change if at == number else None) for at, one in enumerate(found)])


def added(file: Path, data: bytes) -> list[dict[str, Any]]:
    source = file.read_bytes()
    assert data.startswith(source.rstrip(b"\n"))
    return [json.loads(line) for line in data[len(source) :].splitlines() if line]


def reread(folder: Path, data: bytes) -> Transcript:
    file = folder / "x.jsonl"
    file.write_bytes(data)
    return read(file)[0]


def context(transcript: Transcript) -> list[Message]:
    return [transcript.messages[index] for index in live(transcript)[0]]


def everything(file: Path) -> tuple[int, ...]:
    return tuple(live(read(file)[0])[0])


def test_the_boundary_is_like_those_that_clients_write() -> None:
    file = FOLDER / "compaction.jsonl"
    real = next(
        row for row in map(json.loads, file.read_text("utf-8").splitlines()) if row.get("subtype") == "compact_boundary"
    )
    boundary, *copies = added(file, compacted(file, Change(everything(file), summary=SAID, at=0)))
    assert set(boundary) - {"compactMetadata"} >= set(real) - {"compactMetadata", "slug"}
    assert (boundary["parentUuid"], boundary["compactMetadata"]["trigger"]) == (None, "manual")
    assert [row["parentUuid"] for row in copies] == [row["uuid"] for row in (boundary, *copies[:-1])]
    assert len({row["uuid"] for row in (boundary, *copies)}) == len(copies) + 1
    summary = copies[0]
    assert (summary["isCompactSummary"], summary["message"]) == (True, {"role": "user", "content": SAID})


def test_the_same_input_gives_the_same_bytes() -> None:
    file = FOLDER / "session.jsonl"
    change = Change(everything(file), summary=SAID, at=3)
    assert compacted(file, change) == compacted(file, change)


def test_a_copy_has_its_message_verbatim_and_names_the_record_it_repeats() -> None:
    file = FOLDER / "split-lines.jsonl"
    by_uuid = {row["uuid"]: row for row in map(json.loads, file.read_text("utf-8").splitlines())}
    copies = added(file, compacted(file, Change(everything(file), summary=SAID, at=99)))[1:-1]
    assert len(copies) == len(by_uuid)
    changed = {"uuid", "parentUuid", "timestamp", "forkedFrom", "sourceToolAssistantUUID"}
    for copy in copies:
        first = by_uuid[copy["forkedFrom"]["messageUuid"]]
        assert {key: value for key, value in copy.items() if key not in changed} == {
            key: value for key, value in first.items() if key not in changed
        }


def test_a_response_on_several_lines_is_one_message_and_one_call_again(tmp_path: Path) -> None:
    file = FOLDER / "split-lines.jsonl"
    after = reread(tmp_path, compacted(file, Change(everything(file), summary=SAID, at=1)))
    (before,) = read(file)
    assert after.calls == before.calls
    assert [len(one.parts) for one in context(after)] == [1, 1, *(len(one.parts) for one in before.messages[1:])]
    assert audit(after).totals.sent == audit(before).totals.sent


def claude(type_: str, uuid: str, parent: str | None, content: Any, **facts: Any) -> bytes:
    message: dict[str, Any] = {"role": type_, "content": content}
    if type_ == "assistant":
        message |= {"id": f"m{uuid}", "model": "claude-opus-4-6", "usage": {"input_tokens": 9, "output_tokens": 1}}
    row = {
        "type": type_,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s",
        "isSidechain": False,
        "message": message,
    }
    return json.dumps({**row, **facts}).encode() + b"\n"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    file = tmp_path / "s.jsonl"
    file.write_bytes(
        claude("user", "1", None, "go")
        + claude("assistant", "2", "1", [{"type": "tool_use", "id": "a", "name": "Read", "input": {}}])
        + claude("assistant", "3", "2", [{"type": "tool_use", "id": "b", "name": "Read", "input": {}}])
        + claude("user", "4", "2", [{"type": "tool_result", "tool_use_id": "a", "content": "A"}])
        + claude("user", "5", "3", [{"type": "tool_result", "tool_use_id": "b", "content": "B"}])
        + claude("assistant", "6", "5", "done")
        + claude("user", "7", "6", "<command-name>/exit</command-name>")
    )
    return file


def texts(transcript: Transcript) -> list[str]:
    return [part.text for message in context(transcript) for part in message.parts]


def test_a_session_resumed_after_it_goes_on_from_all_of_the_new_context(session: Path, tmp_path: Path) -> None:
    data = compacted(session, Change(everything(session), summary=SAID, at=5))
    rows = [json.loads(line) for line in data.splitlines()]
    after = reread(
        tmp_path, data + claude("user", "8", rows[-1]["uuid"], "and now?") + claude("assistant", "9", "8", "ok")
    )
    said = ["go", "{}", "{}", "A", "B", SAID, "done", "<command-name>/exit</command-name>", "and now?", "ok"]
    assert texts(after) == said
    assert [event.kind for event in after.events] == [EventKind.SUMMARY]
    assert len(after.calls) == 4


def test_going_back_to_a_copy_is_a_rewind(session: Path, tmp_path: Path) -> None:
    session.write_bytes(
        session.read_bytes() + claude("user", "8", "7", "and now?") + claude("assistant", "9", "8", "ok")
    )
    keep = everything(session)
    data = compacted(session, Change(keep, summary=SAID, at=keep[-2]))
    copies = [json.loads(line) for line in data.splitlines()]
    asked = next(row for row in copies[9:] if mapping(row).get("content") == "and now?")
    after = reread(tmp_path, data + claude("user", "10", asked["parentUuid"], "something else"))
    assert texts(after)[-2:] == [SAID, "something else"]
    assert after.events[-1].kind is EventKind.REWIND


def mapping(row: dict[str, Any]) -> dict[str, Any]:
    return row.get("message") or {}


def test_without_a_summary_a_later_one_does_not_belong_to_it(session: Path, tmp_path: Path) -> None:
    data = compacted(session, Change(everything(session)[:1]))
    last = json.loads(data.splitlines()[-1])["uuid"]
    after = reread(tmp_path, data + claude("user", "8", last, "summary", isCompactSummary=True))
    assert [event.kind for event in after.events] == [EventKind.TRIM, EventKind.SUMMARY]
    assert [event.summary is None for event in after.events] == [True, False]
    assert texts(after) == ["summary"]


def test_interleaved_sessions_get_records_of_their_own(tmp_path: Path) -> None:
    file = FOLDER / "resumed-and-another.jsonl"
    other = read(file)[1]
    data = compacted(file, Change((0,), summary=SAID, at=1), number=1)
    assert {row["sessionId"] for row in added(file, data)} == {other.id}


def test_sub_agents_are_left_as_they_are(tmp_path: Path) -> None:
    file = FOLDER / "sidechain.jsonl"
    keep = tuple(index for index in everything(file) if read(file)[0].messages[index].lane == MAIN)
    after = reread(tmp_path, compacted(file, Change(keep, summary=SAID, at=99)))
    (before,) = read(file)
    side = before.lanes[1].name
    assert [one.parts for one in after.messages if one.lane == side] == [
        one.parts for one in before.messages if one.lane == side
    ]
    assert live(after, side)[0] == live(before, side)[0]


def test_a_sub_agents_own_file_is_compacted_in_its_own_lane(tmp_path: Path) -> None:
    file = FOLDER / "with-agents" / "subagents" / "agent-ag01.jsonl"
    after = reread(tmp_path, compacted(file, Change(everything(file)[:1], summary=SAID, at=1)))
    assert texts(after)[-1] == SAID
    assert len(context(after)) == 2


def test_a_source_that_is_another_by_now_is_refused(session: Path) -> None:
    (transcript,) = read(session)
    writer = FORMATS["claude-code"].write
    assert writer is not None
    with pytest.raises(UnreadableError, match="changed meanwhile"):
        writer(session.read_bytes() + claude("user", "8", "7", "more"), [(transcript, Change((0,)))])
