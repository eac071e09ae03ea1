"""Compactors of other makes that go wrong: each is told in its name, and nothing of it stays at work."""

import os
import select
import sys
from pathlib import Path

import pytest

from ctxcli.bench.outside import Outside, OutsideError, run_outside
from ctxcli.model import Message, Part, PartKind, Role, Transcript

MESSAGES = (Message(Role.USER, (Part(PartKind.TEXT, "Find the leak.", line=1),), line=1),)
GIVEN = Transcript("openai-chat", messages=MESSAGES)


def failure(command: str, timeout: int = 60) -> str:
    with pytest.raises(OutsideError) as caught:
        run_outside(Outside("mine", command, timeout=timeout), GIVEN, MESSAGES, 99)
    return str(caught.value)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os,sys;os.mkdir(sys.argv[2])", "mine: its result: is a folder"),
        ("import os,sys;os.symlink(sys.argv[2],sys.argv[2])", "mine: wrote nothing"),
        ("import os,sys;os.remove(sys.argv[1])", "mine: wrote nothing"),
        ("import sys;open(sys.argv[1],'w').write('mine')", "mine: wrote nothing"),
    ],
)
def test_a_result_that_is_none_is_told(code: str, why: str) -> None:
    assert failure(f'"{sys.executable}" -c "{code}" {{in}} {{out}}') == why


def test_a_command_that_removes_its_folder_is_told() -> None:
    code = "import os,shutil,sys;shutil.rmtree(os.path.dirname(sys.argv[1]));print('gone')"
    assert failure(f'"{sys.executable}" -c "{code}" {{in}}').startswith("mine: its result: cannot be read: ")


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes and sessions are not those of POSIX")
def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        said = failure(f"exec 3> '{pipe}'; sleep 1000 & wait # {{in}}", timeout=1)
        assert said == "mine: gave nothing within 1 second"
        select.select([reader], [], [], 60)  # until the last one that holds the pipe is gone
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)
