"""A strategy of ctx within a budget that is not to be exceeded."""

from dataclasses import replace

from ctxcli.change import Change
from ctxcli.compact.context import pinned_in, units_of
from ctxcli.compact.session import Session
from ctxcli.compact.settings import Settings

_TOLERANCE = 0.02
_TRIES = 6
_BESIDE = 8
"""Tokens by which a limit is lowered beside what is over: the frame of a summary is not in its limit."""
_FEWEST = 40
"""Tokens of a summary below which nothing has room in it."""


def fits(tokens: int, target: int) -> bool:
    """Whether a result is within its budget; a result may exceed it by a fiftieth."""
    return tokens <= target * (1 + _TOLERANCE)


def is_most(some: int, every: int) -> bool:
    """Whether what fits is half of the results or more: of less nothing is concluded."""
    return 2 * some >= every


def floor_of(session: Session) -> int:
    """Tokens that every strategy keeps: system prompt and tools, the first request, the newest turn."""
    keep = session.start.keep
    newest = units_of(session.transcript.messages, keep)[-1:]
    stays = pinned_in(session.transcript, keep, ()).union(*newest)
    return sum(session.scale.of(index, session.start) for index in stays)


def fitted(session: Session, settings: Settings) -> Change:
    """What the strategies make of a context, the summary cut to the room that is left where the target is missed.

    `ctx compact` lets the target go rather than something required; equal budgets are only equal without that.
    """
    target = session.target(settings)
    change = session.compact(settings).change
    for _ in range(_TRIES):
        over = session.weight(change) - target
        room = (settings.summary_tokens or session.count(change.summary)) - over - _BESIDE
        if over <= 0 or not change.summary or room < _FEWEST:
            break
        settings = replace(settings, summary_tokens=room)
        change = session.compact(settings).change
    return change
