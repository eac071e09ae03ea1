"""`ctx convert`."""

from collections.abc import Iterator
from typing import Any

import click

from ctxcli.change import applied
from ctxcli.cli import options as opt
from ctxcli.cli.output import emit
from ctxcli.cli.sources import Sources, say
from ctxcli.errors import UnreadableError
from ctxcli.files import find
from ctxcli.formats import TARGETS, conversation_of, convert
from ctxcli.model import MAIN, Message, Transcript


@click.command("convert")
@opt.options(
    click.argument("name", metavar="FILE"),
    click.option("--to", "target", required=True, type=click.Choice(list(TARGETS)), help="The format to write."),
    opt.output,
    click.option("--raw", is_flag=True, help="All that was said, without summaries, instead of the context as it is."),
    click.option("--lane", default=MAIN, metavar="NAME", help="The conversation of this sub-agent."),
    click.option("--strict", is_flag=True, help="Exit 1, and write nothing, where the target cannot hold something."),
    opt.conversation, opt.from_format,
)  # fmt: skip
def command(name: str, target: str, **flags: Any) -> int:
    """Write a transcript in another format: the context as a model would get it next.

    FILE is a transcript, or - for standard input. What the target cannot hold is said on standard error. Several
    conversations are written one a line, where the target can hold several. Exit 2 where something could not be read.
    """
    sources = Sources(flags["conversation"], flags["from_"])
    found = [transcript for _, transcript in sources.transcripts(list(find([name])))]
    if sources.failed:
        return 2
    many = len(found) > 1
    if many and not TARGETS[target].many:
        raise UnreadableError(f"{name}: holds {len(found):,} conversations, {target} one: choose by --conversation")
    pieces, lost = [], False
    for transcript in found:
        messages = list(_messages(transcript, flags["lane"], raw=flags["raw"]))
        data, remarks = convert(conversation_of(transcript, messages, flags["lane"]), target, one_line=many)
        pieces.append(data)
        lost = lost or bool(remarks)
        named = f" · {transcript.id}" if many and transcript.id else ""
        for remark in remarks:
            say(f"{name}{named}: {remark}")
    if lost and flags["strict"]:
        return 1
    emit(pieces, flags["output"], inputs=lambda: sources.read)
    return 0


def _messages(transcript: Transcript, lane: str, *, raw: bool) -> Iterator[Message]:
    from ctxcli.compact.context import raw_of, start_of  # noqa: PLC0415 - heavy, and --help needs nothing of it

    if lane not in {one.name for one in transcript.lanes}:
        known = ", ".join(one.name for one in transcript.lanes)
        raise UnreadableError(f"{transcript.path}: there is no lane {lane!r}; there are {known}")
    start = start_of(transcript, lane)
    if not raw:
        yield from applied(transcript, start)
    else:
        yield from (transcript.messages[index] for index in raw_of(transcript, start.keep, lane))
