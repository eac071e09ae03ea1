"""Every way to extend ctx, on one page: the cards, and `shelf()` that puts them up read-only."""

from __future__ import annotations  # the reports stand in types alone: importing them takes as long as all the rest

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ctxcli.reports.slots import Entry, Slots

if TYPE_CHECKING:
    from collections import Counter

    from ctxcli.change import Change
    from ctxcli.model import Message, Record, Transcript
    from ctxcli.reports.audit import AuditReport
    from ctxcli.reports.bench import BenchReport
    from ctxcli.reports.budget import BudgetReport
    from ctxcli.reports.check import CheckReport
    from ctxcli.reports.compact import CompactReport
    from ctxcli.reports.finding import FindingReport
    from ctxcli.reports.formats import FormatReport
    from ctxcli.reports.guard import GuardReport
    from ctxcli.reports.identifiers import IdentifiersReport
    from ctxcli.reports.notes import NotesReport
    from ctxcli.reports.probe import ProbeReport
    from ctxcli.reports.simulate import SimulateReport
    from ctxcli.reports.sweep import SweepReport
    from ctxcli.task import Task

ReportT_contra = TypeVar("ReportT_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Format:
    """A transcript format: how to know it by its content, and how to read it."""

    name: str
    title: str
    recognised_by: str
    """In words, for `ctx formats`."""
    claims: Callable[[Sequence[Record]], bool]
    """Whether the first records (25 at most) are of this format; exactly one format may say so."""
    read: Callable[[Iterable[Record]], Iterator[Transcript]]
    """Streams the conversations of one source; bad records become skips, nothing is dropped."""
    knows: frozenset[str] = frozenset()
    """Which of KNOWLEDGE the format records."""
    write: Callable[[bytes, Sequence[tuple[Transcript, Change | None]]], bytes] | None = None
    """The whole source (decompressed) with each of its conversations changed, or left as it is where None; all that
    the changes do not touch byte for byte. Raises UnreadableError for a shape that cannot be written back."""
    general: bool = False
    """Gives way where a format that is not general claims the same records: messages in a list say little."""
    text: bool = False
    """Read line by line as text (the value of a record is the line); it claims the first 200 lines."""
    folder: tuple[str, ...] = ()
    """Glob patterns of files, any of which makes a folder that holds it one source of this format."""
    companions: tuple[str, ...] = ()
    """Glob patterns, beside the file, of files that belong to it; `{stem}` is its name less the suffix, `{name}` what
    stands before its first dot."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is written in another format."""

    messages: Sequence[Message]
    """Those of the context, in order, as a model would get them."""
    id: str = ""
    folder: str = ""
    """The agent's working folder."""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A format that a conversation can be written in."""

    name: str
    title: str
    write: Callable[[Conversation, Counter[str]], list[Any]]
    """One JSON value, or one a line; counts what it cannot hold by reason."""
    lines: bool = False
    """Whether it is JSON lines."""
    many: bool = False
    """Whether a file can hold several conversations, one a line."""


KNOWLEDGE = ("usage", "model", "tools", "system prompt", "compaction", "sub-agents", "timestamps")
"""What a format may record, in the order of the columns of `ctx formats`."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """Where and how a report is drawn."""

    width: int = 100
    colour: bool = False
    ascii: bool = False
    every_call: bool = False
    full: bool = False
    """Each conversation of a source in full, instead of a row each."""


class Drawing(Protocol[ReportT_contra]):
    """Turns reports into pieces of text that are written one after the other."""

    def __call__(self, reports: Iterable[ReportT_contra], canvas: Canvas) -> Iterator[str]:
        """Draw lazily: a report is taken only when the one before it has been written."""
        ...


@dataclass(frozen=True, slots=True)
class Renderer:
    """An output format of a report."""

    name: str
    title: str
    audit: Drawing[AuditReport] | None = None
    identifiers: Drawing[IdentifiersReport] | None = None
    guard: Drawing[GuardReport] | None = None
    check: Drawing[CheckReport] | None = None
    compact: Drawing[CompactReport] | None = None
    notes: Drawing[NotesReport] | None = None
    formats: Drawing[FormatReport] | None = None
    simulate: Drawing[SimulateReport] | None = None
    budget: Drawing[BudgetReport] | None = None
    sweep: Drawing[SweepReport] | None = None
    finding: Drawing[FindingReport] | None = None
    probe: Drawing[ProbeReport] | None = None
    bench: Drawing[BenchReport] | None = None
    """None for a report that it does not draw; the command then does not offer it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An identifier that a summary may carry."""

    kind: str
    value: str
    required: bool
    """Whether the guard fails without it."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a summariser works on: raw messages, never an earlier summary's prose."""

    transcript: Transcript
    indices: tuple[int, ...]
    """The raw messages of the context, and those that earlier compactions took out of it, in order."""
    constraints: tuple[Entry, ...]
    identifiers: tuple[Wanted, ...]
    """The most important first."""
    tokens: int
    """What the summary may take."""
    weigh: Weigh
    kept: frozenset[int] = frozenset()
    """Those of the messages that stay verbatim: what they say needs no second place."""
    carried: Slots = field(default_factory=Slots)
    """What notes and earlier summaries of ctx hold, item by item; never their prose."""
    mask: Callable[[str], str] = str
    """Hides the secrets of a text."""


@dataclass(frozen=True, slots=True)
class Summariser:
    """A way to fill the four slots."""

    name: str
    title: str
    summarise: Callable[[Material], Slots]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to make a context shorter."""

    name: str
    title: str
    shorten: Callable[[Task, Change], Change]
    """Goes on from a change, towards the task's target. What it gives weighs no more than what it was given, keeps
    every pinned message and the tail, and leaves units whole; where nothing can be done it is the same change."""
    summarises: bool = False
    """Whether it writes a summary for what it takes out."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a provider accepts of a list of messages."""

    name: str
    title: str
    rules: tuple[str, ...]
    """Names of the rules that apply."""
    results: str = "later"
    """Where the result of a call stands: in the turn right after the call's and before any text of it (turn), right
    behind the call's message (message), or anywhere behind the call (later)."""
    unique_in: str = "request"
    """Within what a call's id stands once: the request, or the message."""
    ids: str = ""
    """The pattern that the id of a call matches; empty where a call needs none."""
    names: str = ""
    """The pattern that the name of a tool matches."""
    blank: bool = False
    """Whether a message of nothing but whitespace is accepted."""
    empty_answers: bool = False
    """Whether an answer without content is accepted."""
    late_system: bool = False
    """Whether a system message is accepted between a turn of the user and an answer."""
    system_alone: bool = False
    """Whether a request of nothing but system messages is accepted."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a finding means."""

    name: str
    """CTX101: a promise, it never changes its meaning."""
    title: str
    """A word or two, for machines: lost, at-risk."""
    level: str
    """error, warning or note."""
    summary: str
    """One sentence."""
    why: str
    fix: str


class Weigh(Protocol):
    """A counter of tokens. Any object of this shape can be handed to the library."""

    @property
    def name(self) -> str:
        """The encoding or rule, for reports."""
        ...

    @property
    def engine(self) -> str:
        """The program that counts."""
        ...

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text, in order; texts may be empty and may hold any Unicode."""
        ...


class Card(Protocol):
    """Anything with a name can stand on a shelf."""

    @property
    def name(self) -> str:
        """The name that people type."""
        ...


CardT = TypeVar("CardT", bound=Card)


def shelf(*cards: CardT) -> Mapping[str, CardT]:
    """A read-only mapping by name, in the order given; raises ValueError for a name that stands twice."""
    by_name = {card.name: card for card in cards}
    if len(by_name) != len(cards):
        raise ValueError(f"a name stands twice on a shelf: {[card.name for card in cards]}")
    return MappingProxyType(by_name)


class LateShelf(Mapping[str, CardT]):
    """A read-only mapping by name whose cards are imported when they are looked at; iterating gives names alone."""

    def __init__(self, attribute: str, modules: Mapping[str, str]) -> None:
        """The module that holds each card under the attribute, by the card's name; `module:OTHER` under another one."""
        self._attribute, self._modules = attribute, dict(modules)

    def __getitem__(self, name: str) -> CardT:
        """The card; raises KeyError where there is none of this name."""
        module, _, own = self._modules[name].partition(":")
        card: CardT = getattr(import_module(module), own or self._attribute)
        return card

    def __iter__(self) -> Iterator[str]:
        """The names, in order."""
        return iter(self._modules)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._modules)
