"""`ctx budget`."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.types import Size, Tokens
from ctxcli.model import MAIN

if TYPE_CHECKING:
    from ctxcli.audit.left import Settings
    from ctxcli.cli.sources import Sources
    from ctxcli.reports.budget import BudgetReport


@click.command("budget")
@opt.options(
    click.argument("files", nargs=-1, metavar="[FILE]..."),
    click.option("--at", type=click.IntRange(1), metavar="N",
                 help="The call, as `ctx audit` numbers them. [default: the last]"),
    click.option("--lane", metavar="NAME", default=MAIN, show_default=True, help="The sub-agent to look at instead."),
    click.option("--trigger", type=Size(), metavar="SIZE",
                 help="When compaction comes: tokens, or a share of the usable window. [default: 75%]"),
    click.option("--fixed", type=Tokens(0), metavar="N",
                 help="Without FILE: what system prompt and tools take. [default: 0]"),
    opt.settings, opt.output_format("budget"), opt.json_, opt.output,
    click.option("--max-context", type=Tokens(), metavar="N", help="The model's window in tokens."),
    opt.reserve_output, opt.share, opt.conversation, opt.from_format, opt.tokenizer, opt.cache,
    click.option("--strict", "no_overflow", is_flag=True,
                 help="Exit 1 where the context is over the usable window, or a layer over its quota."),
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **flags: Any) -> int:
    """Print the note that tells an agent how far its context is, or share a window out over the layers.

    FILE is a transcript, a folder of them, or - for standard input: what is used and left at a call, and in about how
    many calls compaction comes, ready to be put into the context. Without FILE, --max-context is shared out: what is
    kept for the answer, and the quota of each layer.

    Exit 1 under --strict where there is too much, 2 where something could not be read, 3 under --strict where no window
    is known.
    """
    from ctxcli.cli.output import canvas  # noqa: PLC0415 - the run imports everything, --help nothing of it
    from ctxcli.cli.sources import Sources  # noqa: PLC0415

    sources = Sources(flags["conversation"], flags["from_"])
    said: list[BudgetReport] = []
    reports = _notes(ctx, sources, files, flags) if files else _alone(ctx, flags)
    drawn = opt.drawing("budget", flags)(_kept(reports, said), canvas(flags["output"]))
    if files:
        sources.write(drawn, flags["output"], *files, flags["config"].path)
    else:
        from ctxcli.cli.output import emit  # noqa: PLC0415

        emit(drawn, flags["output"], inputs=lambda: [flags["config"].path])
    return sources.exit_code(
        failed=any(one.overflow for one in said), unchecked=any(one.window.usable is None for one in said),
        exit_zero=not flags["no_overflow"],
    )  # fmt: skip


def _kept(reports: "Iterator[BudgetReport]", said: "list[BudgetReport]") -> "Iterator[BudgetReport]":
    for report in reports:
        said.append(report)
        yield report


def _alone(ctx: click.Context, flags: dict[str, Any]) -> "Iterator[BudgetReport]":
    """A window without a transcript."""
    from ctxcli.audit.left import shared_out  # noqa: PLC0415

    if flags["max_context"] is None:
        raise click.UsageError("what is shared out? Name a FILE, or the window: --max-context 200k")
    asked = [f"--{name}" for name in ("at", "trigger", "conversation", "from_") if flags[name] is not None]
    if asked or flags["lane"] != MAIN:
        raise click.UsageError(f"{', '.join(asked) or '--lane'}: of which transcript? Name a FILE")
    yield shared_out(_settings(ctx, flags).limits, flags["fixed"] or 0)


def _notes(
    ctx: click.Context, sources: "Sources", files: tuple[str, ...], flags: dict[str, Any]
) -> "Iterator[BudgetReport]":  # fmt: skip
    """A note for each conversation; what has no such call is said and passed over."""
    from ctxcli.audit.left import left  # noqa: PLC0415
    from ctxcli.cli.sources import say, say_skips  # noqa: PLC0415
    from ctxcli.errors import SettingError  # noqa: PLC0415
    from ctxcli.files import find  # noqa: PLC0415

    if flags["fixed"] is not None:
        raise click.UsageError("--fixed: a FILE tells by itself what system prompt and tools take")
    settings = _settings(ctx, flags)
    for path, transcript in sources.transcripts(list(find(files))):
        say_skips(path, transcript)
        try:
            yield left(transcript, settings)
        except SettingError as error:
            name = f"{path}: {transcript.id}" if transcript.many and transcript.id else path
            say(f"{name}: {error}")
            sources.failed = True


def _settings(ctx: click.Context, flags: dict[str, Any]) -> "Settings":
    from ctxcli.audit.left import Settings  # noqa: PLC0415
    from ctxcli.budget import DEFAULT_TRIGGER  # noqa: PLC0415
    from ctxcli.tokens import CountCache, counter  # noqa: PLC0415

    return Settings(
        flags["at"], flags["lane"], DEFAULT_TRIGGER if flags["trigger"] is None else flags["trigger"],
        opt.limits(ctx, flags), flags["tokenizer"], partial(counter, cache=CountCache() if flags["cache"] else None),
    )  # fmt: skip
