"""Qwen Code: what its pitfalls come to."""

import json
from pathlib import Path

import pytest

from ctxcli.files.records import Tally, records_of
from ctxcli.formats import FORMATS
from ctxcli.model import MAIN, EventKind, PartKind, Role, Transcript, Usage, is_human
from ctxcli.replay import replay
from support import FIXTURES, ctx, read

FOLDER = FIXTURES / "qwen"


def said(transcript: Transcript) -> list[str]:
    return [part.text for message in transcript.messages for part in message.parts]


def texts(transcript: Transcript, indices: object) -> list[str]:
    return ["".join(part.text for part in transcript.messages[index].parts[-1:]) for index in indices]  # type: ignore[attr-defined]


def context_at(transcript: Transcript, id_: str) -> list[str]:
    held: list[int] = []
    for frame in replay(transcript):
        if frame.call.lane == MAIN:
            held = [index for index in held if index not in frame.left] + list(frame.entered)
            if frame.call.id == id_:
                return texts(transcript, held)
    return []


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.jsonl")), ids=lambda file: file.name)
def test_claude_code_does_not_claim_the_same_envelope_record_by_record(file: Path) -> None:
    records = list(records_of(str(file), Tally()))
    odd = {"dream", "gremlin"}
    for record in records:
        if record.value["type"] not in odd and record.value.get("subtype") not in odd:
            assert [name for name, card in FORMATS.items() if card.claims([record])] == ["qwen"]


def test_qwen_does_not_claim_claude_code() -> None:
    for file in (FIXTURES / "claude-code").glob("*.jsonl"):
        assert not FORMATS["qwen"].claims(list(records_of(str(file), Tally()))[:25])


def test_thoughts_are_in_the_output_where_the_total_says_so() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    assert transcript.calls[0].usage == Usage(15000, 1000, 14000, 0, 60, 25)
    assert transcript.calls[2].usage == Usage(15300, None, None, None, 15, 5)


def test_telemetry_adds_no_usage_and_the_window_is_told() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    assert [call.id for call in transcript.calls] == ["a1", "a2", "a3", "a4", "a5", "a6"]
    assert transcript.window == 262_144


def test_what_only_the_screen_shows_is_not_text() -> None:
    for file in FOLDER.glob("*.jsonl"):
        assert not any("xxxx" in text for transcript in read(file) for text in said(transcript)), file.name


def test_pieces_of_one_record_are_one_message_and_the_last_usage_counts() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    answer = transcript.messages[5]
    assert [part.kind for part in answer.parts] == [PartKind.TEXT, PartKind.MEDIA, PartKind.TOOL_CALL]
    assert (answer.lines, transcript.calls[1].usage) == ((8, 9), Usage(15200, 200, 15000, 0, 45, 0))
    assert transcript.duplicates == 1


def test_a_notice_is_the_clients_and_what_was_typed_during_a_turn_the_users() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    assert [is_human(transcript.messages[at]) for at in (0, 3, 4)] == [True, False, True]
    assert transcript.messages[6].role is Role.TOOL
    assert transcript.messages[6].parts[0].failed


def test_a_rewind_hangs_what_follows_on_an_earlier_record() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    (event,) = transcript.events
    assert (event.kind, event.line) == (EventKind.REWIND, 14)
    assert texts(transcript, event.drops) == ["Unlock it by force.", "Forced."]
    assert context_at(transcript, "a5")[-2:] == ["The mill is locked.", "Ask Jo for the key."]


def test_a_compression_keeps_the_end_and_clears_what_it_shortened() -> None:
    first, _ = read(FOLDER / "compression.jsonl")
    summary, clear = first.events[:2]
    assert (summary.kind, summary.trigger, summary.drops) == (EventKind.SUMMARY, "token_limit", (0, 1, 2, 3))
    assert (summary.tokens_before, summary.tokens_after, summary.summary) == (20_140, 9_000, 7)
    assert first.messages[7].parts[0].kind is PartKind.SUMMARY
    assert (clear.kind, clear.clears) == (EventKind.CLEAR, ((6, 0),))
    assert context_at(first, "a4")[0] == "Go on."
    assert len(context_at(first, "a4")) == 5


def test_a_failed_compression_changes_nothing() -> None:
    first, _ = read(FOLDER / "compression.jsonl")
    assert min(event.line for event in first.events) == 9


