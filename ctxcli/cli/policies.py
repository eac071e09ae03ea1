"""The policies of `ctx simulate`, as flags take them and as a TOML list holds them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from ctxcli.cli.types import Share, Size, TailSize, Tokens
from ctxcli.errors import SettingError
from ctxcli.strategies import STRATEGIES

if TYPE_CHECKING:
    from ctxcli.simulate import Policy

    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # older releases of click have no type argument

_KEYS: Mapping[str, Any] = {
    "trigger": Size(), "target": Size(), "window": Tokens(), "keep-last": TailSize(), "summary": Tokens(0),
}  # fmt: skip
_OWN = ("name", "strategy")
"""Keys of a `[[policy]]` beside those: what a flag says in front of them."""


class PolicyText(_Type):
    """A policy: a strategy, then settings behind colons. Gives (text, strategy, settings)."""

    name = "policy"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The three; fails for a strategy or a setting that there is not, and for one that stands twice."""
        if isinstance(value, tuple):
            return value
        text = str(value).strip()
        strategy, *rest = text.split(":")
        if strategy not in STRATEGIES:
            self.fail(f"{strategy!r} is no strategy; there are {', '.join(STRATEGIES)}", param, ctx)
        found: dict[str, Any] = {}
        for piece in rest:
            key, sign, given = piece.partition("=")
            if not sign or key not in _KEYS or key in found:
                known = ", ".join(f"{name}=…" for name in _KEYS)
                self.fail(f"{piece!r} is no setting of a policy, or stands twice; there are {known}", param, ctx)
            found[key] = _KEYS[key].convert(given, param, ctx)
        return text, strategy, found


def policy_of(given: tuple[str, str, dict[str, Any]]) -> "Policy":
    """What a flag says, as a policy; raises SettingError for a summary that the strategy does not write."""
    from ctxcli.compact.context import Keep  # noqa: PLC0415 - the run imports everything, --help nothing of it
    from ctxcli.simulate.policy import Policy  # noqa: PLC0415

    text, strategy, found = given
    if found.get("summary") and not STRATEGIES[strategy].summarises:
        writing = ", ".join(name for name, card in STRATEGIES.items() if card.summarises)
        raise SettingError(f"policy {text}: {strategy!r} writes no summary; there are {writing}")
    keep = Keep(*found["keep-last"]) if "keep-last" in found else None
    sizes = {key: found[key] for key in ("trigger", "target", "window", "summary") if key in found}
    return Policy(strategy, keep_last=keep, name=text, **sizes)


def policies_in(values: Mapping[str, Any], path: str) -> list["Policy"]:
    """The policies of a TOML file: tables `[[policy]]` of a strategy, and of what a flag can say of it, and a name.

    Raises SettingError for anything else.
    """
    tables = values.get("policy")
    if not isinstance(tables, list) or not tables or values.keys() != {"policy"}:
        others = ", ".join(repr(key) for key in values if key != "policy")
        wrong = f"{others} is nothing that it can hold" if others else "holds no list of policies"
        raise SettingError(f"{path}: {wrong}; write [[policy]] tables, each with a strategy")
    return [_policy_in(f"{path}: policy {number}", table) for number, table in enumerate(tables, 1)]


def distinct(policies: Iterable["Policy"], path: str | None) -> Iterator["Policy"]:
    """The policies of the flags and of a file; raises SettingError for a name that stands twice or is taken."""
    from ctxcli.simulate.policy import NONE, RECORDED  # noqa: PLC0415

    names = {RECORDED, NONE}
    for one in policies:
        if one.name in names:
            why = "is that of a base line" if one.name in (RECORDED, NONE) else "stands twice"
            place = f"{path}: " if path else ""
            raise SettingError(f"{place}the policy name {one.name!r} {why}; give each policy a name of its own")
        names.add(one.name)
        yield one


def _policy_in(place: str, table: Any) -> "Policy":
    try:
        return policy_of(_read(place, table))
    except SettingError as error:
        said = str(error)
        raise SettingError(said if said.startswith(place) else f"{place}: {said}") from None


def _read(place: str, table: Any) -> tuple[str, str, dict[str, Any]]:
    if not isinstance(table, dict):
        raise SettingError(f"{place}: is no table; write [[policy]]")
    known = (*_OWN, *_KEYS)
    unknown = [key for key in table if key not in known]
    if unknown:
        raise SettingError(f"{place}: {', '.join(map(repr, unknown))} is no setting; there are {', '.join(known)}")
    strategy = table.get("strategy")
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        said = "names no strategy" if strategy is None else f"{strategy!r} is no strategy"
        raise SettingError(f"{place}: {said}; there are {', '.join(STRATEGIES)}")
    given = {key: table[key] for key in _KEYS if key in table}
    text = ":".join([strategy, *(f"{key}={value}" for key, value in given.items())])
    name = table.get("name", text)
    if not isinstance(name, str) or not name.strip():
        raise SettingError(f"{place}: name: {name!r} is no text")
    return name, strategy, {key: _value(f"{place}: {key}", key, value) for key, value in given.items()}


def _value(place: str, key: str, value: Any) -> Any:
    """A value as the flag would take it; a TOML number with a point is a share."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise SettingError(f"{place}: {value!r} is neither a number nor a text")
    kind = Share() if isinstance(value, float) and isinstance(_KEYS[key], Size) else _KEYS[key]
    try:
        return kind.convert(str(value), None, None)
    except click.BadParameter as error:
        raise SettingError(f"{place}: {error.message}") from None
