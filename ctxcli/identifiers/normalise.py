"""Text as a person reads it: no terminal codes, composed accents, strings instead of their JSON dumps."""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

# CSI sequences, OSC up to its end, and two-character escapes (ECMA-48).
_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
_ESCAPED_SLASH = re.compile(r"\\/")


def plain(text: str) -> str:
    r"""The text without terminal codes, in NFC (never NFKC, which rewrites content), `\/` as `/`."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\\/" in text:
        text = _ESCAPED_SLASH.sub("/", text)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def strings_of(arguments: str) -> Iterator[str]:
    """The strings inside a tool call's JSON arguments; the text itself where it is no JSON."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        yield arguments
        return
    yield from _strings(value)


def _strings(value: Any) -> Iterator[str]:
    """Depth first, without recursion: arguments may be nested as deep as the parser goes."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield str(value)
