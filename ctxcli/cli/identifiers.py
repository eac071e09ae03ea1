"""`ctx identifiers`."""

from collections.abc import Iterator
from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.output import canvas
from ctxcli.cli.sources import Sources, say_skips
from ctxcli.files import find
from ctxcli.files.text import read_text
from ctxcli.formats import FORMATS
from ctxcli.identifiers import KINDS, Extractor
from ctxcli.identifiers.custom import kinds_of
from ctxcli.identifiers.gather import gather
from ctxcli.model import PLAIN_TEXT, Transcript
from ctxcli.reports.identifiers import SOURCES, IdentifierRow, IdentifiersReport


@click.command("identifiers")
@opt.options(
    opt.files, opt.settings, opt.output_format("identifiers"), opt.json_, opt.output,
    click.option("--kinds", "only", metavar="KIND,...", default="",
                 help=f"Only these: {', '.join(KINDS)}, and your own."),
    click.option("--source", "wanted", type=click.Choice(SOURCES), multiple=True,
                 help="Only what the user or the assistant stated, a tool call touched, or was only seen; repeatable."),
    click.option("--all", "everything", is_flag=True, help="A row each, however many there are."),
    opt.conversation,
    click.option("--from", "from_", type=click.Choice([*FORMATS, PLAIN_TEXT]),
                 help="The input's format, instead of finding out."),
)  # fmt: skip
def command(files: tuple[str, ...], only: str, wanted: tuple[str, ...], **flags: Any) -> int:
    """List the identifiers of a transcript or a text: paths, versions, ids and whatever must survive verbatim.

    FILE is a transcript, a folder of them, plain text or markdown, or - for standard input.
    """
    finder = Extractor(kinds_of(flags["config"].values.get("kinds", {})))
    kinds = _kinds(only, finder)
    as_text = flags["from_"] == PLAIN_TEXT
    sources = Sources(flags["conversation"], None if as_text else flags["from_"])
    if as_text or flags["from_"] is None:
        sources.plain = lambda path: read_text(path, sure=as_text)

    def reports() -> Iterator[IdentifiersReport]:
        for path, transcript in sources.transcripts(list(find(files))):
            rows = gather(transcript, finder)
            chosen = tuple(row for row in rows if row.kind in kinds and row.source in (wanted or SOURCES))
            yield _report(path, transcript, chosen)

    drawing = opt.drawing("identifiers", flags)(reports(), canvas(flags["output"], every_call=flags["everything"]))
    sources.write(drawing, flags["output"], *files, flags["config"].path)
    return 2 if sources.failed else 0


def _report(path: str, transcript: Transcript, rows: tuple[IdentifierRow, ...]) -> IdentifiersReport:
    say_skips(path, transcript)
    return IdentifiersReport("ctx.identifiers", 1, path, transcript.id, transcript.format, rows)


def _kinds(text: str, finder: Extractor) -> frozenset[str]:
    named = [name.strip() for name in text.split(",") if name.strip()]
    for name in named:
        if name not in finder.kinds:
            raise click.BadParameter(f"{name!r} is no kind; there are {', '.join(finder.kinds)}", param_hint="--kinds")
    return frozenset(named or finder.kinds)
