"""The simulation of one transcript: count, calibrate, replay under each policy, conclude."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ctxcli.audit.run import fits_of, models_of
from ctxcli.audit.walk import Scales, walk
from ctxcli.budget import Limits, Usable, usable_window
from ctxcli.caching import LIFE_5M, MINIMUM
from ctxcli.errors import SettingError
from ctxcli.identifiers import Extractor
from ctxcli.identifiers.hit import Kind
from ctxcli.model import COMPACTIONS, MAIN, Transcript
from ctxcli.prices import LIBRARY, Prices
from ctxcli.replay import replay
from ctxcli.reports.audit import Window
from ctxcli.reports.simulate import (
    Counting,
    Hidden,
    PolicyResult,
    PriceList,
    Rules,
    SimulatedCompaction,
    SimulatedSource,
    SimulateReport,
)
from ctxcli.shelf import Weigh
from ctxcli.simulate.cache import Served, served
from ctxcli.simulate.conclude import (
    Terms,
    agreement_of,
    call_rows,
    measured,
    modelled,
    pass_rows,
    recall_of,
    recorded_rows,
)
from ctxcli.simulate.course import Course, Request
from ctxcli.simulate.drive import Run, driven, main_frames, plain
from ctxcli.simulate.explain import explained
from ctxcli.simulate.hindsight import Recall
from ctxcli.simulate.passes import Passes
from ctxcli.simulate.policy import NONE, RECORDED, Policy
from ctxcli.simulate.raw import raw_turns
from ctxcli.simulate.remarks import doubts, notes_of, remarks_of
from ctxcli.simulate.unseen import unseen_in
from ctxcli.tokens import Choice, choose, count_parts, counter

_LINES = 1 << 18
"""Lines whose identifiers are remembered: every pass reads the whole transcript again."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is simulated, and against what."""

    policies: tuple[Policy, ...] = ()
    limits: Limits = field(default_factory=Limits)
    ttl: int = LIFE_5M
    """Seconds that the cache lives: 300 or 3,600."""
    prices: Prices | None = None
    """None where no cost is asked for."""
    explain: int | None = None
    """The number of a call whose arithmetic is told."""
    tokenizer: str | None = None
    weigher: Callable[[str], Weigh] = counter
    passes_over: bool = False
    """A policy whose trigger is a share of a window that is not known is passed over and that is said, not refused."""
    kinds: Sequence[Kind] = ()
    """Kinds of identifiers that the user defined."""


def simulate(transcript: Transcript, settings: Settings | None = None) -> SimulateReport:
    """Replay the main lane of a transcript as it was recorded, with no compaction, and under each policy.

    Raises SettingError for a share of a window that is not known, and for a call to explain that there is not.
    """
    return _Simulation(transcript, settings or Settings()).report()


