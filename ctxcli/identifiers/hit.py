"""What extraction works on and what it finds: a line with its runs, a kind, a value, a place."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

DIGIT = re.compile(r"\d")


class Hit(NamedTuple):
    """One identifier in a line of text."""

    kind: str
    value: str
    start: int
    """Where the value begins in the line, in characters."""

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.value)


class Run(NamedTuple):
    """A run of characters without blanks, quotes or brackets, with what stands around it."""

    text: str
    start: int
    line: str

    @property
    def end(self) -> int:
        """Where it ends in its line."""
        return self.start + len(self.text)

    @property
    def before(self) -> str:
        """The line up to the run, the last 80 characters of it."""
        return self.line[max(0, self.start - 80) : self.start]

    @property
    def after(self) -> str:
        """The line behind the run, the first 80 characters of it."""
        return self.line[self.end : self.end + 80]

    @property
    def word_before(self) -> str:
        """The word before the run, in lower case, bare of punctuation."""
        words = self.before.rstrip("(`'\"*:,[=# \t").split()
        return words[-1].strip("(`'\"*:,[=#{").lower() if words else ""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of text, cut into runs; one is equal only to itself."""

    text: str
    runs: tuple[Run, ...]
    by_user: bool = False
    """Whether the user wrote it: only there does a quotation count."""

    @property
    def has_digit(self) -> bool:
        """Most kinds need one."""
        return DIGIT.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of identifier: how to find it, with lines that it must find it in, and lines that it must not."""

    name: str
    title: str
    find: Callable[[Line], Iterator[Hit]]
    hits: tuple[tuple[str, tuple[str, ...]], ...]
    """(line, the values that it holds of this kind)."""
    misses: tuple[str, ...]
    """Lines that hold none, however much they look like it."""
