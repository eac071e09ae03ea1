"""One conversation on its way through the strategies: measured, shortened, summed up, made valid."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ctxcli.change import Change, applied, placed
from ctxcli.compact.context import pinned_in, raw_of, start_of, summaries_in, tail_of, units_of
from ctxcli.compact.material import Span, material_of
from ctxcli.compact.mend import Mended, mend
from ctxcli.compact.naming import cleared_in, names_in, with_names
from ctxcli.compact.settings import DEFAULT_SUMMARY, FEWEST_SUMMARY, MOST_SUMMARY_SHARE, SUMMARY_SHARE, Settings
from ctxcli.compact.summary import carried_in, merged, text_of
from ctxcli.compact.summing import Summed, Summing
from ctxcli.guard.forms import Key
from ctxcli.guard.holdings import Holdings, Place
from ctxcli.guard.policy import Policy
from ctxcli.guard.reading import Reading
from ctxcli.guard.run import context_of
from ctxcli.guard.sides import Before
from ctxcli.identifiers import Extractor, extract
from ctxcli.model import Message, Transcript, media_of
from ctxcli.reports.compact import Step
from ctxcli.reports.slots import Slots
from ctxcli.shelf import Weigh
from ctxcli.slots import IDENTIFIERS, is_synthetic, render
from ctxcli.strategies import STRATEGIES
from ctxcli.summarisers import SUMMARISERS
from ctxcli.task import Scale, Task
from ctxcli.tokens import count_parts
from ctxcli.validity import check, profile_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pass came to."""

    start: Change
    mended: Mended
    steps: tuple[Step, ...]
    summed: Summed | None = None
    """How the summary came about; None where none was wanted."""

    @property
    def slots(self) -> Slots:
        """What the summary says."""
        return self.summed.slots if self.summed else Slots()

    @property
    def attempts(self) -> int:
        """How often a summary was asked for; 0 where none was wanted."""
        return self.summed.attempts if self.summed else 0

    @property
    def change(self) -> Change:
        """The context after."""
        return self.mended.change

    @classmethod
    def unchanged(cls, start: Change) -> "Outcome":
        """Of a pass that did nothing."""
        return cls(start, Mended(start, (), ()), ())


