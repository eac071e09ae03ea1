"""Kinds that a user defines: a name, a pattern, and examples that are checked before it is used."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ctxcli.errors import SettingError
from ctxcli.identifiers.extract import KINDS
from ctxcli.identifiers.hit import Hit, Kind, Line

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_KEYS = ("pattern", "examples", "misses")
PATIENCE = 0.25
"""Seconds that a pattern may take on one line (20,000 characters at most) before it is refused."""


def kinds_of(settings: Mapping[str, Any]) -> tuple[Kind, ...]:
    """The kinds of a settings file's `[kinds.NAME]` tables; raises SettingError that names kind and fault."""
    return tuple(_kind(name, table) for name, table in settings.items())


def _kind(name: str, table: Any) -> Kind:
    if not _NAME.fullmatch(name) or name in KINDS:
        why = "is built in" if name in KINDS else "is no name: lower-case letters, digits and hyphens"
        raise SettingError(f"kinds.{name}: {name!r} {why}")
    if not isinstance(table, dict) or set(table) - set(_KEYS) or not isinstance(table.get("pattern"), str):
        raise SettingError(f"kinds.{name}: is a table with pattern, examples and misses; pattern is a text")
    examples, misses = (_texts(name, key, table.get(key, [])) for key in _KEYS[1:])
    if not examples:
        raise SettingError(f'kinds.{name}: give at least one example that the pattern must find: examples = ["…"]')
    kind = Kind(name, "your own", _finder(name, table["pattern"]), tuple((one, (one,)) for one in examples), misses)
    _check(kind)
    return kind


def _texts(name: str, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise SettingError(f"kinds.{name}: {key} is a list of texts")
    return tuple(value)


def _finder(name: str, pattern: str) -> Any:
    """Whole words only; a pattern that takes too long is an error and never a silent skip."""
    import regex  # noqa: PLC0415 - only where a user has kinds of his own

    try:
        compiled = regex.compile(rf"(?<!\w)(?:{pattern})(?!\w)")
    except (regex.error, RecursionError) as error:
        raise SettingError(f"kinds.{name}: the pattern is not valid: {error}") from None

    def find(line: Line) -> Iterator[Hit]:
        try:
            for match in compiled.finditer(line.text, timeout=PATIENCE):
                value = match.group().strip()
                if value:
                    yield Hit(name, value, match.start() + match.group().index(value))
        except TimeoutError:
            raise SettingError(
                f"kinds.{name}: the pattern took over {PATIENCE} s on a line of {len(line.text):,} characters; "
                "make it simpler (no repetition inside a repetition)"
            ) from None

    return find


@cache
def searching(pattern: str, name: str) -> Callable[[str], bool]:
    """Whether a text holds what a user's pattern describes.

    Raises SettingError, naming the pattern as `name` does, for one that is not valid or takes too long.
    """
    import regex  # noqa: PLC0415 - only where a user has a pattern

    try:
        compiled = regex.compile(pattern)
    except (regex.error, RecursionError) as error:
        raise SettingError(f"{name} is not valid: {error}") from None

    def holds(text: str) -> bool:
        try:
            return compiled.search(text, timeout=PATIENCE) is not None
        except TimeoutError:
            raise SettingError(
                f"{name} took over {PATIENCE} s on {len(text):,} characters; make it simpler (no repetition inside a "
                "repetition)"
            ) from None

    return holds


def _check(kind: Kind) -> None:
    def found(text: str) -> Sequence[str]:
        return [hit.value for hit in kind.find(Line(text, ()))]

    for example, _ in kind.hits:
        if found(example) != [example]:
            raise SettingError(f"kinds.{kind.name}: the pattern does not find the whole of its example {example!r}")
    for miss in kind.misses:
        if found(miss):
            raise SettingError(f"kinds.{kind.name}: the pattern finds {found(miss)[0]!r} in {miss!r}, which is a miss")
