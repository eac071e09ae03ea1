"""A change made valid: what a provider would refuse goes, part by part, and each repair is told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcli.change import Change, Placed, placed
from ctxcli.model import Message, PartKind, Role, Transcript, media_of
from ctxcli.rules import ALTERNATION, FIRST_NOT_USER
from ctxcli.slots import SYNTHETIC
from ctxcli.tokens import clean
from ctxcli.validity import Violation, check

_EMPTY = "(empty)"
_NOTHING = f"{SYNTHETIC}: a message without content.]"
_ROUNDS = 20
"""A repair can lay another fault bare: a result goes, then its call has no answer."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A change, what was repaired in it, and what could not be."""

    change: Change
    repairs: tuple[str, ...]
    violations: tuple[Violation, ...]


def mend(transcript: Transcript, change: Change, profile: str, before: Sequence[Message]) -> Mended:
    """Repair a change until the profile accepts what it makes, as far as that can be done by leaving parts out.

    Texts stay but for lone surrogates, which become U+FFFD. What is left in `violations` could not be repaired.
    """
    repairs: list[str] = []
    found: tuple[Violation, ...] = ()
    for _ in range(_ROUNDS):
        rows = list(placed(transcript, change))
        found = check([row.message for row in rows], profile, before=before)
        fixed = change if rows else replace(change, summary=_NOTHING)
        for one in found if rows else ():
            fixed = _repaired(fixed, one, rows[one.message])
        if fixed == change:
            break
        repairs += [one.why for one in found]
        change = fixed
    return Mended(change, tuple(dict.fromkeys(repairs)), found)


def _repaired(change: Change, found: Violation, row: Placed) -> Change:
    """The change without the part, or the empty message, that a rule refuses; the same where that is no cure."""
    if row.index is None:
        return change
    if found.rule in (FIRST_NOT_USER.name, ALTERNATION.name):
        return _with_synthetic(change, row.index, first=found.rule == FIRST_NOT_USER.name)
    if found.part is None:
        keep = tuple(index for index in change.keep if index != row.index)
        return replace(change, keep=keep) if not row.message.parts else change
    alone = len(row.parts) == 1 and row.message.role is Role.USER
    part, at = row.message.parts[found.part], row.parts[found.part]
    if part.kind in (PartKind.TEXT, PartKind.TOOL_RESULT, PartKind.DOCUMENT) and clean(part.text) != part.text:
        return replace(change, texts={**change.texts, at: clean(part.text)})
    if part.kind is PartKind.TEXT and alone and not part.text.strip():
        return replace(change, texts={**change.texts, at: _EMPTY})
    if part.kind is PartKind.TOOLS or part.sums_up:
        return change
    media = media_of(row.message.parts, part.ref) if part.kind is PartKind.TOOL_RESULT else []
    together = {row.parts[number] for number in media}
    texts = {place: text for place, text in change.texts.items() if place != at}
    return replace(change, gone=change.gone | {at} | together, texts=texts)


def _with_synthetic(change: Change, index: int, *, first: bool) -> Change:
    """A synthetic message before the one at `index`, where a message that said nothing stood and had to go."""
    if not change.summary:
        return replace(change, summary=_NOTHING, at=index)
    return replace(change, at=index) if first and change.at > index else change
