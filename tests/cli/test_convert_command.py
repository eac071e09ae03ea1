"""`ctx convert` as a user runs it."""

import json
from pathlib import Path

import pytest

from ctxcli.formats import TARGETS
from support import FIXTURES, ctx, read

SEARCH = FIXTURES / "compaction" / "search-index.json"
CLAUDE = FIXTURES / "claude-code" / "session.jsonl"
AGENTS = FIXTURES / "claude-code" / "with-agents.jsonl"
MANY = FIXTURES / "openai-chat" / "conversations.jsonl"


@pytest.mark.parametrize("target", TARGETS)
def test_each_target_is_read_as_itself_and_the_guard_finds_nothing_lost(target: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert ctx("convert", SEARCH, "--to", target, "-o", out).returncode == 0
    assert {one.format for one in read(out)} <= {target, "openai-chat" if target == "anthropic" else target}
    assert json.loads(ctx("guard", SEARCH, out, "--json").stdout)["verdict"] == "pass"


def test_what_the_target_cannot_hold_is_said_and_strict_writes_nothing(tmp_path: Path) -> None:
    done = ctx("convert", CLAUDE, "--to", "sharegpt")
    assert done.returncode == 0
    assert b"1 part of call ids left out: the target pairs calls and results by their order." in done.stderr
    out = tmp_path / "out.json"
    assert ctx("convert", CLAUDE, "--to", "sharegpt", "--strict", "-o", out).returncode == 1
    assert not out.exists()


def test_the_raw_turns_are_all_that_was_said_and_no_summary() -> None:
    now = json.loads(ctx("convert", CLAUDE, "--to", "openai-chat").stdout)["messages"]
    raw = json.loads(ctx("convert", CLAUDE, "--to", "openai-chat", "--raw").stdout)["messages"]
    summary = next(part.text for message in read(CLAUDE)[0].messages for part in message.parts if part.sums_up)
    assert len(raw) > len(now)
    assert any(summary in json.dumps(one, ensure_ascii=False) or one["content"] == summary for one in now)
    assert not any(one["content"] == summary for one in raw)


def test_a_sub_agent_can_be_converted() -> None:
    lanes = [lane.name for one in read(AGENTS) for lane in one.lanes if lane.name != "main"]
    told = json.loads(ctx("convert", AGENTS, "--to", "openai-chat", "--lane", lanes[0]).stdout)
    assert told["messages"]
    assert ctx("convert", AGENTS, "--to", "openai-chat", "--lane", "nobody").returncode == 2


def test_several_conversations_are_a_line_each_or_refused() -> None:
    many = len(read(MANY))
    assert len(ctx("convert", MANY, "--to", "anthropic").stdout.splitlines()) == many
    refused = ctx("convert", MANY, "--to", "pi")
    assert refused.returncode == 2
    assert b"choose by --conversation" in refused.stderr
    assert ctx("convert", MANY, "--to", "pi", "--conversation", "2").returncode == 0


def test_standard_input_and_never_over_the_input(tmp_path: Path) -> None:
    assert (
        ctx("convert", "-", "--to", "pi", stdin=SEARCH.read_bytes()).stdout
        == ctx("convert", SEARCH, "--to", "pi").stdout
    )
    copy = tmp_path / "x.json"
    copy.write_bytes(SEARCH.read_bytes())
    assert ctx("convert", copy, "--to", "pi", "-o", copy).returncode == 2
    assert copy.read_bytes() == SEARCH.read_bytes()


def test_a_context_of_which_nothing_can_be_written_is_refused() -> None:
    done = ctx("convert", FIXTURES / "anthropic" / "compaction.jsonl", "--to", "openai-responses")
    assert done.returncode == 2
    assert b"nothing of this context can be written" in done.stderr
