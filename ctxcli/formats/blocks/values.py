"""Small, forgiving ways to take values out of JSON that somebody else wrote."""

import json
import re
from collections.abc import Mapping
from typing import Any

_ADDRESS_KEYS = (
    "file_path", "filePath", "absolute_path", "path", "notebook_path", "filename", "target_file", "url", "uri",
    "command", "cmd", "pattern", "query", "skill", "description", "files", "paths", "commands", "dir_path",
)  # fmt: skip
_LONGEST_ADDRESS = 200


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def blocks(content: Any) -> list[Any]:
    """A message's content as a list of blocks: a single block, or a value of no known shape, is one."""
    if isinstance(content, list):
        return content
    return [] if content is None else [content]


def text(value: Any) -> str:
    """The value if it is a string, empty for null, else its JSON text."""
    if isinstance(value, str):
        return value
    return "" if value is None else dump(value)


def dump(value: Any) -> str:
    """Compact JSON text; Unicode is left as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def count(value: Any) -> int | None:
    """A token figure: a number that is not negative, else None (absent is not 0)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e12:
        return None
    return int(value)


def most(first: int | None, second: int | None) -> int | None:
    """The larger of two figures, either of which may be absent."""
    if first is None or second is None:
        return second if first is None else first
    return max(first, second)


def total(*figures: int | None) -> int | None:
    """Their sum, absent ones as nothing; None where all are absent."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None


def address_of(arguments: Any) -> str:
    """What a tool call names that could be fetched again: its path, URL or command."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return _address_in(arguments)
    if not isinstance(arguments, dict):
        return ""
    for key in _ADDRESS_KEYS:
        value = arguments.get(key)
        if isinstance(value, list):
            named = (mapping(item).get("path", item) for item in value)
            value = " ".join(item for item in named if isinstance(item, str))
        if isinstance(value, str) and value:
            return _first_line(value)
    return ""


_NAMED = re.compile(
    r"""\*\*\* (?:Update|Add|Delete) File: (.+)"""
    r"""|\b(?:cmd|command|path|file_path|url)["']?\s*:\s*["'`]((?:[^"'`\\\n]|\\.){1,300})"""
)


def _address_in(script: str) -> str:
    """What a patch or a script in a tool call's free text names: the file, the command, the URL."""
    match = _NAMED.search(script[:20_000])
    return _first_line(match[1] or match[2]) if match else _first_line(script)


def _first_line(value: str) -> str:
    line = value.strip().split("\n", 1)[0].strip()
    return line if len(line) <= _LONGEST_ADDRESS else line[: _LONGEST_ADDRESS - 1] + "…"
