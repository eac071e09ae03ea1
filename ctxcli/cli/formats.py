"""`ctx formats`."""

import click

from ctxcli.cli.output import emit
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
        emit([dump(rows, indent=True)])
        return 0
    for card in FORMATS.values():
        emit([f"{card.name}\n  {card.title}\n"])
        emit([f"  recognised by  {card.recognised_by}\n"])
        emit([f"  records        {', '.join(name for name in KNOWLEDGE if name in card.knows)}\n"])
    return 0
