"""A report as blocks that any renderer can draw: lines of facts, a curve, grids, notes."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """Short facts in a line or a few; the first is what the report is of."""

    lines: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A course of figures, with marks before some of them."""

    title: str
    values: tuple[int, ...]
    marks: frozenset[int]
    """Indices of the values that a compaction stands before."""
    legend: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a grid."""

    name: str
    right: bool = False
    long: bool = False
    """May be cut on a narrow terminal."""
    prose: bool = False
    """A sentence: on a narrow terminal it is broken over lines, never cut."""
    spare: bool = False
    """May be left out on a narrow terminal."""

    @property
    def yields(self) -> bool:
        """Whether it may be narrower than what stands in it."""
        return self.long or self.prose


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences under a word."""

    title: str
    lines: tuple[str, ...]
    warn: bool = False


Block = Facts | Curve | Grid | Notes


def number(value: int | None) -> str:
    """A measured figure: thousands apart, a dash where it is not known."""
    return "–" if value is None else f"{value:,}"


def about(value: int | None, *, exact: bool = False) -> str:
    """An estimated figure: with `~` unless the tokenizer is the model's own."""
    if value is None:
        return "–"
    return f"{value:,}" if exact or value == 0 else f"~{value:,}"


def short(value: int) -> str:
    """A large figure in a word: 25.6 M, 812 k, 940."""
    for unit, name in ((1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")):
        if value >= unit:
            base = 1_000 if name == "k" else unit
            return f"{value / base:,.1f} {name}" if name != "k" else f"{value / base:,.0f} k"
    return f"{value:,}"


def percent(share: float | None, digits: int = 0) -> str:
    """A share in per cent; small ones with a decimal, a dash where it is not known."""
    if share is None:
        return "–"
    if 0 < share < 0.005 and digits == 0:
        return "<1 %"
    return f"{share * 100:.{digits}f} %"


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 call`, `225 calls`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def in_words(things: Sequence[int | str], most: int = 8) -> str:
    """`12, 40 and 3 more`."""
    shown = ", ".join(str(thing) for thing in things[:most])
    rest = len(things) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def printable(text: str) -> str:
    """Text from a file, harmless on a terminal: no control codes, no half characters, one line."""
    return "".join(sign if sign.isprintable() else " " if sign in "\n\r\t" else "\ufffd" for sign in text)
