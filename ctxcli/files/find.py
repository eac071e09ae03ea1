"""Which files a command line means: files as they are, folders searched, `-` for standard input."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxcli.errors import UnreadableError
from ctxcli.files.streams import STDIN

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".traj", ".gz", ".zst")
_CHUNK = re.compile(r"\.jsonl\.\d{3}$")
"""A long transcript cut into pieces: full.jsonl, full.jsonl.001 …"""
_PASS_OVER = frozenset({"node_modules", "__pycache__", ".git", ".venv"})


@dataclass(frozen=True, slots=True)
class Found:
    """One source; `named` is False where a folder's search found it, so that it may be no transcript."""

    path: str
    named: bool = True


def find(arguments: Sequence[str]) -> Iterator[Found]:
    """The sources that the arguments mean, in their order, those of a folder by name.

    Raises UnreadableError for an argument that is not there, and for a folder that holds no file
    which could be a transcript.
    """
    for argument in arguments:
        path = Path(argument)
        if argument == STDIN or not path.is_dir():
            if argument != STDIN and not path.exists():
                raise UnreadableError(f"{argument}: no such file or folder")
            yield Found(argument)
            continue
        files = list(_inside(path))
        if not files:
            wanted = " ".join(f"*{suffix}" for suffix in _SUFFIXES)
            raise UnreadableError(f"{argument}: no file in this folder is named like a transcript ({wanted})")
        yield from (Found(str(file), named=False) for file in files)


def _inside(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASS_OVER)
        for name in sorted(names):
            if name.lower().endswith(_SUFFIXES) or _CHUNK.search(name.lower()):
                yield Path(root) / name
