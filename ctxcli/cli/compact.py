"""`ctx compact`."""

from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.asking import model_options
from ctxcli.cli.types import Size, Strategies, TailSize, Tokens
from ctxcli.formats import TARGETS
from ctxcli.strategies import STRATEGIES
from ctxcli.validity import PROFILES

_SAID = click.core.ParameterSource.COMMANDLINE


@click.command("compact")
@opt.options(
    click.argument("name", metavar="FILE"),
    click.option("-o", "--output", metavar="FILE", help="Write the compacted transcript there, whole or not at all."),
    click.option("--dry-run", is_flag=True, help="Report only: nothing is written."),
    click.option("--strategy", type=Strategies(STRATEGIES), default="contract", show_default=True, metavar="NAME,...",
                 help=f"They run in order until the target is met: {', '.join(STRATEGIES)}."),
    click.option("--target", type=Size(), default="25%", show_default=True, metavar="TOKENS|SHARE",
                 help="What to aim at: 50k, or a share of the context."),
    click.option("--budget", type=Tokens(), metavar="TOKENS", help="What the result must fit into; else exit 1."),
    click.option("--trigger", type=Size(), metavar="SHARE|TOKENS",
                 help="Do nothing while less of the usable window is in use: 75%."),
    opt.max_context, opt.reserve_output,
    click.option("--keep-last", type=TailSize(), metavar="N|TOKENS",
                 help="The newest that stays verbatim: 12 messages, or 20k tokens. [default: 40% of the target]"),
    click.option("--pin", multiple=True, metavar="REGEX|LINE", help="Messages that stay as they are; repeatable."),
    click.option("--keep-results", type=click.IntRange(0), default=3, show_default=True, metavar="N",
                 help="The newest tool results that are not cleared."),
    click.option("--exclude-tool", multiple=True, metavar="NAME", help="A tool whose results stay; repeatable."),
    click.option("--clear-at-least", type=Tokens(0), default=0, metavar="TOKENS",
                 help="Clear old results only where that frees so much."),
    click.option("--summary-tokens", type=Tokens(), metavar="TOKENS",
                 help="A limit for the summary. [default: 4,000, or what is required takes]"),
    click.option("--summary", metavar="FILE", help="A stored answer to `ctx prompt`, instead of our own summary."),
    click.option("--summariser", metavar="CMD|llm",
                 help="A command that answers the prompt, stdin to stdout; or llm: the model that --model names."),
    click.option("--attempts", type=click.IntRange(1, 20), metavar="N",
                 help="How often a summary may be asked for, each time with what the last one lost. [default: 2]"),
    click.option("--repair/--no-repair", default=None,
                 help="Add what the last answer lost from the transcript, word for word; or refuse it. "
                      "[default: --repair for llm]"),
    click.option("--chunk", type=Tokens(), metavar="TOKENS",
                 help="What one prompt may hold of the transcript; a longer span is asked for in pieces. "
                      "[default: what the window of --model leaves]"),
    click.option("--reuse-prefix", is_flag=True,
                 help="Send the conversation as it was and the prompt behind it: a provider's cache may serve it."),
    model_options(max_output=8_192),
    click.option("--instructions", metavar="TEXT", default="", help="Added to a model's prompt; @FILE reads a file."),
    click.option("--notes", metavar="FILE", help="Notes that are read, and appended to; the context names them."),
    click.option("--events", metavar="FILE", help="Append the report there as one line."),
    click.option("--no-guard", is_flag=True, help="Write the result although the guard may find a loss."),
    click.option("--profile", type=click.Choice(list(PROFILES)), help="Whose rules. [default: the transcript's own]"),
    click.option("--output-format", type=click.Choice(["same", *TARGETS]), default="same",
                 show_default=True, help="The format of the compacted transcript."),
    opt.settings, opt.output_format("compact"), opt.json_, opt.conversation, opt.from_format, opt.tokenizer, opt.cache,
)  # fmt: skip
def command(name: str, **flags: Any) -> int:
    """Compact a transcript under a contract: boundaries, decisions, identifiers and open items survive verbatim.

    FILE is a transcript, or - for standard input. The compacted transcript goes to standard output, or to -o; then the
    report goes to standard output. No model is needed; with one, --dry-run prints what it would be asked and the cost.

    Exit 1 where the guard finds a loss, the result is not valid or over the budget, or a summary does not hold; then
    nothing is written. Exit 2 where something could not be read, a model gave no answer, or a limit was reached.
    """
    from ctxcli.cli.compacting import run  # noqa: PLC0415 - the run imports everything, --help nothing of it

    _check_usage(flags)
    return run(name, flags)


def _check_usage(flags: dict[str, Any]) -> None:
    _check_summariser(flags)
    machine = flags["as_json"] or flags["format_"] != "table"
    if machine and not flags["dry_run"] and not flags["output"]:
        raise click.UsageError(
            "the report and the transcript would both go to standard output: add -o FILE or --dry-run"
        )
    if flags["dry_run"] and flags["output"]:
        raise click.UsageError("--dry-run writes nothing, so -o has no use")


def _check_summariser(flags: dict[str, Any]) -> None:
    if flags["summariser"] is not None and not flags["summariser"].strip():
        raise click.UsageError("--summariser: an empty command cannot be asked; name one, or llm")
    if flags["summary"] and flags["summariser"]:
        raise click.UsageError("--summary and --summariser exclude each other")
    if flags["summary"] and (flags["attempts"] or 1) > 1:
        raise click.UsageError("a stored answer cannot be asked again, so --attempts has no use")
    source = click.get_current_context().get_parameter_source
    if flags["summariser"] != "llm":
        said = [name for name in ("model", "base_url", "reuse_prefix") if source(name) is _SAID]
        if said:
            raise click.UsageError(f"--{said[0].replace('_', '-')} has no use without --summariser llm")
    if not flags["summary"] and not flags["summariser"]:
        said = [name for name in ("attempts", "repair", "chunk") if source(name) is _SAID]
        if said:
            raise click.UsageError(f"--{said[0]} has no use without --summariser")
