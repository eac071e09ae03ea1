"""`ctx rules`."""

import textwrap
from dataclasses import asdict

import click

from ctxcli.cli.output import emit
from ctxcli.renderers.json import dump
from ctxcli.rules import RULES
from ctxcli.shelf import Rule


class _RuleId(click.Choice):  # type: ignore[type-arg,unused-ignore]
    """A rule's id in any case, or its title."""

    def __init__(self) -> None:
        super().__init__(list(RULES), case_sensitive=False)


@click.command("rules")
@click.argument("rule", required=False, type=_RuleId())
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(rule: str | None, as_json: bool) -> int:
    """List the rules that findings name; with RULE, explain one: what it means and what to do about it."""
    if as_json:
        rows = [_row(card) for card in RULES.values() if rule in (None, card.name)]
        emit([dump(rows[0] if rule else rows, indent=True)])
    elif rule is None:
        for card in RULES.values():
            emit([f"{card.name}  {card.title:13} {card.level:8} {card.summary}\n"])
    else:
        emit([_explained(RULES[rule])])
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
