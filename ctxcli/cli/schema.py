"""`ctx schema`."""

import click

from ctxcli.cli.output import emit
from ctxcli.contract import SCHEMAS, schema_text


@click.command("schema")
@click.argument("name", required=False, type=click.Choice(list(SCHEMAS)))
def command(name: str | None) -> int:
    """Print the JSON Schema of a document that ctx writes; without NAME, list them."""
    if name is None:
        for each, title in SCHEMAS.items():
            emit([f"{each:12} {title}\n"])
    else:
        emit([schema_text(name)])
    return 0
