"""The two contexts that are compared: what the one held, and what the other holds where."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ctxcli.constraints import Constraint, constraints_of
from ctxcli.guard.forms import Key, normal
from ctxcli.guard.holdings import Holdings, Place
from ctxcli.guard.known import Known, known_in
from ctxcli.guard.policy import IN_CONSTRAINTS, Policy, Required, required_of
from ctxcli.guard.reading import Reading, digest
from ctxcli.identifiers.gather import Use
from ctxcli.model import PartAt, PartKind, Role
from ctxcli.reports.guard import Side

_HIDDEN = 35_000
"""Tokens of system prompt and tools that a file may leave out: those of coding agents take 15,000 to 30,000."""
_WHOLE = 0.4
"""Share of the rest that a file has to account for. Whole sessions: 0.65 and more; cut ones: below 0.3."""


@dataclass(frozen=True)
class Before:
    """A context before its compaction."""

    reading: Reading
    parts: Sequence[PartAt]
    """What is in the context, in order."""
    past: Sequence[PartAt]
    """Those, and whatever was said earlier in the lane: it tells who stated an identifier first."""
    tokens: int | None = None
    """What the provider measured it at, where the source recorded that."""
    rewritten: bool = False
    """The source no longer holds what the compaction dropped."""

    @cached_property
    def is_whole(self) -> bool:
        """Whether the file holds what was in the context.

        Not where the compaction rewrote it, or where it begins in the middle of a session. The latter is told coarsely:
        3 characters a token, and what system prompt and tools may take is allowed for.
        """
        if self.rewritten or self.tokens is None:
            return not self.rewritten
        characters = sum(len(self.reading.part(at).text) for at in self.parts)
        return characters / 3 >= _WHOLE * (self.tokens - _HIDDEN)

    @property
    def folders(self) -> tuple[str, ...]:
        """The agent's working folders."""
        return self.reading.transcript.folders

    @cached_property
    def known(self) -> dict[Key, Known]:
        """The identifiers of the context; their sources and lines are those of the whole past."""
        ever = known_in(self.reading, self.past, self.folders)
        here = {self.key(use) for at in self.parts for use in self.reading.uses(at)}
        return {key: one for key, one in ever.items() if key in here}

    def key(self, use: Use) -> Key:
        """Under what an occurrence is counted."""
        return use.kind, normal(use.kind, use.value, self.folders)

    @cached_property
    def constraints(self) -> list[Constraint]:
        """The boundaries that the context's own words set."""
        return list(constraints_of(self.reading.transcript, list(dict.fromkeys(index for index, _ in self.parts))))

    @cached_property
    def in_constraints(self) -> frozenset[Key]:
        """Quantities and quotations inside those of the user."""
        return frozenset(
            (hit.kind, normal(hit.kind, hit.value, self.folders))
            for constraint in self.constraints
            if constraint.role is Role.USER
            for _, hit in self.reading.extractor(constraint.text, by_user=True)
            if hit.kind in IN_CONSTRAINTS
        )

    @cached_property
    def in_last_error(self) -> frozenset[Key]:
        """What the last tool result names, where it is a failure that nothing came after."""
        results = [at for at in self.parts if self.reading.part(at).kind is PartKind.TOOL_RESULT]
        if not results or not self.reading.part(results[-1]).failed:
            return frozenset()
        return frozenset(map(self.key, self.reading.uses(results[-1])))

    def required(self, policy: Policy) -> Required:
        """What has to survive under a policy."""
        return required_of(
            self.known, policy,
            in_constraints=self.in_constraints, in_last_error=self.in_last_error, folders=self.folders,
        )  # fmt: skip

    @cached_property
    def ever_held(self) -> Holdings:
        """Everything that the transcript said up to here, in any lane: what is not in it was invented."""
        last = max((index for index, _ in self.past), default=-1)
        every = self.reading.parts(range(last + 1))
        keys = frozenset(self.key(use) for at in self.past for use in self.reading.uses(at))
        transcript = self.reading.transcript
        facts = "\n".join(filter(None, (*self.folders, transcript.id, transcript.path)))
        texts = [(Place.SUMMARY, self.reading.text(every)), (Place.SUMMARY, facts)]
        return Holdings(texts, {Place.SUMMARY: keys}, self.folders)

    def side(self) -> Side:
        """For the report."""
        return _side(self.reading, self.parts)


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of the context after."""

    place: Place
    reading: Reading
    at: PartAt
    authored: bool = False
    """Whether the compaction wrote it."""


@dataclass(frozen=True)
class After:
    """A context after a compaction."""

    reading: Reading
    pieces: Sequence[Piece]
    own_parts: Sequence[PartAt]
    """What is in the context, as parts of its own transcript."""
    opaque: bool = False
    """Its summary cannot be read."""
    notes: Reading | None = None
    """A notes file that the context names."""

    @cached_property
    def is_system_there(self) -> bool:
        """Whether it holds a system prompt, so that what a project's instructions say can be looked for."""
        return any(self.reading.messages[index].role is Role.SYSTEM for index, _ in self.own_parts)

    def holdings(self, folders: Sequence[str]) -> Holdings:
        """What stands where."""
        texts: list[tuple[Place, str]] = []
        given: dict[Place, set[Key]] = {}
        for piece in self._all_pieces():
            texts.append((piece.place, piece.reading.text([piece.at])))
            keys = given.setdefault(piece.place, set())
            keys.update((use.kind, normal(use.kind, use.value, folders)) for use in piece.reading.uses(piece.at))
        return Holdings(texts, given, folders)

    def _all_pieces(self) -> Iterable[Piece]:
        yield from self.pieces
        if self.notes is not None:
            for at in self.notes.parts(range(len(self.notes.messages))):
                yield Piece(Place.NOTES, self.notes, at)

    def authored(self) -> list[Piece]:
        """What the compaction wrote."""
        return [piece for piece in self.pieces if piece.authored]

    def side(self) -> Side:
        """For the report."""
        return _side(self.reading, self.own_parts)


