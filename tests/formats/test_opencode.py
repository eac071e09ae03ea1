"""opencode: each pitfall of its four shapes, with the value that is right."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ctxcli.formats.blocks.opencode_parts import usage_of
from ctxcli.model import EventKind, Part, PartKind, Role, Transcript
from ctxcli.replay import live, replay
from support import FIXTURES, ctx, read

EXPORT = FIXTURES / "opencode" / "export-with-compactions.json"
RUN = FIXTURES / "opencode" / "run-output.jsonl"


def document() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(EXPORT.read_text("utf-8"))
    value["messages"] = [message for message in value["messages"] if "info" in message]
    return value


def one(path: Path) -> Transcript:
    (transcript,) = read(path)
    return transcript


def said(transcript: Transcript) -> list[tuple[object, ...]]:
    """Everything but the lines, which differ with the shape."""
    return [
        (message.lane, message.role, message.harness, message.time, [(part.kind, part.text, part.ref) for part in message.parts])
        for message in transcript.messages
    ] + [(call.at, call.id, call.model, call.usage) for call in transcript.calls]  # fmt: skip


def child(parent: str = "ses_0001") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A session that a tool of the exported one started."""
    info = {"id": "ses_0002", "parentID": parent, "title": "look for callers", "time": {"created": 1_790_000_002_100}}
    tokens = {"input": 300, "output": 15, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    common = {"sessionID": "ses_0002"}
    asked = {**common, "id": "msg_c1", "role": "user", "time": {"created": 1_790_000_002_200}}
    answer = {**common, "id": "msg_c2", "role": "assistant", "modelID": "claude-haiku-4-5", "tokens": tokens}
    answer["time"] = {"created": 1_790_000_002_300}
    parts = [{**common, "id": "prt_c2", "messageID": "msg_c2", "type": "text", "text": "billing.py line 40."}]
    start = [{**common, "id": "prt_c1", "messageID": "msg_c1", "type": "text", "text": "Who calls retry()?"}]
    return info, [{"info": asked, "parts": start}, {"info": answer, "parts": parts}]


def sessions() -> list[tuple[Mapping[str, Any], list[dict[str, Any]]]]:
    whole = document()
    return [(whole["info"], whole["messages"]), child()]


def storage(root: Path) -> Path:
    """The old storage: a file for each session, message and part."""
    for info, messages in sessions():
        write(root / "session" / "prj_1" / f"{info['id']}.json", info)
        for message in messages:
            name = message["info"]["id"]
            write(root / "message" / info["id"] / f"{name}.json", message["info"])
            for part in message["parts"]:
                write(root / "part" / name / f"{part['id']}.json", part)
    write(root / "project" / "prj_1.json", {"id": "prj_1", "worktree": "/work/shop"})
    write(root / "session_diff" / "ses_0001.json", [])
    return root


def write(file: Path, value: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), "utf-8")


def database(file: Path) -> Path:
    """The current storage, with the columns of session.sql.ts."""
    base = sqlite3.connect(file)
    base.executescript(
        """
        create table project (id text primary key, worktree text not null);
        create table session (id text primary key, project_id text not null, parent_id text, slug text not null,
            directory text not null, title text not null, version text not null, revert text,
            time_created integer not null, time_updated integer not null);
        create table message (id text primary key, session_id text not null, time_created integer not null,
            time_updated integer not null, data text not null);
        create table part (id text primary key, message_id text not null, session_id text not null,
            time_created integer not null, time_updated integer not null, data text not null);
        create table todo (session_id text not null, content text not null);
        insert into todo values ('ses_0001', 'fix the retry');
        """
    )
    for info, messages in sessions():
        revert = json.dumps(info["revert"]) if "revert" in info else None
        row = (info["id"], "prj_1", info.get("parentID"), "s", "/work/shop", info["title"], "1.4.0", revert, 1, 1)
        base.execute("insert into session values (?,?,?,?,?,?,?,?,?,?)", row)
        for message in messages:
            data = {key: value for key, value in message["info"].items() if key not in ("id", "sessionID")}
            name = message["info"]["id"]
            base.execute("insert into message values (?,?,?,?,?)", (name, info["id"], 1, 1, json.dumps(data)))
            for part in message["parts"]:
                rest = {key: value for key, value in part.items() if key not in ("id", "sessionID", "messageID")}
                base.execute(
                    "insert into part values (?,?,?,?,?,?)", (part["id"], name, info["id"], 1, 1, json.dumps(rest))
                )
    base.commit()
    base.close()
    return file


