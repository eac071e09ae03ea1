"""JSON lines that a user or another program wrote: strictly, a value a line, each with its place."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ctxcli.errors import UnreadableError
from ctxcli.files.streams import lines_of, opened, shown


class JsonLine(NamedTuple):
    """One line of a file of JSON lines; blank lines are none."""

    line: int
    """1-based."""
    value: dict[str, Any]
    """The object; empty where the line is at fault."""
    raw: bytes
    """The line as it stands, without its end."""
    fault: str = ""
    """What is wrong with the line; empty where nothing is."""
    whole: bool = True
    """Whether the line has its end; the last one of a file that is being written may not."""


def json_lines(path: str) -> Iterator[JsonLine]:
    """The objects of a file, or of `-`, line by line, as a stream.

    Raises UnreadableError, naming file and line, for a line that is no JSON object, and for a file without any.
    """
    found = False
    with opened(path) as stream:
        for one in parsed_lines(lines_of(stream, shown(path))):
            if one.fault:
                raise UnreadableError(f"{shown(path)}: line {one.line}: {one.fault}{_hint(one)}")
            found = True
            yield one
    if not found:
        raise UnreadableError(f"{shown(path)}: is empty; it has to hold JSON objects, one a line")


def parsed_lines(lines: Iterable[bytes]) -> Iterator[JsonLine]:
    """Each line that is not blank, read or with what is wrong with it."""
    for number, raw in enumerate(lines, 1):
        whole, bare = raw.endswith(b"\n"), raw.strip()
        if bare:
            value, fault = _value(bare)
            yield JsonLine(number, value, raw.rstrip(b"\r\n"), fault, whole)


def _value(raw: bytes) -> tuple[dict[str, Any], str]:
    """The object, or why there is none. NaN and Infinity are read, so that a reader can say which field holds them."""
    try:
        value = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return {}, f"byte 0x{raw[error.start]:02X} is not UTF-8"
    except json.JSONDecodeError as error:
        return {}, f"is not valid JSON: {error.msg} (column {error.colno})"
    except (RecursionError, ValueError):
        return {}, "is nested too deep, or holds a number that is too long"
    if not isinstance(value, dict):
        return {}, f"is {_NAMES.get(type(value).__name__, 'a value')}, not a JSON object"
    return value, ""


_NAMES = {"list": "an array", "str": "a text", "NoneType": "null", "bool": "a truth value", "int": "a number",
          "float": "a number"}  # fmt: skip


def _hint(one: JsonLine) -> str:
    if one.line == 1 and one.raw.lstrip().startswith(b"["):
        return ". Is the file one array? `jq -c '.[]'` makes lines of it"
    return ""
