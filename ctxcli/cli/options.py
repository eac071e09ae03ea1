"""Every option that more than one command has, defined once; and how the settings file feeds them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ctxcli.cli.types import KeptShare, LayerShare, Share, Tokens
from ctxcli.errors import SettingError
from ctxcli.files.settings import SettingsFile, find_settings, read_settings
from ctxcli.formats import FORMATS
from ctxcli.renderers import RENDERERS, drawing_names
from ctxcli.shelf import Drawing

if TYPE_CHECKING:
    from ctxcli.budget import Limits

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
SETTABLE: dict[str, str] = {
    "max_context": "the window of the model, in tokens",
    "reserve_output": "tokens kept free for the answer",
    "share": 'shares of the layers, as a table: share = { history = "40%" }',
    "fail_over": "share of the usable window that no call may exceed",
    "max_growth": "tokens that no call may add",
    "tokenizer": "how tokens are counted",
    "strict": "anything that was not read as it stands is fatal",
    "cache": "keep counts of known texts on disk",
}
"""The keys of a settings file (with - or _), and what each one sets."""
_TYPES = {
    "max_context": Tokens(),
    "reserve_output": Tokens(0),
    "share": LayerShare(),
    "fail_over": Share(),
    "max_growth": Tokens(),
}
GUARD_SETTABLE: dict[str, str] = {
    "require": "sources that are required, or globs over values",
    "kinds": "kinds that are required",
    "ignore": "globs over values that are not required",
    "min_kept": 'share that suffices: "90%", or of a kind: ["path=95%"]',
    "strict": "what is only moved fails too",
    "notes": "the notes file that counts beside the context",
    "baseline": "file of findings that are known",
    "allow_unverifiable": "a summary that cannot be read passes",
    "require_compaction": "a transcript that records no compaction fails",
    "waivers": "identifiers that may go: [[guard.waivers]] value, reason, kind, until",
}
"""The keys of the table `[guard]`, and what each one sets."""
MODEL_SETTABLE: dict[str, str] = {
    "name": "the model to ask: PROVIDER:NAME",
    "base_url": "where it is, if not at the vendor",
    "key_env": "the variable that holds the key; the key itself stands in no file",
    "max_cost": "dollars that a run may spend",
    "max_calls": "questions that a run may send",
    "timeout": "seconds of silence after which an attempt is given up",
    "retries": "further attempts after a fault",
    "max_output": "tokens that an answer may take",
    "temperature": "of the answers",
    "prices": "a file of prices that go first",
    "reply_cache": "keep answers on disk",
}
"""The keys of the table `[model]`, and what each one sets, for every command that asks a model."""
_TABLES = ("kinds", "guard", "model")
"""Tables of a settings file that are no flag: the command that uses them reads them."""
_LISTS = ("require", "kinds", "ignore", "min_kept")
_OWN_KEYS = {"guard": GUARD_SETTABLE}
"""Tables whose keys are flags of the command of that name."""


def _apply_settings(ctx: click.Context, param: click.Parameter, value: str | None) -> SettingsFile:  # noqa: ARG001
    """Feed the settings file to click as defaults; an unknown key is an error."""
    file = read_settings(value) if value else find_settings()
    found = settings_of(file)
    command = ctx.info_name or ""
    general = {name: value for name, value in found.items() if name not in _OWN_KEYS.get(command, ())}
    ctx.default_map = {
        **(ctx.default_map or {}), **general, **own_settings(file, command), **_model_settings(file, ctx.command)
    }  # fmt: skip
    return file


def _model_settings(file: SettingsFile, command: click.Command) -> dict[str, Any]:
    """The table `[model]` by parameter name, where the command asks a model; raises SettingError for a wrong one."""
    kinds = {param.name: param.type for param in command.params}
    found: dict[str, Any] = {}
    for key, value in file.values.get("model", {}).items():
        name, place = key.replace("-", "_"), f"{file.path}: model.{key}"
        if name not in MODEL_SETTABLE:
            known = ", ".join(each.replace("_", "-") for each in MODEL_SETTABLE)
            never = "; a key stands in no file: name its variable with key-env" if "key" in name else ""
            raise SettingError(f"{place} is no setting; there are {known}{never}")
        param = "model" if name == "name" else name
        if "model" in kinds and param in kinds:
            found[param] = _converted(place, kinds[param], value)
    return found


def limits(ctx: click.Context, flags: dict[str, Any]) -> "Limits":
    """The window as the user set it, by flag or by settings file, what of it is reserved, and how it is shared out."""
    from ctxcli.budget import Limits  # noqa: PLC0415 - --help needs nothing of it

    by_file = ctx.get_parameter_source("max_context") is click.core.ParameterSource.DEFAULT_MAP
    origin = "config" if by_file else "flag"
    return Limits(flags["max_context"], origin, flags["reserve_output"], dict(flags.get("share", ())))


def own_settings(file: SettingsFile, command: str) -> dict[str, Any]:
    """The values of a command's own table; raises SettingError for a key that it does not have."""
    found: dict[str, Any] = {}
    for table, keys in _OWN_KEYS.items():
        for key, value in file.values.get(table, {}).items():
            name = key.replace("-", "_")
            if name not in keys:
                known = ", ".join(each.replace("_", "-") for each in keys)
                raise SettingError(f"{file.path}: {table}.{key} is no setting; there are {known}")
            if table == command and name != "waivers":
                found[name] = _own_value(f"{file.path}: {table}.{key}", name, value)
    return found