def test_the_folder_and_the_database_say_what_the_export_says_and_hold_the_sub_agent_too(tmp_path: Path) -> None:
    write(tmp_path / "export.json", document())
    export = one(tmp_path / "export.json")
    folder, base = one(storage(tmp_path / "storage")), one(database(tmp_path / "opencode.db"))
    assert folder.format == base.format == "opencode"
    main = [message for message in said(folder) if message[0] == "main" or not isinstance(message[0], str)]
    assert main[: len(export.messages)] == said(export)[: len(export.messages)]
    assert said(folder) == said(base)
    assert [lane.name for lane in base.lanes] == ["main", "ses_0002"]
    assert base.lanes[1].title == "look for callers"
    assert base.lanes[1].spawned_by == "call_c"
    assert [message.parts[0].text for message in base.messages if message.lane == "ses_0002"] == [
        "Who calls retry()?", "billing.py line 40.",
    ]  # fmt: skip
    assert dict(base.bookkeeping)["table/todo"] == 1
    assert dict(folder.bookkeeping)["file/project"] == dict(folder.bookkeeping)["file/session_diff"] == 1
    assert [(event.kind, event.drops) for event in base.events] == [
        (event.kind, event.drops) for event in export.events
    ]


def test_every_record_of_a_folder_and_of_a_database_is_accounted_for(tmp_path: Path) -> None:
    folder = storage(tmp_path / "storage")
    assert one(folder).records == len(list(folder.rglob("*.json")))
    found = one(database(tmp_path / "opencode.db"))
    messages = [message for _, some in sessions() for message in some]
    assert found.records == 1 + 1 + 2 + len(messages) + sum(len(message["parts"]) for message in messages)


def test_a_session_whose_parent_is_not_in_the_source_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    info, messages = child(parent="ses_elsewhere")
    write(tmp_path / "child.json", {"info": info, "messages": messages})
    assert [(message.lane, message.role) for message in one(tmp_path / "child.json").messages] == [
        ("main", Role.USER), ("main", Role.ASSISTANT),
    ]  # fmt: skip


def test_two_sessions_are_two_conversations(tmp_path: Path) -> None:
    info, messages = child(parent="")
    lines = [json.dumps(document()), json.dumps({"info": info, "messages": messages})]
    (tmp_path / "two.jsonl").write_text("\n".join(lines), "utf-8")
    assert [transcript.id for transcript in read(tmp_path / "two.jsonl")] == ["ses_0001", "ses_0002"]


def part_of(kind: PartKind, ref: str) -> Part:
    parts = [part for message in one(EXPORT).messages for part in message.parts]
    return next(part for part in parts if part.kind is kind and part.ref == ref)


def test_a_call_and_its_result_are_one_part_in_the_store_and_two_in_the_context() -> None:
    assert part_of(PartKind.TOOL_CALL, "call_b").text == '{"command":"pytest -q"}'
    result = part_of(PartKind.TOOL_RESULT, "call_b")
    assert (result.text, result.failed, result.name) == ("exit code 1", True, "bash")
    pending = part_of(PartKind.TOOL_RESULT, "call_d")
    assert (pending.text, pending.failed) == ("[Tool execution was interrupted]", True)


