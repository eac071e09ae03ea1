"""What `ctx sweep` writes instead of a report: items, prompts for another runner, what a run would cost."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ctxcli.renderers.json import dump
from ctxcli.reports.sweep import SweepItem
from ctxcli.sweep.grading import JUDGED
from ctxcli.sweep.item import Item
from ctxcli.sweep.run import Sampling, Sweep

if TYPE_CHECKING:
    from ctxcli.ask import Asker


def given(item: Item) -> str:
    """An item as a line of ITEMS, with what is not the default."""
    single = len(item.answers) == 1
    row = asdict(SweepItem(
        item.question, item.span, item.id, item.answers[0] if single else "", () if single else item.answers,
        item.regex, item.grading, item.padding,
    ))  # fmt: skip
    return dump({"id": row.pop("id"), **{key: value for key, value in row.items() if value}}) + "\n"


def prompts(sweep: Sweep) -> Iterator[str]:
    """Each prompt once, with what it is of."""
    for case in sweep.missing().values():
        row = {"id": case.id, "prompt": case.text, "item": case.item.id, "multiple": case.multiple,
               "position": case.position, "repeat": case.repeat, "tokens": case.tokens}  # fmt: skip
        yield dump(row) + "\n"


def planned(sweep: Sweep, how: Sampling, asker: "Asker | None", flags: dict[str, Any]) -> Iterator[str]:
    """What would be asked: requests, tokens, and the cost at most where a model with a price is named, by length."""
    rows: dict[int, dict[str, Any]] = {}
    for case in sweep.missing().values():
        row = rows.setdefault(case.multiple, {"multiple": case.multiple, "requests": 0, "tokens": 0, "cost": 0.0})
        cost = asker.estimate(case.request(how.max_output, how.temperature)).cost if asker else None
        row["requests"] += 1
        row["tokens"] += case.tokens
        row["cost"] = None if cost is None or row["cost"] is None else row["cost"] + cost
    lengths = [rows[multiple] for multiple in sorted(rows)]
    costs = [row["cost"] for row in lengths]
    total = {"requests": sum(row["requests"] for row in lengths), "tokens": sum(row["tokens"] for row in lengths),
             "cost": None if None in costs else sum(costs)}  # fmt: skip
    judged = sum(case.item.grading == JUDGED for case in sweep.missing().values())
    if flags["as_json"] or flags["format_"] in ("json", "jsonl"):
        head = {"kind": "ctx.sweep-plan", "version": 1, "model": asker.name if asker else None}
        yield dump({**head, **total, "judged": judged, "lengths": lengths}, indent=True)
        return
    yield from (f"{row['multiple']}×: {_sizes(row)}\n" for row in lengths)
    more = f"; {judged:,} answers need a judge on top" if judged else ""
    yield f"in all: {_sizes(total)}{more}; nothing was sent\n"


def _sizes(row: dict[str, Any]) -> str:
    cost = "cost unknown" if row["cost"] is None else f"at most {row['cost']:.4f} dollars"
    return f"{row['requests']:,} requests, about {row['tokens']:,} tokens, {cost}"
