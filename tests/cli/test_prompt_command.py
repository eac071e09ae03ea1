"""`ctx prompt` as a user runs it."""

import json
from pathlib import Path

from support import ctx

REFUNDS = "fixtures/guard/refunds.json"


def test_the_context_stands_in_it_as_data_and_the_secret_does_not() -> None:
    text = ctx("prompt", REFUNDS).stdout.decode()
    assert "[line 5] user:\nPAY-1432: refunds are too slow" in text
    assert "## IDENTIFIERS" in text
    assert "sk_test_4eC39HqLyjWDarjtT1zdp7dc" not in text
    assert "You are a coding agent" not in text


def test_as_the_messages_of_a_request() -> None:
    document = json.loads(ctx("prompt", REFUNDS, "--messages").stdout)
    assert [message["role"] for message in document["messages"]] == ["user"]
    assert document["messages"][0]["content"] == ctx("prompt", REFUNDS).stdout.decode()


def test_instructions_are_added_and_the_newest_left_out(tmp_path: Path) -> None:
    extra = tmp_path / "extra.md"
    extra.write_text("Answer in German.")
    text = ctx("prompt", REFUNDS, "--instructions", f"@{extra}", "--keep-last", "1").stdout.decode()
    assert "Answer in German." in text
    assert "## CONSTRAINTS" in text
    assert "Refund needs a second pair of eyes" not in text


def test_a_recorded_compaction_took_its_part_out() -> None:
    text = ctx("prompt", "fixtures/claude-code/session.jsonl").stdout.decode()
    assert "an earlier summary" in text
    assert "PAY-4821" in text


def test_bad_use() -> None:
    assert ctx("prompt", "none.json").returncode == 2
    assert ctx("prompt", REFUNDS, "--instructions", "@none.md").returncode == 2
    several = ctx("prompt", "fixtures/openai-chat/conversations.jsonl")
    assert several.returncode == 2
    assert b"--conversation" in several.stderr
    assert ctx("prompt", "fixtures/openai-chat/conversations.jsonl", "--conversation", "2").returncode == 0
