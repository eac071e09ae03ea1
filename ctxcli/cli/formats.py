"""`ctx formats`."""

import click

from ctxcli.formats import FORMATS
from ctxcli.renderers.json import dump
from ctxcli.shelf import KNOWLEDGE


@click.command("formats")
@click.option("--json", "as_json", is_flag=True, help="As a JSON array.")
def command(as_json: bool) -> int:
    """List the transcript formats that can be read, how each is recognised, and what it records."""
    if as_json:
        rows = [
            {
                "name": card.name,
                "title": card.title,
                "recognised_by": card.recognised_by,
                "knows": [name for name in KNOWLEDGE if name in card.knows],
                "reads": True,
                "writes": False,
            }
            for card in FORMATS.values()
        ]
        click.echo(dump(rows, indent=True), nl=False)
        return 0
    for card in FORMATS.values():
        click.echo(f"{card.name}\n  {card.title}")
        click.echo(f"  recognised by  {card.recognised_by}")
        click.echo(f"  records        {', '.join(name for name in KNOWLEDGE if name in card.knows)}")
    return 0
