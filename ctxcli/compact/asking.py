"""A model's summary: asked with the four-slot prompt, read, held to the guard, asked for once more, and repaired."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from ctxcli.compact.summary import merged
from ctxcli.errors import SummaryError
from ctxcli.reports.slots import Slots
from ctxcli.slots import SLOTS, parse, prompt, render

ATTEMPTS = 2
_SHOWN = 20
"""Of what an answer lost, so much is said; the whole list goes to the model."""
_NONE_OF_THEM = "it has neither the section CONSTRAINTS nor any of the other three"


class UnusableError(SummaryError):
    """An answer that is no summary: empty, refused, cut off, a call of a tool. Another one may be."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done to an answer without the model."""

    slots: Slots
    added: tuple[str, ...] = ()
    """From extraction, word for word: identifiers, boundaries, and sections that were missing."""
    removed: tuple[str, ...] = ()
    """What nobody had said."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer that holds, and how often it took."""

    slots: Slots
    attempts: int
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Planned:
    """The prompts that come first, in the two ways in which they can be asked."""

    standalone: tuple[str, ...]
    """Each with its piece of the transcript."""
    following: str
    """Behind the conversation itself."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How often is asked, and what becomes of an answer that does not hold."""

    attempts: int = ATTEMPTS
    heavy: Callable[[Slots], str] = lambda _: ""
    """Why it is too long to be of use; empty where it is not."""
    repair: Callable[[Slots, Sequence[str]], Repaired] | None = None
    """From an answer and the sections that it misses to one that holds; None where it is not to be repaired."""


@dataclass(slots=True)
class _Piece:
    """A stretch of the span, and the newest usable answer for it."""

    text: str | None
    part: str
    slots: Slots | None = None
    missing: tuple[str, ...] = ()
    lost: list[str] = field(default_factory=list)
    fault: str = ""

    @property
    def open(self) -> bool:
        """Whether it is to be asked for."""
        return self.slots is None or bool(self.lost or self.fault)

    def prompt(self, instructions: str) -> str:
        return prompt(self.text, instructions=instructions, lost=self.lost, fault=self.fault, part=self.part)

    def ask(self, ask: Callable[[str], str], instructions: str) -> None:
        """Ask once; an answer that is none leaves the one before it in place."""
        asked, self.fault = self.prompt(instructions), ""
        try:
            answer = parse(ask(asked))
        except UnusableError as error:
            self.fault = str(error)
            return
        if len(answer.missing) == len(SLOTS):
            self.fault = _NONE_OF_THEM
            return
        self.slots, self.missing = answer.slots, answer.missing
        self.lost = [_section(slot) for slot in answer.missing]


Span = str | None | Sequence[str]
"""A text, or several that go one after the other; None where it stands before the prompt already."""
LostBy = Callable[[Slots], Sequence[str]]
"""What slots leave out, change or invent; nothing where they hold."""


def answered(
    ask: Callable[[str], str], span: Span, lost_by: LostBy, *, instructions: str = "", terms: Terms | None = None
) -> Asked:
    """Ask for the four slots of a span, piece by piece; where something was lost, again with the list of it.

    What is missing after the last attempt is repaired where the terms say how. Raises SummaryError where the answer
    does not hold: nothing is made of it then.
    """
    terms = terms or Terms()
    pieces = _pieces(span)
    for attempt in range(1, terms.attempts + 1):
        for piece in pieces:
            if piece.open:
                piece.ask(ask, instructions)
        if not any(piece.open for piece in pieces):
            whole = _whole(pieces)
            heavy = terms.heavy(whole)
            lost = [] if heavy else list(lost_by(whole))
            if not heavy and not lost:
                return Asked(whole, attempt)
            _blame(pieces, lost, heavy)
    return _mended(pieces, lost_by, terms)


def first_prompts(span: Span, instructions: str) -> tuple[str, ...]:
    """What is asked first, whatever the answers are."""
    return tuple(piece.prompt(instructions) for piece in _pieces(span))


def _pieces(span: Span) -> list[_Piece]:
    texts: Sequence[str | None] = (span,) if span is None or isinstance(span, str) else span
    parts = [f"{at} of {len(texts)}" if len(texts) > 1 else "" for at in range(1, len(texts) + 1)]
    return [_Piece(text, part) for text, part in zip(texts, parts, strict=True)]


def _whole(pieces: Sequence[_Piece]) -> Slots:
    """The slots of all pieces, merged slot by slot."""
    return reduce(_both, [piece.slots for piece in pieces if piece.slots is not None])


def _both(first: Slots, second: Slots) -> Slots:
    """Two pieces; of a command that both ran the second says how it ended."""
    ends = {one: state for slots in (first, second) for state, every in slots.commands.items() for one in every}
    states = dict.fromkeys(ends.values())
    commands = {state: tuple(one for one, its in ends.items() if its == state) for state in states}
    return replace(merged(first, second), commands=commands)


def _blame(pieces: Sequence[_Piece], lost: Sequence[str], heavy: str) -> None:
    """Tell each piece what its answer lost: where it was said, or where it stands though nobody said it."""
    for piece in pieces:
        piece.fault = heavy
    for one in lost:
        value = one.partition(") ")[2] if one.startswith("(") else one
        holding = [
            piece for piece in pieces
            if value in (render(piece.slots or Slots()) if one.startswith("(") else piece.text or "")
        ]  # fmt: skip
        for piece in holding[-1:] or pieces:
            piece.lost.append(one)


def _mended(pieces: Sequence[_Piece], lost_by: LostBy, terms: Terms) -> Asked:
    """What is left after the last attempt: repaired, or refused."""
    lost = [one for piece in pieces for one in piece.lost]
    for piece in pieces:
        if piece.slots is None or (piece.fault and terms.repair is None and not lost):
            raise SummaryError(f"no summary could be had (attempts: {terms.attempts:,}): {piece.fault}")
    if terms.repair is None:
        raise SummaryError(f"the summary leaves these out, or changes them:\n{_listed(lost)}")
    missing = [slot for slot in SLOTS if any(slot in piece.missing for piece in pieces)]
    whole = _whole(pieces)
    heavy = terms.heavy(whole)
    found = Repaired(whole) if heavy else terms.repair(whole, missing)
    heavy = heavy or terms.heavy(found.slots)
    if heavy:
        raise SummaryError(f"the summary cannot be repaired: {heavy}")
    still = lost_by(found.slots)
    if still:
        raise SummaryError(f"the summary cannot be repaired; it leaves these out, or changes them:\n{_listed(still)}")
    return Asked(found.slots, terms.attempts, found.added, found.removed)


def _listed(lost: Sequence[str]) -> str:
    more = f"\n  and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    return "\n".join(f"  {one}" for one in lost[:_SHOWN]) + more


def _section(slot: str) -> str:
    return f"the section {slot.upper()}"