def test_the_steps_of_one_message_are_calls_of_their_own_and_its_own_tokens_are_not_counted_again() -> None:
    found = one(EXPORT)
    usages = [call.usage for call in found.calls if call.usage is not None]
    finishes = [
        part["tokens"]
        for message in document()["messages"]
        for part in message["parts"]
        if part["type"] == "step-finish"
    ]
    assert sum(usage.prompt or 0 for usage in usages) == sum(
        tokens["input"] + tokens["cache"]["read"] + tokens["cache"]["write"] for tokens in finishes
    )
    assert sum(usage.output or 0 for usage in usages) == sum(
        tokens["output"] + tokens["reasoning"] for tokens in finishes
    )
    assert len(usages) == len(finishes) == 9
    assert len(found.calls) == 10  # one was broken off and reported nothing


def test_without_a_step_that_ends_the_figures_of_the_message_count(tmp_path: Path) -> None:
    info, messages = child()
    write(tmp_path / "child.json", {"info": info, "messages": messages})
    (call,) = one(tmp_path / "child.json").calls
    assert call.usage is not None
    assert (call.usage.prompt, call.usage.output) == (300, 15)


@pytest.mark.parametrize(
    ("tokens", "prompt", "output"),
    [
        ({"input": 10, "output": 5, "reasoning": 3, "cache": {"read": 100, "write": 20}}, 130, 8),
        ({"input": 10, "output": 5, "reasoning": 3, "total": 15, "cache": {"read": 0, "write": 0}}, 10, 5),
        ({"input": 10, "output": 5, "reasoning": 3, "total": 18, "cache": {"read": 0, "write": 0}}, 10, 8),
    ],
)
def test_reasoning_stands_beside_the_output_unless_the_total_says_otherwise(
    tokens: object, prompt: int, output: int
) -> None:
    usage = usage_of(tokens)
    assert usage is not None
    assert (usage.prompt, usage.output, usage.reasoning) == (prompt, output, 3)


@pytest.mark.parametrize("tokens", [None, {}, 7, [], {"input": 0, "output": 0, "cache": {"read": 0, "write": 0}}])
def test_zeros_and_nothing_are_no_usage(tokens: object) -> None:
    assert usage_of(tokens) is None


def test_what_only_people_see_is_not_in_the_context() -> None:
    words = "\n".join(part.text for message in one(EXPORT).messages for part in message.parts)
    assert "shown in the list of sessions" not in words
    assert "a remark for the log alone" not in words


def test_what_the_client_wrote_under_the_users_name_is_told_apart() -> None:
    human = [
        message.parts[0].text for message in one(EXPORT).messages if message.role is Role.USER and not message.harness
    ]
    assert len(human) == 5
    assert human[0].startswith("Find out why")
    assert not any("Called the Read tool" in text or "What did we do" in text for text in human)


def test_an_answer_that_failed_says_nothing_and_one_that_was_broken_off_says_what_it_said() -> None:
    found = one(EXPORT)
    assert "I begin with" in [part.text for message in found.messages for part in message.parts]
    assert dict(found.bookkeeping)["message/error"] == 1


def test_a_pruned_result_is_cleared_from_the_call_after_the_pruning_on() -> None:
    found = one(EXPORT)
    clear = next(event for event in found.events if event.kind is EventKind.CLEAR)
    index, number = clear.clears[0]
    assert found.messages[index].parts[number].ref == "call_a"
    assert found.messages[index].parts[number].text.startswith("def retry")
    assert found.messages[clear.at].id == "msg_0007"


def test_a_compaction_drops_what_was_before_it_but_for_its_tail_and_a_failed_one_drops_nothing() -> None:
    found = one(EXPORT)
    (compaction,) = [event for event in found.events if event.kind is EventKind.SUMMARY]
    ids = {found.messages[index].id for index in compaction.drops}
    assert "msg_0010" not in ids
    assert "msg_0011" not in ids
    assert {"msg_0001", "msg_0002", "msg_0003", "msg_0008"} <= ids
    assert compaction.summary is not None
    assert found.messages[compaction.summary].parts[0].kind is PartKind.SUMMARY
    assert compaction.trigger == "manual"


