"""From flags and the table `[guard]` of the settings to a policy."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import click

from ctxcli.errors import SettingError
from ctxcli.guard import Policy, Waiver
from ctxcli.guard.policy import REQUIRED_KINDS
from ctxcli.identifiers import KINDS
from ctxcli.identifiers.hit import Kind
from ctxcli.reports.identifiers import SOURCES, STATED, TOUCHED

_ALL, _NONE = "all", "none"
_WAIVER_KEYS = frozenset({"value", "reason", "kind", "until"})


def policy_of(flags: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Policy:
    """The policy that the flags ask for; raises click's errors for flags, SettingError for the settings file."""
    wanted = [word for text in flags["require"] for word in _words(text)]
    globs = tuple(word for word in wanted if word not in (*SOURCES, _ALL, _NONE))
    for glob in globs:
        if glob.isalpha():
            known = ", ".join((*SOURCES, _ALL, _NONE))
            raise click.BadParameter(f"{glob!r} is neither a source ({known}) nor a glob", param_hint="--require")
    if len({_ALL, _NONE} & set(wanted)) > 0 and len(wanted) - len(globs) > 1:
        raise click.BadParameter("all and none stand alone", param_hint="--require")
    sources = frozenset(word for word in wanted if word in SOURCES)
    if not sources and not {_ALL, _NONE} & set(wanted):
        sources = frozenset({STATED, TOUCHED})
    least = dict(flags["min_kept"])
    for kind in least:
        if kind is not None and kind not in kinds:
            raise click.BadParameter(f"{kind!r} is no kind; there are {', '.join(kinds)}", param_hint="--min-kept")
    file = flags["config"]
    return Policy(
        sources=sources,
        kinds=_kinds(flags["kinds"], kinds),
        always=globs,
        ignore=tuple(flags["ignore"]),
        everything=_ALL in wanted,
        strict=flags["strict"],
        waivers=waivers_of(file.path, file.values.get("guard", {}).get("waivers", []), kinds),
        today=date.today(),
        min_kept=least,
        allow_unverifiable=flags["allow_unverifiable"],
    )


def _words(text: str) -> list[str]:
    """`stated,touched` is two words; a glob may hold a comma only inside braces, which no glob of ours has."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _kinds(given: tuple[str, ...], kinds: Mapping[str, Kind]) -> frozenset[str]:
    named = [word for text in given for word in _words(text)]
    if _ALL in named:
        return frozenset(kinds)
    for name in named:
        if name not in kinds:
            raise click.BadParameter(f"{name!r} is no kind; there are all, {', '.join(kinds)}", param_hint="--kinds")
    own = (name for name in kinds if name not in KINDS)
    return frozenset(named or (*REQUIRED_KINDS, *own))


def waivers_of(path: str, tables: Any, kinds: Mapping[str, Kind]) -> tuple[Waiver, ...]:
    """The waivers of a settings file; raises SettingError for one without a value or a reason."""
    if not isinstance(tables, list):
        raise SettingError(f"{path}: guard.waivers is a list of tables: [[guard.waivers]]")
    return tuple(
        _waiver(f"{path}: guard.waivers, number {number}", table, kinds) for number, table in enumerate(tables, 1)
    )


def _waiver(place: str, table: Any, kinds: Mapping[str, Kind]) -> Waiver:
    if not isinstance(table, dict) or set(table) - _WAIVER_KEYS:
        raise SettingError(f"{place}: is a table with value, reason, kind and until")
    value, reason, kind, until = (table.get(key) for key in ("value", "reason", "kind", "until"))
    if not isinstance(value, str) or not value:
        raise SettingError(f"{place}: value is a glob over identifiers")
    if not isinstance(reason, str) or not reason.strip():
        raise SettingError(f"{place}: {value!r} has no reason; say why it may go")
    if kind is not None and kind not in (*kinds, "constraint"):
        raise SettingError(f"{place}: {kind!r} is no kind; there are constraint, {', '.join(kinds)}")
    if isinstance(until, str):
        try:
            until = date.fromisoformat(until)
        except ValueError:
            raise SettingError(f"{place}: until is a date, as in 2027-01-31") from None
    if until is not None and type(until) is not date:
        raise SettingError(f"{place}: until is a date, as in 2027-01-31")
    return Waiver(value, reason.strip(), kind, until)
