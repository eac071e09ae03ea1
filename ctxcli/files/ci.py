"""The files by which a project runs its checks."""

import re
from pathlib import Path

_FILES = (
    ".github/workflows/*.yml", ".github/workflows/*.yaml", ".gitlab-ci.yml", ".pre-commit-config.yaml", "Makefile",
    "makefile", "justfile", "Justfile", "tox.ini", "noxfile.py", "package.json", "pyproject.toml",
)  # fmt: skip
_RUNS_CTX = re.compile(r"\bctx(?:cli)?[\"',\s-]+(?:guard|check|compact)\b")
_LARGEST = 1_000_000


def runs_ctx(folder: str = ".") -> str | None:
    """The first CI or task file of a folder that runs `ctx guard`, `ctx check` or `ctx compact`; None for none.

    A file that cannot be read runs nothing.
    """
    root = Path(folder)
    for pattern in _FILES:
        for file in sorted(root.glob(pattern)):
            if _RUNS_CTX.search(_commands(file)):
                return file.relative_to(root).as_posix()
    return None


def _commands(file: Path) -> str:
    """The text of a file without comments; empty where it cannot be read or is too large for such a file."""
    try:
        text = file.read_text("utf-8", "replace") if file.stat().st_size <= _LARGEST else ""
    except OSError:
        return ""
    return "\n".join(line.partition("#")[0] for line in text.splitlines())
