"""A compactor of another make: a command that reads a transcript and writes one, or a summary."""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
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
_AT_WORK: set[subprocess.Popen[bytes]] = set()
"""The commands that this process runs, each in a session of its own."""


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
    with tempfile.TemporaryDirectory(prefix="ctx-bench-", ignore_cleanup_errors=True) as folder:
        source, result = Path(folder) / "in.json", Path(folder) / "out"
        source.write_bytes(content)
        words = {IN: _quoted(source), OUT: _quoted(result), BUDGET: str(budget)}
        command = one.command
        for sign, word in words.items():
            command = command.replace(sign, word)
        printed = _ran(one, command)
        try:
            if OUT not in one.command:
                result.write_bytes(printed)
            return _read(one, result, transcript)
        except OSError as error:
            raise OutsideError(f"{one.name}: its result: cannot be read: {error.strerror or error}") from None


def _quoted(path: Path) -> str:
    return f'"{path}"' if sys.platform == "win32" else shlex.quote(str(path))


def _ran(one: Outside, command: str) -> bytes:
    """What the command printed; all that it started is ended where it takes too long, or the run is stopped."""
    with subprocess.Popen(  # noqa: S602 - the user's own command line, redirections and all
        command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    ) as running:  # fmt: skip
        _AT_WORK.add(running)
        try:
            printed, complaint = running.communicate(timeout=one.timeout)
        except subprocess.TimeoutExpired:
            _end(running)
            unit = "second" if one.timeout == 1 else "seconds"
            raise OutsideError(f"{one.name}: gave nothing within {one.timeout:,} {unit}") from None
        except BaseException:
            _end(running)
            raise
        finally:
            _AT_WORK.discard(running)
    if running.returncode:
        told = " ".join(complaint.decode("utf-8", "replace").split())[-_SHOWN:]
        raise OutsideError(f"{one.name}: ended with code {running.returncode}{': ' if told else ''}{told}")
    return printed


def end_commands() -> None:
    """End the commands that this process runs: for one that is about to end itself."""
    for running in tuple(_AT_WORK):
        _end(running)


def _end(running: subprocess.Popen[bytes]) -> None:
    """End a command that was not waited for, with all that it started: the shell alone would leave that at work."""
    if sys.platform == "win32":
        running.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(running.pid, signal.SIGKILL)


def _read(one: Outside, result: Path, transcript: Transcript) -> Transcript:
    """A transcript where the result is one, else a text."""
    if not result.exists() or (result.is_file() and not result.read_bytes().strip()):
        raise OutsideError(f"{one.name}: wrote nothing")
    if not result.is_file():
        raise OutsideError(f"{one.name}: its result: is {'a folder' if result.is_dir() else 'no regular file'}")
    try:
        found = read_text(str(result)) or _loaded(str(result))
    except CtxError as error:
        raise OutsideError(f"{one.name}: {str(error).replace(str(result), 'its result')}") from None
    if not found.messages:
        raise OutsideError(f"{one.name}: its result: holds no message")
    return replace(found, path="", folders=transcript.folders)


def _loaded(path: str) -> Transcript:
    try:
        return next(load(path)).transcript
    except UnknownFormatError:
        return read_text(path, sure=True) or Transcript("")
