"""A rollout written back: one record more, and what goes on after it."""

import json
from pathlib import Path

from ctxcli.change import Change
from ctxcli.formats import FORMATS
from ctxcli.model import EventKind, Message, PartKind, Role, Transcript
from ctxcli.replay import live
from support import FIXTURES, read

SESSION = FIXTURES / "codex" / "session.jsonl"
SAID = "[Compacted by ctx]\nall of it"


def compacted(file: Path, change: Change) -> bytes:
    (transcript,) = read(file)
    writer = FORMATS["codex"].write
    assert writer is not None
    return writer(file.read_bytes(), [(transcript, change)])


def reread(folder: Path, data: bytes) -> Transcript:
    file = folder / "x.jsonl"
    file.write_bytes(data)
    (transcript,) = read(file)
    return transcript


def context(transcript: Transcript) -> list[Message]:
    return [transcript.messages[index] for index in live(transcript)[0]]


def everything(transcript: Transcript) -> tuple[int, ...]:
    return tuple(live(transcript)[0])


def test_the_source_stays_and_one_record_is_added() -> None:
    (before,) = read(SESSION)
    written = compacted(SESSION, Change(everything(before), summary=SAID, at=99))
    source = SESSION.read_bytes()
    assert written.startswith(source)
    (line,) = written[len(source) :].splitlines()
    record = json.loads(line)
    assert (record["type"], record["payload"]["message"]) == ("compacted", SAID)
    assert record["timestamp"] == before.messages[-1].time
    raw = [json.loads(row).get("payload") for row in source.splitlines()]
    assert all(item in raw for item in record["payload"]["replacement_history"][:-1])


def test_an_answer_of_several_items_is_one_message_again(tmp_path: Path) -> None:
    (before,) = read(SESSION)
    after = reread(tmp_path, compacted(SESSION, Change(everything(before), summary=SAID, at=99)))
    (event,) = [event for event in after.events if event.at >= len(before.messages)]
    assert (event.kind, event.opaque) == (EventKind.SUMMARY, False)
    said = [message for message in context(before) if message.parts]
    assert [len(message.parts) for message in context(after)[:-1]] == [len(message.parts) for message in said]
    assert [part.tokens for message in context(after) for part in message.parts if part.kind is PartKind.OPAQUE] == [
        part.tokens for message in said for part in message.parts if part.kind is PartKind.OPAQUE
    ]


def test_without_a_summary_it_is_a_trim_that_can_be_read(tmp_path: Path) -> None:
    (before,) = read(SESSION)
    after = reread(tmp_path, compacted(SESSION, Change(everything(before)[:3])))
    event = after.events[-1]
    assert (event.kind, event.opaque, event.summary) == (EventKind.TRIM, False, None)


def test_a_rollout_without_a_last_line_feed_gets_one(tmp_path: Path) -> None:
    (before,) = read(SESSION)
    file = tmp_path / "x.jsonl"
    file.write_bytes(SESSION.read_bytes().rstrip(b"\n"))
    written = compacted(file, Change(everything(before), summary=SAID, at=99))
    assert written.splitlines()[:-1] == SESSION.read_bytes().splitlines()


def test_what_goes_on_afterwards_goes_on_from_the_new_context(tmp_path: Path) -> None:
    (before,) = read(SESSION)
    keep = everything(before)[:4]
    rows = [
        {"timestamp": "t", "type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": said}]}}
        for role, kind, said in (("user", "input_text", "go on"), ("assistant", "output_text", "done"))
    ]  # fmt: skip
    data = compacted(SESSION, Change(keep, summary=SAID, at=keep[-1] + 1))
    after = reread(tmp_path, data + b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    last = context(after)[-3:]
    assert [message.parts[0].text for message in last] == [SAID, "go on", "done"]
    assert [message.role for message in last] == [Role.USER, Role.USER, Role.ASSISTANT]


def test_the_first_generation_is_written_too(tmp_path: Path) -> None:
    file = FIXTURES / "codex" / "first-generation.jsonl"
    (before,) = read(file)
    keep = everything(before)
    after = reread(tmp_path, compacted(file, Change((keep[0], keep[1], keep[-1]), summary=SAID, at=keep[-1])))
    assert [message.parts[0].text for message in context(after)] == [
        before.messages[keep[0]].parts[0].text, before.messages[keep[1]].parts[0].text, SAID, "A README.",
    ]  # fmt: skip
