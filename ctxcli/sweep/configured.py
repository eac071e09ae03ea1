"""Settings as items: names that have one value wherever a transcript sets them, and no fields of a record or sample."""

import re
from collections.abc import Container, Iterator, Sequence

from ctxcli.sweep.grading import normal
from ctxcli.sweep.item import Item
from ctxcli.sweep.places import Place, is_sample, item_at

_SETTING = re.compile(
    r"""^[ \t]*(?:\d+[ \t→:|]+)?(?:[-*][ \t]+|export[ \t]+|ENV[ \t]+|const[ \t]+)?["'`]?([A-Za-z_][\w.-]{2,40})["'`]?"""
    r"""[ \t]*[:=][ \t]*(["'`]?)([^\s"'`,;{}()\[\]<>|=]{2,60})\2[,;]?[ \t]*(?:\#.*|//.*)?$""",
    re.MULTILINE,
)
_SET = re.compile(r"(?<![\w.$-])([a-z_][\w.-]{2,40})'? ?[:=] ?'?([^\s,;{}()\[\]<>|=']{1,60})")
"""The same in a normal text, wherever it stands: a value of another layout is another value all the same."""
_GUESSED = frozenset(
    ["true", "false", "null", "none", "yes", "no", "on", "off", "str", "int", "float", "bool", "string", "number",
     "object", "any", "self", "undefined", "line", "error", "status", "exit", "code", "note", "name", "type", "version"]
)  # fmt: skip
"""Values that anybody would guess, and names that are no settings."""
_EXPRESSION = re.compile(r"[!&*]?[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*")
"""What code assigns from another name."""
_SECRET = re.compile(r"token|secret|passw|credential|api_?key|private", re.IGNORECASE)
_RECORD = re.compile(
    r"(?:^|[_.-])(?:ids?|uuid|sha\d*|hash|digest|at|date|time|timestamp|lines?|files|count|added|removed|modified|code"
    r"|percentage|start|end|score|rank|elapsed|uses|created|updated)$|^total[_.-]"
)
"""Names of fields of which every record has another value: nobody knows which record is meant."""
_TRAILER = re.compile(r"[A-Z][a-z]+(?:-[A-Z][a-z]+)+")
_MEDIA = re.compile(r"(?:application|text|image|audio|video|multipart)/")


def settings(places: Sequence[Place]) -> Iterator[Item]:
    """Names with one value, which is more than a word, or whose name is written in capitals."""
    values: dict[str, dict[str, tuple[str, str, Place]]] = {}
    for place in places:
        for name, _, value in _SETTING.findall(place.text):
            bare = value.rstrip(".:")
            if _is_telling(name, bare):
                values.setdefault(normal(name), {}).setdefault(normal(bare), (name, bare, place))
    every = _values(places, values.keys())
    for name, found in values.items():
        if len(found) == 1 and any(sign in name for sign in "_.-") and every.get(name, set()) <= found.keys():
            shown, value, place = next(iter(found.values()))
            yield item_at("setting", f"What is the value of `{shown}`?", place, (value,))


def _values(places: Sequence[Place], names: Container[str]) -> dict[str, set[str]]:
    """By name, every value that it is set to in any layout."""
    found: dict[str, set[str]] = {}
    for place in places:
        for name, value in _SET.findall(place.normal):
            if name in names:
                found.setdefault(name, set()).add(value.rstrip(".:"))
    return found


def _is_telling(name: str, value: str) -> bool:
    """Whether a value is one that nobody would guess, and that may be told."""
    if len(value) < 2 or value.casefold() in _GUESSED or name.casefold() in _GUESSED or _SECRET.search(name):
        return False
    if normal(name) in normal(value) or is_sample(value) or _MEDIA.match(value):
        return False
    if name.isupper():
        return True
    if _RECORD.search(name.casefold()) or _TRAILER.fullmatch(name) or _EXPRESSION.fullmatch(value):
        return False
    return any(one.isdigit() or one in "./:@" for one in value)