def _own_value(place: str, name: str, value: Any) -> Any:
    """A value of the table `[guard]`, as its flag takes it."""
    if name in _LISTS:
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) for text in texts):
            raise SettingError(f"{place}: is a text or a list of texts")
        if name == "min_kept":
            return [_converted(place, KeptShare(), text) for text in texts]
        return texts
    wanted = str if name in ("notes", "baseline") else bool
    if not isinstance(value, wanted):
        raise SettingError(
            f"{place}: {value!r} is " + ("no file's name" if wanted is str else "neither true nor false")
        )
    return value


def _converted(place: str, kind: Any, value: Any) -> Any:
    try:
        return kind.convert(value, None, None)
    except click.BadParameter as error:
        raise SettingError(f"{place}: {error.message}") from None


def settings_of(file: SettingsFile) -> dict[str, Any]:
    """The values of a settings file by parameter name; raises SettingError for a key that is none."""
    found: dict[str, Any] = {}
    for key, value in file.values.items():
        name = key.replace("-", "_")
        if name in _TABLES:
            if not isinstance(value, dict):
                raise SettingError(f"{file.path}: {key} is a table, as in [kinds.order]")
            continue
        if name not in SETTABLE:
            known = ", ".join(key.replace("_", "-") for key in (*SETTABLE, *_TABLES))
            raise SettingError(f"{file.path}: {key!r} is no setting; there are {known}")
        if name == "share" and not isinstance(value, dict):
            raise SettingError(f'{file.path}: share is a table, as in share = {{ history = "40%" }}')
        found[name] = [f"{layer}={share}" for layer, share in value.items()] if name == "share" else value
        _check(file.path, key, name, found[name])
    return found


def _check(path: str, key: str, name: str, value: Any) -> None:
    """Refuse a value that its flag would refuse, with the file's name."""
    kind = _TYPES.get(name)
    try:
        for one in value if isinstance(value, list) else [value]:
            if kind is not None:
                kind.convert(one, None, None)
            elif name in ("strict", "cache") and not isinstance(one, bool):
                raise click.BadParameter(f"{one!r} is neither true nor false")
    except click.BadParameter as error:
        raise SettingError(f"{path}: {key}: {error.message}") from None


settings = click.option(
    "--config",
    metavar="FILE",
    is_eager=True,
    expose_value=True,
    callback=_apply_settings,
    help="Settings file, instead of the nearest ctx.toml or [tool.ctx] in pyproject.toml.",
)
files = click.argument("files", nargs=-1, required=True, metavar="FILE...")


def output_format(report: str) -> Callable[[CommandT], CommandT]:
    """`--format` with the formats that draw this report."""
    names = drawing_names(report)
    return click.option(
        "-f", "--format", "format_", type=click.Choice(names), default="table", show_default=True,
        help="How the report is written.",
    )  # fmt: skip


json_ = click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
output = click.option("-o", "--output", metavar="FILE", help="Write the report to a file, whole or not at all.")
conversation = click.option(
    "--conversation", metavar="ID", help="Only this one of a file's conversations, by id or number."
)
from_format = click.option(
    "--from",
    "from_",
    type=click.Choice(list(FORMATS)),
    metavar="FORMAT",
    help="The input's format, instead of finding out; `ctx formats` lists them.",
)
max_context = click.option(
    "--max-context",
    type=Tokens(),
    metavar="N",
    help="The model's window in tokens; a call over it fails the run.",
)
reserve_output = click.option(
    "--reserve-output",
    type=Tokens(0),
    metavar="N",
    help="Tokens kept free for the answer. [default: up to 32,000]",
)
share = click.option(
    "--share", type=LayerShare(), multiple=True, metavar="LAYER=SHARE",
    help="Share of a layer in what system prompt and tools leave. [default: history=40%, retrieved the rest]",
)  # fmt: skip
fail_over = click.option(
    "--fail-over",
    type=Share(),
    metavar="SHARE",
    help="Fail when a call exceeds this share of the usable window: 80%.",
)
max_growth = click.option(
    "--max-growth", type=Tokens(), metavar="N", help="Fail when a call adds more tokens than this."
)
tokenizer = click.option(
    "--tokenizer", metavar="NAME",
    help="auto, o200k_base, cl100k_base, tiktoken:NAME (from its cache) or heuristic. [default: auto]",
)  # fmt: skip
cache = click.option("--cache/--no-cache", default=True, help="Keep counts of known texts on disk (digests only).")
strict = click.option("--strict", is_flag=True, help="Anything that was not read as it stands is fatal (exit 2).")
exit_zero = click.option("--exit-zero", is_flag=True, help="Report only: exit 0 where a check failed.")


def drawing(report: str, flags: dict[str, Any]) -> Drawing[Any]:
    """How the output format that `--format` and `--json` choose draws this report."""
    chosen: Drawing[Any] = getattr(RENDERERS["json" if flags["as_json"] else flags["format_"]], report)
    return chosen


def options(*decorators: Callable[[CommandT], CommandT]) -> Callable[[CommandT], CommandT]:
    """Several options as one decorator, in the order in which help lists them."""

    def decorate(command: CommandT) -> CommandT:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate
