"""The options of every command that asks a model, the model that they name, and what a dry run says of it.

A command decorates itself with `model_options(...)`, takes the model from `asker_of(flags)`, and under --dry-run gives
its requests to `emit_plan`. The table `[model]` of a settings file holds the same, without the `--`; never a key.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from ctxcli.cli import options as opt
from ctxcli.errors import SettingError

if TYPE_CHECKING:
    from ctxcli.ask import Asker, Request
    from ctxcli.prices import Prices
    from ctxcli.providers import Endpoint, Model
    from ctxcli.reports.requests import RequestsReport

    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # older releases of click have no type argument

_PROVIDERS = ("anthropic", "openai")
_AT_HOME = ("localhost", "127.0.0.1", "::1")
TIMEOUT, RETRIES = 600.0, 2
"""What the vendors' clients wait and try by themselves."""


class ModelName(_Type):
    """A model: PROVIDER:NAME. Gives (provider, name)."""

    name = "provider:name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The pair; fails for a provider that there is not."""
        if isinstance(value, tuple):
            return value
        provider, _, model = str(value).strip().partition(":")
        if provider not in _PROVIDERS or not model:
            known = " or ".join(f"{one}:NAME" for one in _PROVIDERS)
            self.fail(f"{value!r} names no model; write {known}", param, ctx)
        return provider, model


class Amount(_Type):
    """A number above 0: dollars, seconds; from 0 on where `zero` says so."""

    name = "amount"

    def __init__(self, *, zero: bool = False) -> None:
        self.zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; fails for anything else."""
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number) or number < 0 or (number == 0 and not self.zero):
            self.fail(f"{value!r} is no number above 0", param, ctx)
        return number


def model_options(*, max_output: int) -> Callable[[opt.CommandT], opt.CommandT]:
    """The options as one decorator; `max_output` is the command's own limit of an answer, in tokens."""
    return opt.options(
        click.option("--model", type=ModelName(), envvar="CTX_MODEL", metavar="PROVIDER:NAME",
                     help="The model to ask: anthropic:NAME, openai:NAME; with --base-url any server like these."),
        click.option("--base-url", metavar="URL", envvar="CTX_BASE_URL",
                     help="Where the model is, if not at the vendor: http://127.0.0.1:8080/v1, for one."),
        click.option("--key-env", metavar="NAME",
                     help="The variable that holds the key. [default: ANTHROPIC_API_KEY or OPENAI_API_KEY]"),
        click.option("--max-cost", type=Amount(), metavar="DOLLARS", help="What the run may spend; exit 2 beyond it."),
        click.option("--max-calls", type=click.IntRange(1), metavar="N", help="Questions that may be sent."),
        click.option("--timeout", type=Amount(), default=TIMEOUT, show_default=True, metavar="SECONDS",
                     help="Silence after which an attempt is given up."),
        click.option("--retries", type=click.IntRange(0, 20), default=RETRIES, show_default=True, metavar="N",
                     help="Further attempts after a rate limit, a fault of the server or a time-out."),
        click.option("--max-output", type=click.IntRange(1), default=max_output, show_default=True, metavar="TOKENS",
                     help="What an answer may take."),
        click.option("--temperature", type=Amount(zero=True), metavar="T", help="[default: the model's own]"),
        click.option("--prices", metavar="FILE",
                     help='A TOML file of prices per million tokens that go first: ["NAME"] input, output.'),
        click.option("--reply-cache/--no-reply-cache", default=True,
                     help="Keep answers on disk, so that the same question costs nothing."),
    )  # fmt: skip


def asker_of(flags: dict[str, Any]) -> "Model":
    """The model that the flags name. Nothing is imported, opened or sent before it is asked.

    Raises UsageError where none is named, and SettingError for what cannot be.
    """
    from ctxcli.providers import Limits, Model, Replies  # noqa: PLC0415

    if not flags["model"]:
        raise click.UsageError("a model is wanted: --model PROVIDER:NAME")
    return Model(
        _endpoint(flags), limits=Limits(flags["max_calls"], flags["max_cost"]), prices=_prices(flags),
        replies=Replies() if flags["reply_cache"] else None, counts=flags.get("cache", True),
    )  # fmt: skip


