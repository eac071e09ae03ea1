"""One cut of one transcript: what every compactor is given, and what its result is held against."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ctxcli.bench.cuts import Cut, upto
from ctxcli.bench.fit import floor_of
from ctxcli.compact.conclude import is_error
from ctxcli.compact.session import Session
from ctxcli.guard.compare import Comparison
from ctxcli.guard.conclude import conclude
from ctxcli.guard.forms import Key
from ctxcli.guard.judging import Judge
from ctxcli.guard.policy import Policy
from ctxcli.guard.reading import Reading
from ctxcli.guard.recorded import recorded, used_in
from ctxcli.guard.sides import After, pieces_against
from ctxcli.identifiers import Extractor
from ctxcli.model import Message, Transcript
from ctxcli.replay import live
from ctxcli.reports.guard import HELD, INVENTED, KEPT, MUTATED, UNJUDGED
from ctxcli.shelf import Material, Weigh
from ctxcli.simulate.raw import said_turns
from ctxcli.summarisers.extractive.decisions import decisions
from ctxcli.tokens import count_parts
from ctxcli.validity import check, profile_of

_DECISIONS = 20
"""Of the decisions of a context so many are looked for."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one result came to. Counts of identifiers are of the default policy of the guard."""

    tokens: int
    required: int
    required_held: int
    used: int
    """Identifiers that the conversation used later and had said before."""
    used_held: int
    mutated: int
    invented: int
    constraints: int
    constraints_held: int
    decisions: int
    decisions_held: int
    broken: int
    """Rules of the provider that the result breaks and the context before did not."""
    kinds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Of the required ones, by kind: how many, and how many are held."""


@dataclass(frozen=True, slots=True)
class Means:
    """How every transcript of a run is weighed and read."""

    weigh: Weigh
    extractor: Extractor
    policy: Policy = field(default_factory=Policy)


class Case:
    """The context at a cut, read once for all that is done to it."""

    def __init__(self, transcript: Transcript, cut: Cut, means: Means) -> None:
        self.transcript, self.cut, self.means = transcript, cut, means
        self.before = upto(transcript, cut)
        self.session = Session(self.before, means.policy, means.weigh, means.extractor)

    @cached_property
    def tokens(self) -> int:
        """Of the context at the cut."""
        return self.session.tokens

    @cached_property
    def required(self) -> frozenset[Key]:
        """What the guard asks for."""
        return frozenset(self.session.before.required(self.means.policy).keys)

    @cached_property
    def used(self) -> frozenset[Key]:
        """What the conversation stated or touched behind the cut and the context had said."""
        before, later = self.session.before, self._later
        found = used_in(before, later, later.parts(range(len(later.messages))))
        kinds = self.means.policy.kinds
        return frozenset(
            key for key in found if (one := before.known.get(key)) and not one.secret and one.kind in kinds
        )

    @property
    def _later(self) -> Reading:
        """The raw turns behind the cut: nothing that a later compaction wrote."""
        return Reading(said_turns(self.transcript, self.cut.at), self.means.extractor)

    @cached_property
    def decisions(self) -> tuple[str, ...]:
        """The decisions of the context that its own words state: those with a reason first, then the newest."""
        material = Material(self.before, self.session.raw, (), (), 0, self.means.weigh)
        said = _flat(self.session.before.reading.text(self.session.before.parts))
        return tuple(one.text for one in decisions(material) if _flat(one.text) in said)[:_DECISIONS]

    @cached_property
    def _profile(self) -> str:
        return profile_of(self.before)

    def score(self, after: Transcript, tokens: int | None = None) -> Score:
        """Of a result: a transcript, or a text. Its weight is counted where it is not known."""
        reading = Reading(after, self.means.extractor)
        now, cleared = live(after)
        parts = reading.parts(now, cleared)
        pieces = pieces_against(self.session.before, reading, parts)
        if tokens is None:
            weights = count_parts(after, self.means.weigh)
            tokens = sum(weights[index][number] for index, number in parts)
        messages = () if reading.is_text else [after.messages[index] for index in now]
        return self._scored(After(reading, pieces, parts), tokens, messages)

    def recorded(self) -> Score | None:
        """Of the compaction that the transcript records at the cut; None where there is none that can be read."""
        if self.cut.event is None:
            return None
        event = self.transcript.events[self.cut.event]
        reading = Reading(self.transcript, self.means.extractor)
        found = next((one for one in recorded(reading) if one.event is event), None)
        if found is None or found.after.opaque:
            return None
        weights = count_parts(self.transcript, self.means.weigh)
        tokens = sum(weights[index][number] for index, number in found.after.own_parts)
        return self._scored(found.after, tokens, ())

    def _scored(self, after: After, tokens: int, messages: Sequence[Message]) -> Score:
        comparison = Comparison(self.session.before, after, self.means.policy, only=self.required | self.used)
        report = conclude(comparison, self.means.weigh, notes=None)
        held = [key for key in self.required if comparison.status.get(key) in HELD]
        of_kind, held_of = Counter(kind for kind, _ in self.required), Counter(kind for kind, _ in held)
        asked = [row for row in report.constraints if row.required or row.status == UNJUDGED]
        failing = [one for one in report.findings if one.fails]
        return Score(
            tokens=tokens,
            required=len(self.required), required_held=len(held),
            used=len(self.used), used_held=sum(comparison.status.get(key) in HELD for key in self.used),
            mutated=sum(one.status == MUTATED for one in failing),
            invented=sum(one.status == INVENTED for one in failing),
            constraints=len(asked), constraints_held=sum(row.status == KEPT for row in asked),
            decisions=len(self.decisions), decisions_held=self._decided(comparison.holdings.text),
            broken=self._broken(messages),
            kinds={kind: (count, held_of[kind]) for kind, count in sorted(of_kind.items())},
        )  # fmt: skip

    def _decided(self, text: str) -> int:
        """How many decisions stand in a text, word for word or in nearly the same words."""
        if not self.decisions:
            return 0
        flat = _flat(text)
        other = [one for one in self.decisions if _flat(one) not in flat]
        judge = Judge(text) if other else None
        reworded = sum(judge.judge(one).status == KEPT for one in other) if judge else 0
        return len(self.decisions) - len(other) + reworded

    def _broken(self, messages: Sequence[Message]) -> int:
        known = self.session.broken(self._profile)
        return sum(
            found.rule not in known and is_error(found) for found in check(messages, self._profile)
        ) if messages else 0  # fmt: skip

    @cached_property
    def floor(self) -> int:
        """Tokens that every strategy keeps."""
        return floor_of(self.session)

    def target(self, budget: float) -> int:
        """Tokens of a result within a budget: what stays in any case, and that share of the rest."""
        return self.floor + int(budget * (self.tokens - self.floor))


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()
