"""`ctx probe`."""

from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.asking import ModelName, model_options
from ctxcli.cli.types import Share, Size, TailSize

_MAX_OUTPUT = 1_024


@click.command("probe")
@opt.options(
    click.argument("files", nargs=-1, required=True, metavar="BEFORE AFTER | --recorded FILE | --strategy NAME FILE"),
    click.option("--recorded", is_flag=True, help="Probe each compaction that a transcript itself records."),
    click.option("--compaction", type=click.IntRange(1), metavar="N", help="With --recorded: only the N-th of them."),
    click.option("--strategy", metavar="NAME,...", help="Probe what `ctx compact` would make of FILE by these."),
    click.option("--target", type=Size(), default="25%", show_default=True, metavar="SIZE",
                 help="With --strategy: what to aim at, in tokens or as a share."),
    click.option("--keep-last", type=TailSize(), metavar="N", help="With --strategy: messages (12), or tokens (20k)."),
    click.option("--questions", metavar="FILE",
                 help="Ask these, JSON lines (`ctx schema probe-question`), instead of making them."),
    click.option("--questions-max", type=click.IntRange(1), default=20, show_default=True, metavar="N",
                 help="So many questions are made at most."),
    click.option("--emit-questions", metavar="FILE", help="Write the questions as JSON lines, and ask nothing."),
    click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, metavar="N",
                 help="How often each is asked in each context."),
    click.option("--min-score", type=Share(), metavar="SHARE",
                 help="Fail only where less of the answers is kept: 90%."),
    model_options(max_output=_MAX_OUTPUT),
    click.option("--judge", type=ModelName(), metavar="PROVIDER:NAME",
                 help="The model that grades judged questions. [default: the model that is asked]"),
    click.option("--concurrency", type=click.IntRange(1, 64), default=4, show_default=True, metavar="N",
                 help="Questions that are asked at the same time."),
    click.option("--dry-run", is_flag=True, help="Say what would be asked and what it would cost, and ask nothing."),
    click.option("--all", "every_call", is_flag=True, help="The questions that were set aside too."),
    opt.settings, opt.output_format("probe"), opt.json_, opt.output, opt.conversation, opt.from_format, opt.tokenizer,
    opt.cache, opt.exit_zero,
)  # fmt: skip
def command(files: tuple[str, ...], **flags: Any) -> int:
    """Ask a model the same questions before and after a compaction, and say which answers changed.

    BEFORE and AFTER are transcripts, or texts such as a summary; one may be - for standard input. Questions are
    made of what the compaction took out: settings, paths, facts, reasons of decisions, boundaries, what is open. Each
    is asked on its own: without any context, with the one before, and with the one after. One that is answered without
    any, or not even with the one before, tells nothing and is set aside.

    Exit 1 where an answer changed, 2 where not every answer could be had (the same command goes on from there), 3 where
    no question can tell anything.
    """
    from ctxcli.cli.probing import run  # noqa: PLC0415 - the run imports everything, --help nothing of it

    return run(files, flags)
