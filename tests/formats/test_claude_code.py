"""Claude Code: what its pitfalls come to."""

from ctxcli.model import MAIN, EventKind, PartKind, Role, Usage
from support import FIXTURES, read

FOLDER = FIXTURES / "claude-code"


def test_usage_counts_once_per_response_with_the_maximum_of_each_field() -> None:
    (transcript,) = read(FOLDER / "split-lines.jsonl")
    assert [call.id for call in transcript.calls] == ["msg_a", "msg_b"]
    assert transcript.calls[0].usage == Usage(1503, 3, 1000, 500, 40, output_final=False)


def test_lines_of_one_response_that_are_apart_are_one_message_before_the_results() -> None:
    (transcript,) = read(FOLDER / "split-lines.jsonl")
    assert [message.role for message in transcript.messages] == [
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert transcript.messages[1].lines == (2, 4)
    assert [part.ref for part in transcript.messages[1].parts] == ["toolu_a1", "toolu_a2"]


def test_client_copies_are_not_text() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    said = "".join(part.text for message in transcript.messages for part in message.parts)
    assert "xxxx" not in said
    assert "yyyy" not in said
    assert "collecting" not in said
    assert "Coupon import" not in said


def test_a_synthetic_answer_is_no_call() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    assert len(transcript.calls) == 15
    assert "<synthetic>" not in {call.model for call in transcript.calls}


def test_a_tool_result_knows_its_call() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    results = {
        part.ref: part for message in transcript.messages for part in message.parts if part.kind is PartKind.TOOL_RESULT
    }
    assert (results["toolu_03"].name, results["toolu_03"].failed) == ("Bash", True)
    assert results["toolu_01"].address == "/home/ana/shop/src/shop/refunds.py"


def test_a_compaction_drops_what_came_before_and_names_its_summary() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    event = transcript.events[-1]
    assert (event.kind, event.trigger, event.line) == (EventKind.SUMMARY, "manual", 44)
    assert transcript.messages[event.summary or 0].parts[0].kind is PartKind.SUMMARY
    main = {index for index, message in enumerate(transcript.messages) if message.lane == MAIN and index < event.at}
    assert set(event.drops) == main


def test_a_micro_compaction_clears_the_results_it_names() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    event = next(event for event in transcript.events if event.kind is EventKind.CLEAR)
    cleared = [transcript.messages[index].parts[part].ref for index, part in event.clears]
    assert sorted(cleared) == ["toolu_03", "toolu_06"]


def test_preserved_messages_stay_and_an_empty_summary_is_opaque() -> None:
    (transcript,) = read(FOLDER / "compaction.jsonl")
    first, second = transcript.events
    kept = [transcript.messages[index].parts[0].text for index in range(4) if index not in first.drops]
    assert kept == ["And the host is db.internal.", "Noted: db.internal."]
    assert (first.tokens_before, first.tokens_after, first.opaque) == (168_000, 1_200, False)
    assert second.opaque


def test_an_automatic_compaction_shows_the_window() -> None:
    (transcript,) = read(FOLDER / "compaction.jsonl")
    assert transcript.window == 200_000
    assert "not the model's 1,000,000" in transcript.notes[0]


def test_an_attached_file_is_retrieved_text() -> None:
    (transcript,) = read(FOLDER / "compaction.jsonl")
    document = next(part for message in transcript.messages for part in message.parts if part.kind is PartKind.DOCUMENT)
    assert (document.text, document.address) == ('host = "db.internal"\nport = 8443\n', "db.toml")


def test_a_rewind_drops_the_abandoned_branch_and_clear_drops_all() -> None:
    (transcript,) = read(FOLDER / "rewind-and-clear.jsonl")
    kinds = [event.kind for event in transcript.events]
    assert kinds == [EventKind.STRIP, EventKind.REWIND, EventKind.RESET]
    rewind, reset = transcript.events[1:]
    assert [transcript.messages[index].parts[-1].text for index in rewind.drops] == ["Make it darker.", "Navy."]
    assert 0 in reset.drops
    assert rewind.drops[0] not in reset.drops


def test_an_inline_side_chain_has_a_lane_of_its_own() -> None:
    (transcript,) = read(FOLDER / "sidechain.jsonl")
    assert [call.lane == MAIN for call in transcript.calls] == [True, False, True]
    assert len(transcript.lanes) == 2


def test_progress_of_a_sub_agent_becomes_its_lane() -> None:
    (transcript,) = read(FOLDER / "session.jsonl")
    agent = transcript.lanes[1]
    assert (agent.name, agent.title, agent.spawned_by, agent.tokens) == ("a1b2c3", "Explore", "toolu_04", 8314)
    assert sum(call.lane == "a1b2c3" for call in transcript.calls) == 2


def test_a_sub_agents_own_file_is_read_with_the_session() -> None:
    (transcript,) = read(FOLDER / "with-agents.jsonl")
    assert [call.lane for call in transcript.calls] == [MAIN, MAIN, "ag01", "ag01"]
    assert transcript.lanes[1].file.endswith("agent-ag01.jsonl")


def test_a_sub_agents_file_by_itself_is_a_conversation() -> None:
    (transcript,) = read(FOLDER / "with-agents" / "subagents" / "agent-ag01.jsonl")
    assert {message.lane for message in transcript.messages} == {MAIN}
    assert transcript.id == "ag01"


def test_a_resumed_copy_counts_once_and_an_unlinked_session_is_another_conversation() -> None:
    resumed, other = read(FOLDER / "resumed-and-another.jsonl")
    assert (len(resumed.calls), resumed.duplicates, resumed.id) == (2, 2, "re50-0001")
    assert (len(other.calls), other.id) == (1, "0the-0001")
    assert [transcript.many for transcript in (resumed, other)] == [True, True]


def test_torn_lines_are_told_and_nothing_else_is_lost() -> None:
    (transcript,) = read(FOLDER / "torn.jsonl")
    assert [(skip.line, skip.recovered) for skip in transcript.skips] == [
        (2, True), (3, False), (4, False), (5, False), (6, True), (8, False), (10, False),
    ]  # fmt: skip
    assert len(transcript.calls) == 2
    assert "\u2028" in transcript.messages[2].parts[0].text
