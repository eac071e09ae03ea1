"""`ctx config`."""

from collections.abc import Iterator
from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.audit import command as audit
from ctxcli.cli.compact import command as compact
from ctxcli.cli.guard import command as guard
from ctxcli.cli.output import emit
from ctxcli.files.settings import SettingsFile
from ctxcli.renderers.json import dump

_ORIGINS = {
    click.core.ParameterSource.ENVIRONMENT: "environment",
    click.core.ParameterSource.DEFAULT_MAP: "settings file",
    click.core.ParameterSource.DEFAULT: "default",
}


@click.command("config")
@opt.settings
@click.option("--json", "as_json", is_flag=True, help="As a JSON object.")
@click.pass_context
def command(ctx: click.Context, /, config: SettingsFile, as_json: bool) -> int:
    """Show each setting of `ctx audit`, `ctx guard` and what asks a model, its value, and where it came from.

    A flag outweighs the environment (CTX_AUDIT_MAX_CONTEXT, CTX_GUARD_BASELINE, CTX_MODEL …), that the settings file,
    that the default.
    """
    rows = list(_rows(ctx, config))
    if as_json:
        emit([dump({row["setting"]: row for row in rows}, indent=True)])
        return 0
    emit([f"settings file  {config.path or 'none'}\n"])
    for row in rows:
        emit([f"{row['setting']:24} {row['shown']:24} {row['origin']:14} {row['what']}\n"])
    return 0


def _rows(ctx: click.Context, config: SettingsFile) -> Iterator[dict[str, Any]]:
    chosen = ["--config", config.path] if config.path else []
    inner = audit.make_context("audit", [*chosen, "-"], parent=ctx.parent)
    for name, what in opt.SETTABLE.items():
        yield _row(inner, name, name, what)
    inner = guard.make_context("guard", [*chosen, "-", "-"], parent=ctx.parent)
    waivers = config.values.get("guard", {}).get("waivers", [])
    for name, what in opt.GUARD_SETTABLE.items():
        if name == "waivers":
            inner.params[name] = [str(one.get("value", one)) if isinstance(one, dict) else str(one) for one in waivers]
            if waivers:
                inner.set_parameter_source(name, click.core.ParameterSource.DEFAULT_MAP)
        yield _row(inner, name, f"guard.{name}", what)
    inner = compact.make_context("compact", [*chosen, "-"], parent=ctx.parent)
    for name, what in opt.MODEL_SETTABLE.items():
        yield _row(inner, "model" if name == "name" else name, f"model.{name}", what)


def _row(inner: click.Context, name: str, setting: str, what: str) -> dict[str, Any]:
    value = inner.params[name]
    if name == "share":
        value = [f"{layer.value}={share:g}" for layer, share in value]
    if name == "min_kept":
        value = [f"{kind}={share:g}" if kind else f"{share:g}" for kind, share in value]
    if name == "model" and value is not None:
        value = ":".join(value)
    value = list(value) if isinstance(value, tuple) else value
    source = inner.get_parameter_source(name)
    return {
        "setting": setting.replace("_", "-"),
        "value": value,
        "shown": _shown(value),
        "origin": _ORIGINS.get(source, "default") if source else "default",
        "what": what,
    }


def _shown(value: Any) -> str:
    """A value as a settings file would hold it."""
    if value in (None, []):
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, list) else str(value)
