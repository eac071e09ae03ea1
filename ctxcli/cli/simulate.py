"""`ctx simulate`."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ctxcli.caching import LIFE_1H, LIFE_5M
from ctxcli.cli import options as opt
from ctxcli.cli.types import Size, TailSize, Tokens
from ctxcli.strategies import STRATEGIES

if TYPE_CHECKING:
    from ctxcli.reports.simulate import SimulateReport
    from ctxcli.simulate import Policy, Settings

    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # older releases of click have no type argument

_TTL = {"5m": LIFE_5M, "1h": LIFE_1H}


class PolicyText(_Type):
    """A policy: a strategy, then settings behind colons. Gives (text, strategy, settings)."""

    name = "policy"
    keys = {"trigger": Size(), "target": Size(), "keep-last": TailSize()}  # noqa: RUF012 - never changed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The three; fails for a strategy or a setting that there is not, and for one that stands twice."""
        if isinstance(value, tuple):
            return value
        text = str(value).strip()
        strategy, *rest = text.split(":")
        if strategy not in STRATEGIES:
            self.fail(f"{strategy!r} is no strategy; there are {', '.join(STRATEGIES)}", param, ctx)
        found: dict[str, Any] = {}
        for piece in rest:
            key, sign, given = piece.partition("=")
            if not sign or key not in self.keys or key in found:
                known = ", ".join(f"{name}=…" for name in self.keys)
                self.fail(f"{piece!r} is no setting of a policy, or stands twice; there are {known}", param, ctx)
            found[key] = self.keys[key].convert(given, param, ctx)
        return text, strategy, found


@click.command("simulate")
@opt.options(
    opt.files,
    click.option("--policy", "policies", type=PolicyText(), multiple=True,
                 metavar="STRATEGY[:trigger=75%][:target=25%][:keep-last=N]",
                 help="A policy to compare with the recorded one; repeatable. [default: contract]  "
                      f"Strategies: {', '.join(STRATEGIES)}."),
    opt.settings, opt.output_format("simulate"), opt.json_, opt.output,
    click.option("--all", "every_call", is_flag=True, help="Every call under every policy."),
    click.option("--explain", type=click.IntRange(1), metavar="N", help="Tell the arithmetic of call N."),
    click.option("--max-context", type=Tokens(), metavar="N", help="The model's window in tokens."),
    opt.reserve_output,
    click.option("--ttl", type=click.Choice(list(_TTL)), default="5m", show_default=True,
                 help="How long the cache lives."),
    click.option("--cost/--no-cost", default=True, help="Say what it costs, where prices are at hand."),
    click.option("--prices", metavar="FILE",
                 help="A TOML file of prices per million tokens that go first: "
                      '["model"] input, output, cache_read, cache_write.'),
    opt.conversation, opt.from_format, opt.tokenizer, opt.cache,
)  # fmt: skip
def command(files: tuple[str, ...], **flags: Any) -> int:
    """Replay a transcript under other policies: when it is compacted, what is sent, and what that costs.

    FILE is a transcript, a folder of them, or - for standard input. The recorded compactions are the base line, and so
    is none at all; each --policy runs a strategy of `ctx compact` wherever the context exceeds its trigger.

    Exit 2 where something could not be read.
    """
    from ctxcli.cli.output import canvas  # noqa: PLC0415 - the run imports everything, --help nothing of it
    from ctxcli.cli.sources import Sources  # noqa: PLC0415

    sources = Sources(flags["conversation"], flags["from_"])
    drawn = opt.drawing("simulate", flags)(
        _reports(sources, files, _settings(flags)), canvas(flags["output"], every_call=flags["every_call"])
    )
    sources.write(drawn, flags["output"], *files, flags["config"].path)
    return sources.exit_code(failed=False, unchecked=False, exit_zero=False)


def _reports(sources: Any, files: tuple[str, ...], settings: "Settings") -> "Iterator[SimulateReport]":
    from ctxcli.cli.sources import say_skips  # noqa: PLC0415
    from ctxcli.files import find  # noqa: PLC0415
    from ctxcli.simulate import simulate  # noqa: PLC0415

    for path, transcript in sources.transcripts(list(find(files))):
        say_skips(path, transcript)
        yield simulate(transcript, settings)


def _settings(flags: dict[str, Any]) -> "Settings":
    from ctxcli.budget import Limits  # noqa: PLC0415
    from ctxcli.files.settings import read_toml  # noqa: PLC0415
    from ctxcli.identifiers.custom import kinds_of  # noqa: PLC0415
    from ctxcli.prices import Prices, rates_of  # noqa: PLC0415
    from ctxcli.simulate import Settings  # noqa: PLC0415
    from ctxcli.tokens import CountCache, counter  # noqa: PLC0415

    prices = None
    if flags["prices"]:
        prices = Prices(rates_of(read_toml(flags["prices"]), flags["prices"]), flags["prices"])
    elif flags["cost"]:
        prices = Prices()
    return Settings(
        policies=tuple(map(_policy, flags["policies"] or (("contract", "contract", {}),))),
        passes_over=not flags["policies"],
        limits=Limits(flags["max_context"], reserve_output=flags["reserve_output"]),
        ttl=_TTL[flags["ttl"]], prices=prices, explain=flags["explain"], tokenizer=flags["tokenizer"],
        kinds=kinds_of(flags["config"].values.get("kinds", {})),
        weigher=partial(counter, cache=CountCache() if flags["cache"] else None),
    )  # fmt: skip


def _policy(given: tuple[str, str, dict[str, Any]]) -> "Policy":
    from ctxcli.compact.context import Keep  # noqa: PLC0415
    from ctxcli.simulate.policy import Policy  # noqa: PLC0415

    text, strategy, found = given
    keep = Keep(*found["keep-last"]) if "keep-last" in found else None
    sizes = {key: found[key] for key in ("trigger", "target") if key in found}
    return Policy(strategy, keep_last=keep, name=text, **sizes)
