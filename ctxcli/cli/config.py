"""`ctx config`."""

from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.audit import command as audit
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
    """Show each setting of `ctx audit`, its value, and where it came from.

    A flag outweighs the environment (CTX_AUDIT_MAX_CONTEXT …), that the settings file, that the default.
    """
    inner = audit.make_context("audit", [*(["--config", config.path] if config.path else []), "-"], parent=ctx.parent)
    rows = [_row(inner, name) for name in opt.SETTABLE]
    if as_json:
        emit([dump({row["setting"]: row for row in rows}, indent=True)])
        return 0
    emit([f"settings file  {config.path or 'none'}\n"])
    for row in rows:
        emit([f"{row['setting']:15} {row['shown']:24} {row['origin']:14} {row['what']}\n"])
    return 0


def _row(inner: click.Context, name: str) -> dict[str, Any]:
    value = inner.params[name]
    if name == "share":
        value = [f"{layer.value}={share:g}" for layer, share in value]
    shown = _shown(value)
    source = inner.get_parameter_source(name)
    return {
        "setting": name.replace("_", "-"),
        "value": value,
        "shown": shown,
        "origin": _ORIGINS.get(source, "default") if source else "default",
        "what": opt.SETTABLE[name],
    }


def _shown(value: Any) -> str:
    """A value as a settings file would hold it."""
    if value in (None, []):
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, list) else str(value)
