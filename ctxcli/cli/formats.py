"""`ctx formats`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.output import canvas, emit
from ctxcli.cli.sources import Sources
from ctxcli.files import find
from ctxcli.files.load import claiming
from ctxcli.formats import FORMATS, TARGETS
from ctxcli.model import COMPACTIONS, Transcript
from ctxcli.renderers.json import dump
from ctxcli.reports.audit import SkipRow
from ctxcli.reports.formats import FormatReport, TypeCount
from ctxcli.shelf import KNOWLEDGE, Format


@click.command("formats")
@opt.options(
    click.argument("files", nargs=-1, metavar="[FILE]..."),
    opt.output_format("formats"), opt.json_, opt.output, opt.from_format,
    click.option("--strict", "unknown_fails", is_flag=True, help="Exit 1 where something was not understood."),
)  # fmt: skip
def command(files: tuple[str, ...], **flags: Any) -> int:
    """List the transcript formats that can be read, how each is recognised, and what it records.

    With FILE: say why it is recognised as what it is, and which of its records were not understood, so that a new
    version of an agent shows up here rather than as wrong figures.
    """
    if not files:
        if flags["format_"] in ("jsonl", "markdown"):
            raise click.UsageError("the list of formats is text, or JSON by --json; --format is for a FILE")
        as_json = flags["as_json"] or flags["format_"] == "json"
        cards = FORMATS.values()
        emit([dump(list(map(_card, cards)), indent=True)] if as_json else map(_words, cards), flags["output"])
        return 0
    sources = Sources(from_=flags["from_"])
    reports: list[FormatReport] = []
    drawn = opt.drawing("formats", flags)(_reports(sources, files, reports), canvas(flags["output"]))
    sources.write(drawn, flags["output"], *files)
    return 2 if sources.failed else int(flags["unknown_fails"] and not all(one.ok for one in reports))


def _card(card: Format) -> dict[str, Any]:
    return {
        "name": card.name, "title": card.title, "recognised_by": card.recognised_by,
        "knows": _known(card), "reads": True, "writes": card.write is not None, "converts_to": card.name in TARGETS,
    }  # fmt: skip


def _words(card: Format) -> str:
    does = ["read", *["written back"] * (card.write is not None), *["converted to"] * (card.name in TARGETS)]
    return (
        f"{card.name}\n  {card.title}\n  recognised by  {card.recognised_by}\n"
        f"  records        {', '.join(_known(card)) or 'messages only'}\n  can be         {', '.join(does)}\n"
    )


def _known(card: Format) -> list[str]:
    return [name for name in KNOWLEDGE if name in card.knows]


def _reports(sources: Sources, files: Sequence[str], reports: list[FormatReport]) -> Iterator[FormatReport]:
    """The report of each source, as one by one they are read."""
    for path, group in groupby(sources.transcripts(list(find(files))), key=itemgetter(0)):
        found = [transcript for _, transcript in group]
        reports.append(_report(path, found, sources.beside.get(path, ())))
        yield reports[-1]


def _report(path: str, found: list[Transcript], companions: Sequence[str]) -> FormatReport:
    card = FORMATS[found[0].format]
    unknown, books = Counter[str](), Counter[str]()
    for one in found:
        unknown.update(dict(one.unknown))
        books.update(dict(one.bookkeeping))
    skips = tuple(SkipRow(skip.line, skip.reason, skip.recovered, skip.file) for one in found for skip in one.skips)
    calls = [call for one in found for call in one.calls]
    return FormatReport(
        kind="ctx.formats", version=1, ok=not unknown and all(skip.recovered for skip in skips),
        path=path, format=card.name, title=card.title, recognised_by=card.recognised_by,
        gave_way=tuple(other.name for other in claiming(path) if other.name != card.name),
        knows=tuple(_known(card)), writes=card.write is not None,
        companions=tuple(companions),
        conversations=len(found), records=sum(one.records for one in found),
        messages=sum(len(one.messages) for one in found), calls=len(calls),
        with_usage=sum(call.usage is not None for call in calls),
        compactions=sum(event.kind in COMPACTIONS for one in found for event in one.events),
        duplicates=sum(one.duplicates for one in found),
        bookkeeping=_counted(books), unknown=_counted(unknown), skips=skips,
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
    )  # fmt: skip


def _counted(counts: Counter[str]) -> tuple[TypeCount, ...]:
    """The most frequent first."""
    return tuple(TypeCount(type_, count) for type_, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))
