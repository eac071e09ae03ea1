"""The last state of what the session touched: files by what happened to them, commands by how they ended."""

import json
import re
from collections.abc import Iterator
from typing import Any

from ctxcli.model import PartKind
from ctxcli.shelf import Material
from ctxcli.summarisers.extractive.said import Said, calls_by_ref, parts

CREATED, EDITED, DELETED, READ = STATES = ("created", "edited", "deleted", "read")
PASSED, FAILED = "passed", "failed"
_TOOLS = (
    (re.compile(r"^(?:delete|remove|rm)", re.IGNORECASE), DELETED),
    (re.compile(r"edit|replace|patch|update|insert|apply|modify", re.IGNORECASE), EDITED),
    (re.compile(r"write|create|save", re.IGNORECASE), CREATED),
    (re.compile(r"read|view|open|cat|get", re.IGNORECASE), READ),
)
_PATCH = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_PATCHED = {"Add": CREATED, "Update": EDITED, "Delete": DELETED}
_REMOVED = re.compile(r"(?:^|&&|;)\s*(?:git\s+)?rm\s+(?:-\w+\s+)*([\w./@~+-]+)")
_PATH = re.compile(r"[\w.~@+-]*[/.][^\s\"']*")
_MOST_COMMANDS = 8
_LONGEST_COMMAND = 120


def files(material: Material) -> dict[str, tuple[str, ...]]:
    """Paths by the last thing that happened to them; one that was read after it was edited stays edited."""
    last = {path: state for state, paths in material.carried.files.items() for path in paths}
    for _, path, state in touched(material):
        if state == CREATED and last.get(path) in (CREATED, EDITED, READ):
            last[path] = EDITED if last[path] != CREATED else CREATED
        elif state == EDITED and last.get(path) == CREATED:
            continue
        elif state != READ or path not in last:
            last[path] = state
    return {state: tuple(path for path, one in last.items() if one == state) for state in STATES}


def touched(material: Material) -> Iterator[tuple[Said, str, str]]:
    """(call, path, what it did to it) of each call that did not fail, in order."""
    failed = {said.part.ref for said in parts(material, PartKind.TOOL_RESULT) if said.part.failed}
    for said in parts(material, PartKind.TOOL_CALL):
        if said.part.ref not in failed:
            yield from ((said, path, state) for path, state in _touched(said))


def _touched(said: Said) -> list[tuple[str, str]]:
    part = said.part
    text = part.text.replace("\\n", "\n") if "*** " in part.text else ""
    patched = [(path, _PATCHED[what]) for what, path in _PATCH.findall(text)]
    if patched:
        return patched
    address = part.address.strip()
    if "\n" not in address and _PATH.fullmatch(address):
        return [(address, state) for shape, state in _TOOLS if shape.search(part.name)][:1]
    return [(path, DELETED) for path in _REMOVED.findall(part.address)]


def commands(material: Material) -> dict[str, tuple[str, ...]]:
    """The newest commands that were run, by how each ended the last time."""
    calls = calls_by_ref(material)
    ended: dict[str, str] = {}
    for said in parts(material, PartKind.TOOL_RESULT):
        call = calls.get(said.part.ref)
        command = _command(call) if call is not None else ""
        if command:
            ended.pop(command, None)
            ended[command] = FAILED if said.part.failed else PASSED
    newest = list(ended.items())[-_MOST_COMMANDS:]
    return {
        state: tuple(material.mask(command) for command, how in newest if how == state) for state in (PASSED, FAILED)
    }


def _command(call: Said) -> str:
    """The command line of a call; empty where it runs none, or one that is too long to be run again as it stands."""
    if '"command"' not in call.part.text and '"cmd"' not in call.part.text:
        return ""
    try:
        arguments: Any = json.loads(call.part.text)
    except (ValueError, RecursionError):
        return ""
    found = arguments.get("command", arguments.get("cmd")) if isinstance(arguments, dict) else None
    if isinstance(found, list) and all(isinstance(word, str) for word in found):
        found = found[-1] if len(found) == 3 and found[1] in ("-c", "-lc") else " ".join(found)
    line = found.strip() if isinstance(found, str) else ""
    return line if len(line) <= _LONGEST_COMMAND and "\n" not in line and "`" not in line else ""
