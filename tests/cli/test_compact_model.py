"""`ctx compact` with a model behind a command, or a stored answer: a small script plays the model."""

import json
import os
import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import FIXTURES, ROOT, ctx

SEARCH = FIXTURES / "compaction" / "search-index.json"
GOOD = (FIXTURES / "compaction" / "answer.md").read_text("utf-8").replace("data/catalog.ndjson", "data/catalog.ndjson, tests/search")  # fmt: skip
LOST = GOOD.replace("src/search/schema.sql, ", "")
MIDDLE = ("--strategy", "summarise-middle", "--target", "10%")


class Model:
    """A command that gives these answers, one after the other (the last one again), and keeps what it was asked."""

    def __init__(self, folder: Path, *answers: str, ends: int = 0, before: str = "") -> None:
        self.folder = folder
        for number, answer in enumerate(answers):
            (folder / f"answer{number}").write_text(answer, "utf-8")
        script = folder / "model.py"
        script.write_text(
            "import pathlib, sys\n"
            f"folder = pathlib.Path({str(folder)!r})\n"
            "asked = len(list(folder.glob('prompt*')))\n"
            "(folder / f'prompt{asked}').write_bytes(sys.stdin.buffer.read())\n"
            f"{before}\n"
            f"answer = folder / f'answer{{min(asked, {len(answers) - 1})}}'\n"
            "sys.stdout.buffer.write(answer.read_bytes())\n"
            f"sys.exit({ends})\n",
            "utf-8",
        )
        self.command = shlex.join([sys.executable, str(script)])

    @property
    def prompts(self) -> list[str]:
        return [path.read_text("utf-8") for path in sorted(self.folder.glob("prompt*"))]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "out.json"


def run(model: Model, out: Path, *more: object) -> subprocess.CompletedProcess[bytes]:
    return ctx("compact", SEARCH, "-o", out, *MIDDLE, "--summariser", model.command, *more)


def summary_in(out: Path) -> str:
    rows = json.loads(out.read_text("utf-8"))["messages"]
    return next(row["content"] for row in rows if "[Compacted by ctx" in (row["content"] or ""))


def test_a_good_answer_stands_in_the_context(tmp_path: Path, out: Path) -> None:
    model = Model(tmp_path, GOOD)
    done = run(model, out, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["summariser"]["name"], report["summariser"]["attempts"]) == ("command", 1)
    assert "rejected: a second index | because: the second index would need a migration" in summary_in(out)
    assert "Here is the hand-over" not in summary_in(out)
    assert "do not cache answers" in model.prompts[0]
    assert "An earlier answer" not in model.prompts[0]


