"""Fill the generated blocks of README.md from the program, or check that they are up to date.

    python scripts/readme.py           # write
    python scripts/readme.py --check   # exit 1 where a block differs

A block stands between `<!-- run: ctx audit … -->` and `<!-- end -->` and holds what that command
prints on a terminal of 100 columns, or between `<!-- table: NAME -->` and `<!-- end -->`.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ctxcli.contract import SCHEMAS
from ctxcli.formats import FORMATS
from ctxcli.identifiers import KINDS
from ctxcli.renderers import RENDERERS
from ctxcli.rules import RULES
from ctxcli.shelf import KNOWLEDGE
from ctxcli.strategies import STRATEGIES

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(<!-- (run|table): (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def ran(command: str) -> str:
    """The command and what it prints, as a console block."""
    words = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [sys.executable, "-m", "ctxcli", *words[1:]],
            capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, "COLUMNS": "100", "CTX_CACHE_DIR": folder, "PYTHONIOENCODING": "utf-8"},
        )  # fmt: skip
    return f"```console\n$ {command}\n{(result.stdout + result.stderr).rstrip()}\n```\n"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A markdown table."""
    lines = ["| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows)]
    return "\n".join(lines) + "\n"


def formats() -> str:
    """What can be read, and what each format records."""
    rows = [
        (
            f"`{card.name}`", card.title, "yes" if card.write else "–",
            *("yes" if what in card.knows else "–" for what in KNOWLEDGE),
        )
        for card in FORMATS.values()
    ]  # fmt: skip
    return table(("format", "what", "written", *KNOWLEDGE), rows)


def renderers() -> str:
    """The output formats."""
    reports = ("audit", "identifiers", "guard", "compact", "check", "notes")
    rows = [
        (f"`{card.name}`", card.title, *("yes" if getattr(card, report) else "–" for report in reports))
        for card in RENDERERS.values()
    ]
    return table(("`--format`", "what", *reports), rows)


def rules() -> str:
    """What findings mean."""
    return table(("rule", "name", "level", "means"), [
        (card.name, card.title, card.level, card.summary) for card in RULES.values()
    ])  # fmt: skip


def schemas() -> str:
    """The documents with a schema."""
    return table(("schema", "of"), [(f"`{name}`", title) for name, title in SCHEMAS.items()])


def strategies() -> str:
    """The strategies, in the order of their shelf."""
    rows = [(f"`{card.name}`", card.title, "yes" if card.summarises else "–") for card in STRATEGIES.values()]
    return table(("strategy", "what stays", "writes a summary"), rows)


def kinds() -> str:
    """The kinds of identifiers, each with the first example of its card."""
    rows = [(f"`{kind.name}`", kind.title, f"`{kind.hits[0][1][0]}`") for kind in KINDS.values()]
    return table(("kind", "what", "such as"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "formats": formats,
    "kinds": kinds,
    "renderers": renderers,
    "rules": rules,
    "schemas": schemas,
    "strategies": strategies,
}


def filled(text: str) -> str:
    """The README with every block as it should be."""

    def fill(match: re.Match[str]) -> str:
        head, kind, what, _, end = match.groups()
        return head + (ran(what) if kind == "run" else TABLES[what]()) + end

    return BLOCK.sub(fill, text)


if __name__ == "__main__":
    readme = ROOT / "README.md"
    before = readme.read_text("utf-8")
    after = filled(before)
    if "--check" not in sys.argv:
        readme.write_text(after, "utf-8")
    elif before != after:
        sys.exit("README.md is not up to date; run python scripts/readme.py")
