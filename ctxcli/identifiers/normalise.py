"""Text as a person reads it: no terminal codes, composed accents, strings instead of their JSON dumps."""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

# CSI sequences, OSC up to its end, and two-character escapes (ECMA-48).
_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
_ESCAPED_SLASH = re.compile(r"\\/")


# Zero-width signs and soft hyphens, which no identifier holds and an editor adds.
_INVISIBLE = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad]")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#39|#x27);")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": " "}
_CJK = "\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef"
# Scripts that put no blank around a Latin word; a path may mix them where a slash or a dot stands between.
_SCRIPTS_MEET = re.compile(rf"(?<=[{_CJK}])(?=[A-Za-z0-9#$~])|(?<=[A-Za-z0-9])(?=[{_CJK}])")


def plain(text: str) -> str:
    r"""The text without terminal codes and invisible signs, in NFC (never NFKC, which rewrites content).

    `\/` becomes `/`, HTML's entities their signs, and a blank stands where Chinese, Japanese or Korean text touches a
    Latin word.
    """
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\\/" in text:
        text = _ESCAPED_SLASH.sub("/", text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: _ENTITIES.get(match.group(), "'"), text)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text).replace("\u2011", "-"))
    return _SCRIPTS_MEET.sub(" ", text)


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
