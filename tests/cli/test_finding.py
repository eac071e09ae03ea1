"""`ctx audit` without a file: what agents have left on this machine, the newest of this project first."""

import json
import os
from pathlib import Path

import pytest

from support import FIXTURES, ctx

CLAUDE, CODEX, PI = FIXTURES / "claude-code" / "session.jsonl", FIXTURES / "codex" / "session.jsonl", FIXTURES / "pi"
GEMINI = FIXTURES / "gemini"
NO_OVERRIDES = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "PI_CODING_AGENT_DIR", "OMP_CODING_AGENT_DIR", "QWEN_HOME", "OPENCLAW_STATE_DIR", "COPILOT_HOME", "GOOSE_PATH_ROOT", "CLINE_DATA_DIR", "OPENHANDS_PERSISTENCE_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), "")  # fmt: skip


class Machine:
    """A home folder, and a project in it."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "shop"
        (self.project / ".git").mkdir(parents=True)

    def put(self, where: str, content: bytes, minutes_ago: int) -> Path:
        file = self.home / where
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        at = 1_800_000_000 - 60 * minutes_ago
        os.utime(file, (at, at))
        return file

    def audit(self, *arguments: object, cwd: Path | None = None, **env: str):
        return ctx("audit", *arguments, cwd=cwd or self.project, **{**NO_OVERRIDES, "HOME": str(self.home), **env})

    def rows(self, *arguments: object, **more: object) -> list[dict[str, object]]:
        return json.loads(self.audit("--json", *arguments, **more).stdout)  # type: ignore[no-any-return, arg-type]

    @property
    def claude_folder(self) -> str:
        return ".claude/projects/" + "".join(
            one if one.isalnum() and one.isascii() else "-" for one in str(self.project)
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def codex_session(folder: Path) -> bytes:
    lines = [json.loads(line) for line in CODEX.read_bytes().splitlines()]
    lines[0]["payload"]["cwd"] = str(folder)
    return "\n".join(map(json.dumps, lines)).encode()


def test_those_of_this_project_come_first_and_the_newest_first(machine: Machine) -> None:
    elsewhere = machine.put(".claude/projects/-home-other/a.jsonl", CLAUDE.read_bytes(), 1)
    mine = machine.put(f"{machine.claude_folder}/b.jsonl", CLAUDE.read_bytes(), 30)
    codex = machine.put(".codex/sessions/2026/04/01/rollout-1.jsonl", codex_session(machine.project), 20)
    rows = machine.rows()
    assert [(row["path"], row["this_project"]) for row in rows] == [
        (str(codex), True),
        (str(mine), True),
        (str(elsewhere), False),
    ]
    assert [row["agent"] for row in rows] == ["codex", "claude-code", "claude-code"]
    shown = machine.audit().stdout.decode()
    assert shown.startswith("Transcripts of this project")
    assert str(elsewhere) not in shown
    assert "1 more" in shown


def test_a_folder_inside_the_repository_is_the_same_project(machine: Machine) -> None:
    mine = machine.put(f"{machine.claude_folder}/b.jsonl", CLAUDE.read_bytes(), 30)
    inside = machine.project / "src" / "deep"
    inside.mkdir(parents=True)
    assert [(row["path"], row["this_project"]) for row in machine.rows(cwd=inside)] == [(str(mine), True)]


def test_latest_audits_the_newest_of_this_project(machine: Machine) -> None:
    machine.put(".claude/projects/-home-other/a.jsonl", CLAUDE.read_bytes(), 1)
    mine = machine.put(f"{machine.claude_folder}/b.jsonl", CLAUDE.read_bytes(), 30)
    done = machine.audit("--latest", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["source"]["path"] == str(mine)
    assert f"the newest transcript of claude-code, 2027-01-15 07:30 UTC: {mine}" in done.stderr.decode()


def test_latest_of_another_project_says_so(machine: Machine) -> None:
    machine.put(".claude/projects/-home-other/a.jsonl", CLAUDE.read_bytes(), 1)
    assert b"none is of this project" in machine.audit("--latest").stderr


def test_agent_and_since_narrow_it_down(machine: Machine) -> None:
    machine.put(f"{machine.claude_folder}/b.jsonl", CLAUDE.read_bytes(), 60 * 48)
    pi = machine.put(".pi/agent/sessions/--x--/c.jsonl", next(PI.glob("*.jsonl")).read_bytes(), 10)
    assert [row["path"] for row in machine.rows("--agent", "pi")] == [str(pi)]
    assert [row["path"] for row in machine.rows("--since", "2027-01-14")] == [str(pi)]
    assert machine.audit("--since", "yesterday").returncode == 2
    assert machine.audit("--agent", "clippy").returncode == 2


@pytest.mark.parametrize(
    ("agent", "variable", "where"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "projects/-x/a.jsonl"), ("codex", "CODEX_HOME", "sessions/2026/01/01/rollout-a.jsonl"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/tmp/x/chats/session-a.json"), ("pi", "PI_CODING_AGENT_DIR", "sessions/--x--/a.jsonl"),
        ("qwen", "QWEN_HOME", "projects/-x/chats/a.jsonl"), ("opencode", "XDG_DATA_HOME", "opencode/opencode.db"),
        ("copilot-cli", "COPILOT_HOME", "session-state/u/events.jsonl"), ("goose", "GOOSE_PATH_ROOT", "data/sessions/a.jsonl"),
        ("amp", "XDG_DATA_HOME", "amp/threads/T-1.json"),
    ],
)  # fmt: skip
def test_an_override_moves_the_place(machine: Machine, agent: str, variable: str, where: str) -> None:
    file = machine.put(f"moved/{where}", b"{}", 5)
    (row,) = machine.rows(**{variable: str(machine.home / "moved")})
    assert (row["agent"], row["path"]) == (agent, str(file))
    assert not machine.rows()


def test_aiders_history_stands_in_the_project(machine: Machine) -> None:
    file = machine.put("shop/.aider.chat.history.md", b"# aider chat started at 2026-01-01 10:00:00\n", 5)
    assert [(row["agent"], row["path"], row["this_project"]) for row in machine.rows()] == [("aider", str(file), True)]


def test_gemini_names_its_folder_by_the_hash_of_the_project(machine: Machine) -> None:
    import hashlib

    folder = hashlib.sha256(str(machine.project).encode()).hexdigest()
    machine.put(f".gemini/tmp/{folder}/chats/session-1.json", b"{}", 5)
    machine.put(".gemini/tmp/shop/chats/session-2.json", b"{}", 6)
    machine.put(".gemini/tmp/other/chats/session-3.json", b"{}", 7)
    assert [row["this_project"] for row in machine.rows()] == [True, True, False]


def test_where_there_is_nothing_it_says_so(machine: Machine) -> None:
    for arguments in ((), ("--latest",)):
        done = machine.audit(*arguments)
        assert done.returncode == 2
        assert b"no transcript of an agent was found on this machine" in done.stderr
    assert machine.rows() == []


def test_a_file_and_a_choice_exclude_each_other(machine: Machine) -> None:
    assert machine.audit(CLAUDE, "--latest").returncode == 2


def test_nothing_is_written_where_the_agents_keep_their_files(machine: Machine) -> None:
    machine.put(f"{machine.claude_folder}/b.jsonl", CLAUDE.read_bytes(), 30)
    machine.put(".codex/sessions/2026/04/01/rollout-1.jsonl", codex_session(machine.project), 20)
    before = {file: file.stat().st_mtime_ns for file in machine.home.rglob("*")}
    machine.audit()
    machine.audit("--latest")
    assert {file: file.stat().st_mtime_ns for file in machine.home.rglob("*")} == before


def test_a_limit_without_a_transcript_does_not_pass(machine: Machine) -> None:
    machine.put(f"{machine.claude_folder}/b.jsonl", CLAUDE.read_bytes(), 30)
    for arguments in (("--fail-over", "80%"), ("--strict",), ("-f", "csv"), ("-o", "x.txt")):
        done = machine.audit(*arguments)
        assert done.returncode == 2, arguments
        assert b"Name a FILE, or say --latest" in done.stderr
    assert machine.audit("--latest", "--fail-over", "99%").returncode == 0


def test_latest_passes_over_what_is_no_transcript(machine: Machine) -> None:
    machine.put(f"{machine.claude_folder}/a.jsonl", b"{}", 1)
    mine = machine.put(f"{machine.claude_folder}/b.jsonl", CLAUDE.read_bytes(), 30)
    assert json.loads(machine.audit("--latest", "--json").stdout)["source"]["path"] == str(mine)


@pytest.mark.skipif(os.name == "nt", reason="such names cannot exist there")
def test_odd_names_are_harmless_in_the_list(machine: Machine) -> None:
    machine.put(f"{machine.claude_folder}/we ird\n\x1b[31mname.jsonl", CLAUDE.read_bytes(), 1)
    assert b"\x1b" not in machine.audit().stdout