class _Simulation:
    """One transcript, counted and calibrated once for all policies."""

    def __init__(self, transcript: Transcript, settings: Settings) -> None:
        self.transcript, self.settings = transcript, settings
        self.models = models_of(transcript)
        self.choice: Choice = choose(self.models, settings.tokenizer)
        self.weigh = settings.weigher(self.choice.name)
        self.frames = list(replay(transcript))
        counted = count_parts(transcript, self.weigh)
        self.scales = Scales(transcript, counted, fits_of(self.frames, transcript, counted, self.choice))
        self.steps = [step for step in walk(self.frames, self.scales) if step.call.lane == MAIN]
        self.unseen = unseen_in(self.steps)
        self.usable: Usable = usable_window(
            settings.limits, self.models, transcript.window, recorded_is_usable=transcript.window_is_usable
        )
        self.terms = Terms(self.scales, self.usable, settings.ttl, settings.prices)
        self.hindsight = Recall(self.raw, transcript, Extractor(settings.kinds, remembers=_LINES))
        self._told: list[tuple[PolicyResult, Sequence[Request], Sequence[Served]]] = []

    def report(self) -> SimulateReport:
        """All of it."""
        policies = tuple(self._policies())
        _, requests, caches = self._told[0]
        agreement = agreement_of(self.steps, requests, caches, self.unseen.anchors)
        window = Window(self.usable.max_context, self.usable.origin, self.usable.reserve, self.usable.usable)
        return SimulateReport(
            kind="ctx.simulate", version=1, ok=True,
            source=self._source(), tokenizer=self._counting(), window=window,
            rules=Rules(self.settings.ttl, MINIMUM, sum(one.idle is not None for one in caches)),
            prices=self._price_list(),
            hidden=Hidden(self.unseen.fixed, self.unseen.earlier) if self.unseen.measured else None,
            agreement=agreement,
            policies=policies, explained=tuple(self._explained()),
            notes=(
                *notes_of(self.transcript, self.settings.prices, caches, self.unseen),
                *self._passed_over(), *doubts(agreement),
            ),
        )  # fmt: skip

    def _policies(self) -> Iterator[PolicyResult]:
        yield self._recorded()
        yield self._result(NONE, "none", self._drive(None, 0))
        for policy in self.settings.policies:
            limit = policy.limit(self.usable.usable)
            if limit is None and self.settings.passes_over:
                continue
            if limit is None:
                raise SettingError(
                    f"--policy {policy.name}: the trigger is a share of a window that is not known; "
                    "give --max-context 200k, or a trigger in tokens"
                )
            yield self._result(policy.name, "strategy", self._drive(policy, limit), policy, limit)

    def _passed_over(self) -> Iterator[str]:
        names = [one.name for one in self.settings.policies if one.limit(self.usable.usable) is None]
        if names:
            yield f"No window is known, so nothing would trigger {', '.join(names)}; --max-context 200k says it."

    def _recorded(self) -> PolicyResult:
        run = plain(main_frames(self.frames, MAIN), self._course(), self.unseen)
        compactions = self._recorded_compactions(run)
        caches = list(served(run.requests, self.settings.ttl))
        result = PolicyResult(
            RECORDED, "recorded", None, None, call_rows(run.requests, caches, self.terms),
            modelled(run.requests, caches, compactions, self.terms),
            measured(self.steps, run.requests, compactions, self.terms),
            compactions, sum(one.loop for one in compactions), None, recall_of(compactions), (),
        )  # fmt: skip
        self._told.append((result, run.requests, caches))
        return result

    def _recorded_compactions(self, run: Run) -> tuple[SimulatedCompaction, ...]:
        """In the order of the calls that follow them."""
        events = [one for one in self.transcript.events if one.kind in COMPACTIONS and one.lane == MAIN]
        recalls = self.hindsight.of_events()
        rows = recorded_rows(events, self.steps, run.requests, self.terms)
        return tuple(replace(row, hindsight=recalls.get(id(event))) for row, event in zip(rows, events, strict=True))

    def _drive(self, policy: Policy | None, limit: int) -> Run:
        passes = None if policy is None else Passes(self.raw, self.weigh, self.hindsight.extractor, policy)
        return driven(main_frames(replay(self.raw), MAIN), self._course(), self.unseen, passes, limit)

    def _result(
        self, name: str, kind: str, run: Run, policy: Policy | None = None, limit: int | None = None
    ) -> PolicyResult:  # fmt: skip
        caches = list(served(run.requests, self.settings.ttl))
        compactions = pass_rows(run, self.terms, self.hindsight.of_passes(run.passes))
        totals = modelled(run.requests, caches, compactions, self.terms)
        result = PolicyResult(
            name, kind, policy.strategy if policy else None, limit, call_rows(run.requests, caches, self.terms), totals,
            None, compactions, sum(one.loop for one in compactions), run.gave_up, recall_of(compactions),
            remarks_of(run, totals),
        )  # fmt: skip
        self._told.append((result, run.requests, caches))
        return result

    @cached_property
    def raw(self) -> Transcript:
        """The raw turns: the indices of its messages are those of the transcript."""
        return raw_turns(self.transcript)

    def _course(self) -> Course:
        return Course(self.scales, lambda text: self.weigh.count([text])[0], self.unseen.fixed)

    def _explained(self) -> Iterator[str]:
        wanted = self.settings.explain
        if wanted is None:
            return
        for result, requests, caches in self._told:
            pairs = zip(requests, caches, strict=True)
            found = next(((one, cache) for one, cache in pairs if one.n == wanted), None)
            if found is None:
                raise SettingError(f"--explain {wanted}: the main conversation has no call of this number")
            yield from explained(result, *found, self.settings.ttl, self.terms.write)

    def _source(self) -> SimulatedSource:
        one = self.transcript
        return SimulatedSource(one.path, one.format, one.agent, tuple(self.models), one.id, one.many)

    def _counting(self) -> Counting:
        fit = self.scales.fits.get(self.steps[0].call.model) if self.steps else None
        ratio, origin = (fit.ratio, fit.origin) if fit else (None, None)
        return Counting(self.weigh.name, self.weigh.engine, self.choice.exact, ratio, origin)

    def _price_list(self) -> PriceList | None:
        prices = self.settings.prices
        if prices is None or (prices.version is None and not prices.own):
            return None
        return PriceList(prices.origin or LIBRARY, prices.version or "", "USD")
