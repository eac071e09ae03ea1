"""`ctx simulate`."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.policies import PolicyText, distinct, policies_in, policy_of
from ctxcli.cli.types import Tokens
from ctxcli.model import MAIN
from ctxcli.strategies import STRATEGIES

if TYPE_CHECKING:
    from ctxcli.model import Transcript
    from ctxcli.reports.simulate import SimulateReport
    from ctxcli.simulate import Policy, Settings

_EACH = "all"
_TTL = {"auto": None, "5m": 300, "10m": 600, "30m": 1_800, "1h": 3_600, "24h": 86_400}


@click.command("simulate")
@opt.options(
    opt.files,
    click.option("--policy", "policies", type=PolicyText(), multiple=True,
                 metavar="STRATEGY[:trigger=75%][:target=25%][:window=200k][:keep-last=N][:summary=4k]",
                 help="A policy to compare with the recorded one; repeatable. [default: contract]  With summary=N a "
                      "model would write so many tokens for each pass, else no model is asked.  "
                      f"Strategies: {', '.join(STRATEGIES)}."),
    click.option("--policies", "policy_file", metavar="FILE",
                 help="A TOML file of more policies: [[policy]] tables of strategy, and name, trigger, target, window, "
                      "keep-last, summary."),
    click.option("--lane", metavar="NAME|all", default=MAIN, show_default=True,
                 help="The sub-agent to replay instead of the main conversation, or each that has calls."),
    opt.settings, opt.output_format("simulate"), opt.json_, opt.output,
    click.option("--all", "every_call", is_flag=True, help="Every call under every policy."),
    click.option("--explain", type=click.IntRange(1), metavar="N", help="Tell the arithmetic of call N."),
    click.option("--max-context", type=Tokens(), metavar="N", help="The model's window in tokens."),
    opt.reserve_output,
    click.option("--ttl", type=click.Choice(list(_TTL)), default="auto", show_default=True,
                 help="How long the cache lives; auto: as the recorded figures show, else as the provider says."),
    click.option("--cost/--no-cost", default=True, help="Say what it costs, where prices are at hand."),
    click.option("--prices", metavar="FILE",
                 help="A TOML file of prices per million tokens that go first: "
                      '["model"] input, output, cache_read, cache_write, cache_write_1h.'),
    opt.conversation, opt.from_format, opt.tokenizer, opt.cache,
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **flags: Any) -> int:
    """Replay a transcript under other policies: when it is compacted, what is sent, and what that costs.

    FILE is a transcript, a folder of them, or - for standard input. The recorded compactions are the base line, and so
    is none at all; each --policy runs a strategy of `ctx compact` wherever the context exceeds its trigger: tokens, or
    a share of the usable window (of its own, if it names one).

    Exit 2 where something could not be read.
    """
    from ctxcli.cli.output import canvas  # noqa: PLC0415 - the run imports everything, --help nothing of it
    from ctxcli.cli.sources import Sources  # noqa: PLC0415

    sources = Sources(flags["conversation"], flags["from_"])
    drawn = opt.drawing("simulate", flags)(
        _reports(sources, files, _settings(ctx, flags)), canvas(flags["output"], every_call=flags["every_call"])
    )
    given = [flags[name] for name in ("policy_file", "prices") if flags[name]]
    sources.write(drawn, flags["output"], *files, flags["config"].path, *given)
    return sources.exit_code(failed=False, unchecked=False, exit_zero=False)


def _reports(sources: Any, files: tuple[str, ...], settings: "Settings") -> "Iterator[SimulateReport]":
    from ctxcli.cli.sources import say_skips  # noqa: PLC0415
    from ctxcli.files import find  # noqa: PLC0415
    from ctxcli.simulate import simulate  # noqa: PLC0415

    for path, transcript in sources.transcripts(list(find(files))):
        say_skips(path, transcript)
        for lane in _lanes(transcript, settings.lane):
            yield simulate(transcript, replace(settings, lane=lane))


def _lanes(transcript: "Transcript", wanted: str) -> tuple[str, ...]:
    from ctxcli.simulate.lanes import lanes_with_calls  # noqa: PLC0415

    if wanted != _EACH:
        return (wanted,)
    return lanes_with_calls(transcript) or (MAIN,)


def _settings(ctx: click.Context, flags: dict[str, Any]) -> "Settings":
    from ctxcli.files.settings import read_toml  # noqa: PLC0415
    from ctxcli.identifiers.custom import kinds_of  # noqa: PLC0415
    from ctxcli.prices import Prices, rates_of  # noqa: PLC0415
    from ctxcli.simulate import Settings  # noqa: PLC0415
    from ctxcli.tokens import CountCache, counter  # noqa: PLC0415

    prices = None
    if flags["prices"] and flags["cost"]:
        prices = Prices(rates_of(read_toml(flags["prices"]), flags["prices"]), flags["prices"])
    elif flags["cost"]:
        prices = Prices()
    policies = list(distinct(_policies(flags), flags["policy_file"]))
    return Settings(
        policies=tuple(policies) or (policy_of(("contract", "contract", {})),), passes_over=not policies,
        limits=opt.limits(ctx, flags),
        ttl=_TTL[flags["ttl"]], lane=flags["lane"], prices=prices, explain=flags["explain"],
        tokenizer=flags["tokenizer"], kinds=kinds_of(flags["config"].values.get("kinds", {})),
        weigher=partial(counter, cache=CountCache() if flags["cache"] else None),
    )  # fmt: skip


def _policies(flags: dict[str, Any]) -> "Iterator[Policy]":
    from ctxcli.files.settings import read_toml  # noqa: PLC0415

    yield from map(policy_of, flags["policies"])
    if flags["policy_file"]:
        yield from policies_in(read_toml(flags["policy_file"]), flags["policy_file"])
