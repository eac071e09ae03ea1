"""What a summariser gets: constraints and identifiers of a span, ranked by what the guard will ask for."""

from ctxcli.guard.forms import Key
from ctxcli.guard.known import Known
from ctxcli.guard.policy import Policy
from ctxcli.guard.sides import Before
from ctxcli.reports.identifiers import SEEN, SOURCES
from ctxcli.reports.slots import Entry
from ctxcli.shelf import Material, Wanted, Weigh

_SELDOM = frozenset({"url", "host", "date", "quantity", "email"})
"""Kinds that are seldom used again where only a tool showed them."""


def material_of(before: Before, policy: Policy, weigh: Weigh, tokens: int) -> Material:
    """The material of a context: what is required first, then what was stated or touched, then the rest by use."""
    required = before.required(policy).keys
    last = max((one.last_line for one in before.known.values()), default=1) or 1

    def rank(key: Key) -> tuple[bool, bool, int, bool, float, int]:
        one = before.known[key]
        common = one.source == SEEN and one.kind in _SELDOM
        return (
            key not in required,
            common,
            SOURCES.index(one.source),
            not one.by_user,
            -_recency(one, last),
            -one.uses,
        )

    keys = [key for key in sorted(before.known, key=rank) if not before.known[key].secret]
    return Material(
        transcript=before.reading.transcript,
        indices=tuple(dict.fromkeys(index for index, _ in before.parts)),
        constraints=tuple(Entry(one.text, one.line) for one in before.constraints),
        identifiers=tuple(Wanted(one.kind, one.value, key in required) for key in keys for one in (before.known[key],)),
        tokens=tokens,
        weigh=weigh,
    )


def _recency(one: Known, last: int) -> float:
    """How late its last use stands, in tenths: of equals the one that is used more goes first."""
    return round(one.last_line / last, 1)