class Session:
    """The context of one transcript, weighed and read once for every pass over it."""

    def __init__(
        self, transcript: Transcript, policy: Policy, weigh: Weigh, extractor: Extractor = extract
    ) -> None:  # fmt: skip
        self.transcript = transcript
        self._extractor = extractor
        self.policy = policy
        self.weigh = weigh
        self.start = start_of(transcript)
        self.scale = Scale(count_parts(transcript, weigh), self.count)
        self._counts: dict[str, int] = {}
        self._summed: dict[str, Summed] = {}
        self._broken: dict[str, frozenset[str]] = {}

    @cached_property
    def before(self) -> Before:
        """The context for the guard."""
        return context_of(Reading(self.transcript, self._extractor))

    @cached_property
    def raw(self) -> tuple[int, ...]:
        """The raw turns behind the context."""
        return raw_of(self.transcript, self.start.keep)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The context before, as it is sent."""
        return applied(self.transcript, self.start)

    def count(self, text: str) -> int:
        """Tokens of a text."""
        if text not in self._counts:
            self._counts[text] = self.weigh.count([text])[0]
        return self._counts[text]

    def weight(self, change: Change) -> int:
        """Tokens of the context after a change."""
        return self.scale.tokens(change)

    @cached_property
    def tokens(self) -> int:
        """Tokens of the context before."""
        return self.weight(self.start)

    def broken(self, profile: str) -> frozenset[str]:
        """The rules of a profile that the context before breaks."""
        if profile not in self._broken:
            self._broken[profile] = frozenset(found.rule for found in check(self.messages, profile))
        return self._broken[profile]

    def target(self, settings: Settings) -> int:
        """What a pass aims at, in tokens."""
        share = settings.target
        return share if isinstance(share, int) else int(self.tokens * share)

    def compact(self, settings: Settings) -> Outcome:
        """Run the strategies until the target is met, then make the result valid.

        Raises SummaryError where a model's summary does not hold.
        """
        target = self.target(settings)
        profile = settings.profile or profile_of(self.transcript)
        first = mend(self.transcript, self.start, profile, self.messages)
        change, task = first.change, self._task(settings, target, first.change)
        steps = []
        for name in settings.strategies:
            if task.tokens(change) <= target:
                break
            strategy = STRATEGIES[name]
            own = task if strategy.summarises else replace(task, pinned=task.pinned | task.summaries)
            found = strategy.shorten(own, change)
            if found != change:
                change = found
                steps.append(Step(name, task.tokens(change)))
        if not steps:
            return Outcome(self.start, first, ())
        if not change.summary:
            change = self._restored(change)
            if task.tokens(change) > target and any(STRATEGIES[name].summarises for name in settings.strategies):
                found = STRATEGIES["rolling"].shorten(task, change)
                steps += [Step("rolling", task.tokens(found))] if found != change else []
                change = found
        if not change.summary and "contract" in settings.strategies:
            change = self._named(change, target)
        mended = mend(self.transcript, change, profile, self.messages)
        repairs = tuple(dict.fromkeys((*first.repairs, *mended.repairs)))
        summed = self._summed.get(change.summary)
        return Outcome(self.start, replace(mended, repairs=repairs), tuple(steps), summed)

    def _restored(self, change: Change) -> Change:
        """A change without a summary, in which results stand again that alone say something required."""
        required = self.before.required(self.policy).keys
        stands, reading = self._standing(change), self.before.reading
        kept = frozenset(change.keep)
        for key in [key for key in required if not stands(key)]:
            holding = [at for at in change.texts if at not in self.start.texts and at[0] in kept]
            found = next(
                (at for at in reversed(holding) if any(self.before.key(use) == key for use in reading.uses(at))), None
            )
            if found is not None:
                parts = self.transcript.messages[found[0]].parts
                media = {(found[0], number) for number in media_of(parts, parts[found[1]].ref)}
                texts = {at: text for at, text in change.texts.items() if at != found}
                change = replace(change, texts=texts, gone=change.gone - media)
        return change

    def _named(self, change: Change, target: int) -> Change:
        """A change without a summary, whose placeholders say what the cleared results alone named, as there is room."""
        cleared = cleared_in(change, self.start)
        names = names_in(self.before, self.policy, cleared, self._standing(change))
        return with_names(change, cleared, names, self.scale, target)

    def _task(self, settings: Settings, target: int, mended: Change) -> Task:
        """The task of a pass; a message of which mending left nothing is in no unit."""
        rows = placed(self.transcript, mended)
        keep = tuple(row.index for row in rows if row.index is not None)
        units = units_of(self.transcript.messages, keep)
        pinned, given = pinned_in(self.transcript, keep, settings.pins), settings.summary_tokens
        left = target - sum(self.scale.of(index, self.start) for index in pinned)
        room = left if left > 0 else target
        tokens, most = (
            given or min(DEFAULT_SUMMARY, max(FEWEST_SUMMARY, int(room * share)))
            for share in (SUMMARY_SHARE, MOST_SUMMARY_SHARE)
        )
        return Task(
            transcript=self.transcript, scale=self.scale, units=units,
            pinned=pinned, target=target,
            tail=tail_of(units, settings.keep_last, room, lambda index: self.scale.of(index, self.start)),
            summary_tokens=tokens, most_summary=most,
            summarise=lambda change, room: self._summary(change, settings, room),
            summaries=summaries_in(self.transcript, keep), results=settings.results, refine=settings.ask is None,
        )  # fmt: skip

    # -- the summary

    def _summary(self, change: Change, settings: Settings, tokens: int) -> str:
        """The text that stands for what a change takes out of the context."""
        kept = frozenset(change.keep)
        staying = kept - self._lessened(change)
        gone = [index for index in self.raw if index not in kept]
        extracted = partial(self._extracted, change, staying, settings, tokens)
        ask = settings.ask
        summed = Summed(extracted()) if ask is None else Summing(self, change, settings, gone).by(ask, extracted)
        text = text_of(summed.slots, self.transcript, gone, settings.notes_name, repaired=len(summed.added))
        self._summed[text] = summed
        return text

    def _lessened(self, change: Change) -> frozenset[int]:
        """The kept messages of which something gave way in this pass."""
        touched = (change.texts.keys() - self.start.texts.keys()) | (change.gone - self.start.gone)
        return frozenset(index for index, _ in touched)

    def _extracted(self, change: Change, staying: frozenset[int], settings: Settings, tokens: int) -> Slots:
        span = Span(self.raw, staying & frozenset(self.raw), self._carried(settings, change), self._standing(change))
        material = material_of(self.before, self.policy, self.weigh, tokens, span=span)
        slots = SUMMARISERS["extractive"].summarise(material)
        if slots.left_out.get(IDENTIFIERS) and settings.summary_tokens is None:
            due = [one.value for one in material.identifiers if one.required]
            room = self.count(render(slots)) + sum(self.weigh.count(due)) + 4 * len(due)
            slots = SUMMARISERS["extractive"].summarise(replace(material, tokens=room))
        return slots

    def _carried(self, settings: Settings, change: Change) -> Slots:
        """What notes and ctx's own earlier summaries hold, where those leave the context."""
        found = settings.notes
        for index in sorted(summaries_in(self.transcript, self.start.keep) - frozenset(change.keep)):
            for part in self.transcript.messages[index].parts:
                if is_synthetic(part.text):
                    found = merged(found, carried_in(part.text))
        return found

    def _standing(self, change: Change) -> Callable[[Key], bool]:
        """Whether an identifier stands in what a change keeps."""
        rows = list(placed(self.transcript, change))
        reading, folders = self.before.reading, self.before.folders
        whole = [at for row in rows for at in row.parts if at not in change.texts]
        given = {self.before.key(use) for at in whole for use in reading.uses(at)}
        holdings = Holdings([(Place.SUMMARY, reading.text(whole))], {Place.SUMMARY: given}, folders)

        def stands(key: Key) -> bool:
            return holdings.place_of(*key, ()) is not None

        return stands