def _side(reading: Reading, parts: Sequence[PartAt]) -> Side:
    transcript = reading.transcript
    lines = [reading.part(at).line or reading.messages[at[0]].line for at in parts]
    if reading.is_text and parts:
        lines = [1, reading.part(parts[-1]).text.rstrip("\n").count("\n") + 1]
    span = (min(lines), max(lines)) if lines else None
    return Side(transcript.path, transcript.id, transcript.format, span, digest(reading, parts))


def pieces_against(before: Before, after: Reading, parts: Sequence[PartAt]) -> list[Piece]:
    """The parts of another transcript by what they are: kept as they were, or written by the compaction.

    What was kept before the first message that is gone is pinned; what was kept after it is the tail.
    """
    originals: dict[tuple[PartKind, str], PartAt] = {}
    for at in before.parts:
        part = before.reading.part(at)
        if part.text.strip():
            originals.setdefault((part.kind, part.text), at)
    standing = {(after.part(at).kind, after.part(at).text) for at in parts}
    gap = _first_gone(before, standing)
    marked = any(after.part(at).kind is PartKind.SUMMARY for at in parts)
    found = []
    for at in parts:
        part = after.part(at)
        original = originals.get((part.kind, part.text))
        system = after.messages[at[0]].role is Role.SYSTEM and not after.is_text
        if original is not None:
            pinned = system or gap is None or original[0] < gap
            found.append(Piece(Place.SUMMARY if pinned else Place.TAIL, before.reading, original))
            continue
        authored = part.kind is PartKind.SUMMARY or (not marked and part.kind in (PartKind.TEXT, PartKind.TOOL_CALL))
        found.append(Piece(Place.SUMMARY if authored or system else Place.TAIL, after, at, authored))
    return found


def _first_gone(before: Before, standing: Set[tuple[PartKind, str]]) -> int | None:
    """Index of the first message of which nothing is left."""
    left: dict[int, bool] = {}
    for index, number in before.parts:
        part = before.reading.part((index, number))
        if part.text.strip():
            left[index] = left.get(index, False) or (part.kind, part.text) in standing
    return min((index for index, stands in left.items() if not stands), default=None)
