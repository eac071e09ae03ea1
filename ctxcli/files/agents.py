"""Where the agents on this machine keep their transcripts: places, environment overrides, and the newest files there.

Nothing is written there, and only the first record of a file is looked at. Sources of the places: the agents' own
documentation and code, as named in the docstring of each reader in `ctxcli/formats/`.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ctxcli.errors import CtxError
from ctxcli.files.records import Tally, records_of

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent: where its transcripts are, and how a file's project is told."""

    name: str
    roots: Callable[[Environment, Path], list[Path]]
    """Folders, from the environment and the home folder; those that are not there do not matter."""
    patterns: tuple[str, ...]
    """Of the transcripts below a root."""
    folder_of: Callable[[str], str] | None = None
    """How a project's path is written in the name of a folder on the way to the file."""


@dataclass(frozen=True, slots=True)
class FoundTranscript:
    """A transcript of an agent on this machine."""

    agent: str
    path: str
    modified: float
    """Seconds since 1970."""
    bytes: int
    here: bool
    """Whether it is of the project in question."""

    @property
    def time(self) -> str:
        """When it was last written to, in UTC, to the minute."""
        return datetime.fromtimestamp(self.modified, UTC).strftime("%Y-%m-%d %H:%M")


def _below(variable: str, default: str, *then: str) -> Callable[[Environment, Path], list[Path]]:
    """The folder that a variable names, or a default below the home folder, and what follows it."""
    return lambda env, home: [Path(env.get(variable) or home / default).expanduser().joinpath(*then)]


def _data(*then: str) -> Callable[[Environment, Path], list[Path]]:
    """Below the user's data folder, as XDG names it."""
    return lambda env, home: [Path(env.get("XDG_DATA_HOME") or home / ".local/share").joinpath(*then)]


def _gemini(env: Environment, home: Path) -> list[Path]:
    return [Path(env.get("GEMINI_CLI_HOME") or home).expanduser() / ".gemini" / "tmp"]


def _goose(env: Environment, home: Path) -> list[Path]:
    root = env.get("GOOSE_PATH_ROOT")
    return [Path(root) / "data" / "sessions"] if root else _data("goose", "sessions")(env, home)


def _editors(*extensions: str) -> Callable[[Environment, Path], list[Path]]:
    """Folders of an extension in the editors of the VS Code family."""
    settings = {"darwin": "Library/Application Support", "win32": "AppData/Roaming"}.get(sys.platform, ".config")
    editors = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")

    def roots(env: Environment, home: Path) -> list[Path]:
        base = Path(env["XDG_CONFIG_HOME"]) if settings == ".config" and env.get("XDG_CONFIG_HOME") else home / settings
        places = [base / editor / "User" for editor in editors] + [home / ".vscode-server/data/User"]
        return [place / "globalStorage" / extension / "tasks" for place in places for extension in extensions]

    return roots


