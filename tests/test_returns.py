"""What sub-agents gave back: its form, its weight, and where that shows."""

import json

import pytest

from ctxcli.audit import audit
from ctxcli.validity.returns import form_of, returns_of
from support import FIXTURES, SHARED, ctx, needs_shared, read

FINDING = {"answer": "x", "locations": ["a.py:1"], "rejected": [], "unresolved": [], "failures": []}


@pytest.mark.parametrize(
    ("text", "form", "locations"),
    [
        (json.dumps(FINDING), "finding", 1),
        (f"Here it is:\n```json\n{json.dumps(FINDING)}\n```", "finding", 1),
        ('{"child-1": {"status": "completed", "message": "48"}}', "json", 0),
        ("Set it to {\"a\": 1}, says the manual, and then restart the whole of it.", "prose", 0),
        ("It is in src/shop/refunds.py:12 and again in src/shop/refunds.py:12.", "locations", 1),
        ("[git.go](/home/x/git.go:124) calls it", "locations", 1),
        ("**Files**: `cli/rewind.go` (lines 329-374)", "locations", 1),
        ("Flow (lines 34-62 in hooks_geminicli_handlers.go):", "locations", 1),
        ("billing.py line 40 calls it; C:\\work\\pay.cs:7 does too", "locations", 2),
        ("- PR #39 is fine\n- PR #40 (`bb35c1b`) is fine", "list", 0),
        ("- it is slow\n- it is old", "prose", 0),
        ("The server on example.com:8080 answers since 12:30, see http://example.com:8080.", "prose", 0),
        ("It rounds money in two places and nobody tests that.", "prose", 0),
        ("", "prose", 0),
    ],
)  # fmt: skip
def test_the_form_of_an_answer(text: str, form: str, locations: int) -> None:
    assert form_of(text) == (form, locations)


def test_prose_is_flagged_in_the_audit_and_in_the_check() -> None:
    (transcript,) = read(FIXTURES / "amp" / "thread.json")
    row = next(lane for lane in audit(transcript).lanes if lane.lane != "main")
    assert (row.form, row.rule, row.returned_line) == ("prose", "CTX407", 148)
    assert row.returned_share == round((row.returned_tokens or 0) / (row.peak or 1), 4)
    said = ctx("audit", FIXTURES / "amp" / "thread.json").stdout.decode()
    assert "prose only" in said
    assert "CTX407" in said
    assert b"CTX407" in ctx("audit", FIXTURES / "amp" / "thread.json", "--format", "markdown").stdout
    habits = json.loads(ctx("check", FIXTURES / "amp" / "thread.json", "--json").stdout)["habits"]
    assert habits[-1]["rule"] == "CTX407"
    assert (habits[-1]["answer"], habits[-1]["line"]) == ("no", 148)


def test_of_an_agent_whose_calls_are_not_in_the_file_the_reported_size_counts() -> None:
    (transcript,) = read(FIXTURES / "claude-stream-json" / "sub-agents.jsonl")
    for row in audit(transcript).lanes[1:]:
        assert row.rule == "CTX407"
        assert row.returned_tokens
        assert row.returned_share == round(row.returned_tokens / (row.peak or row.reported_tokens or 1), 4)


@needs_shared
def test_the_agents_of_codex_answer_under_their_names() -> None:
    (transcript,) = read(SHARED / "codex" / "two-compactions.jsonl")
    found = returns_of(transcript)
    assert len(found) == len(transcript.lanes) - 1
    raw = (SHARED / "codex" / "two-compactions.jsonl").read_text("utf-8").split("\n")
    for lane in transcript.lanes[1:]:
        mail = [line for line in raw if '"type":"agent_message","id"' in line and f'"author":"{lane.title}"' in line]
        assert len(found[lane.name].places) == len(mail)


@needs_shared
def test_real_agents_name_lines() -> None:
    (transcript,) = read(SHARED / "claude-code" / "two-compactions.jsonl")
    rows = audit(transcript).lanes[1:]
    assert [(row.form, row.locations) for row in rows] == [("locations", 5), ("locations", 2)]
    assert all(0.01 < (row.returned_share or 0) < 0.05 for row in rows)
