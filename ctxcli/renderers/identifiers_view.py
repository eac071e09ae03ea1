"""Identifiers as blocks: a row each where they are few or all are wanted, else a row a kind."""

from collections.abc import Iterator, Sequence

from ctxcli.model import PLAIN_TEXT
from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, in_words, number, plural
from ctxcli.reports.identifiers import SOURCES, IdentifierRow, IdentifiersReport

_FEW = 40
_MOST_SHOWN = 4


def identifiers_blocks(report: IdentifiersReport, *, everything: bool = False) -> Iterator[Block]:
    """The blocks of one report."""
    rows = report.identifiers
    counts = [f"{number(count)} {name}" for name in SOURCES if (count := _count(rows, name))]
    of = (f"conversation {report.conversation}",) if report.conversation else ()
    yield Facts(((report.path, report.format, *of, plural(len(rows), "identifier"), *counts),))
    if not rows:
        return
    if everything or len(rows) <= _FEW:
        yield _each(rows, plain=report.format == PLAIN_TEXT)
    else:
        yield _by_kind(rows)
        yield Notes("more", ("--all lists each with its line; --format jsonl gives one a line",))


def _each(rows: Sequence[IdentifierRow], *, plain: bool) -> Grid:
    columns = (Column("line", right=True), Column("kind"), Column("identifier", long=True), Column("uses", right=True))
    if plain:
        return Grid(columns, tuple((number(row.line), row.kind, row.value, number(row.uses)) for row in rows))
    cells = ((number(row.line), row.kind, row.value, number(row.uses), row.source, row.role or "–") for row in rows)
    return Grid((*columns, Column("source"), Column("role", spare=True)), tuple(cells))


def _by_kind(rows: Sequence[IdentifierRow]) -> Grid:
    kinds: dict[str, list[IdentifierRow]] = {}
    for row in rows:
        kinds.setdefault(row.kind, []).append(row)
    cells = []
    for kind, its in sorted(kinds.items(), key=lambda item: -len(item[1])):
        strongest = sorted(its, key=lambda row: (SOURCES.index(row.source), -row.uses))
        counts = (number(_count(its, name)) for name in SOURCES)
        cells.append((kind, number(len(its)), *counts, in_words([row.value for row in strongest], _MOST_SHOWN)))
    figures = (Column(name, right=True, spare=name != "found") for name in ("found", *SOURCES))
    return Grid((Column("kind"), *figures, Column("for example", long=True)), tuple(cells))


def _count(rows: Sequence[IdentifierRow], source: str) -> int:
    return sum(row.source == source for row in rows)