def test_going_back_before_a_compression_brings_back_what_it_dropped() -> None:
    first, _ = read(FOLDER / "compression.jsonl")
    assert context_at(first, "a6")[0].startswith("Set the mill stone")
    assert context_at(first, "a6")[-2:] == ["stone.toml\nsieve.toml", "Undo all that."]
    assert [message.copied for message in first.messages[12:20]] == [True] * 7 + [False]


def test_compressions_without_a_summary_clear_or_trim_and_one_without_a_history_is_opaque() -> None:
    first, second = read(FOLDER / "compression.jsonl")
    clear, trim, lost = first.events[-3:]
    assert [event.kind for event in (clear, trim, lost)] == [EventKind.CLEAR, EventKind.TRIM, EventKind.SUMMARY]
    assert (clear.clears, clear.tokens_before) == (((14, 0),), 20_153)
    assert (len(trim.drops), lost.opaque, lost.drops) == (4, True, ())
    assert (second.id, len(second.calls)) == ("4e11-0002", 1)


def test_a_sub_agent_has_a_lane_and_its_calls_belong_to_its_answer() -> None:
    (transcript,) = read(FOLDER / "with-sub-agent.jsonl")
    assert [(lane.name, lane.title) for lane in transcript.lanes[1:]] == [("explore-7f3c", "Explore")]
    assert [call.lane for call in transcript.calls] == [MAIN, "explore-7f3c", "explore-7f3c", MAIN]
    answer = next(message for message in transcript.messages if message.lines == (5, 6, 7))
    assert [part.ref for part in answer.parts[2:]] == ["d1", "d2"]
    assert not transcript.events
    assert len(context_at(transcript, "a2")) == 3


def test_a_sub_agents_file_alone_is_a_conversation_with_what_it_was_started_with() -> None:
    (transcript,) = read(FOLDER / "one-sub-agent.jsonl")
    assert {message.lane for message in transcript.messages} == {MAIN}
    assert [part.kind for part in transcript.messages[0].parts] == [PartKind.TEXT, PartKind.TOOLS, PartKind.TOOLS]
    assert [message.copied for message in transcript.messages[:4]] == [False, True, True, False]
    assert not any(is_human(message) and not message.copied for message in transcript.messages)


def test_files_of_sub_agents_are_read_with_the_session(tmp_path: Path) -> None:
    for folder in ("chats", "subagents/4e11"):
        (tmp_path / folder).mkdir(parents=True)
    lines = (FOLDER / "with-sub-agent.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "chats" / "4e11.jsonl").write_text("".join(lines[:2] + lines[-2:]), "utf-8")
    (tmp_path / "subagents" / "4e11" / "agent-explore-7f3c.jsonl").write_text("".join(lines[2:-2]), "utf-8")
    (transcript,) = read(tmp_path / "chats" / "4e11.jsonl")
    assert [call.lane for call in transcript.calls] == [MAIN, MAIN, "explore-7f3c", "explore-7f3c"]
    assert transcript.lanes[1].file.endswith("agent-explore-7f3c.jsonl")


@pytest.mark.parametrize("name", ["session", "compression", "with-sub-agent"])
def test_a_record_of_an_unknown_type_changes_only_its_count(name: str, tmp_path: Path) -> None:
    file = FOLDER / f"{name}.jsonl"
    lines, changed, before = file.read_text("utf-8").splitlines(), tmp_path / file.name, read(file)
    for place in range(1, len(lines) + 1):
        session = json.loads(lines[place - 1]).get("sessionId")
        base = {"uuid": "odd", "sessionId": session, "parentUuid": None}
        for odd in ({**base, "type": "invented"}, {**base, "type": "system", "subtype": "invented"}):
            changed.write_text("\n".join([*lines[:place], json.dumps(odd), *lines[place:]]), "utf-8")
            after = read(changed)
            assert [said(one) for one in after] == [said(one) for one in before]
            assert [[event.drops for event in one.events] for one in after] == [
                [event.drops for event in one.events] for one in before
            ]
            assert sum(len(one.skips) for one in after) == sum(len(one.skips) for one in before) + 1


def test_the_guard_judges_the_recorded_compression() -> None:
    run = ctx("guard", FOLDER / "compression.jsonl", "--recorded")
    assert "stone.toml" in run.stdout.decode()
