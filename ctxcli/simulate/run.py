"""The simulation of one transcript: count, calibrate, replay under each policy, conclude."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ctxcli.audit.run import fits_of, models_of
from ctxcli.audit.walk import Scales, walk
from ctxcli.budget import Limits, Usable, usable_window
from ctxcli.caching import CacheRules
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
    SimulatedLane,
    SimulatedSource,
    SimulateReport,
)
from ctxcli.shelf import Weigh
from ctxcli.simulate.agree import agreement_of
from ctxcli.simulate.cache import CacheTerms, Served, lives_told, served
from ctxcli.simulate.conclude import (
    Terms,
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
from ctxcli.simulate.lanes import as_main, lane_rows
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
    ttl: int | None = None
    """Seconds that the cache lives; None for what the provider's figures and rules tell."""
    lane: str = MAIN
    """The sub-agent that is replayed in the place of the main conversation."""
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
    """Replay a lane of a transcript as it was recorded, with no compaction, and under each policy.

    Raises SettingError for a share of a window that is not known, for a lane without calls, and for a call to explain
    that there is not.
    """
    return _Simulation(transcript, settings or Settings()).report()


class _Simulation:
    """One transcript, counted and calibrated once for all policies."""

    def __init__(self, transcript: Transcript, settings: Settings) -> None:
        if settings.prices is not None:  # what has no price is told of this transcript alone
            settings = replace(settings, prices=replace(settings.prices, unknown=set()))
        self.transcript, self.settings = as_main(transcript, settings.lane), settings
        transcript = self.transcript
        self.models = models_of(transcript)
        self.choice: Choice = choose(self.models, settings.tokenizer)
        self.weigh = settings.weigher(self.choice.name)
        self.frames = list(replay(transcript))
        counted = count_parts(transcript, self.weigh)
        self.scales = Scales(transcript, counted, fits_of(self.frames, transcript, counted, self.choice))
        self.all_steps = list(walk(self.frames, self.scales))
        self.steps = [step for step in self.all_steps if step.call.lane == MAIN]
        self.unseen = unseen_in(self.steps)
        self.usable: Usable = usable_window(
            settings.limits, self.models, transcript.window, recorded_is_usable=transcript.window_is_usable
        )
        told = {} if settings.ttl is not None else lives_told(self.steps, transcript)
        cache = CacheTerms(transcript.provider, settings.ttl, told, self.unseen.first_read, self.unseen.front)
        self.terms = Terms(self.scales, self.usable, cache, settings.prices)
        self.hindsight = Recall(self.raw, transcript, Extractor(settings.kinds, remembers=_LINES))
        self._told: list[tuple[PolicyResult, Sequence[Request], Sequence[Served]]] = []

    def report(self) -> SimulateReport:
        """All of it."""
        policies = tuple(self._policies())
        _, requests, caches = self._told[0]
        agreement = agreement_of(self.steps, requests, caches, self.unseen)
        window = Window(self.usable.max_context, self.usable.origin, self.usable.reserve, self.usable.usable)
        return SimulateReport(
            kind="ctx.simulate", version=1, ok=True,
            source=self._source(), tokenizer=self._counting(), window=window,
            rules=tuple(self._rules()), timed=sum(one.idle is not None for one in caches),
            prices=self._price_list(),
            hidden=self._hidden(),
            agreement=agreement,
            policies=policies,
            lanes=tuple(self._lanes()),
            explained=tuple(self._explained()),
            notes=(
                *notes_of(self.transcript, self.terms, caches, self.unseen), *self._passed_over(), *doubts(agreement),
            ),
        )  # fmt: skip

    def _hidden(self) -> Hidden | None:
        unseen = self.unseen
        return Hidden(next(iter(unseen.fixed.values()), 0), unseen.earlier) if unseen.measured else None

    def _lanes(self) -> Iterator[SimulatedLane]:
        settings = self.settings
        return lane_rows(self.frames, self.all_steps, self.scales, self.terms, settings.limits, settings.lane)

    def _policies(self) -> Iterator[PolicyResult]:
        yield self._recorded()
        yield self._result(NONE, "none", self._drive(None, 0))
        for policy in self.settings.policies:
            limit = policy.limit(self._usable(policy).usable)
            if limit is None and self.settings.passes_over:
                continue
            if limit is None:
                raise SettingError(
                    f"--policy {policy.name}: the trigger is a share of a window that is not known; "
                    "give --max-context 200k, or a trigger in tokens"
                )
            yield self._result(policy.name, "strategy", self._drive(policy, limit), policy, limit)

    def _usable(self, policy: Policy | None) -> Usable:
        """The window that a policy's shares are of: its own, else that of the model."""
        if policy is None or policy.window is None:
            return self.usable
        return usable_window(replace(self.settings.limits, max_context=policy.window), self.models, None)

    def _passed_over(self) -> Iterator[str]:
        names = [one.name for one in self.settings.policies if one.limit(self._usable(one).usable) is None]
        if names:
            yield f"No window is known, so nothing would trigger {', '.join(names)}; --max-context 200k says it."

    def _recorded(self) -> PolicyResult:
        run = plain(main_frames(self.frames, MAIN), self._course(), self.unseen)
        caches = list(served(run.requests, self.terms.cache))
        compactions = self._recorded_compactions(run, caches)
        result = PolicyResult(
            RECORDED, "recorded", None, None, self.usable.usable, call_rows(run.requests, caches, self.terms),
            modelled(run.requests, caches, compactions, self.terms),
            measured(self.steps, run.requests, compactions, self.terms),
            compactions, sum(one.loop for one in compactions), None, recall_of(compactions), (),
        )  # fmt: skip
        self._told.append((result, run.requests, caches))
        return result

    def _recorded_compactions(self, run: Run, caches: Sequence[Served]) -> tuple[SimulatedCompaction, ...]:
        """In the order of the calls that follow them."""
        events = [one for one in self.transcript.events if one.kind in COMPACTIONS and one.lane == MAIN]
        recalls = self.hindsight.of_events()
        rows = recorded_rows(events, self.steps, run, caches, self.terms)
        return tuple(replace(row, hindsight=recalls.get(id(event))) for row, event in zip(rows, events, strict=True))

    def _drive(self, policy: Policy | None, limit: int) -> Run:
        passes = None if policy is None else Passes(self.raw, self.weigh, self.hindsight.extractor, policy)
        return driven(main_frames(replay(self.raw), MAIN), self._course(), self.unseen, passes, limit)

    def _result(
        self, name: str, kind: str, run: Run, policy: Policy | None = None, limit: int | None = None
    ) -> PolicyResult:  # fmt: skip
        terms = replace(self.terms, usable=self._usable(policy))
        caches = list(served(run.requests, terms.cache))
        recalls = self.hindsight.of_passes(run.passes)
        compactions = pass_rows(run, caches, terms, recalls, policy.summary if policy else 0)
        totals = modelled(run.requests, caches, compactions, terms)
        result = PolicyResult(
            name, kind, policy.strategy if policy else None, limit, terms.usable.usable,
            call_rows(run.requests, caches, terms), totals, None, compactions, sum(one.loop for one in compactions),
            run.gave_up, recall_of(compactions), remarks_of(run, totals),
        )  # fmt: skip
        self._told.append((result, run.requests, caches))
        return result

    @cached_property
    def raw(self) -> Transcript:
        """The raw turns: the indices of its messages are those of the transcript."""
        return raw_turns(self.transcript)

    def _course(self) -> Course:
        return Course(self.scales, lambda text: self.weigh.count([text])[0])

    def _explained(self) -> Iterator[str]:
        wanted = self.settings.explain
        if wanted is None:
            return
        for result, requests, caches in self._told:
            pairs = zip(requests, caches, strict=True)
            found = next(((one, cache) for one, cache in pairs if one.n == wanted), None)
            if found is None:
                raise SettingError(f"--explain {wanted}: this lane has no call of this number")
            yield from explained(result, *found, self.terms)

    def _rules(self) -> Iterator[Rules]:
        """Those that the calls follow, with the life that was taken."""
        terms = self.terms.cache
        cards = Counter(terms.rules(step.call.model) for step in self.steps)
        for card, calls in cards.most_common():
            yield self._card(card, calls)

    def _card(self, card: CacheRules, calls: int) -> Rules:
        terms = self.terms.cache
        models = tuple(one for one in self.models if terms.rules(one) is card)
        model, life = models[0] if models else "", terms.life_of(card)
        origin = "flag" if terms.life is not None else "measured" if card.name in terms.told else "rules"
        return Rules(
            card.name, card.title, models, calls, life, origin, card.minimum(model), card.step, card.breakpoints,
            terms.front if card.breakpoints else None, card.write(life), card.read(model),
        )  # fmt: skip

    def _source(self) -> SimulatedSource:
        one = self.transcript
        return SimulatedSource(
            one.path, one.format, one.agent, tuple(self.models), one.id, one.many, self.settings.lane
        )

    def _counting(self) -> Counting:
        fit = self.scales.fits.get(self.steps[0].call.model) if self.steps else None
        ratio, origin = (fit.ratio, fit.origin) if fit else (None, None)
        return Counting(self.weigh.name, self.weigh.engine, self.choice.exact, ratio, origin)

    def _price_list(self) -> PriceList | None:
        prices = self.settings.prices
        if prices is None or (prices.version is None and not prices.own):
            return None
        return PriceList(prices.origin or LIBRARY, prices.version or "", "USD")
