"""Which files a command line means: files as they are, folders searched, `-` for standard input."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxcli.files.containers import is_one_source
from ctxcli.files.streams import STDIN
from ctxcli.formats import FORMATS

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".traj", ".eval", ".gz", ".zst")
_NAMES = (".aider.chat.history.md", "opencode.db", "sessions.db")
_CHUNK = re.compile(r"\.jsonl\.\d{3}$")
"""A long transcript cut into pieces: full.jsonl, full.jsonl.001 …"""
_PASS_OVER = frozenset({"node_modules", "__pycache__", ".git", ".venv"})


@dataclass(frozen=True, slots=True)
class Found:
    """One source; `named` is False where a folder's search found it, so that it may be no transcript."""

    path: str
    named: bool = True
    error: str = ""
    """Why there is nothing to read, where there is not."""


def find(arguments: Sequence[str]) -> Iterator[Found]:
    """The sources that the arguments mean, each once, in their order, those of a folder by name."""
    seen: set[str] = set()
    for argument in arguments:
        for found in _meant(argument):
            if found.path not in seen or found.error:
                seen.add(found.path)
                yield found


def _meant(argument: str) -> Iterator[Found]:
    if argument == STDIN:
        yield Found(STDIN)
        return
    try:
        folder, there = Path(argument).is_dir(), bool(argument) and Path(argument).exists()
    except OSError as error:
        yield Found(argument, error=f"{argument}: {error.strerror or error}")
        return
    if not there:
        yield Found(
            argument, error=f"{argument}: no such file or folder" if argument else "an empty name means no file"
        )
    elif not folder or is_one(argument):
        yield Found(argument)
    else:
        yield from _inside(argument)


def is_one(folder: str) -> bool:
    """Whether a folder is one transcript in many files."""
    return any(is_one_source(folder, format_.folder) for format_ in FORMATS.values())


def _inside(folder: str) -> Iterator[Found]:
    """The files of a folder that are named like transcripts; sub-folders that cannot be read are errors."""
    blocked: list[OSError] = []
    nothing = True
    for root, folders, names in os.walk(folder, onerror=blocked.append):
        folders[:] = sorted(name for name in folders if name not in _PASS_OVER)
        for name in [name for name in folders if is_one(str(Path(root) / name))]:
            nothing = False
            folders.remove(name)
            yield Found(str(Path(root) / name), named=False)
        for name in sorted(names):
            file = Path(root) / name
            if (name.lower().endswith(_SUFFIXES) or name in _NAMES or _CHUNK.search(name.lower())) and file.is_file():
                nothing = False
                yield Found(str(file), named=False)
    for error in blocked:
        yield Found(str(error.filename), error=f"{error.filename}: cannot be searched: {error.strerror}")
    if nothing and not blocked:
        wanted = " ".join(f"*{suffix}" for suffix in _SUFFIXES)
        yield Found(folder, error=f"{folder}: no file in this folder is named like a transcript ({wanted})")
