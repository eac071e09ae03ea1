"""Claude Code on the web: a local session's records inside one document, with or without their ids."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats import FORMATS
from ctxcli.model import EventKind, PartKind, Record, Role
from support import FIXTURES, ctx, read

WEB = FIXTURES / "claude-web"


def test_records_without_ids_are_messages_and_lines_of_one_answer_are_one() -> None:
    (transcript,) = read(WEB / "session.json")
    assert transcript.id == "session_0104"
    assert [message.role for message in transcript.messages] == [
        Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT,
    ]  # fmt: skip
    assert [part.kind for part in transcript.messages[3].parts] == [PartKind.THINKING, PartKind.TEXT]
    assert len(transcript.calls) == 2


def test_a_message_knows_its_line_in_the_document() -> None:
    (transcript,) = read(WEB / "session.json")
    assert [message.line for message in transcript.messages] == [4, 5, 16, 17]


def test_what_is_no_record_and_what_is_unknown_is_said() -> None:
    (transcript,) = read(WEB / "session.json")
    assert [(skip.line, skip.reason.split(":")[0]) for skip in transcript.skips] == [
        (19, "a string stands where a record should"),
        (20, "record type 'weather-report' is not known"),
    ]


def test_the_copy_of_a_result_for_the_client_is_no_text() -> None:
    (transcript,) = read(WEB / "session.json")
    assert not [part for message in transcript.messages for part in message.parts if "a copy" in part.text]


def test_usage_on_two_lines_of_one_answer_counts_once_and_a_compaction_drops_what_was_before() -> None:
    (transcript,) = read(WEB / "compaction.json")
    assert [call.usage.prompt for call in transcript.calls if call.usage] == [21_005, 20_504]
    (event,) = transcript.events
    assert (event.kind, event.drops, event.summary, event.tokens_before) == (EventKind.SUMMARY, (0, 1), 2, 21_045)


def test_the_guard_sees_the_recorded_compaction() -> None:
    done = ctx("guard", WEB / "compaction.json", "--recorded", "--format", "json")
    assert done.returncode in (0, 1)
    assert json.loads(done.stdout)


def test_each_document_of_a_file_is_a_session(tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    documents = [json.loads((WEB / name).read_text("utf-8")) for name in ("session.json", "compaction.json")]
    file.write_text("\n".join(json.dumps(one) for one in (documents[0], 4, documents[1])), "utf-8")
    first, second = read(file)
    assert (first.id, second.id) == ("session_0104", "web-2")
    assert any("a document with loglines" in skip.reason for skip in first.skips)


NOT_OURS: tuple[Any, ...] = ({"loglines": ["a", "b"]}, {"loglines": []}, {"loglines": {}}, {}, None, [1], "loglines")


@pytest.mark.parametrize("value", NOT_OURS, ids=repr)
def test_other_documents_are_not_claimed(value: Any) -> None:
    assert not FORMATS["claude-web"].claims([Record(1, value)])
