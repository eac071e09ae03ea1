"""The shelf of output formats; each is imported when it is drawn with."""

from collections.abc import Mapping
from types import MappingProxyType

from ctxcli.shelf import LateShelf, Renderer

_MODULES = {
    "table": "table", "json": "json:JSON", "jsonl": "json:JSONL", "csv": "csv", "markdown": "markdown",
    "github": "ci:GITHUB", "gitlab": "ci:GITLAB", "sarif": "sarif", "junit": "ci:JUNIT",
}  # fmt: skip
RENDERERS: LateShelf[Renderer] = LateShelf(
    "RENDERER", {name: f"{__name__}.{module}" for name, module in _MODULES.items()}
)
_ALL = (
    "audit", "identifiers", "guard", "check", "compact", "notes", "formats", "simulate", "budget", "sweep", "finding",
    "probe", "bench",
)  # fmt: skip
DRAWS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "table": _ALL, "json": _ALL, "jsonl": _ALL,
    "csv": ("audit", "identifiers", "guard", "check", "notes", "sweep", "bench"),
    "markdown": tuple(name for name in _ALL if name != "budget"),
    **dict.fromkeys(("github", "gitlab", "sarif", "junit"), ("guard", "check")),
})  # fmt: skip
"""The reports that each of them draws, so that a flag can be offered without importing it."""


def drawing_names(report: str) -> list[str]:
    """The output formats that draw a report."""
    return [name for name, reports in DRAWS.items() if report in reports]
