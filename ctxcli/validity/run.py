"""The rules of a profile, applied to a list of messages."""

from collections.abc import Callable, Iterator, Sequence

from ctxcli.model import Message
from ctxcli.validity.pairs import PAIR_RULES
from ctxcli.validity.profiles import PROFILES
from ctxcli.validity.texts import TEXT_RULES
from ctxcli.validity.turns import TURN_RULES
from ctxcli.validity.wire import Violation, Wire

_RULES: dict[str, Callable[[Wire], Iterator[Violation]]] = {**PAIR_RULES, **TURN_RULES, **TEXT_RULES}


def check(
    messages: Sequence[Message], profile: str, *, before: Sequence[Message] | None = None
) -> tuple[Violation, ...]:
    """What a provider refuses of messages as they are sent, by message, then by rule.

    System messages may lead. Tool messages hold results, and the client may record parallel ones as several messages.
    Calls of the last answer are pending until something else follows. `before` is the context that a compaction began
    with: thinking is as it was there or gone, and the system prompt is the same. Raises KeyError for a profile that
    is none.
    """
    wire = Wire(messages, PROFILES[profile], before)
    found = [one for name in wire.profile.rules for one in _RULES[name](wire)]
    return tuple(sorted(found, key=lambda one: (one.message, one.rule, one.part or 0)))
