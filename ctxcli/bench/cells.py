"""What is computed at one cut: every compactor at every budget, each result held against the case."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ctxcli.bench.case import Case, Score
from ctxcli.bench.fit import fitted
from ctxcli.bench.outside import Outside, OutsideError, run_outside
from ctxcli.bench.plan import Plan
from ctxcli.change import applied
from ctxcli.compact.settings import Settings

RECORDED = "recorded"
"""The name of the compactions that the transcripts record themselves."""
_WORTH = 0.5
"""Of the least context, what has to be there beside what every strategy keeps: else there is nothing to compact."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One compactor at one budget of one cut."""

    path: str
    conversation: str | None
    call: int
    """The call before which the context is cut."""
    compactor: str
    budget: float | None
    """None where a compactor set its own size."""
    against: str | None
    """The compactor whose own size it is."""
    before: int
    """Tokens of the context."""
    target: int
    """Tokens that the result may have."""
    score: Score | None
    """None where the compactor failed."""
    seconds: float | None
    """None of a recorded compaction, and where times are not to be told."""
    error: str = ""


def cells_of(case: Case, plan: Plan, source: tuple[str, str | None]) -> Iterator[Cell]:
    """All cells of a case; none where its context holds nothing to compact, or nothing of it was used later."""
    if case.tokens - case.floor < _WORTH * plan.least or not case.used:
        return
    bench = _Bench(case, plan, source)
    if case.cut.event is not None:
        recorded = case.recorded()
        if recorded is None:
            return
        yield bench.cell(RECORDED, None, RECORDED, recorded.tokens, recorded)
        yield from bench.strategies(None, RECORDED, recorded.tokens)
        return
    for budget in plan.budgets:
        target = case.target(budget)
        yield from bench.strategies(budget, None, target)
        yield from (bench.outside(one, budget, target) for one in plan.outside if one.is_sized)
    for one in (one for one in plan.outside if not one.is_sized):
        cell = bench.outside(one, None, 0)
        yield cell
        if cell.score is not None and cell.score.tokens < case.tokens:
            yield from bench.strategies(None, one.name, cell.score.tokens)


@dataclass(frozen=True, slots=True)
class _Bench:
    """One case on the bench."""

    case: Case
    plan: Plan
    source: tuple[str, str | None]

    def cell(
        self, name: str, budget: float | None, against: str | None, target: int, score: Score | None
    ) -> Cell:  # fmt: skip
        """A cell without a time."""
        path, conversation = self.source
        case = self.case
        return Cell(path, conversation, case.cut.call, name, budget, against, case.tokens, target, score, None)

    def strategies(self, budget: float | None, against: str | None, target: int) -> Iterator[Cell]:
        """Each strategy of the plan within a target."""
        session = self.case.session
        for name in self.plan.strategies:
            start = time.perf_counter()
            change = fitted(session, Settings((name,), target))
            seconds = time.perf_counter() - start
            after = replace(session.transcript, messages=applied(session.transcript, change), events=(), calls=())
            score = self.case.score(after, session.weight(change))
            yield replace(self.cell(name, budget, against, target, score), seconds=round(seconds, 3))

    def outside(self, one: Outside, budget: float | None, target: int) -> Cell:
        """A compactor of another make."""
        session = self.case.session
        against = None if one.is_sized else one.name
        start = time.perf_counter()
        try:
            after = run_outside(one, session.transcript, session.messages, target)
        except OutsideError as error:
            failed = self.cell(one.name, budget, against, target, None)
            return replace(failed, seconds=round(time.perf_counter() - start, 3), error=str(error))
        seconds = time.perf_counter() - start
        score = self.case.score(after)
        found = self.cell(one.name, budget, against, target if one.is_sized else score.tokens, score)
        return replace(found, seconds=round(seconds, 3))
