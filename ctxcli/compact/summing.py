"""One summary of a pass: filled by extraction, or asked of a model and held to the guard."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ctxcli.change import Change, applied
from ctxcli.compact.asking import Planned, Terms, UnusableError, answered, first_prompts
from ctxcli.compact.chunks import chunks
from ctxcli.compact.losses import Losses
from ctxcli.compact.origin import unfounded
from ctxcli.compact.repair import repaired
from ctxcli.compact.settings import Settings
from ctxcli.compact.span import texts_of_messages
from ctxcli.compact.summary import text_of
from ctxcli.guard.run import guard_context
from ctxcli.identifiers.secrets import mask
from ctxcli.reports.slots import Slots

if TYPE_CHECKING:
    from ctxcli.compact.session import Session


@dataclass(frozen=True, slots=True)
class Summed:
    """The slots of one summary, and how they came about."""

    slots: Slots
    attempts: int = 1
    added: tuple[str, ...] = ()
    """What a repair added, and what it took out."""
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summing:
    """What a summary by a model is about: the messages that a change takes out of a context."""

    session: "Session"
    change: Change
    settings: Settings
    gone: Sequence[int]

    def by(self, ask: Callable[[str], str], extracted: Callable[[], Slots]) -> Summed:
        """What a model makes of it, secrets masked whatever it saw of them.

        Raises SummaryError where no answer holds, and whatever asking raises.
        """
        settings, session = self.settings, self.session
        secrets = session.before.reading.secrets
        texts = texts_of_messages(session.transcript, self.gone, secrets)

        def masked(prompt: str) -> str:
            try:
                return mask(ask(prompt), secrets)
            except UnusableError as error:
                raise UnusableError(mask(str(error), secrets)) from None

        span = chunks(texts, settings.chunk, session.weigh.count)
        if settings.planned is not None:
            alone, following = first_prompts(span, settings.instructions), first_prompts(None, settings.instructions)
            settings.planned(Planned(alone, following[0]))
        repair = partial(repaired, losses_of=self.losses, extracted=extracted) if settings.repair else None
        found = answered(
            masked, None if settings.follows else span, lambda slots: self.losses(slots).listed,
            instructions=settings.instructions,
            terms=Terms(settings.attempts, self._heavy, repair),
        )  # fmt: skip
        return Summed(found.slots, found.attempts, found.added, found.removed)

    def losses(self, slots: Slots) -> Losses:
        """What the guard fails on, were these the summary; without the name of the notes file, which no model said."""
        session = self.session
        text = text_of(slots, session.transcript, self.gone, "")
        messages = applied(session.transcript, replace(self.change, summary=text))
        after = replace(session.transcript, messages=messages, events=(), calls=())
        report = guard_context(session.before, after, session.policy, session.weigh)
        return Losses.found_in(report, unfounded(slots.constraints, self._sources), self._is_said)

    @cached_property
    def _sources(self) -> list[str]:
        """Where boundaries come from: the raw turns and the notes."""
        session = self.session
        raw = [part.text for index in session.raw for part in session.transcript.messages[index].parts]
        return raw + [one.text for one in self.settings.notes.constraints]

    def _is_said(self, sentence: str) -> bool:
        return any(" ".join(sentence.split()) in text for text in self._flat_sources)

    @cached_property
    def _flat_sources(self) -> list[str]:
        return [" ".join(text.split()) for text in self._sources]

    def _heavy(self, slots: Slots) -> str:
        """Why the summary is of no use; empty where it makes the context shorter."""
        session = self.session
        text = text_of(slots, session.transcript, self.gone, self.settings.notes_name)
        before, after = session.tokens, session.weight(replace(self.change, summary=text))
        if after < before:
            return ""
        return f"it is longer than what it stands for: the context would grow from {before:,} to {after:,} tokens"
