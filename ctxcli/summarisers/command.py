"""A model behind a command: prompt on standard input, answer on standard output. And a stored answer."""

import shlex
import subprocess
import sys
from collections.abc import Callable

from ctxcli.errors import SettingError, SummaryError

_LONGEST = 1_800
"""Seconds that a command may take."""
_SHOWN = 400
"""Characters of a command's complaint that are passed on."""


def asking(command: str) -> Callable[[str], str]:
    """A function that runs the command, without a shell, for each prompt.

    It raises SummaryError where the command cannot be run, fails, takes more than half an hour, or says nothing.
    Raises SettingError for what is no command at all.
    """
    try:
        words = shlex.split(command, posix=sys.platform != "win32")
    except ValueError as error:
        raise SettingError(f"--summariser: {command!r} is no command: {error}") from None
    if not words:
        raise SettingError("--summariser: an empty command cannot be asked")

    def ask(prompt: str) -> str:
        try:
            done = subprocess.run(  # noqa: S603 - the user's own command
                words, input=prompt.encode("utf-8", "replace"), capture_output=True, check=False, timeout=_LONGEST
            )
        except subprocess.TimeoutExpired:
            raise SummaryError(f"{words[0]}: gave no summary within {_LONGEST // 60} minutes") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise SummaryError(f"{command}: cannot be run: {why}") from None
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip()[-_SHOWN:]
            raise SummaryError(f"{words[0]}: ended with code {done.returncode}{': ' if told else ''}{told}")
        answer = done.stdout.decode("utf-8", "replace")
        if not answer.strip():
            raise SummaryError(f"{words[0]}: gave an empty answer")
        return answer

    return ask


def stored(answer: str) -> Callable[[str], str]:
    """A function that gives the same answer to every prompt."""
    return lambda _: answer
