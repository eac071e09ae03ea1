"""Several compactions one after the other, with the next real turns in between: what is left of the first context."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxcli.bench.case import Means
from ctxcli.bench.fit import fits, fitted, floor_of
from ctxcli.bench.outside import Outside, OutsideError, run_outside
from ctxcli.bench.plan import Plan
from ctxcli.bench.plant import Fact, planted
from ctxcli.compact.context import units_of
from ctxcli.compact.session import Session
from ctxcli.compact.settings import Settings
from ctxcli.guard.forms import Key, normal
from ctxcli.guard.holdings import Holdings, Place
from ctxcli.guard.judging import Judge
from ctxcli.guard.reading import Reading
from ctxcli.model import Transcript
from ctxcli.replay import live
from ctxcli.simulate.course import Held
from ctxcli.simulate.passes import Passes, rows_after
from ctxcli.simulate.policy import Policy
from ctxcli.simulate.raw import said_turns
from ctxcli.tokens import count_parts

RAW, COPY = "raw turns", "copy of a copy"
"""How a later compaction comes to what an earlier one took out: from the turns themselves, or not at all."""
_FIRST = 0.4
"""Share of a conversation's tokens before the first compaction; the rest comes in equal pieces between the others."""


@dataclass(frozen=True, slots=True)
class Life:
    """What one compactor held after one of its compactions of one transcript."""

    path: str
    conversation: str | None
    compactor: str
    form: str
    generation: int
    """From 1."""
    before: int
    after: int
    """Both in tokens."""
    required: int
    """Identifiers that were required before the first compaction."""
    held: int
    """Of those, how many the context holds now."""
    facts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Of what was planted, by slot and place (`constraints, head`): how many, and how many are held."""
    error: str = ""
    fits: bool = True
    """Whether the context is within the budget."""


def lives_of(transcript: Transcript, means: Means, plan: Plan, source: tuple[str, str | None]) -> Iterator[Life]:
    """Each compactor of the plan in each form; nothing of a conversation that is too short."""
    raw, facts = said_turns(transcript), tuple[Fact, ...]()
    ends = _ends(raw, means, plan)
    if len(ends) < plan.generations:
        return
    if plan.plant:
        garden = planted(raw, ends[0], plan.plant, str(plan.seed))
        raw, facts = garden.transcript, garden.facts
        ends = [end + len(facts) for end in ends]
    room = int(plan.generation_budget * sum(map(sum, count_parts(raw, means.weigh)[: ends[0]])))
    life = _Lives(replace(raw, messages=raw.messages[: ends[-1]]), ends, facts, room, means, plan, source)
    for name in plan.strategies:
        yield from life.of_strategy(name, RAW)
        yield from life.of_strategy(name, COPY)
    for one in plan.outside:
        yield from life.of_outside(one)


def _ends(raw: Transcript, means: Means, plan: Plan) -> list[int]:
    """Before which message each compaction comes: where an answer begins, by equal weights; fewer where it is short."""
    weights = [sum(row) for row in count_parts(raw, means.weigh)]
    total = sum(weights)
    if total * _FIRST < plan.least:
        return []
    units = units_of(raw.messages, range(len(raw.messages)))
    steps = [total * (_FIRST + (1 - _FIRST) * number / plan.generations) for number in range(plan.generations)]
    ends: list[int] = []
    size = 0
    for unit in units:
        size += sum(weights[index] for index in unit)
        if len(ends) < len(steps) and size >= steps[len(ends)]:
            ends.append(unit[-1] + 1)
    return ends


@dataclass(frozen=True, slots=True)
class _State:
    """A context between two compactions."""

    rows: tuple[Held, ...] = ()
    dropped: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Lives:
    """The turns of one conversation, and where it is compacted."""

    raw: Transcript
    ends: Sequence[int]
    facts: Sequence[Fact]
    room: int
    """Tokens that each compaction leaves beside what has to stay: the budget's share of the first context."""
    means: Means
    plan: Plan
    source: tuple[str, str | None]

    def of_strategy(self, name: str, form: str) -> Iterator[Life]:
        """A strategy, generation by generation."""
        passes = Passes(self.raw, self.means.weigh, self.means.extractor, Policy(name))
        state, required = _State(), frozenset[Key]()
        for number in range(1, len(self.ends) + 1):
            rows = self._grown(state.rows, number)
            before, held = passes.as_transcript(rows, state.dropped if form == RAW else frozenset())
            session = Session(before, self.means.policy, self.means.weigh, self.means.extractor)
            required = required or frozenset(session.before.required(self.means.policy).keys)
            change = fitted(session, Settings((name,), self.room + floor_of(session)))
            left, gone = rows_after(rows, before, held, change)
            state = _State(left, state.dropped | gone)
            after = replace(before, messages=tuple(row.message for row in left), events=())
            weight = session.weight(change)
            one = self._life(name, form, (number, session.tokens, weight), after, required)
            yield replace(one, fits=fits(weight, self.room + floor_of(session)))

    def of_outside(self, one: Outside) -> Iterator[Life]:
        """A command, generation by generation: it knows only what it is given."""
        passes = Passes(self.raw, self.means.weigh, self.means.extractor, Policy("contract"))
        rows, required = tuple[Held, ...](), frozenset[Key]()
        for number in range(1, len(self.ends) + 1):
            rows = self._grown(rows, number)
            before, _ = passes.as_transcript(rows, frozenset())
            session = Session(before, self.means.policy, self.means.weigh, self.means.extractor)
            required = required or frozenset(session.before.required(self.means.policy).keys)
            try:
                after = run_outside(one, before, before.messages, self.room + floor_of(session))
            except OutsideError as error:
                failed = self._life(one.name, COPY, (number, session.tokens, 0), Transcript(""), required)
                yield replace(failed, error=str(error))
                return
            messages = [after.messages[index] for index in live(after)[0]]
            rows = tuple(Held(message, None, tuple(range(len(message.parts)))) for message in messages)
            weight = sum(map(sum, count_parts(replace(after, messages=tuple(messages)), self.means.weigh)))
            found = self._life(one.name, COPY, (number, session.tokens, weight), after, required)
            yield replace(found, fits=fits(weight, self.room + floor_of(session)) or not one.is_sized)

    def _grown(self, rows: Sequence[Held], number: int) -> tuple[Held, ...]:
        """A context with the turns that come before its next compaction."""
        start = self.ends[number - 2] if number > 1 else 0
        new = range(start, self.ends[number - 1])
        messages = self.raw.messages
        return (*rows, *(Held(messages[at], at, tuple(range(len(messages[at].parts)))) for at in new))

    def _life(
        self, name: str, form: str, figures: tuple[int, int, int], after: Transcript, required: frozenset[Key]
    ) -> Life:  # fmt: skip
        number, before, weight = figures
        reading = Reading(after, self.means.extractor)
        parts = reading.parts(*live(after)) if after.messages else []
        folders = self.raw.folders
        given = {(use.kind, normal(use.kind, use.value, folders)) for at in parts for use in reading.uses(at)}
        text = reading.text(parts)
        holdings = Holdings([(Place.SUMMARY, text)], {Place.SUMMARY: given}, folders)
        path, conversation = self.source
        return Life(
            path, conversation, name, form, number, before, weight,
            len(required), sum(holdings.place_of(kind, value, ()) is not None for kind, value in required),
            self._found(text),
        )  # fmt: skip

    def _found(self, text: str) -> dict[str, tuple[int, int]]:
        """What was planted, held against a text."""
        found: dict[str, tuple[int, int]] = {}
        judge = Judge(text) if self.facts else None
        for fact in self.facts:
            many, held = found.get(fact.name, (0, 0))
            found[fact.name] = many + 1, held + (judge is not None and fact.stands_in(text, judge))
        return found
