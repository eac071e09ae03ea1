"""Conversations of chat messages written back after a compaction, in the shape that they are stored in."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.change import Change
from ctxcli.errors import UnreadableError
from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.edits import Fate, Media, edited, fates_of
from ctxcli.formats.blocks.exchange import CONVERSATION_KEYS, Exchange, exchanges, request_path, response_path
from ctxcli.formats.blocks.reading import read_exchanges
from ctxcli.formats.blocks.scan import Place, Rewrite, Scan, scan
from ctxcli.formats.blocks.splice import Path, Piece, children, find, in_the_style_of, rebuilt, written
from ctxcli.formats.blocks.work import Work, found_again
from ctxcli.model import Message, Role, Transcript


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between the chat formats."""

    chain: Callable[[Callable[[int, int], None] | None], Chain]
    """The reader's chain, watched."""
    pieces: Callable[[Mapping[str, Any]], Iterator[Piece]]
    """What the reader makes of a message, by the places in it."""
    media: Media
    answer: Callable[[str, Mapping[str, Any], int], str]
    """The response that begins there in a text, as a message to send."""


def write_exchanges(source: bytes, work: Work, dialect: Dialect) -> bytes:
    """The source with each conversation changed, or left as it is; see `Format.write`."""
    if all(change is None for _, change in work):
        return source
    return _Writer(scan(source), dialect).write(work).result()