def test_what_an_answer_lost_is_asked_for_once_more_by_name(tmp_path: Path, out: Path) -> None:
    model = Model(tmp_path, LOST, GOOD)
    done = run(model, out, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summariser"]["attempts"] == 2
    asked = model.prompts[1].split("Each has to stand in yours as it is here:\n")[1].split("\n\n")[0]
    assert asked.splitlines() == ["- src/search/schema.sql"]
    assert "src/search/schema.sql" in summary_in(out)


def test_an_answer_that_loses_it_twice_is_refused_and_nothing_is_written(tmp_path: Path, out: Path) -> None:
    """openclaw#103931: after the retries the failing summary was accepted."""
    notes = out.parent / "notes.jsonl"
    done = run(Model(tmp_path, LOST), out, "--notes", notes)
    assert (done.returncode, done.stdout) == (1, b"")
    said = done.stderr.decode()
    assert said.startswith("ctx: the summary leaves these out, or changes them:\n  src/search/schema.sql\n")
    assert not list(out.parent.iterdir())


@pytest.mark.parametrize("answer", ["", "\n  \n", "Error: 429 rate limit exceeded", "{}"])
def test_what_is_no_summary_is_refused(tmp_path: Path, out: Path, answer: str) -> None:
    """nao#950, langchain#38867: a failed call was stored as a summary, as an empty one or with the error as its text."""
    done = run(Model(tmp_path, answer), out)
    assert done.returncode == 1
    assert b"gave an empty answer" in done.stderr or b"the section CONSTRAINTS" in done.stderr
    assert not list(out.parent.iterdir())


def test_a_command_that_fails_is_told_with_its_own_words(tmp_path: Path, out: Path) -> None:
    model = Model(tmp_path, GOOD, ends=7, before="print('no credit left', file=sys.stderr)")
    done = run(model, out)
    assert done.returncode == 1
    assert b"ended with code 7: no credit left" in done.stderr
    assert len(model.prompts) == 1
    assert not list(out.parent.iterdir())


def test_a_command_that_is_none_is_told(out: Path) -> None:
    done = ctx("compact", SEARCH, "-o", out, *MIDDLE, "--summariser", "no-such-model --fast")
    assert done.returncode == 1
    assert b"no-such-model --fast: cannot be run: No such file" in done.stderr
    assert not list(out.parent.iterdir())


@pytest.mark.parametrize(
    "around", ["```markdown\n{}\n```", "<think>## OPEN\n- a secret plan</think>\n{}", "# Hand-over\n\n{}"]
)
def test_fences_and_thoughts_around_an_answer_do_not_reach_the_context(tmp_path: Path, out: Path, around: str) -> None:
    """qwen-code#11969: tags inside the snapshot, and a snapshot that was cut with them."""
    assert run(Model(tmp_path, around.format(GOOD)), out).returncode == 0
    assert "```" not in summary_in(out)
    assert "secret plan" not in summary_in(out)
    assert "2026.11-rc2" in summary_in(out)


def test_a_path_that_nobody_named_is_refused(tmp_path: Path, out: Path) -> None:
    invented = GOOD.replace("scripts/rebuild.py", "scripts/rebuild.py, scripts/ghost.py")
    model = Model(tmp_path, invented)
    done = run(model, out)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[1:] == ["  (invented, leave it out) scripts/ghost.py"]
    assert "- (invented, leave it out) scripts/ghost.py" in model.prompts[1]


def test_instructions_are_added_and_replace_nothing(tmp_path: Path, out: Path) -> None:
    """Anthropic's `instructions` takes the place of the prompt; prime-agent PR 314 lost it on a retry."""
    model = Model(tmp_path, LOST, GOOD)
    assert run(model, out, "--instructions", "Mind the SQL.").returncode == 0
    for prompt in model.prompts:
        assert "Mind the SQL." in prompt
        assert "## CONSTRAINTS\nEvery boundary" in prompt
    assert "concise" not in model.prompts[0]


def test_a_stored_answer_is_taken_once_and_held_to_the_same(tmp_path: Path, out: Path) -> None:
    stored = tmp_path / "answer.md"
    stored.write_text(GOOD, "utf-8")
    done = ctx("compact", SEARCH, "-o", out, *MIDDLE, "--summary", stored)
    assert done.returncode == 0, done.stderr
    assert "2026.11-rc2" in summary_in(out)
    out.unlink()
    stored.write_text(LOST, "utf-8")
    done = ctx("compact", SEARCH, "-o", out, *MIDDLE, "--summary", stored)
    assert done.returncode == 1
    assert b"src/search/schema.sql" in done.stderr
    assert not list(out.parent.iterdir())
    stored.write_text("", "utf-8")
    assert ctx("compact", SEARCH, "-o", out, *MIDDLE, "--summary", stored).returncode in (1, 2)
    assert not list(out.parent.iterdir())


def test_a_model_is_not_asked_where_clearing_is_enough(tmp_path: Path, out: Path) -> None:
    """Design: the lightest touch first, so that most passes cost no call."""
    model = Model(tmp_path, GOOD)
    assert ctx("compact", SEARCH, "-o", out, "--target", "50%", "--summariser", model.command).returncode == 0
    assert model.prompts == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="wants named pipes")
def test_a_pass_that_is_killed_leaves_nothing_behind(tmp_path: Path, out: Path) -> None:
    notes, events = out.parent / "notes.jsonl", out.parent / "events.jsonl"
    assert ctx("compact", SEARCH, "-o", out, "--notes", notes, "--events", events, *MIDDLE[:2], "--target", "20%").returncode == 0  # fmt: skip
    before = {path: path.read_bytes() for path in out.parent.iterdir()}
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    reader = os.open(ready, os.O_RDONLY | os.O_NONBLOCK)
    blocks = (
        f"import os, signal\nwith open({str(ready)!r}, 'w') as pipe:\n    pipe.write(str(os.getpid()))\nsignal.pause()"
    )
    model = Model(tmp_path, GOOD, before=blocks)
    running = subprocess.Popen(
        [sys.executable, "-m", "ctxcli", "compact", str(SEARCH), "-o", str(out), *MIDDLE, "--notes", str(notes), "--events", str(events), "--summariser", model.command],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert select.select([reader], [], [], 100)[0], "the model was never asked"
        running.kill()
        running.wait()
        os.kill(int(os.read(reader, 20)), signal.SIGKILL)
    finally:
        running.kill()
        os.close(reader)
    assert {path: path.read_bytes() for path in out.parent.iterdir()} == before
    assert ctx("notes", "verify", notes).returncode == 0
