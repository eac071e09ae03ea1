"""The two contexts that are compared, as a model is shown them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from ctxcli.change import applied
from ctxcli.compact.session import Session
from ctxcli.compact.settings import Settings
from ctxcli.compact.span import texts_of_messages
from ctxcli.errors import SettingError
from ctxcli.guard.policy import Policy
from ctxcli.guard.reading import Reading
from ctxcli.guard.recorded import recorded
from ctxcli.guard.run import context_of
from ctxcli.identifiers.gather import secrets_of
from ctxcli.model import MAIN, Message, Part, PartAt, PartKind, Role, Transcript
from ctxcli.reports.guard import CompactionRef
from ctxcli.shelf import Weigh


@dataclass(frozen=True)
class Side:
    """One context: nothing but what is in it."""

    transcript: Transcript
    """Its messages are those of the context, all in the main lane; nothing happens to them any more."""
    secrets: frozenset[str]

    @cached_property
    def text(self) -> str:
        """As a model is shown it: who speaks at which line, results in full, secrets masked; no system prompt."""
        return "\n\n".join(texts_of_messages(self.transcript, range(len(self.transcript.messages)), self.secrets))

    @cached_property
    def parts(self) -> list[tuple[int, Part]]:
        """Each part that says something, with its source line."""
        return [
            (part.line or message.line, part)
            for message in self.transcript.messages
            for part in message.parts
            if part.text.strip()
        ]

    @property
    def said(self) -> list[str]:
        """What user and assistant wrote."""
        return [
            part.text
            for message in self.transcript.messages
            for part in message.parts
            if part.kind is PartKind.TEXT and message.role in (Role.USER, Role.ASSISTANT) and not message.harness
        ]

    @property
    def called(self) -> list[str]:
        """What tools were called with, but for calls that failed."""
        failed = {part.ref for _, part in self.parts if part.kind is PartKind.TOOL_RESULT and part.failed and part.ref}
        return [part.text for _, part in self.parts if part.kind is PartKind.TOOL_CALL and part.ref not in failed]


@dataclass(frozen=True)
class Pair:
    """A context before a compaction, and after it."""

    before: Side
    after: Side
    compaction: CompactionRef | None = None
    strategy: str | None = None
    notes: tuple[str, ...] = ()
    unreadable: bool = False
    """The summary cannot be read, so that nobody can be asked about it."""

    @cached_property
    def stays(self) -> list[Part]:
        """What stands in both word for word."""
        standing = {(part.kind, part.text) for _, part in self.after.parts}
        return [part for _, part in self.before.parts if (part.kind, part.text) in standing]

    @cached_property
    def leaving(self) -> frozenset[int]:
        """Source lines of what the compaction took out."""
        standing = {(part.kind, part.text) for _, part in self.after.parts}
        return frozenset(line for line, part in self.before.parts if (part.kind, part.text) not in standing)


def pair_of(before: Transcript, after: Transcript) -> Pair:
    """What is in the context at the end of one transcript, and at the end of another, or a text."""
    secrets = secrets_of(before) | secrets_of(after)
    one, other = (context_of(Reading(each)) for each in (before, after))
    return Pair(
        _side(before, _messages(one.reading, one.parts), secrets),
        _side(after, _messages(other.reading, other.parts), secrets),
    )


def recorded_pairs(transcript: Transcript) -> Iterator[Pair]:
    """The true contexts before and after each compaction that a transcript records."""
    secrets, reading = secrets_of(transcript), Reading(transcript)
    found = list(recorded(reading))
    for number, one in enumerate(found, 1):
        event, told = one.event, []
        if not one.before.is_whole:
            told.append("The file holds only a part of the context before: questions are about that part.")
        yield Pair(
            _side(transcript, _messages(reading, one.before.parts), secrets),
            _side(transcript, _messages(reading, one.after.own_parts), secrets),
            CompactionRef(event.line, number, len(found), event.kind.value, event.trigger, event.tokens_before),
            notes=tuple(told), unreadable=one.after.opaque,
        )  # fmt: skip


def compacted_pair(transcript: Transcript, settings: Settings, weigh: Weigh) -> Pair:
    """The context at the end of a transcript, and what `ctx compact` would make of it, without a model.

    Raises SettingError where the strategies take nothing.
    """
    session, secrets = Session(transcript, Policy(), weigh), secrets_of(transcript)
    outcome = session.compact(settings)
    if not outcome.steps:
        raise SettingError(
            f"{transcript.path}: nothing was compacted: {session.tokens:,} tokens, "
            f"{session.target(settings):,} are the target; --target sets a lower one"
        )
    return Pair(
        _side(transcript, session.messages, secrets),
        _side(transcript, applied(transcript, outcome.change), secrets),
        strategy=", ".join(step.strategy for step in outcome.steps),
    )


def _messages(reading: Reading, parts: Sequence[PartAt]) -> Iterator[Message]:
    for index, places in groupby(parts, key=lambda at: at[0]):
        yield replace(reading.messages[index], parts=tuple(reading.part(at) for at in places))


def _side(transcript: Transcript, messages: Iterable[Message], secrets: frozenset[str]) -> Side:
    held = tuple(replace(message, lane=MAIN) for message in messages)
    return Side(replace(transcript, messages=held, calls=(), events=(), lanes=()), secrets)