@dataclass(slots=True)
class _Writer:
    """One source that is written anew."""

    scan: Scan
    dialect: Dialect
    rewrite: Rewrite = field(init=False)
    _exchanges: dict[int, Exchange] = field(default_factory=dict)
    """By the mark of each."""
    _elements: set[int] = field(default_factory=set)
    """Marks of the messages that stand in an array."""
    _members: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Marks of the exchanges of a conversation, by the mark of its first message."""

    def __post_init__(self) -> None:
        self.rewrite = Rewrite(self.scan)
        for record in self.scan.records:
            for one in exchanges(record)[0]:
                self._exchanges[one.line] = one
                self._elements.update(line for _, line in one.messages if line != one.line)

    def write(self, work: Work) -> Rewrite:
        found = read_exchanges(self.scan.records, self.dialect.chain(self._watch))
        for transcript, change in work:
            own = found_again(transcript, found)
            if change is not None and own.messages:
                self._change(own, change)
        return self.rewrite

    def _watch(self, conversation: int, exchange: int) -> None:
        self._members[conversation].append(exchange)

    def _change(self, own: Transcript, change: Change) -> None:
        members = [self._exchanges[mark] for mark in self._members[own.messages[0].line]]
        shown = [one for one in members if not one.loose and any(line == one.line for _, line in one.messages)]
        if shown:
            raise UnreadableError(
                f"{own.path}: its messages are no JSON of their own, so that none can be written back. "
                "Convert it with --output-format openai-chat"
            )
        if all(one.loose for one in members):
            self._lines(own, change)
        elif len(members) == 1 and members[0].response is None:
            self._array(own, change, members[0])
        else:
            self._log(own, change, members)

    # -- one message a line

    def _lines(self, own: Transcript, change: Change) -> None:
        kept, fates = frozenset(change.keep), fates_of(change)
        places = {index: self.scan.place(one.line) for index, one in enumerate(own.messages) if self._stands(one)}
        for index, place in places.items():
            new = self._message(own.messages[index], fates[index]) if index in kept else None
            if new != self.scan.raw(place):
                self.rewrite.edit(place, new)
        if change.summary:
            summary = self._summary(next(iter(places.values())), change.summary)
            after = next((place for index, place in places.items() if index in kept and index >= change.at), None)
            if after is not None:
                self.rewrite.before[after.record] = summary
            else:
                before = [place for index, place in places.items() if index in kept] or [*places.values()]
                self.rewrite.after[before[-1].record] = summary

    # -- one conversation

    def _array(self, own: Transcript, change: Change, exchange: Exchange) -> None:
        """Other messages in the array that holds them; all around it stays."""
        marks = [line for _, line in exchange.messages]
        first = self.scan.place(marks[0])
        array = Place(first.record, first.path[:-1], *self._container(first))
        inside, closing = children(self.scan.text, array.start)
        number_of = {child.start: number for number, child in enumerate(inside)}
        pieces: list[tuple[int | None, str]] = []
        for mark, text in self._context(own, change, first):
            pieces.append((number_of[self.scan.place(mark).start] if mark else None, text))
        self.rewrite.edit(array, rebuilt(self.scan.text, array.start, inside, closing, pieces))

    def _container(self, element: Place) -> tuple[int, int]:
        record = self.scan.place(self.scan.records[element.record].line)
        return find(self.scan.text, record.start, element.path[:-1]) or (element.start, element.end)

    def _context(self, own: Transcript, change: Change, style: Place | None) -> Iterator[tuple[int, str]]:
        """(mark, text) of the messages of the new context, but for its head; the summary has the mark 0."""
        waiting, fates = bool(change.summary), fates_of(change)
        for index in change.keep:
            message = own.messages[index]
            if waiting and index >= change.at and not self._is_head(message):
                yield 0, self._summary(style, change.summary)
                waiting = False
            text = self._message(message, fates[index])
            if text is not None:
                yield message.line, text
        if waiting:
            yield 0, self._summary(style, change.summary)

    # -- a log of requests

    def _log(self, own: Transcript, change: Change, members: Sequence[Exchange]) -> None:
        """One request on one line, in the place of the first of those that the conversation was logged in."""
        messages = ",".join(text for _, text in self._context(own, change, None))
        head = self._head(own, change, members)
        rows = [f"{written(key)}:{text}" for key, text in head] + [f'"messages":[{messages}]']
        for number, one in enumerate(members):
            self.rewrite.edit(self.scan.place(one.line), None if number else "{" + ",".join(rows) + "}")

    def _head(self, own: Transcript, change: Change, members: Sequence[Exchange]) -> Iterator[tuple[str, str]]:
        """Model, system prompt and tools as they stand in the requests that the context takes them from."""
        last = members[-1]
        if last.model:
            yield "model", written(last.model)
        for key in CONVERSATION_KEYS:
            if (raw := self._raw(last, (key,))) is not None:
                yield key, raw
        heads = {own.messages[index].line for index in change.keep if self._is_head(own.messages[index])}
        sources = [one for one in members if one.line in heads]
        for key in ("system", "tools", "functions"):
            found = (self._raw(one, (*request_path(self._value(one)), key)) for one in reversed(sources))
            if (raw := next((raw for raw in found if raw is not None), None)) is not None:
                yield key, raw

    def _value(self, exchange: Exchange) -> Any:
        place = self.scan.place(exchange.line)
        value = self.scan.records[place.record].value
        for step in place.path:
            value = value[step]
        return value

    def _raw(self, exchange: Exchange, path: Path) -> str | None:
        place = find(self.scan.text, self.scan.place(exchange.line).start, path)
        return self.scan.text[slice(*place)] if place else None

    # -- messages

    def _is_head(self, message: Message) -> bool:
        """Whether it is the system prompt or the tools that stand beside the messages."""
        exchange = self._exchanges.get(message.line)
        return message.role is Role.SYSTEM and exchange is not None and not exchange.loose

    def _stands(self, message: Message) -> bool:
        """Whether the source holds it, so that it is not the empty answer that closes what got none."""
        return bool(message.parts) or message.role is not Role.ASSISTANT or self._is_own(message)

    def _is_own(self, message: Message) -> bool:
        value = self._said(message)
        return value.get("role") == "assistant"

    def _said(self, message: Message) -> Mapping[str, Any]:
        place = self.scan.place(message.line)
        value = self.scan.parsed(place.start, place.end)
        return value if isinstance(value, dict) else {}

    def _message(self, message: Message, fate: Fate) -> str | None:
        """The text of a kept message after the change; None where nothing is to be written of it."""
        if self._is_head(message) or not self._stands(message):
            return None
        if message.parts and len(fate.gone) == len(message.parts):
            return None
        place = self.scan.place(message.line)
        raw = self.scan.raw(place)
        exchange = self._exchanges.get(message.line)
        if exchange is not None and not exchange.loose:
            where = response_path(self._value(exchange))
            found = find(raw, 0, where or ())
            raw = self.dialect.answer(raw, exchange.response or {}, found[0] if found else 0)
        if not fate:
            return raw
        value = Scan(raw).parsed(0, len(raw))
        return edited(raw, value, tuple(self.dialect.pieces(value)), fate, self.dialect.media)

    def _summary(self, style: Place | None, text: str) -> str:
        """The synthetic message, laid out as the message that stands there is."""
        members = {"role": '"user"', "content": written(text)}
        return in_the_style_of(self.scan.text, style.start, members) if style else in_the_style_of("{}", 0, members)
