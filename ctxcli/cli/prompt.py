"""`ctx prompt`."""

from pathlib import Path
from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.sources import Sources
from ctxcli.compact.span import span_text
from ctxcli.errors import UnreadableError
from ctxcli.files import find
from ctxcli.model import Transcript
from ctxcli.renderers.json import dump
from ctxcli.slots import prompt


@click.command("prompt")
@opt.options(
    click.argument("name", metavar="FILE"),
    opt.output, opt.conversation, opt.from_format,
    click.option("--keep-last", type=click.IntRange(0), default=0, metavar="N",
                 help="Leave out the newest N messages, which stay as they are."),
    click.option("--instructions", metavar="TEXT", default="", help="Added to the contract; @FILE reads a file."),
    click.option("--messages", "as_messages", is_flag=True, help="As the messages of a chat request, in JSON."),
)  # fmt: skip
def command(name: str, **flags: Any) -> int:
    """Print the four-slot prompt for any model, with the context of a transcript as data.

    FILE is a transcript, or - for standard input. The answer of the model can be held against the transcript with
    `ctx guard FILE ANSWER`.
    """
    sources = Sources(flags["conversation"], flags["from_"])
    added = instructions_of(flags["instructions"])
    found = (transcript for _, transcript in sources.transcripts(list(find([name]))))
    pieces = (_written(one, added, number, flags) for number, one in enumerate(found))
    sources.write(pieces, flags["output"], name)
    return 2 if sources.failed else 0


def instructions_of(text: str) -> str:
    """The text, or the text of the file that it names; raises UnreadableError where that cannot be read."""
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{text[1:]}: cannot be read: {error}") from None


def _written(transcript: Transcript, added: str, number: int, flags: dict[str, Any]) -> str:
    if number:
        raise click.UsageError("the file holds several conversations; choose one with --conversation")
    text = prompt(span_text(transcript, keep_last=flags["keep_last"]), instructions=added)
    return dump({"messages": [{"role": "user", "content": text}]}, indent=True) if flags["as_messages"] else text