def _endpoint(flags: dict[str, Any]) -> "Endpoint":
    from ctxcli.providers import Endpoint, checked_url, dialect_of  # noqa: PLC0415

    provider, model = flags["model"]
    dialect = dialect_of(provider)
    origin = "--base-url" if flags["base_url"] else dialect.url_variable
    url = flags["base_url"] or os.environ.get(dialect.url_variable, "")
    url = checked_url(url, origin) if url else ""
    variable = flags["key_env"] or dialect.variable
    key = os.environ.get(variable, "").strip()
    if flags["key_env"] and not key:
        raise SettingError(f"--key-env: the variable {variable} is not set")
    if not key.isascii() or not key.isprintable():
        raise SettingError(f"{variable}: holds signs that no key has")
    _check_trust(flags, url, variable if key else "")
    return Endpoint(
        provider, model, base_url=url, key=key, key_name=variable, timeout=flags["timeout"], retries=flags["retries"]
    )


def _check_trust(flags: dict[str, Any], url: str, variable: str) -> None:
    """A settings file that merely lies in the folder may not send a key, or the text, to where the user did not say."""
    ctx = click.get_current_context(silent=True)
    origins = click.core.ParameterSource
    if ctx is None or ctx.get_parameter_source("base_url") is not origins.DEFAULT_MAP:
        return
    if ctx.get_parameter_source("config") in (origins.COMMANDLINE, origins.ENVIRONMENT):
        return
    host = urlsplit(url).hostname or ""
    if host not in _AT_HOME:
        sent = f"the key in {variable} and the transcript" if variable else "the transcript"
        raise SettingError(
            f"{flags['config'].path}: would send {sent} to {host}; to allow that, name the file with --config, "
            "or the address with --base-url"
        )


def _prices(flags: dict[str, Any]) -> "Prices":
    from ctxcli.files.settings import read_toml  # noqa: PLC0415
    from ctxcli.prices import Prices, rates_of  # noqa: PLC0415

    path = flags["prices"]
    return Prices(rates_of(read_toml(path), path), path) if path else Prices()


# -- a dry run


def plan_of(asker: "Asker", requests: Iterable["Request"], *, more: str = "") -> "RequestsReport":
    """What would be asked and what it would cost; `more` says what may come on top, in a sentence."""
    from ctxcli.reports.requests import PlannedRequest, RequestsReport, RequestsTotal  # noqa: PLC0415

    rows = []
    for request in requests:
        estimate = asker.estimate(request)
        rows.append(PlannedRequest(asker.body(request), estimate.prompt, estimate.output, estimate.cost))
    costs = [row.cost for row in rows if row.cost is not None]
    total = RequestsTotal(
        len(rows), sum(row.prompt for row in rows), sum(row.output for row in rows),
        sum(costs) if len(costs) == len(rows) else None,
    )  # fmt: skip
    return RequestsReport("ctx.requests", 1, asker.name, tuple(rows), total, more)


def plan_pieces(plans: Iterable["RequestsReport"], flags: dict[str, Any]) -> Iterator[str]:
    """Plans as text: a document under --json or --format json, a line each under jsonl, else in words."""
    from ctxcli.renderers.json import dump  # noqa: PLC0415

    machine = "json" if flags["as_json"] else flags["format_"]
    for plan in plans:
        if machine in ("json", "jsonl"):
            yield dump(plan, indent=machine == "json") + ("\n" if machine == "jsonl" else "")
        else:
            yield from _in_words(plan, dump)


def _in_words(plan: "RequestsReport", dump: Callable[..., str]) -> Iterator[str]:
    for number, row in enumerate(plan.requests, 1):
        yield f"request {number} of {plan.total.requests} to {plan.model}: {_sizes(row)}\n"
        yield dump(row.body, indent=True)
    number = plan.total.requests
    yield f"\n{number:,} request{'' if number == 1 else 's'} to {plan.model}: {_sizes(plan.total)}; nothing was sent\n"
    if plan.more:
        yield f"{plan.more}\n"


def _sizes(row: Any) -> str:
    cost = "cost unknown" if row.cost is None else f"at most {row.cost:.4f} dollars"
    return f"about {row.prompt:,} tokens, answer up to {row.output:,}, {cost}"
