"""`ctx compact` as a user runs it: what is written, what is not, and what is said about it."""

import gzip
import json
import shutil
import sys
from pathlib import Path

import pytest

from ctxcli.contract import problems
from ctxcli.files.streams import opened
from support import FIXTURES, ctx, read

SEARCH = FIXTURES / "compaction" / "search-index.json"
INVOICES = FIXTURES / "compaction" / "invoices.json"
TWO = FIXTURES / "compaction" / "two.jsonl"


def rows_of(path: Path) -> list[dict[str, object]]:
    return json.loads(path.read_text("utf-8"))["messages"]  # type: ignore[no-any-return]


def test_it_says_what_became_of_what_and_writes_the_same_format(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = ctx("compact", INVOICES, "-o", out, "--target", "60%", "--tokenizer", "heuristic")
    said = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert "COMPACTED:" in said
    assert "guard: pass" in said
    assert "valid for anthropic: yes" in said
    assert "left out: the result of zz9 has no call before it" in said
    before, after = rows_of(INVOICES), rows_of(out)
    assert [row["role"] for row in after] == [row["role"] for row in before]
    assert [number for number, row in enumerate(after) if row != before[number]] == [2, 4]
    assert after[2]["content"][0]["content"] == "[cleared by ctx: an old result; again with: tail -60 log/export.log]"  # type: ignore[index]
    assert [block["tool_use_id"] for block in after[4]["content"]] == ["a3"]  # type: ignore[attr-defined]
    assert ctx("check", out, "--no-habits").returncode == 0
    assert ctx("guard", INVOICES, out).returncode == 0


def test_the_transcript_goes_down_a_pipe_and_all_talk_to_standard_error() -> None:
    done = ctx("compact", "-", stdin=SEARCH.read_bytes())
    assert done.returncode == 0
    assert json.loads(done.stdout)["messages"][1] == rows_of(SEARCH)[1]
    assert done.stderr.startswith(b"ctx: -: ")
    assert b" tokens became " in done.stderr
    again = ctx("compact", "-", stdin=SEARCH.read_bytes())
    assert again.stdout == done.stdout


def test_a_compressed_input_is_read_as_it_is(tmp_path: Path) -> None:
    packed, out = tmp_path / "in.json.gz", tmp_path / "out.json"
    packed.write_bytes(gzip.compress(SEARCH.read_bytes()))
    assert ctx("compact", packed, "-o", out).returncode == 0
    assert out.read_bytes() == ctx("compact", SEARCH).stdout


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_an_output_that_is_called_compressed_is_compressed(ending: str, tmp_path: Path) -> None:
    plain = ctx("compact", SEARCH).stdout
    packed = [tmp_path / f"{name}.json{ending}" for name in "ab"]
    for out in packed:
        assert ctx("compact", SEARCH, "-o", out).returncode == 0
    assert packed[0].read_bytes() == packed[1].read_bytes() != plain
    with opened(str(packed[0])) as stream:
        assert stream.read() == plain


def test_many_conversations_are_a_row_each(tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    rows = rows_of(SEARCH)
    each = (
        {
            "id": f"shop-{number}",
            "messages": [*rows[:1], {**rows[1], "content": f"{number}: {rows[1]['content']}"}, *rows[2:]],
        }
        for number in range(1, 6)
    )
    many.write_text("\n".join(map(json.dumps, each)), "utf-8")
    lines = ctx("compact", many, "--dry-run").stdout.decode().splitlines()
    assert lines[0].endswith("openai-chat · 5 conversations")
    found = [line.split() for line in lines if line.startswith("shop-")]
    assert [row[:2] for row in found] == [[f"shop-{number}", "compacted"] for number in range(1, 6)]
    assert {tuple(row[-2:]) for row in found} == {("pass", "yes")}


def test_a_dry_run_writes_nothing_and_its_report_keeps_to_its_schema(tmp_path: Path) -> None:
    notes, events = tmp_path / "notes.jsonl", tmp_path / "events.jsonl"
    done = ctx("compact", SEARCH, "--dry-run", "--json", "--notes", notes, "--events", events, "--target", "10%")
    report = json.loads(done.stdout)
    assert not problems("compact", report)
    assert report["ok"]
    assert report["tokens_after"] < report["tokens_before"]
    assert report["messages_before"] == len(rows_of(SEARCH))
    assert report["output"] is None
    assert not list(tmp_path.iterdir())


def test_each_pass_is_a_line_of_the_events(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    for number in (1, 2):
        assert ctx("compact", SEARCH, "-o", tmp_path / "out.json", "--events", events).returncode == 0
        lines = events.read_text("utf-8").splitlines()
        assert len(lines) == number
        assert not problems("compact", json.loads(lines[-1]))
    assert json.loads(lines[0])["source"] == json.loads(lines[1])["source"]


# -- what is refused


def test_what_the_guard_refuses_is_not_written_unless_it_is_switched_off(tmp_path: Path) -> None:
    """openclaw#103931: the failing summary was accepted in silence; zeph#2058: "compacted" was printed over it."""
    out = tmp_path / "out.json"
    lossy = ("compact", SEARCH, "-o", out, "--strategy", "drop-oldest", "--target", "10%")
    done = ctx(*lossy)
    assert done.returncode == 1
    assert b"FAILED:" in done.stdout
    assert b"COMPACTED" not in done.stdout
    assert b"CTX303: the guard fails" in done.stdout
    assert b"src/search/schema.sql" in done.stdout
    assert not list(tmp_path.iterdir())
    assert ctx(*lossy, "--no-guard").returncode == 0
    assert len(rows_of(out)) < len(rows_of(SEARCH))


def test_to_a_pipe_nothing_comes_where_the_guard_fails() -> None:
    """openclaw#141211: what was audited was not what was stored; openclaw#41100: no reason was given."""
    done = ctx("compact", SEARCH, "--strategy", "drop-oldest", "--target", "10%")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"CTX303" in done.stderr


def test_a_budget_that_is_too_small_is_said_and_leaves_no_file(tmp_path: Path) -> None:
    done = ctx("compact", SEARCH, "-o", tmp_path / "out.json", "--budget", "100")
    assert done.returncode == 1
    assert b"CTX301: the result weighs" in done.stdout
    assert b"the budget is 100" in done.stdout
    assert not list(tmp_path.iterdir())


def test_below_the_trigger_nothing_is_done_and_that_is_said(tmp_path: Path) -> None:
    out, notes = tmp_path / "out.json", tmp_path / "notes.jsonl"
    done = ctx("compact", SEARCH, "-o", out, "--notes", notes, "--trigger", "75%", "--max-context", "200k")
    assert done.returncode == 0
    assert b"UNCHANGED" in done.stdout
    assert b"are in use, the trigger is at" in done.stdout
    assert not list(tmp_path.iterdir())
    assert ctx("compact", SEARCH, "-o", out, "--trigger", "1k").returncode == 0
    assert out.exists()


def test_nothing_is_written_over_an_input(tmp_path: Path) -> None:
    source, linked = tmp_path / "in.json", tmp_path / "linked.json"
    shutil.copy(SEARCH, source)
    linked.hardlink_to(source)
    for target in (source, linked):
        done = ctx("compact", source, "-o", target)
        assert done.returncode == 2
        assert b"ctx writes over no input" in done.stderr
    assert source.read_bytes() == SEARCH.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((SEARCH, "--json"), b"add -o FILE or --dry-run"),
        ((SEARCH, "--dry-run", "-o", "x.json"), b"-o has no use"),
        ((SEARCH, "--summary", "a", "--summariser", "b"), b"exclude each other"),
        ((SEARCH, "--pin", "("), b"is no regular expression"),
        ((SEARCH, "--strategy", "shrink"), b"is no strategy"),
        ((SEARCH, "--conversation", "9"), b"no conversation is called"),
        (("none.json",), b"none.json"),
    ],
)
def test_bad_use_is_told_and_ends_with_2(arguments: tuple[object, ...], said: bytes) -> None:
    done = ctx("compact", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr


# -- several conversations, other formats


def test_each_conversation_of_a_file_is_compacted_and_stays_where_it_is(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert ctx("compact", TWO, "-o", out, "--target", "50%").returncode == 0
    (notes, codes), before = out.read_bytes().splitlines(), TWO.read_bytes().splitlines()
    assert codes == before[1]
    assert json.loads(notes)["id"] == "notes"
    assert b"Never translate the names of commands." in notes
    assert len(notes) < len(before[0])


@pytest.mark.parametrize("which", ["codes", "2"])
def test_a_conversation_that_was_not_chosen_stays_byte_for_byte(tmp_path: Path, which: str) -> None:
    out = tmp_path / "out.jsonl"
    done = ctx("compact", TWO, "-o", out, "--conversation", which, "--target", "1", "--strategy", "drop-oldest")
    assert done.returncode == 0
    assert out.read_bytes().splitlines()[0] == TWO.read_bytes().splitlines()[0]


def test_in_another_format_what_cannot_go_along_is_told(tmp_path: Path) -> None:
    """forgecode PR 1196 and 2357, opencode PR 25194: thinking of one provider went to another."""
    out = tmp_path / "out.json"
    done = ctx("compact", INVOICES, "-o", out, "--output-format", "openai-chat", "--target", "60%")
    assert done.returncode == 0, done.stdout
    assert b"hinking" in done.stdout
    (after,) = read(out)
    assert after.format == "openai-chat"
    assert "Logs first" not in out.read_text("utf-8")
    assert ctx("check", out).returncode == 0


def test_the_settings_of_a_pass_reach_it(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    arguments = ("compact", SEARCH, "-o", out, "--strategy", "clear-tool-results", "--target", "1%")
    for more, cleared in (
        ((), 5),
        (("--keep-results", "0"), 6),
        (("--exclude-tool", "shell", "--keep-results", "0"), 3),
        (("--clear-at-least", "100k"), 0),
        (("--keep-results", "0", "--pin", "indexed batch 000"), 5),
    ):
        assert ctx(*arguments, *more).returncode == 0
        assert out.read_text("utf-8").count("[cleared by ctx") == cleared, more


def test_a_second_pass_over_its_own_output_changes_nothing(tmp_path: Path) -> None:
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    report = json.loads(ctx("compact", SEARCH, "-o", first, "--json", "--target", "20%").stdout)
    assert report["tokens_after"] <= report["target"]
    done = ctx("compact", first, "-o", second, "--target", str(report["target"]))
    assert b"within the target as it is" in done.stdout
    assert second.read_bytes() == first.read_bytes()


# -- notes


def test_notes_are_appended_named_in_the_context_and_whole(tmp_path: Path) -> None:
    notes, out = tmp_path / "notes.jsonl", tmp_path / "out.json"
    done = ctx("compact", SEARCH, "-o", out, "--notes", notes, "--strategy", "rolling", "--target", "10%")
    assert done.returncode == 0, done.stdout
    assert f"ctx notes show {notes}" in out.read_text("utf-8").replace("\\\\", "\\")
    held = notes.read_bytes()
    assert b"do not cache answers" in held
    assert ctx("notes", "verify", notes).returncode == 0
    assert (
        ctx("compact", SEARCH, "-o", out, "--notes", notes, "--strategy", "rolling", "--target", "10%").returncode == 0
    )
    assert notes.read_bytes() == held


def test_what_is_no_notes_file_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "diary.txt"
    other.write_text("Dear diary\n")
    done = ctx("compact", SEARCH, "-o", tmp_path / "out.json", "--notes", other)
    assert done.returncode == 2
    assert other.read_text() == "Dear diary\n"
    assert not (tmp_path / "out.json").exists()


def test_the_program_can_be_named_by_its_module() -> None:
    assert sys.executable
    assert b"--summariser" in ctx("compact", "--help").stdout


def test_what_was_asked_for_and_changed_nothing_is_said() -> None:
    answer = FIXTURES / "compaction" / "answer.md"
    done = ctx(
        "compact", SEARCH, "--dry-run", "--json", "--pin", "no such words", "--pin", "do not cache",
        "--exclude-tool", "nosuch", "--summary", answer,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["remarks"] == [
        "--pin 'no such words' names no message of the context.",
        "--exclude-tool 'nosuch': no result of the context is of this tool.",
        "--summary was not used: no summary was needed.",
    ]
