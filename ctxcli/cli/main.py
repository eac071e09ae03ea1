"""The `ctx` group, and the rim: where errors become messages and exit codes."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from ctxcli import __version__
from ctxcli.errors import CtxError

_COMMANDS: dict[str, tuple[str, str, str]] = {
    # name: (group, module, what it does); imported only when used, so that --help starts fast
    "audit": ("Everyday", "ctxcli.cli.audit", "Say call by call where the tokens went, layer by layer."),
    "guard": ("Everyday", "ctxcli.cli.guard", "Say what a compaction lost, and fail where that matters."),
    "compact": ("Everyday", "ctxcli.cli.compact", "Make a transcript shorter under a contract, and check the result."),
    "check": ("Everyday", "ctxcli.cli.check", "Say whether a provider accepts the context, and how well it is kept."),
    "simulate": (
        "Evidence",
        "ctxcli.cli.simulate",
        "Replay a transcript under other policies: when it is compacted, what is sent, and what that costs.",
    ),
    "bench": (
        "Evidence",
        "ctxcli.cli.bench",
        "Compare strategies, and compactors of any make, on transcripts: what is held at equal budgets.",
    ),
    "probe": (
        "Evidence",
        "ctxcli.cli.probe",
        "Ask a model the same questions before and after a compaction, and say which answers changed.",
    ),
    "sweep": (
        "Evidence",
        "ctxcli.cli.sweep",
        "Measure how well a model finds a fact as the context grows, and by where the fact stands.",
    ),
    "budget": (
        "Pieces",
        "ctxcli.cli.budget",
        "Tell an agent how far its context is, or share a window out over the layers.",
    ),
    "config": ("Pieces", "ctxcli.cli.config", "Show each setting and where it came from."),
    "convert": ("Pieces", "ctxcli.cli.convert", "Write a transcript in another format."),
    "formats": ("Pieces", "ctxcli.cli.formats", "List the transcript formats that can be read."),
    "identifiers": (
        "Pieces",
        "ctxcli.cli.identifiers",
        "List what must survive verbatim: paths, versions, ids and more.",
    ),
    "notes": ("Pieces", "ctxcli.cli.notes", "Keep the four slots in a file that is only ever added to."),
    "order": (
        "Pieces",
        "ctxcli.cli.order",
        "Order retrieved documents for a context: the best first, the second best last.",
    ),
    "prompt": ("Pieces", "ctxcli.cli.prompt", "Print the four-slot prompt for any model, with the context as data."),
    "rules": ("Pieces", "ctxcli.cli.rules", "Explain the rules that findings name."),
    "schema": ("Pieces", "ctxcli.cli.schema", "Print the JSON Schema of a document that ctx writes."),
}


class Group(click.Group):
    """A group whose commands are imported only when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of all commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one command."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(_COMMANDS[cmd_name][1]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The commands under their headings, without importing any."""
        for heading in dict.fromkeys(group for group, _, _ in _COMMANDS.values()):
            rows = [(name, what) for name, (group, _, what) in _COMMANDS.items() if group == heading]
            with formatter.section(heading):
                formatter.write_dl(rows)


@click.group(
    cls=Group,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "auto_envvar_prefix": "CTX",
    },
)
@click.version_option(__version__, prog_name="ctx", message="%(prog)s %(version)s")
def cli() -> None:
    """Audit and compact the transcripts of LLM agents, and guard what survives.

    Exit codes: 0 fine, 1 a check failed, 2 could not do it, 3 could not be verified.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run `ctx` and leave with its exit code; no traceback reaches a user unless CTX_DEBUG is set."""
    try:
        code = cli.main(args=arguments, prog_name="ctx", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        click.echo("ctx: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except CtxError as error:
        said = "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in str(error))
        click.echo(f"ctx: {said}", err=True)
        sys.exit(error.exit_code)
    except SystemExit:
        raise
    except OSError as error:
        click.echo(f"ctx: {error.filename or 'the system'}: {error.strerror or error}", err=True)
        sys.exit(2)
    except BaseException as error:
        _internal(error)
    sys.exit(code if isinstance(code, int) else 0)


def _internal(error: BaseException) -> NoReturn:
    if os.environ.get("CTX_DEBUG"):
        raise error
    click.echo(
        f"ctx: internal error: {type(error).__name__}: {error}\n"
        "This is a fault of ctx, not of your file. CTX_DEBUG=1 shows where it happened.",
        err=True,
    )
    sys.exit(2)
