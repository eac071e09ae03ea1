"""What `ctx sweep` writes instead of a report: items, prompts for another runner, what a run would cost."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ctxcli.renderers.json import dump
from ctxcli.reports.sweep import PlannedLength, SweepItem, SweepPlanned
from ctxcli.sweep.grading import JUDGED
from ctxcli.sweep.grid import Case
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
    cases = list(sweep.missing().values())
    lengths = [_length(multiple, cases, how, asker) for multiple in sorted({case.multiple for case in cases})]
    judged = sum(case.item.grading == JUDGED for case in cases)
    plan = SweepPlanned(
        "ctx.sweep-plan", 1, asker.name if asker else None, len(cases), sum(one.tokens for one in lengths),
        _sum([one.cost for one in lengths]), judged, tuple(lengths),
    )  # fmt: skip
    if flags["as_json"] or flags["format_"] in ("json", "jsonl"):
        yield dump(plan, indent=True)
        return
    yield from (f"{one.multiple}×: {_sizes(one)}\n" for one in lengths)
    more = f"; {judged:,} answers need a judge on top" if judged else ""
    yield f"in all: {_sizes(plan)}{more}; nothing was sent\n"


def _length(multiple: int, cases: Sequence[Case], how: Sampling, asker: "Asker | None") -> PlannedLength:
    own = [case for case in cases if case.multiple == multiple]
    costs = [asker.estimate(case.request(how.max_output, how.temperature)).cost if asker else None for case in own]
    return PlannedLength(multiple, len(own), sum(case.tokens for case in own), _sum(costs))


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _sizes(row: SweepPlanned | PlannedLength) -> str:
    cost = "cost unknown" if row.cost is None else f"at most {row.cost:.4f} dollars"
    return f"{row.requests:,} requests, about {row.tokens:,} tokens, {cost}"
