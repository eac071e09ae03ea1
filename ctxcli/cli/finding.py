"""Which transcript of this machine is meant, where a command line names none."""

import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ctxcli.cli.output import emit
from ctxcli.cli.sources import say
from ctxcli.errors import CtxError
from ctxcli.files.agents import AGENTS, FoundTranscript, transcripts_of
from ctxcli.files.load import is_claimed
from ctxcli.renderers.json import dump
from ctxcli.renderers.view import in_words, printable

_SHOWN = 15
_AGO = re.compile(r"(\d+)\s*(m|h|d|w)")
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
NAMES = (*(agent.name for agent in AGENTS), "aider")
"""The agents that `--agent` takes."""


class Since(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A moment: 30m, 12h, 2d, 1w ago, or a date."""

    name = "since"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds since 1970; fails for what is neither."""
        if isinstance(value, float):
            return value
        ago = _AGO.fullmatch(str(value).strip())
        if ago is not None:
            return time.time() - int(ago[1]) * _SECONDS[ago[2]]
        try:
            moment = datetime.fromisoformat(str(value).strip())
        except ValueError:
            self.fail(f"{value!r} is no time; write 12h, 2d, 1w or 2026-11-30", param, ctx)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def installed(agent: str | None, since: float | None) -> list[FoundTranscript]:
    """The transcripts of this machine, those of this project first."""
    return transcripts_of(Path.cwd(), os.environ, Path.home(), agent=agent, since=since or 0.0)


def latest(found: list[FoundTranscript]) -> str | None:
    """The newest of this project, else of all; says which it is. None, and a word why, where there is none."""
    one = next((one for one in found if _is_transcript(one.path)), None)
    if one is None:
        say(_nothing())
        return None
    where = "" if one.here else "; none is of this project"
    say(f"the newest transcript of {one.agent}, {one.time} UTC: {one.path}{where}")
    return one.path


def _is_transcript(path: str) -> bool:
    try:
        return is_claimed(path)
    except CtxError:
        return False


def offer(found: list[FoundTranscript], *, as_json: bool) -> int:
    """Show what there is to audit; returns the exit code: 2 where there is nothing."""
    if as_json:
        rows = [
            {"agent": one.agent, "path": one.path, "modified": one.time, "bytes": one.bytes, "this_project": one.here}
            for one in found
        ]
        emit([dump(rows, indent=True)])
        return 0 if found else 2
    if not found:
        say(_nothing())
        return 2
    here = [one for one in found if one.here]
    shown = (here or found)[:_SHOWN]
    title = "Transcripts of this project" if here else "No transcript is of this project; the newest on this machine"
    width = max(len(one.agent) for one in shown)
    lines = [f"{one.time}  {one.agent:{width}}  {one.bytes / 1024:>9,.0f} kB  {printable(one.path)}" for one in shown]
    rest = len(found) - len(shown)
    more = [f"and {rest:,} more; --agent and --since narrow them down"] if rest else []
    hint = "ctx audit --latest takes the first; ctx audit PATH any of them."
    emit("\n".join((f"{title} (UTC, newest first):", "", *lines, *more, "", hint, "")))
    return 0


def _nothing() -> str:
    agents = in_words(NAMES, 20)
    return f"no transcript of an agent was found on this machine ({agents}; --agent and --since narrow it); name a file"