def _dashes(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _pi_folder(path: str) -> str:
    return "--" + re.sub(r"[/\\:]", "-", path.lstrip("/")) + "--"


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()


AGENTS = (
    Agent("claude-code", _below("CLAUDE_CONFIG_DIR", ".claude", "projects"), ("*/*.jsonl",), _dashes),
    Agent("codex", _below("CODEX_HOME", ".codex", "sessions"), ("**/rollout-*.jsonl", "**/rollout-*.jsonl.zst")),
    Agent("gemini", _gemini, ("*/chats/session-*.json", "*/chats/session-*.jsonl"), _hash),
    Agent("pi", _below("PI_CODING_AGENT_DIR", ".pi/agent", "sessions"), ("*/*.jsonl",), _pi_folder),
    Agent("omp", _below("OMP_CODING_AGENT_DIR", ".omp/agent", "sessions"), ("*/*.jsonl",)),
    Agent("openclaw", _below("OPENCLAW_STATE_DIR", ".openclaw"), ("agents/*/sessions/*.jsonl",)),
    Agent("opencode", _data("opencode"), ("opencode.db",)),
    Agent("qwen", _below("QWEN_HOME", ".qwen", "projects"), ("*/chats/*.jsonl",), _dashes),
    Agent("copilot-cli", _below("COPILOT_HOME", ".copilot", "session-state"), ("*/events.jsonl",)),
    Agent("goose", _goose, ("*.jsonl", "sessions.db")),
    Agent("amp", _data("amp", "threads"), ("T-*.json",)),
    Agent("cline", _below("CLINE_DATA_DIR", ".cline/data", "sessions"), ("**/*.messages.json",)),
    Agent("cline-legacy", _editors("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline"),
          ("*/api_conversation_history.json",)),
    Agent("openhands", _below("OPENHANDS_PERSISTENCE_DIR", ".openhands", "conversations"), ("*/base_state.json",)),
)  # fmt: skip
"""Every agent whose transcripts are looked for; aider's history stands in the project itself."""
_AIDER = ".aider.chat.history.md"
_DEEPEST = 20
"""Newest files of an agent that are opened to see which project they are of."""


def transcripts_of(
    project: Path, env: Environment, home: Path, *, agent: str | None = None, since: float = 0.0
) -> list[FoundTranscript]:
    """The transcripts on this machine, those of the project first, each part the newest first."""
    places = _places(project)
    found = [one for card in AGENTS if agent in (None, card.name) for one in _of(card, places, env, home, since)]
    history = project / _AIDER
    if agent in (None, "aider") and history.is_file() and (stat := history.stat()).st_mtime >= since:
        found.append(FoundTranscript("aider", str(history), stat.st_mtime, stat.st_size, here=True))
    return sorted(found, key=lambda one: (not one.here, -one.modified, one.path))


def _places(project: Path) -> list[Path]:
    """The folder itself, and those above it within its repository: an agent may have been started in any of them."""
    above = [project, *project.parents]
    root = next((at for at, folder in enumerate(above) if (folder / ".git").exists()), 0)
    return above[: root + 1]


def _of(card: Agent, places: list[Path], env: Environment, home: Path, since: float) -> Iterator[FoundTranscript]:
    files: dict[Path, os.stat_result] = {}
    for root in card.roots(env, home):
        for pattern in card.patterns:
            for file in _matches(root, pattern):
                stat = _stat(file)
                if stat is not None and stat.st_size and stat.st_mtime >= since:
                    files[file] = stat
    newest = sorted(files, key=lambda file: (-files[file].st_mtime, str(file)))
    for number, file in enumerate(newest):
        source = file.parent if file.name == "base_state.json" else file
        here = _is_of(card, file, places, look=number < _DEEPEST)
        yield FoundTranscript(card.name, str(source), files[file].st_mtime, files[file].st_size, here)


def _matches(root: Path, pattern: str) -> list[Path]:
    try:
        return [file for file in root.glob(pattern) if file.is_file()]
    except OSError:
        return []


def _stat(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except OSError:
        return None


def _is_of(card: Agent, file: Path, places: list[Path], *, look: bool) -> bool:
    """Whether a file is of a project: by the names of its folders, else by the folder that its first records name."""
    if card.folder_of is not None:
        # newer versions of Gemini CLI name the folder after the project's own
        names = {card.folder_of(str(place)) for place in places}
        names |= {place.name for place in places} if card.name == "gemini" else set()
        return any(parent.name in names for parent in file.parents)
    return look and any(folder in places or places[-1] in folder.parents for folder in _folders(file))


def _folders(file: Path) -> Iterator[Path]:
    """The working folders that the first records of a file name."""
    try:
        for number, record in enumerate(records_of(str(file), Tally())):
            for holder in (record.value, _inner(record.value, "payload"), _inner(record.value, "data")):
                for key in ("cwd", "working_dir", "workingDirectory"):
                    folder = _inner(holder, key)
                    if isinstance(folder, str) and folder:
                        yield Path(folder)
            if number > 2:
                return
    except (CtxError, OSError):
        return


def _inner(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
