"""`ctx sweep`."""

from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.asking import ModelName, model_options
from ctxcli.cli.types import Share, Tokens

_MAX_OUTPUT = 1_024
_POSITIONS = ("head", "middle", "tail")
_KINDS = ("setting", "path", "fact", "decision", "constraint")
_SHARE = 0.85


class Numbers(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Whole numbers from 1 on, comma-separated, each once. Gives them in ascending order."""

    name = "n,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """The numbers; fails for anything else."""
        if isinstance(value, tuple):
            return value
        found = [piece.strip() for piece in str(value).split(",")]
        if not all(piece.isdecimal() and int(piece[:9]) >= 1 and len(piece) < 8 for piece in found):
            self.fail(f"{value!r} is no list of whole numbers from 1 on; write 1,4,16,64", param, ctx)
        if len(set(map(int, found))) < len(found):
            self.fail(f"{value!r} names a number twice", param, ctx)
        return tuple(sorted(map(int, found)))


class Names(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Some of the names that there are, comma-separated, each once. Gives them in the order of those."""

    name = "name,..."

    def __init__(self, *known: str) -> None:
        self.known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The names; fails for one that is none."""
        if isinstance(value, tuple):
            return value
        found = [piece.strip() for piece in str(value).split(",")]
        for piece in found:
            if piece not in self.known:
                self.fail(f"{piece!r} is none of {', '.join(self.known)}", param, ctx)
        return tuple(name for name in self.known if name in found)


@click.command("sweep")
@opt.options(
    click.argument("name", metavar="[ITEMS]", required=False),
    click.option("--from-transcript", metavar="FILE",
                 help="Make the items from the facts of a transcript, and pad with the rest of it."),
    click.option("--kinds", type=Names(*_KINDS), default=",".join(_KINDS), metavar="KIND,...",
                 help=f"With --from-transcript, only these: {', '.join(_KINDS)}. The last two are judged."),
    click.option("--items-max", type=click.IntRange(1), default=20, show_default=True, metavar="N",
                 help="With --from-transcript, so many items at most."),
    click.option("--corpus", multiple=True, metavar="FILE",
                 help="What to pad with: a text, a transcript, or a folder of them; repeatable."),
    click.option("--multiples", type=Numbers(), default="1,4,16,64", show_default=True, metavar="N,...",
                 help="Lengths, as multiples of an item's own span and question."),
    click.option("--narrow", is_flag=True,
                 help="Where a knee is found, ask on between it and the length before, until it is known to twice."),
    click.option("--positions", type=Names(*_POSITIONS), default=",".join(_POSITIONS), show_default=True,
                 metavar="NAME,...", help="Where the span stands in the padding."),
    click.option("--repeats", type=click.IntRange(1), default=8, show_default=True, metavar="N",
                 help="How often each is asked, each time with another sample of the padding."),
    click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the samples."),
    click.option("--recite", is_flag=True, help="Ask for the evidence, word for word, before the answer."),
    model_options(max_output=_MAX_OUTPUT),
    click.option("--judge", type=ModelName(), metavar="PROVIDER:NAME",
                 help="The model that grades judged items. [default: the model that is asked]"),
    click.option("--concurrency", type=click.IntRange(1, 64), default=4, show_default=True, metavar="N",
                 help="Questions that are asked at the same time."),
    click.option("--answers", metavar="FILE", help="Keep each answer here as it comes, and ask only what is missing."),
    click.option("--dry-run", is_flag=True, help="Say what would be asked and what it would cost, and ask nothing."),
    click.option("--emit", metavar="FILE", help="Write the prompts as JSON lines for another runner, and ask nothing."),
    click.option("--emit-items", metavar="FILE", help="Write the items as JSON lines, and ask nothing."),
    click.option("--grade", metavar="FILE", help="Grade the answers in a file of {id, answer} lines, and ask nothing."),
    click.option("--min-score", type=Share(), metavar="SHARE", help="Fail where the mean at any length is lower."),
    click.option("--min-effective", type=Tokens(), metavar="N", help="Fail where the effective context is shorter."),
    click.option("--effective-share", type=Share(), default=_SHARE, show_default=True, metavar="SHARE",
                 help="What a length of the effective context holds of the base's mean."),
    click.option("--all", "every_call", is_flag=True, help="Each item, and each answer that is not right."),
    click.option("--chart", metavar="FILE",
                 help="Draw the curves too: .svg, .png or .pdf; the extra ctx-transcripts[charts]."),
    click.option("--conversation", metavar="ID", help="With --from-transcript: this one of the file's conversations."),
    opt.settings, opt.output_format("sweep"), opt.json_, opt.output, opt.exit_zero, opt.from_format, opt.tokenizer,
    opt.cache,
)  # fmt: skip
def command(name: str | None, **flags: Any) -> int:
    """Measure how well a model finds a fact as the context grows, and by where in it the fact stands.

    ITEMS is JSON lines: a question, its answer, and the span that decides it (`ctx schema sweep-item`), or - for
    standard input. Each span is padded from your own texts, those near its topic first, with everything left out that
    gives the answer away, and asked at each length and position.

    Exit 1 where a floor is not held, 2 where not every answer could be had (the same command goes on from there), 3
    where a floor cannot be told.
    """
    from ctxcli.cli.sweeping import run  # noqa: PLC0415 - the run imports everything, --help nothing of it

    return run(name, flags)
