"""`ctx audit` in a real subprocess: what a user, a pipe and a CI step see."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import FIXTURES, ROOT, ctx, formats_of

SESSION = FIXTURES / "claude-code" / "session.jsonl"
CHAT = FIXTURES / "openai-chat" / "messages.jsonl"
MANY = FIXTURES / "openai-chat" / "conversations.jsonl"
TORN = FIXTURES / "claude-code" / "torn.jsonl"


def test_standard_input_is_read() -> None:
    result = ctx("audit", "-", "--json", stdin=SESSION.read_bytes())
    assert result.returncode == 0
    document = json.loads(result.stdout)
    assert (document["source"]["path"], document["counts"]["calls"]) == ("-", 15)


def test_several_files_are_an_array_or_a_line_each() -> None:
    documents = json.loads(ctx("audit", SESSION, CHAT, "--json").stdout)
    assert [document["source"]["format"] for document in documents] == ["claude-code", "openai-chat"]
    lines = ctx("audit", SESSION, CHAT, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["ctx.audit", "ctx.audit"]


def test_a_single_conversation_as_json_lines_is_its_calls() -> None:
    lines = ctx("audit", SESSION, "-f", "jsonl").stdout.splitlines()
    assert [json.loads(line)["call"]["n"] for line in lines] == list(range(1, 16))


def test_a_folder_is_searched_and_what_is_no_transcript_is_passed_over(tmp_path: Path) -> None:
    shutil.copy(CHAT, tmp_path / "a.jsonl")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    result = ctx("audit", tmp_path, "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["counts"]["calls"] == 2
    assert b"passed over, no transcript that ctx reads" in result.stderr


def test_a_folder_without_a_transcript_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "x"}')
    result = ctx("audit", tmp_path)
    assert result.returncode == 2
    assert b"none of these files is a transcript" in result.stderr


def test_sub_agent_files_of_a_folder_are_read_once() -> None:
    result = ctx(
        "audit", FIXTURES / "claude-code" / "with-agents.jsonl", FIXTURES / "claude-code" / "with-agents", "--json"
    )
    assert json.loads(result.stdout)["counts"]["calls"] == 4


@pytest.mark.parametrize("format_", formats_of("audit"))
@pytest.mark.parametrize(
    ("flags", "code"),
    [([], 0), (["--max-growth", "1k"], 1), (["--max-growth", "1k", "--exit-zero"], 0), (["--fail-over", "10%"], 1)],
    ids=str,
)
def test_the_exit_code_is_the_same_in_every_format(format_: str, flags: list[str], code: int) -> None:
    assert ctx("audit", SESSION, "--format", format_, *flags).returncode == code


def test_a_limit_that_cannot_be_checked_is_no_pass() -> None:
    result = ctx("audit", CHAT, "--fail-over", "80%")
    assert result.returncode == 3
    assert b"--fail-over: not checked, the window is not known" in result.stdout
    assert ctx("audit", CHAT, SESSION, "--fail-over", "10%").returncode == 1


@pytest.mark.parametrize("format_", formats_of("audit"))
def test_one_conversation_of_many_is_shown_in_full_in_every_format(format_: str) -> None:
    result = ctx("audit", MANY, "--conversation", "2", "-f", format_)
    assert result.returncode == 0
    assert result.stdout


def test_shares_over_the_whole_and_a_reserve_over_the_window_are_errors() -> None:
    result = ctx("audit", SESSION, "--share", "history=60%", "--share", "retrieved=60%")
    assert (result.returncode, b"come to 120%" in result.stderr) == (2, True)
    result = ctx("audit", SESSION, "--reserve-output", "300k")
    assert (result.returncode, b"leaves nothing of a window of 200,000" in result.stderr) == (2, True)


def test_a_failed_limit_says_which_calls() -> None:
    result = ctx("audit", SESSION, "--max-growth", "1k")
    assert b"FAILED  --max-growth: 2 calls over 1,000 tokens (call 8, 12)" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no-such-file"], "no-such-file: no such file or folder"),
        (["--max-context", "0"], "is less than 1"),
        (["--max-context", "lots"], "is no number of tokens; write 200000, 200k or 1M"),
        (["--fail-over", "80"], "is not between 0 and 100 %; write 80% or 0.8"),
        (["--fail-over", "0%"], "is not between 0 and 100 %"),
        (["--share", "misc=10%"], "is no layer; there are system, tools, history, retrieved, summary"),
        (["--tokenizer", "nonsense"], "no encoding is called 'nonsense'"),
        (["--conversation", "9"], "no conversation is called '9'"),
        (["--strict"], ": line 2: 2 values on one line: all read (--strict)"),
        (["--config", "no-such.toml"], "no-such.toml: no such settings file"),
        (["-o", "no-such-folder/x"], "no-such-folder/x: cannot be written"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_said_with_code_2_and_no_traceback(arguments: list[str], says: str) -> None:
    result = ctx("audit", TORN, *arguments)
    assert result.returncode == 2
    assert says in result.stderr.decode()
    assert b"Traceback" not in result.stderr


def test_one_bad_file_does_not_hide_the_others() -> None:
    result = ctx("audit", ROOT / "LICENSE", CHAT, "--json")
    assert result.returncode == 2
    assert json.loads(result.stdout)["source"]["format"] == "openai-chat"
    assert b"LICENSE: holds no JSON object" in result.stderr


def test_no_arguments_list_what_there_is_on_this_machine(tmp_path: Path) -> None:
    result = ctx("audit", HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path), cwd=tmp_path)
    assert result.returncode == 2
    assert b"no transcript of an agent was found on this machine" in result.stderr


def test_a_reader_that_leaves_early_ends_it_quietly() -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "ctxcli", "audit", str(MANY), "--format", "jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    assert program.stdout is not None
    assert program.stderr is not None
    with program:
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 0


def test_no_colour_away_from_a_terminal_and_colour_when_forced() -> None:
    assert b"\x1b" not in ctx("audit", SESSION).stdout
    assert b"\x1b" in ctx("audit", SESSION, FORCE_COLOR="1").stdout
    assert b"\x1b" not in ctx("audit", SESSION, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_columns_sets_the_width_and_a_pipe_is_not_cut() -> None:
    assert max(map(len, ctx("audit", SESSION, COLUMNS="60").stdout.decode().splitlines())) <= 60
    assert "…" not in ctx("audit", SESSION).stdout.decode()


def test_a_terminal_without_utf_8_gets_ascii() -> None:
    assert ctx("audit", SESSION, PYTHONIOENCODING="ascii").stdout.isascii()


def test_output_is_written_whole_and_never_over_an_input(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    assert ctx("audit", SESSION, "--json", "-o", target).returncode == 0
    assert json.loads(target.read_text())["kind"] == "ctx.audit"
    copy = tmp_path / "copy.jsonl"
    shutil.copy(SESSION, copy)
    result = ctx("audit", copy, "-o", copy)
    assert result.returncode == 2
    assert b"writes over no input" in result.stderr
    assert copy.read_bytes() == SESSION.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.jsonl", "report.json"]


def test_one_of_many_conversations_by_id_or_number() -> None:
    by_number = json.loads(ctx("audit", MANY, "--conversation", "2", "--json").stdout)
    assert by_number["source"]["conversation"] == "2"
    other = ctx(
        "audit", FIXTURES / "claude-code" / "resumed-and-another.jsonl", "--conversation", "0the-0001", "--json"
    )
    assert json.loads(other.stdout)["counts"]["calls"] == 1


def test_a_copy_of_a_session_counts_once_over_a_run(tmp_path: Path) -> None:
    shutil.copy(SESSION, tmp_path / "fork.jsonl")
    first, second = json.loads(ctx("audit", SESSION, tmp_path / "fork.jsonl", "--json").stdout)
    assert (first["counts"]["shared_calls"], second["counts"]["shared_calls"]) == (0, 15)
    assert second["totals"]["shared"] == second["totals"]["sent"]
    assert b"15 calls held twice counted once" in ctx("audit", SESSION, tmp_path / "fork.jsonl").stdout


def test_two_runs_give_the_same_bytes_with_and_without_the_cache(tmp_path: Path) -> None:
    runs = [ctx("audit", SESSION, "--json", CTX_CACHE_DIR=str(tmp_path)).stdout for _ in range(2)]
    runs.append(ctx("audit", SESSION, "--json", "--no-cache").stdout)
    assert runs[0] == runs[1] == runs[2]


def test_settings_come_from_the_nearest_file_and_flags_outweigh_them(tmp_path: Path) -> None:
    (tmp_path / "ctx.toml").write_text('max-context = "50k"\nshare = { history = "50%" }\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    window = json.loads(ctx("audit", SESSION, "--json", cwd=inner).stdout)["window"]
    assert (window["max_context"], window["origin"]) == (50_000, "config")
    window = json.loads(ctx("audit", SESSION, "--json", "--max-context", "60k", cwd=inner).stdout)["window"]
    assert (window["max_context"], window["origin"]) == (60_000, "flag")
    window = json.loads(ctx("audit", SESSION, "--json", cwd=inner, CTX_AUDIT_MAX_CONTEXT="70k").stdout)["window"]
    assert window["max_context"] == 70_000
    result = ctx("config", cwd=inner)
    assert b"max-context              50000                    settings file" in result.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("max-contxt = 5", "'max-contxt' is no setting"),
        ("[", "is not valid TOML"),
        ("share = 5", "share is a table"),
        ('max-context = "x"', "is no number of tokens"),
    ],
)
def test_a_wrong_settings_file_is_an_error(content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "ctx.toml").write_text(content)
    result = ctx("audit", SESSION, cwd=tmp_path)
    assert result.returncode == 2
    assert says in result.stderr.decode()


def test_nothing_is_written_beside_an_input(tmp_path: Path) -> None:
    shutil.copy(SESSION, tmp_path / "s.jsonl")
    ctx("audit", tmp_path / "s.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["s.jsonl"]


def test_a_fault_of_ctx_is_no_traceback() -> None:
    code = "import ctxcli.cli.main as m, ctxcli.cli.audit as a\ndef boom(*_): raise RuntimeError('x')\na._settings = boom\nm.main(['audit', 'README.md'])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=False)
    assert result.returncode == 2
    assert b"internal error: RuntimeError: x" in result.stderr
    assert b"Traceback" not in result.stderr


def test_the_files_that_were_read_are_never_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    shutil.copytree(FIXTURES / "claude-code" / "with-agents", folder / "with-agents")
    shutil.copy(FIXTURES / "claude-code" / "with-agents.jsonl", folder)
    main, agent = folder / "with-agents.jsonl", folder / "with-agents" / "subagents" / "agent-ag01.jsonl"
    settings = tmp_path / "my.toml"
    settings.write_text("strict = false\n")
    for target, source, extra in ((main, folder, []), (agent, main, []), (settings, main, ["--config", settings])):
        before = target.read_bytes()
        result = ctx("audit", source, "-o", target, *extra)
        assert (result.returncode, target.read_bytes()) == (2, before)
    with main.open("rb") as stream:
        result = subprocess.run(
            [sys.executable, "-m", "ctxcli", "audit", "-", "-o", str(main)],
            stdin=stream,
            capture_output=True,
            cwd=ROOT,
            check=False,
        )
    assert (result.returncode, b"writes over no input" in result.stderr) == (2, True)


def test_a_run_that_gave_nothing_leaves_the_old_report(tmp_path: Path) -> None:
    old, empty = tmp_path / "old.txt", tmp_path / "empty.jsonl"
    old.write_text("precious")
    empty.write_text("")
    for flags in ([], ["--json"]):
        assert ctx("audit", empty, "-o", old, *flags).returncode == 2
        assert old.read_text() == "precious"


def test_output_keeps_permissions_and_follows_links(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("")
    real.chmod(0o640)
    link.symlink_to(real)
    assert ctx("audit", CHAT, "-o", link).returncode == 0
    assert link.is_symlink()
    assert real.read_text().startswith(str(CHAT))
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_missing_file_does_not_hide_the_others() -> None:
    result = ctx("audit", "missing.jsonl", CHAT, "--json")
    assert (result.returncode, json.loads(result.stdout)["counts"]["calls"]) == (2, 2)


def test_standard_input_given_twice_is_read_once() -> None:
    result = ctx("audit", "-", "-", "--json", stdin=CHAT.read_bytes())
    assert (result.returncode, json.loads(result.stdout)["counts"]["calls"]) == (0, 2)


@pytest.mark.parametrize("redirect", [">/dev/full", ">&-", "- <&-"])
def test_streams_that_are_closed_or_full_are_no_fault_of_ctx(redirect: str) -> None:
    source = "" if redirect.startswith("-") else str(CHAT)
    line = f'"{sys.executable}" -m ctxcli audit {source} {redirect}'
    result = subprocess.run(["bash", "-c", line], capture_output=True, cwd=ROOT, check=False)
    assert result.returncode == 2
    assert b"internal error" not in result.stderr


def test_control_codes_of_a_file_never_reach_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "a\x1b[31m.json"
    file.write_text('{"\\u001b]0;x\\u0007": 1}')
    result = ctx("audit", file)
    assert (result.returncode, b"\x1b" in result.stderr) == (2, False)


def test_conversations_that_say_nothing_are_drawn(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"messages":[{"role":"user","content":""},{"role":"assistant","content":""}]}')
    for format_ in formats_of("audit"):
        assert ctx("audit", file, "-f", format_).returncode == 0


def test_a_figure_too_large_for_json_is_refused() -> None:
    assert b"more than a million million" in ctx("audit", CHAT, "--max-context", "9" * 30).stderr
