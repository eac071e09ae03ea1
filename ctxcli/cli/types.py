"""The values that flags take: tokens, shares, a layer's share."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from ctxcli.model import Layer

if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # older releases of click have no type argument

_TOKENS = re.compile(r"(\d[\d_,]*(?:\.\d+)?)\s*([kKmM]?)")
_MOST = 10**12
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


class Tokens(_Type):
    """A number of tokens: 200000, 200_000, 200k, 1M."""

    name = "tokens"

    def __init__(self, least: int = 1) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; fails for anything else, and for less than the least that makes sense."""
        match = _TOKENS.fullmatch(str(value).strip())
        if match is None or isinstance(value, bool):
            self.fail(f"{value!r} is no number of tokens; write 200000, 200k or 1M", param, ctx)
        number = float(match[1].replace("_", "").replace(",", "")[:40]) * _UNITS[match[2].lower()]
        if number < self.least:
            self.fail(f"{value!r} is less than {self.least}", param, ctx)
        if number > _MOST:
            self.fail(f"{str(value)[:30]!r} is more than a million million", param, ctx)
        return int(number)


class Share(_Type):
    """A share: 80% or 0.8."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The share as a number above 0 and up to 1; `80` alone is refused, it could mean either."""
        text = str(value).strip()
        try:
            number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        except ValueError:
            self.fail(f"{value!r} is no share; write 80% or 0.8", param, ctx)
        if not 0 < number <= 1:
            self.fail(f"{value!r} is not between 0 and 100 %; write 80% or 0.8", param, ctx)
        return number


class LayerShare(_Type):
    """A layer and its share: history=40%."""

    name = "layer=share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Layer, float]:
        """The pair."""
        if isinstance(value, tuple):
            return value
        name, _, share = str(value).partition("=")
        try:
            layer = Layer(name.strip())
        except ValueError:
            self.fail(f"{name!r} is no layer; there are {', '.join(Layer)}", param, ctx)
        return layer, Share().convert(share, param, ctx)


class KeptShare(_Type):
    """A share that suffices, of everything or of a kind: 90%, path=95%."""

    name = "[kind=]share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str | None, float]:
        """(kind or None, share)."""
        if isinstance(value, tuple):
            return value
        kind, sign, share = str(value).rpartition("=")
        if sign and not kind.strip():
            self.fail(f"{value!r} names no kind; write path=95%", param, ctx)
        return (kind.strip() if sign else None), Share().convert(share, param, ctx)


class Size(_Type):
    """A number of tokens, or a share: 50k, 25%. Tokens are int, shares float."""

    name = "tokens|share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        """The figure."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        text = str(value).strip()
        if text.endswith("%") or (text.startswith("0.") and text[2:].isdigit()):
            return float(Share().convert(text, param, ctx))
        return Tokens().convert(text, param, ctx)


class TailSize(_Type):
    """What stays of the newest: (messages, None) or (None, tokens). With k or M, or from 1,000 on, it is tokens."""

    name = "n|tokens"
    fewest_tokens = 1_000

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int | None, int | None]:
        """The pair."""
        if isinstance(value, tuple):
            return value
        number = Tokens(0).convert(value, param, ctx)
        tokens = number >= self.fewest_tokens or not str(value).strip()[-1:].isdigit()
        return (None, number) if tokens else (number, None)


class Strategies(_Type):
    """Names of strategies, comma-separated, each once."""

    name = "name,..."

    def __init__(self, known: Iterable[str]) -> None:
        self.known = tuple(known)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The names in order; fails for one that is none, and for one that stands twice."""
        if isinstance(value, tuple):
            return value
        names = tuple(name.strip() for name in str(value).split(",") if name.strip())
        for name in names:
            if name not in self.known:
                self.fail(f"{name!r} is no strategy; there are {', '.join(self.known)}", param, ctx)
        if len(set(names)) < len(names) or not names:
            self.fail(f"{value!r} names no strategy, or one of them twice", param, ctx)
        return names
