"""`ctx bench`."""

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.types import Share, Strategies, Tokens
from ctxcli.formats import TARGETS
from ctxcli.reports.bench import AT_MOST, MEASURES
from ctxcli.strategies import STRATEGIES

if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # older releases of click have no type argument

_NAME = re.compile(r"[\w.-]{1,40}")
_EXTRA = {"semantic": "wordllama"}
"""Strategies that need a package which not everybody has."""


class Compactor(_Type):
    """An outside compactor: name=command. Gives (name, command)."""

    name = "name=command"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The pair; fails where one is missing, where the name is taken, and where the command reads nothing."""
        if isinstance(value, tuple):
            return value
        name, sign, command = str(value).partition("=")
        if not sign or not _NAME.fullmatch(name) or not command.strip():
            self.fail(f"{value!r} is no compactor; write 'mine=my-program {{in}} {{out}}'", param, ctx)
        if name in (*STRATEGIES, "recorded"):
            self.fail(f"{name!r} is a name of ctx's own", param, ctx)
        if "{in}" not in command:
            self.fail(f"{command!r} reads nothing: {{in}} stands for the transcript", param, ctx)
        return name, command


class FloorText(_Type):
    """A floor: measure=figure, or compactor:measure=figure. Gives (compactor or None, measure, figure)."""

    name = "[compactor:]measure=figure"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str | None, str, float]:
        """The three; fails for a measure that there is not, and for what is no figure."""
        if isinstance(value, tuple):
            return value
        who, _, rest = str(value).rpartition(":")
        measure, sign, figure = rest.partition("=")
        if not sign or measure not in MEASURES:
            self.fail(f"{value!r} is no floor; write recall=0.6. There are {', '.join(MEASURES)}", param, ctx)
        try:
            least = float(figure[:-1]) / 100 if figure.endswith("%") else float(figure)
        except ValueError:
            self.fail(f"{figure!r} is no figure", param, ctx)
        if not 0 <= least < float("inf") or (least > 1 and measure not in AT_MOST):
            self.fail(f"{figure!r} can never be reached, or always is", param, ctx)
        return who or None, measure, least


class Budgets(_Type):
    """Shares, comma-separated, in ascending order."""

    name = "share,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """The shares."""
        if isinstance(value, tuple):
            return value
        return tuple(sorted({Share().convert(piece, param, ctx) for piece in str(value).split(",")}))


def _installed() -> str:
    return ",".join(name for name in STRATEGIES if name not in _EXTRA or find_spec(_EXTRA[name]) is not None)


@click.command("bench")
@opt.options(
    opt.files,
    click.option("--strategy", "strategies", type=Strategies(STRATEGIES), metavar="NAME,...",
                 help=f"Only these: {', '.join(STRATEGIES)}. [default: all that are installed]"),
    click.option("--compactor", "compactors", type=Compactor(), multiple=True, metavar="NAME=COMMAND",
                 help="A command that reads the transcript {in} and writes one, or a summary, to {out} or standard "
                      "output; {budget} is the tokens that may be left. Repeatable."),
    click.option("--compactor-format", type=click.Choice(list(TARGETS)), default="openai-chat", show_default=True,
                 metavar="FORMAT", help="What such a command reads: " + ", ".join(TARGETS) + "."),
    click.option("--timeout", type=click.IntRange(1), default=300, show_default=True, metavar="SECONDS",
                 help="What it may take."),
    click.option("--budget", "budgets", type=Budgets(), default="2%,5%,10%,15%,25%", show_default=True,
                 metavar="SHARE,...", help="What may be left of what can be compacted."),
    click.option("--cuts", type=click.IntRange(1), default=3, show_default=True, metavar="N",
                 help="Places in each transcript, beside its recorded compactions."),
    click.option("--min-context", "least", type=Tokens(), default="16k", show_default=True, metavar="N",
                 help="Contexts with fewer tokens are not compared on."),
    click.option("--generations", type=click.IntRange(0, 20), default=5, show_default=True, metavar="N",
                 help="Compactions one after the other, with real turns in between; 0 for none."),
    click.option("--generation-budget", type=Share(), default="10%", show_default=True, metavar="SHARE",
                 help="What each of them may leave of the first context."),
    click.option("--plant", type=click.IntRange(0, 50), default=0, metavar="N",
                 help="Plant N facts of each slot at head, middle and tail, and say what is held of them at the end."),
    click.option("--floor", "floors", type=FloorText(), multiple=True, metavar="[NAME:]MEASURE=FIGURE",
                 help="Fail below it; at every budget, for your own compactors, else for the first strategy. Measures: "
                      + ", ".join(MEASURES) + ". Repeatable."),
    click.option("--resume", metavar="FILE", help="Keep each piece of the work here, and do only what is missing."),
    click.option("--jobs", type=click.IntRange(0), default=0, metavar="N",
                 help="Processes. [default: one a processor]"),
    click.option("--seed", type=int, default=1, show_default=True, metavar="N",
                 help="Of what is planted, and of the intervals."),
    click.option("--chart", metavar="FILE",
                 help="Draw recall over the budget: .svg, .png or .pdf; the extra ctx-transcripts[charts]."),
    click.option("--all", "every_call", is_flag=True, help="Each budget in full; in JSON each result too."),
    click.option("--times/--no-times", default=True,
                 help="Say how long each takes: the one figure that is not the same from run to run."),
    opt.settings, opt.output_format("bench"), opt.json_, opt.output, opt.exit_zero, opt.from_format, opt.tokenizer,
    opt.cache,
)  # fmt: skip
def command(files: tuple[str, ...], **flags: Any) -> int:
    """Compare strategies, and compactors of any make, on transcripts: what is held at equal budgets.

    FILE is a transcript, or a folder of them. Each is cut at several calls, and where it was compacted itself; what
    stands before a cut is compacted by every strategy within every budget, and what comes after it tells what was
    needed. No model and no labels are wanted.

    Exit 1 where a floor is not reached, 2 where something could not be read.
    """
    from ctxcli.cli.benching import run  # noqa: PLC0415 - the run imports everything, --help nothing of it

    if flags["strategies"] is None:
        flags["strategies"] = Strategies(STRATEGIES).convert(_installed(), None, None)
    return run(files, flags)
