"""Rules on tool calls and their results."""

from collections.abc import Callable, Iterator

from ctxcli.model import Message, Part, PartKind, Role
from ctxcli.rules import (
    CALL_ID_TWICE,
    DISPLACED_RESULT,
    ORPHAN_RESULT,
    RESULT_COUNT,
    SPLIT_PAIR,
    TWO_RESULTS,
    UNANSWERED_CALL,
)
from ctxcli.validity.wire import Pair, Violation, Wire, is_run_by_provider, is_set_aside, is_summary

_SAID = frozenset({PartKind.TEXT, PartKind.SUMMARY, PartKind.DOCUMENT, PartKind.MEDIA})


def orphans(wire: Wire) -> Iterator[Violation]:
    """Results that no call comes before."""
    for pair in wire.pairs:
        if pair.call is None and (pair.ref or wire.profile.ids):
            for at in pair.results:
                yield wire.violation(ORPHAN_RESULT.name, at, f"the result of {_called(pair)} has no call before it")


def unanswered(wire: Wire) -> Iterator[Violation]:
    """Calls without a result, but for those that the last answer waits for."""
    for pair in wire.pairs:
        if pair.call is None or pair.results or pair.call[0] == wire.pending or not pair.ref:
            continue
        if not is_run_by_provider(pair):
            name = wire.part(pair.call).name
            why = f"the call {_called(pair)}{f' of {name}' if name else ''} has no result"
            yield wire.violation(UNANSWERED_CALL.name, pair.call, why)


def answered_twice(wire: Wire) -> Iterator[Violation]:
    """Results beyond the first of their call."""
    for pair in wire.pairs:
        for at in pair.results[1:] if pair.call is not None and pair.ref else ():
            yield wire.violation(TWO_RESULTS.name, at, f"{_called(pair)} has more than one result")


def same_ids(wire: Wire) -> Iterator[Violation]:
    """Calls whose id an earlier call has, within what ids are unique in."""
    seen: set[tuple[str, int]] = set()
    for pair in wire.pairs:
        if pair.call is None or not pair.ref:
            continue
        scope = pair.call[0] if wire.profile.unique_in == "message" else 0
        if (pair.ref, scope) in seen:
            yield wire.violation(CALL_ID_TWICE.name, pair.call, f"two calls have the id {pair.ref}")
        seen.add((pair.ref, scope))


def displaced(wire: Wire) -> Iterator[Violation]:
    """Results that stand in the wrong place: too late, or behind something else that was said."""
    for pair in wire.pairs:
        if pair.call is None or not pair.results or not pair.ref or is_run_by_provider(pair):
            continue
        why = _misplaced(wire, pair.call[0], pair.results[0])
        if why:
            text = f"the result of {_called(pair)} {why}"
            yield wire.violation(DISPLACED_RESULT.name, pair.results[0], text)


def _misplaced(wire: Wire, call: int, result: tuple[int, int]) -> str:
    """What is wrong with the place of a result; empty where nothing is."""
    between = range(call + 1, result[0])
    if wire.profile.results == "message":
        other = next((wire.messages[at].role for at in between if not _passes(wire.messages[at])), None)
        return f"is parted from its call by a message of the {other}" if other else ""
    turn = wire.turns[result[0]]
    if turn != wire.turns[call] + 1:
        return "is not in the turn right after its call"
    head = wire.messages[result[0]].parts[: result[1]]
    own = (wire.messages[at] for at in between if wire.turns[at] == turn)
    if any(_says(one, one.parts) for one in own) or _says(wire.messages[result[0]], head):
        return "stands behind text in its turn; results come first"
    return ""


def _passes(message: Message) -> bool:
    """Whether a message may stand between a call and its result in Chat Completions."""
    return message.role is Role.TOOL or is_set_aside(message)


def _says(message: Message, parts: tuple[Part, ...]) -> bool:
    """Whether anything but results, and what came with them, is among the parts of a message."""
    if message.role is Role.SYSTEM or is_set_aside(message):
        return False
    return any(part.kind in _SAID and not part.ref for part in parts)


def split(wire: Wire) -> Iterator[Violation]:
    """Summaries between a call and its result."""
    for number, message in enumerate(wire.messages):
        if not is_summary(message):
            continue
        for pair in wire.pairs:
            if pair.call is not None and pair.call[0] < number and any(at > number for at, _ in pair.results):
                why = f"a summary stands between the call {_called(pair)} and its result"
                yield wire.violation(SPLIT_PAIR.name, (number, None), why)
                break


def counts(wire: Wire) -> Iterator[Violation]:
    """Turns of calls whose next turn does not hold as many results."""
    calls, results = _by_turn(wire, PartKind.TOOL_CALL), _by_turn(wire, PartKind.TOOL_RESULT)
    pending = None if wire.pending is None else wire.turns[wire.pending]
    for turn, places in calls.items():
        held = len(results.get(turn + 1, ()))
        if held != len(places) and turn != pending:
            why = f"{len(places)} calls are followed by {held} results"
            yield wire.violation(RESULT_COUNT.name, (places[0], None), why)
    for turn, places in results.items():
        if turn - 1 not in calls:
            yield wire.violation(RESULT_COUNT.name, (places[0], None), "results do not follow a turn of calls")


def _by_turn(wire: Wire, kind: PartKind) -> dict[int, list[int]]:
    """The messages that hold a part of a kind, by turn, once for each part."""
    found: dict[int, list[int]] = {}
    for number, message in enumerate(wire.messages):
        for part in message.parts:
            if part.kind is kind:
                found.setdefault(wire.turns[number], []).append(number)
    return found


def _called(pair: Pair) -> str:
    return pair.ref or "a call without an id"


PAIR_RULES: dict[str, Callable[[Wire], Iterator[Violation]]] = {
    ORPHAN_RESULT.name: orphans,
    UNANSWERED_CALL.name: unanswered,
    TWO_RESULTS.name: answered_twice,
    CALL_ID_TWICE.name: same_ids,
    DISPLACED_RESULT.name: displaced,
    SPLIT_PAIR.name: split,
    RESULT_COUNT.name: counts,
}
"""By rule."""
