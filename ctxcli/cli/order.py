"""`ctx order`."""

import math
from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.errors import UnreadableError

_DEFAULT_CAP = 20


@click.command("order")
@opt.options(
    click.argument("name", metavar="FILE", default="-"),
    click.option("--cap", type=click.IntRange(1), default=_DEFAULT_CAP, show_default=True, metavar="N",
                 help="How many documents are kept, the best."),
    click.option("--score-field", default="score", show_default=True, metavar="NAME",
                 help="Where an object holds its score, the higher the better; a dot leads inside: metadata.score."),
    opt.output,
)  # fmt: skip
def command(name: str, cap: int, score_field: str, output: str | None) -> int:
    """Put retrieved documents in the order in which a model reads them best: the best first, the second best last.

    FILE is JSON lines, an object with a score each, or - for standard input. The same lines come out, as they were:
    the best first, the second best last, the third second, and so on, so that the worst stand in the middle.

    Exit 2 where a line is no object or has no score.
    """
    from ctxcli.cli.output import emit  # noqa: PLC0415 - --help needs nothing of it
    from ctxcli.cli.sources import say  # noqa: PLC0415
    from ctxcli.files.jsonl import JsonLine, json_lines  # noqa: PLC0415
    from ctxcli.files.streams import shown  # noqa: PLC0415
    from ctxcli.sweep.order import ordered  # noqa: PLC0415

    def score_of(one: JsonLine) -> float:
        found = _inside(one.value, score_field)
        if _is_score(found):
            return float(found)
        where = f"{shown(name)}: line {one.line}: "
        if found is None:
            raise UnreadableError(f"{where}has no {score_field!r}; --score-field names the field that holds the score")
        raise UnreadableError(f"{where}{score_field!r} is no finite number: {str(found)[:40]!r}")

    lines = list(json_lines(name))
    order = ordered([score_of(one) for one in lines], cap)
    if len(order) < len(lines):
        say(f"{len(lines) - len(order):,} of {len(lines):,} documents are left out; --cap sets how many are kept")
    emit((lines[index].raw + b"\n" for index in order), output, inputs=lambda: [name])
    return 0


def _is_score(value: Any) -> bool:
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _inside(value: dict[str, Any], field: str) -> Any:
    """A field of an object: by its whole name, or else step by step; None where there is none."""
    if field in value:
        return value[field]
    found: Any = value
    for name in field.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found
