"""A compactor of another make: a command that reads a transcript and writes one, or a summary."""

import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ctxcli.errors import CtxError, UnknownFormatError
from ctxcli.files import load
from ctxcli.files.text import read_text
from ctxcli.formats import conversation_of, convert
from ctxcli.model import Message, Transcript

IN, OUT, BUDGET = "{in}", "{out}", "{budget}"
_SHOWN = 300
"""Characters of a command's complaint that are passed on."""


@dataclass(frozen=True, slots=True)
class Outside:
    """One such command, as the user wrote it: `{in}` and `{out}` are files, `{budget}` the tokens of the result.

    Without `{out}` what it prints is the result.
    """

    name: str
    command: str
    format: str = "openai-chat"
    """What it is given: one of TARGETS."""
    timeout: int = 300
    """Seconds that it may take."""

    @property
    def is_sized(self) -> bool:
        """Whether it can be told how much may be left."""
        return BUDGET in self.command


class OutsideError(CtxError):
    """The command failed, or wrote nothing that can be read."""


def run_outside(one: Outside, transcript: Transcript, messages: tuple[Message, ...], budget: int) -> Transcript:
    """What the command makes of a context; raises OutsideError where that is nothing.

    The command is run by the system's shell: it is the user's own.
    """
    content, _ = convert(conversation_of(transcript, messages), one.format)
    with tempfile.TemporaryDirectory(prefix="ctx-bench-") as folder:
        source, result = Path(folder) / "in.json", Path(folder) / "out"
        source.write_bytes(content)
        words = {IN: _quoted(source), OUT: _quoted(result), BUDGET: str(budget)}
        command = one.command
        for sign, word in words.items():
            command = command.replace(sign, word)
        printed = _ran(one, command)
        if OUT not in one.command:
            result.write_bytes(printed)
        return _read(one, result, transcript)


def _quoted(path: Path) -> str:
    return f'"{path}"' if sys.platform == "win32" else shlex.quote(str(path))


def _ran(one: Outside, command: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S602 - the user's own command line, redirections and all
            command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=one.timeout
        )
    except subprocess.TimeoutExpired:
        raise OutsideError(f"{one.name}: gave nothing within {one.timeout:,} seconds") from None
    if done.returncode:
        told = " ".join(done.stderr.decode("utf-8", "replace").split())[-_SHOWN:]
        raise OutsideError(f"{one.name}: ended with code {done.returncode}{': ' if told else ''}{told}")
    return done.stdout


def _read(one: Outside, result: Path, transcript: Transcript) -> Transcript:
    """A transcript where the result is one, else a text."""
    if not result.exists() or not result.read_bytes().strip():
        raise OutsideError(f"{one.name}: wrote nothing")
    try:
        found = read_text(str(result)) or _loaded(str(result))
    except CtxError as error:
        raise OutsideError(f"{one.name}: {str(error).replace(str(result), 'its result')}") from None
    return replace(found, path="", folders=transcript.folders)


def _loaded(path: str) -> Transcript:
    try:
        return next(load(path)).transcript
    except UnknownFormatError:
        return read_text(path, sure=True) or Transcript("")
