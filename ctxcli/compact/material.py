"""What a summariser gets: constraints and identifiers of a span, ranked by what the guard will ask for."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ctxcli.compact.superseded import entries_of
from ctxcli.constraints import constraints_of
from ctxcli.guard.forms import Key
from ctxcli.guard.known import Known
from ctxcli.guard.policy import Policy
from ctxcli.guard.sides import Before
from ctxcli.identifiers.secrets import mask
from ctxcli.reports.identifiers import SEEN, SOURCES
from ctxcli.reports.slots import Slots
from ctxcli.shelf import Material, Wanted, Weigh


@dataclass(frozen=True, slots=True)
class Span:
    """What of a conversation a summary stands for."""

    indices: tuple[int, ...]
    """The raw turns, those that stay verbatim included."""
    kept: frozenset[int] = frozenset()
    carried: Slots = field(default_factory=Slots)
    """What notes and earlier summaries hold of it."""
    stands: Callable[[Key], bool] | None = None
    """Whether an identifier stands in what stays."""


_SELDOM = frozenset({"url", "host", "date", "quantity", "email"})
"""Kinds that are seldom used again where only a tool showed them."""


def material_of(before: Before, policy: Policy, weigh: Weigh, tokens: int, *, span: Span | None = None) -> Material:
    """The material of a context: what is required first, then the kinds that the guard asks for, then the rest.

    Of each, what was stated or touched goes before what only a tool showed. Symbols, quantities and flags come last:
    they are many, and of what a conversation uses again few are among them (measured by `ctx bench`).

    A span says which raw turns stand behind the context, and what of it stays: that is not wanted a second time.
    """
    span = span or Span(tuple(dict.fromkeys(index for index, _ in before.parts)))
    required = before.required(policy).keys
    keys = ranked(before, policy, span.stands or (lambda _: False))
    transcript, secrets = before.reading.transcript, before.reading.secrets
    going = [index for index in span.indices if index not in span.kept]
    return Material(
        transcript=transcript,
        indices=span.indices,
        constraints=tuple(entries_of(list(constraints_of(transcript, going)), transcript, span.indices)),
        identifiers=tuple(Wanted(one.kind, one.value, key in required) for key in keys for one in (before.known[key],)),
        tokens=tokens,
        weigh=weigh,
        kept=span.kept,
        carried=span.carried,
        mask=lambda text: mask(text, secrets) if secrets else text,
    )


def ranked(before: Before, policy: Policy, stands: Callable[[Key], bool]) -> list[Key]:
    """The identifiers of a context that do not stand already and are no secrets, the most important first."""
    required = before.required(policy).keys
    last = max((one.last_line for one in before.known.values()), default=1) or 1

    def rank(key: Key) -> tuple[bool, bool, bool, int, bool, float, int]:
        one = before.known[key]
        common = one.source == SEEN and one.kind in _SELDOM
        return (
            key not in required,
            one.kind not in policy.kinds,
            common,
            SOURCES.index(one.source),
            not one.by_user,
            -_recency(one, last),
            -one.uses,
        )

    return [key for key in sorted(before.known, key=rank) if not before.known[key].secret and not stands(key)]


def _recency(one: Known, last: int) -> float:
    """How late its last use stands, in tenths: of equals the one that is used more goes first."""
    return round(one.last_line / last, 1)
