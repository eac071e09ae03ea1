"""From a text to its identifiers: each kind looks at each line, and the longest of what they find wins."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from ctxcli.identifiers.hit import Hit, Kind, Line
from ctxcli.identifiers.kinds import codes, links, paths, releases, shell, text
from ctxcli.identifiers.normalise import plain
from ctxcli.identifiers.runs import runs_of

_CARDS = (
    links.URL, links.EMAIL, codes.DATE, codes.UUID, paths.LOCATION, releases.PACKAGE, shell.BRANCH, paths.PATH,
    codes.HASH, codes.TICKET, links.HOST, releases.VERSION, text.ERROR, shell.ENV, shell.FLAG, codes.ID,
    text.QUANTITY, text.SYMBOL, text.QUOTED,
)  # fmt: skip
KINDS: Mapping[str, Kind] = MappingProxyType({card.name: card for card in _CARDS})
"""In the order in which they decide: of two that claim the same span, the first has it."""

_LONGEST_LINE = 20_000
"""Characters of a line that are looked at; the rest of it is looked at as further lines."""

_LISTED = re.compile(r" {0,6}\d{1,6}(?:→|\t)")
"""The number before a line of a listed file: without it, the same line is known wherever it is listed."""

_MOST_LINES = 16_384
"""Lines whose identifiers are remembered: transcripts show the same files again and again."""


class Extractor:
    """Finds the built-in kinds and, first of all, those that a user defined."""

    def __init__(self, own: Sequence[Kind] = (), *, remembers: int = _MOST_LINES) -> None:
        """Of so many lines it remembers what stood in them."""
        self.kinds: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in (*own, *KINDS.values())})
        self._rank = {name: rank for rank, name in enumerate(self.kinds)}
        self._known = lru_cache(maxsize=remembers)(self._find)

    def __call__(self, content: str, *, by_user: bool = False) -> Iterator[tuple[int, Hit]]:
        """The identifiers of a text, in order: (0-based line within the text, hit). Time is linear in the text.

        A value and its place are those of the text in plain form (see `normalise.plain`).
        """
        for number, raw in enumerate(plain(content).split("\n")):
            listed = _LISTED.match(raw)
            skipped = listed.end() if listed else 0
            for piece in _pieces(raw[skipped:]):
                for hit in self._known(piece, by_user):
                    yield number, hit._replace(start=hit.start + skipped) if skipped else hit

    def of_line(self, text: str, *, by_user: bool = False) -> list[Hit]:
        """The identifiers of one line; what lies inside a longer one is left out, with three exceptions."""
        return list(self._known(text, by_user))

    def _find(self, text: str, by_user: bool) -> tuple[Hit, ...]:
        line = Line(text, tuple(runs_of(text)), by_user)
        return tuple(self._resolved(hit for card in self.kinds.values() for hit in card.find(line)))

    def _resolved(self, hits: Iterable[Hit]) -> list[Hit]:
        """The longest identifier wins; of equals, the kind that decides first.

        Exceptions, because the inner one is used by itself: the path in a location, the variable in a
        path, anything inside a quotation (unless the quotation is just that).
        """
        order = sorted(set(hits), key=lambda hit: (-len(hit.value), self._rank[hit.kind], hit.start))
        kept: list[Hit] = []
        owners: dict[int, list[Hit]] = defaultdict(list)  # of each character: one or two, so that time stays linear
        for hit in order:
            span = range(hit.start, hit.end)
            around = {other for at in span if at in owners for other in owners[at]}
            if all(_may_stand_inside(hit, other) for other in around):
                kept.append(hit)
                for at in span:
                    owners[at].append(hit)
        return sorted(_without_idle_quotes(kept), key=lambda hit: (hit.start, -len(hit.value), self._rank[hit.kind]))


extract = Extractor()
"""The built-in kinds alone."""


def _pieces(line: str) -> Iterator[str]:
    """A line in pieces that are short enough to look at, cut at a blank where there is one."""
    start = 0
    while len(line) - start > _LONGEST_LINE:
        end = line.rfind(" ", start, start + _LONGEST_LINE) + 1
        end = end if end > start else start + _LONGEST_LINE
        yield line[start:end]
        start = end
    yield line[start:]


def _may_stand_inside(hit: Hit, other: Hit) -> bool:
    inside = other.start <= hit.start and hit.end <= other.end
    if other.kind == "quoted":
        return inside
    if hit.kind == "quoted":
        return hit.start <= other.start and other.end <= hit.end
    pair = (hit.kind, other.kind)
    return inside and pair in (("path", "location"), ("env", "path"))


def _without_idle_quotes(hits: list[Hit]) -> list[Hit]:
    """A quotation that holds exactly another identifier is that identifier."""
    others = {(hit.start, hit.end) for hit in hits if hit.kind != "quoted"}
    return [hit for hit in hits if hit.kind != "quoted" or (hit.start, hit.end) not in others]
