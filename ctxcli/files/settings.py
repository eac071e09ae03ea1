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
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        own = folder / "ctx.toml"
        if own.is_file():
            return SettingsFile(str(own), _toml(own))
        project = folder / "pyproject.toml"
        if project.is_file():
            section = _toml(project).get("tool", {}).get("ctx")
            if section is not None:
                return SettingsFile(str(project), section)
        if (folder / ".git").exists():
            break
    return SettingsFile()


def read_settings(path: str) -> SettingsFile:
    """A settings file that the user names."""
    file = Path(path)
    if not file.is_file():
        raise SettingError(f"{path}: no such settings file")
    values = _toml(file)
    return SettingsFile(path, values.get("tool", {}).get("ctx", {}) if file.name == "pyproject.toml" else values)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: is not valid TOML: {error}") from None
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror or error}") from None