def test_the_call_that_wrote_a_summary_saw_the_context_before_the_compaction() -> None:
    found = one(EXPORT)
    frames = list(replay(found))
    writer = next(at for at, frame in enumerate(frames) if frame.call.usage and frame.call.usage.prompt == 4900)
    assert not frames[writer].left
    texts = {found.messages[index].parts[0].text for index in frames[writer + 1].entered if found.messages[index].parts}
    assert "What did we do so far?" in texts


def test_what_the_user_took_back_is_gone_at_the_end() -> None:
    found = one(EXPORT)
    indices, _ = live(found)
    assert found.messages[max(indices)].parts[0].text == "Reviewed."


def test_an_answer_of_several_steps_that_failed_in_the_end_is_not_sent_again(tmp_path: Path) -> None:
    whole = document()
    answer = next(message for message in whole["messages"] if message["info"]["id"] == "msg_0002")
    answer["info"]["error"] = {"name": "APIError", "data": {}}
    write(tmp_path / "failed.json", whole)
    found = one(tmp_path / "failed.json")
    (gone,) = [event for event in found.events if event.trigger == "error"]
    assert {found.messages[index].id for index in gone.drops} == {"msg_0002"}
    assert len([call for call in found.calls if call.usage]) == 9  # they were paid for


def test_a_summary_of_the_first_clients_has_no_mark_and_drops_all(tmp_path: Path) -> None:
    whole = document()
    whole["messages"] = [message for message in whole["messages"] if message["info"]["id"] in ("msg_0001", "msg_0013")]
    write(tmp_path / "old.json", whole)
    found = one(tmp_path / "old.json")
    (compaction,) = [event for event in found.events if event.kind is EventKind.SUMMARY]
    assert [found.messages[index].role for index in compaction.drops] == [Role.USER, Role.USER, Role.ASSISTANT]


def test_instructions_that_change_take_the_place_of_those_before() -> None:
    found = one(EXPORT)
    renewals = [event for event in found.events if event.kind is EventKind.RENEW]
    assert [found.messages[index].parts[0].text for event in renewals for index in event.drops] == [
        "Answer in British English."
    ]


def test_a_part_of_an_unknown_type_is_counted_and_changes_nothing_else(tmp_path: Path) -> None:
    whole = document()
    write(tmp_path / "a.json", whole)
    known = {"id": "prt_999", "sessionID": "ses_0001", "messageID": "msg_0003", "type": "crystal ball"}
    whole["messages"][2]["parts"].append(known)
    write(tmp_path / "b.json", whole)
    before, after = one(tmp_path / "a.json"), one(tmp_path / "b.json")
    assert said(after) == said(before)
    assert {skip.reason for skip in after.skips} - {skip.reason for skip in before.skips} == {
        "record type 'part/crystal ball' is not known: not counted"
    }


def test_the_output_of_a_run_has_a_call_for_each_step_and_counts_a_repeated_part_once() -> None:
    found = one(RUN)
    assert [call.usage.prompt for call in found.calls if call.usage] == [5010, 5250]
    assert found.duplicates == 1
    assert found.id == "ses_0009"
    assert "the prompt and the model are not among them" in found.notes[0]


def test_a_user_sees_the_compactions_of_a_folder(tmp_path: Path) -> None:
    run = ctx("guard", storage(tmp_path / "storage"), "--recorded", "--format", "json")
    assert b'"kind":"summary"' in run.stdout.replace(b" ", b"")


def test_a_search_takes_the_folder_as_one_source_and_finds_the_database(tmp_path: Path) -> None:
    storage(tmp_path / "share" / "storage")
    database(tmp_path / "share" / "opencode.db")
    run = ctx("audit", tmp_path / "share", "--format", "json")
    assert run.returncode == 0, run.stderr
    assert run.stdout.count(b'"opencode"') >= 2
