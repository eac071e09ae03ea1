"""`ctx rules`."""

import textwrap
from dataclasses import asdict

import click

from ctxcli.cli.output import emit
from ctxcli.renderers.json import dump
from ctxcli.rules import RULES
from ctxcli.shelf import Rule

_BY_TITLE = {card.title: card.name for card in RULES.values()}


@click.command("rules")
@click.argument("name", required=False, type=click.Choice([*RULES, *_BY_TITLE], case_sensitive=False))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(name: str | None, as_json: bool) -> int:
    """List the rules that findings name; with NAME (CTX102 or mutated), explain one and what to do about it."""
    name = _BY_TITLE.get(name or "", name)
    if as_json:
        rows = [_row(card) for card in RULES.values() if name in (None, card.name)]
        emit([dump(rows[0] if name else rows, indent=True)])
    elif name is None:
        for card in RULES.values():
            emit([f"{card.name}  {card.title:13} {card.level:8} {card.summary}\n"])
    else:
        emit([_explained(RULES[name])])
    return 0


def _row(card: Rule) -> dict[str, str]:
    row = asdict(card)
    return {"rule": row.pop("name"), **row}


def _explained(card: Rule) -> str:
    paragraphs = (card.summary, card.why, f"What to do: {card.fix}")
    return (
        "\n\n".join([f"{card.name} {card.title} ({card.level})", *(textwrap.fill(text, 88) for text in paragraphs)])
        + "\n"
    )
