"""SWE-agent: history is the conversation, and what was cut out of the prompt is told by what was sent."""

import json
from pathlib import Path

from ctxcli.model import EventKind, PartKind, Role
from ctxcli.replay import live
from support import FIXTURES, SHARED, needs_shared, read

TOOLS = FIXTURES / "swe-agent" / "tool-calls-and-old-outputs.traj"
PROSE = FIXTURES / "swe-agent" / "commands-in-prose.traj"


def test_the_trajectory_repeats_the_history_and_is_not_counted() -> None:
    (transcript,) = read(TOOLS)
    said = [part.text for message in transcript.messages for part in message.parts]
    assert said.count("I look at the file first.") == 1
    assert dict(transcript.bookkeeping)["trajectory"] == 4
    assert transcript.folders == ("/orchard",)
    assert transcript.id == "orchard__times-17"


def test_a_demonstration_is_in_the_context_but_nobodys_words_and_no_call() -> None:
    (transcript,) = read(TOOLS)
    shown = next(message for message in transcript.messages if message.parts[0].text.startswith("Here is a demo"))
    assert (shown.role, shown.harness) == (Role.USER, True)
    assert [message.harness for message in transcript.messages if message.parts[0].text.startswith("Parser")] == [False]


def test_an_old_output_that_was_not_sent_again_is_cleared_once() -> None:
    (transcript,) = read(TOOLS)
    clears = [event for event in transcript.events if event.kind is EventKind.CLEAR]
    cut = [transcript.messages[at].parts[part].text.split("(")[0] for event in clears for at, part in event.clears]
    assert cut == ["def parse", "def test_parse"]
    assert all(event.at in {call.at for call in transcript.calls} for event in clears)
    assert len(live(transcript)[1]) == 2


def test_another_agent_has_a_lane_of_its_own() -> None:
    (transcript,) = read(TOOLS)
    assert [lane.name for lane in transcript.lanes] == ["main", "reviewer"]
    assert [call.lane for call in transcript.calls].count("reviewer") == 1


def test_tokens_of_the_whole_run_are_a_note_and_no_calls_usage() -> None:
    (transcript,) = read(TOOLS)
    assert all(call.usage is None for call in transcript.calls)
    assert [note for note in transcript.notes if "9,120 tokens sent" in note]


def test_a_command_in_prose_is_a_call_and_the_text_stays_whole() -> None:
    (transcript,) = read(PROSE)
    raw = json.loads(PROSE.read_text())["history"]
    for message, said in zip(transcript.messages, raw, strict=True):
        assert "".join(part.text for part in message.parts) == said["content"]
    kinds = [part.kind for message in transcript.messages for part in message.parts]
    assert kinds.count(PartKind.TOOL_CALL) == 2
    assert transcript.messages[3].parts[0].address == "tail -n 2 /srv/gate/gate.log"
    assert transcript.messages[5].harness  # the answer held no command, so that this is the client's complaint


def test_a_message_of_an_unknown_role_changes_only_its_count(tmp_path: Path) -> None:
    value = json.loads(PROSE.read_text())
    value["history"].insert(3, {"role": "hologram", "content": "boo"})
    file = tmp_path / "odd.traj"
    file.write_text(json.dumps(value))
    (before,), (after,) = read(PROSE), read(file)
    assert [one.parts[-1].text for one in after.messages] == [one.parts[-1].text for one in before.messages]
    assert [skip.reason for skip in after.skips] == ["record type 'message/hologram' is not known: not counted"]


@needs_shared
def test_real_trajectories_hold_each_message_of_the_history_once() -> None:
    for name in ("demo.traj", "function-calling.traj"):
        file = SHARED / "swe-agent" / name
        (transcript,), value = read(file), json.loads(file.read_text())
        history = value["history"]
        assert len(transcript.messages) == len(history)
        assert len(transcript.calls) == sum(one["role"] == "assistant" for one in history)
        assert not transcript.skips
    cut = sum("Old environment output" in one["content"] for one in value["trajectory"][-2]["messages"])
    assert sum(len(event.clears) for event in transcript.events) == cut == 7
