"""The settings file: `ctx.toml`, or `[tool.ctx]` in `pyproject.toml`, here or in a folder above."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxcli.errors import SettingError


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What a settings file says, and where it is; empty where there is none."""

    path: str = ""
    values: dict[str, Any] = field(default_factory=dict)


def find_settings(start: Path | None = None) -> SettingsFile:
    """The nearest settings file, from the working folder upwards; SettingError where it is broken."""
    try:
        here = (start or Path.cwd()).resolve()
    except OSError:
        return SettingsFile()  # the working folder is gone
    for folder in (here, *here.parents):
        own, project = folder / "ctx.toml", folder / "pyproject.toml"
        if _is_file(own):
            return SettingsFile(str(own), _toml(own))
        if _is_file(project) and (section := _section(project)) is not None:
            return SettingsFile(str(project), section)
        if _exists(folder / ".git"):
            break
    return SettingsFile()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _section(project: Path) -> dict[str, Any] | None:
    """`[tool.ctx]` of a pyproject.toml; None where it has none. Raises SettingError where it is no table."""
    tool = _toml(project).get("tool", {})
    section = tool.get("ctx") if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise SettingError(f"{project}: [tool.ctx] is no table")
    return section


def read_settings(path: str) -> SettingsFile:
    """A settings file that the user names."""
    file = Path(path)
    if not file.is_file():
        raise SettingError(f"{path}: no such settings file")
    return SettingsFile(path, _section(file) or {} if file.name == "pyproject.toml" else _toml(file))


def read_toml(path: str) -> dict[str, Any]:
    """The tables of a TOML file that the user names; raises SettingError where it cannot be read."""
    return _toml(Path(path))


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingError(f"{path}: is not valid TOML: {error}") from None
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror or error}") from None
