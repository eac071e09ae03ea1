"""Traces of an application: model calls among other spans, each with the whole prompt, in any order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import Exchange
from ctxcli.formats.blocks.said import Said, Spoken
from ctxcli.model import Role, Transcript, Usage

_NOTHING = Spoken((), None, None)


@dataclass(frozen=True, slots=True)
class Told(Exchange):
    """A model call of a trace, in neutral form already."""

    spoken: Spoken = _NOTHING
    start: str = ""
    """When it began, in a form that sorts."""
    parent: str = ""
    title: str = ""
    """The trace or the thread that it belongs to."""
    provider: str = ""


def told(  # noqa: PLR0913 - the facts of a call, by name
    sent: Iterable[Said],
    answer: Said | None,
    usage: Usage | None,
    line: int,
    *,
    id: str,  # noqa: A002 - the field's name
    start: str,
    parent: str = "",
    title: str = "",
    conversation: str = "",
    time: str = "",
    model: str = "",
    provider: str = "",
    size: int = 0,
) -> Told:
    """A model call; one without an answer failed, or its answer was not stored."""
    return Told(
        (),
        line,
        model=model,
        response={},
        id=id,
        conversation=conversation,
        time=time,
        unanswered=answer is None,
        size=size,
        opens_record=False,
        spoken=Spoken(tuple(sent), answer, usage),
        start=start,
        parent=parent,
        title=title,
        provider=provider,
    )


def answer_of(saids: Iterable[Said], line: int, *, empty: bool = False) -> Said | None:
    """What came back as one message of the assistant; None for nothing, unless an answer may be empty."""
    parts = tuple(part for one in saids for part in one.parts)
    return Said(Role.ASSISTANT, parts, line) if parts or empty else None


@dataclass(slots=True)
class Trace:
    """Collects the calls of a source, and what in it is none; then strings the calls together."""

    books: Draft
    calls: dict[str, Told] = field(default_factory=dict)

    def put(self, call: Told) -> None:
        """Take a call; one that is exported again adds what the copy before it lacks."""
        before = self.calls.get(call.id)
        if before is not None:
            self.books.duplicates += 1
            if before.spoken.answer is not None and call.spoken.answer is None:
                return
        self.calls[call.id or f"{call.line}/{len(self.calls)}"] = call

    def conversations(self) -> Iterator[Transcript]:
        """The conversations in the order in which they began; the first carries the books."""
        origins: dict[str, Told] = {}
        calls = []
        for call in sorted(self.calls.values(), key=lambda one: one.start):
            if call.parent in self.calls:
                self.books.bookkeep("call inside a call")
                continue
            calls.append(call)
            origins.setdefault(call.conversation or call.id, call)
        books: Transcript | None = self.books.finish()
        titles: set[str] = set()
        found = [(origins.get(one.id or ""), one) for one in _chained(Chain(self.books.format, "", _spoken), calls)]
        for origin, transcript in sorted(found, key=lambda pair: pair[0].start if pair[0] else ""):
            dressed = transcript
            if origin is not None:
                title = origin.title if origin.title not in titles else f"{origin.title}/{origin.id}".strip("/")
                titles.add(title)
                dressed = replace(transcript, id=title or transcript.id, provider=origin.provider)
            yield _with_books(dressed, books)
            books = None
        if books is not None:
            yield books


def _spoken(call: Exchange) -> Spoken:
    return call.spoken if isinstance(call, Told) else _NOTHING


def _chained(chain: Chain, calls: Iterable[Told]) -> Iterator[Transcript]:
    for call in calls:
        yield from chain.put(call)
    yield from chain.close()


def _with_books(transcript: Transcript, books: Transcript | None) -> Transcript:
    if books is None:
        return transcript
    return replace(
        transcript,
        skips=(*transcript.skips, *books.skips),
        bookkeeping=books.bookkeeping,
        duplicates=books.duplicates,
        records=books.records,
        notes=books.notes,
    )
