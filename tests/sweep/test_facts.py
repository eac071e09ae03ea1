"""Items out of a transcript's own facts."""

from dataclasses import replace
from typing import Any

import pytest

from ctxcli.model import Transcript
from ctxcli.sweep.facts import items_from
from ctxcli.sweep.grading import normal, stands
from support import ABSENT, CORE, chat, name_of, needs_shared, read, shared_files, tool_call, tool_result
from sweep_support import WEIGH

KINDS = ("setting", "path", "fact", "decision", "constraint")


def session() -> Transcript:
    return chat(
        ("user", "The staging port is 8443. Never touch legacy/billing.py, the auditors look at it."),
        ("assistant", "I chose a queue over a cron job because the warehouse is slow in the morning."),
        tool_call("Bash", '{"command": "cat .env"}', address=".env"),
        tool_result("MAX_RETRIES=7\nAPI_TOKEN=abc123\nDEBUG=true\nREGION=eu-west-2\nLOG_LEVEL=info"),
        ("assistant", "The retries are read in src/shop/export.py, and src/shop/queue.py only waits."),
        tool_call("Bash", '{"command": "cat prod.env"}', ref="t2", address="prod.env"),
        tool_result("MAX_RETRIES=9\nREGION=eu-west-2", ref="t2"),
        ("user", "The release date is 2026-12-04."),
        ("user", "The release date is 2026-12-11."),
    )


def made(*kinds: str, most: int = 20) -> dict[str, tuple[str, ...]]:
    return {item.question: item.answers for item in items_from(session(), WEIGH, kinds or KINDS, most)}


def test_settings_have_one_value_and_are_no_secrets() -> None:
    assert made("setting") == {"What is the value of `LOG_LEVEL`?": ("info",)}


def asked(*messages: Any, kind: str, folders: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    transcript = replace(chat(*messages), folders=folders)
    return {item.question.split("`")[1] if "`" in item.question else item.question: item.answers
            for item in items_from(transcript, WEIGH, [kind], 40)}  # fmt: skip


def listing(text: str) -> list[Any]:
    return [("user", "Go on."), tool_call("Bash", '{"command": "cat x"}', address="cat x"), tool_result(text)]


@pytest.mark.parametrize(
    "text",
    [
        "commit_sha: 8f3a2b1c9d4e\nclosed_at: 2026-07-20\nagent_lines: 142\nuser_id: 77123",
        "work_dir: /path/to/repo\nnode-sitter: github.com/x/node-sitter\ncontent-type: application/json",
        'batch_size: 64\n{"batch_size":65,"other":1}',
        "Entire-Checkpoint: 4e0f5ce0bbac",
    ],
    ids=["records", "samples", "another value in another layout", "trailers"],
)
def test_what_is_no_setting(text: str) -> None:
    assert asked(*listing(text), kind="setting") == {}
    assert asked(*listing("batch_size: 64"), kind="setting") == {"batch_size": ("64",)}


@pytest.mark.parametrize(
    "text",
    [
        'writeFile(t, repo, "src/use.ts", "x")', "go.mod\n../cli/go.mod\nlib/main.go",
        "dependabot.yml/pnpm-lock.yaml/pnpm-workspace.yaml", "/abs/path/app.py", "./dynamic-border.js", "/tmp/a/out.txt",
        "/opt/go/1.24.13", "../entire.io/a.txt\n../entire.io", "src/a.py\nlib/a.py",
    ],
)  # fmt: skip
def test_what_is_no_path_that_anybody_knows(text: str) -> None:
    found = asked(*listing(text), kind="path")
    assert set(found) <= {"main.go", "a.txt"}


def test_paths() -> None:
    assert made("path")["What is the path of the file `export.py`, with its folders?"] == ("src/shop/export.py",)
    found = asked(*listing("/home/mira/shop/src/export.py:12: x"), kind="path", folders=("/home/mira/shop",))
    assert found == {"export.py": ("/home/mira/shop/src/export.py", "src/export.py", "~/shop/src/export.py")}


def test_facts_in_their_last_state() -> None:
    assert made("fact") == {
        "What is the staging port?": ("8443",), "What is the release date?": ("2026-12-11",),
    }  # fmt: skip


def test_what_is_said_of_a_thing_is_not_what_it_is() -> None:
    assert asked(("user", "The comment for the lines is misleading."), kind="fact") == {}


def test_reasons_and_boundaries_are_judged() -> None:
    [reason] = items_from(session(), WEIGH, ("decision",), 20)
    assert reason.answers == ("the warehouse is slow in the morning.",)
    assert "I chose a queue over a cron job" in reason.question
    assert "warehouse" not in reason.question
    [boundary] = items_from(session(), WEIGH, ("constraint",), 20)
    assert "legacy/billing.py" in boundary.question
    assert boundary.answers[0].startswith("Never touch")
    assert reason.grading == boundary.grading == "judged"


def test_so_many_of_each_kind() -> None:
    items = items_from(session(), WEIGH, KINDS, 3)
    assert len(items) == 3
    assert {item.id.partition("-")[0] for item in items} == {"setting", "path", "fact"}
    assert items_from(chat(("user", "Hello.")), WEIGH, KINDS, 20) == []


@needs_shared
@pytest.mark.parametrize(
    "file", [one for one in shared_files(*CORE) if one.stat().st_size < 400_000][::4] or [ABSENT], ids=name_of
)
def test_items_of_real_transcripts_can_be_asked(file) -> None:
    for transcript in read(file)[:1]:
        items = items_from(transcript, WEIGH, KINDS, 12)
        assert len({item.id for item in items}) == len(items) <= 12
        for item in items:
            assert item.span
            assert not any(stands(normal(item.question), one) for one in item.answers)
            assert item.grading == "judged" or any(stands(normal(item.span), one) for one in item.answers)
