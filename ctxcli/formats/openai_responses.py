"""OpenAI Responses API: requests and responses, their items, and what a compaction left.

A request may send the whole history, or name the response (or the conversation) that it goes on from: what the source
holds of that is put before it. Reasoning comes encrypted, with its size in the usage, and leaves the context with the
next turn for all but the newest models (blocks/codex_items.py).
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.cline_messages import is_task
from ctxcli.formats.blocks.codex_items import SEALED
from ctxcli.formats.blocks.draft import JSON_NAMES, Draft
from ctxcli.formats.blocks.exchange import Exchange
from ctxcli.formats.blocks.moments import from_milliseconds
from ctxcli.formats.blocks.openai import usage_of
from ctxcli.formats.blocks.responses_context import measured, sized, with_books, without_old_reasoning
from ctxcli.formats.blocks.responses_exchange import Turn, is_stream_event, items_in, turn_of
from ctxcli.formats.blocks.responses_items import Placed, Speech, head_of, is_item, is_mark, kind_of
from ctxcli.formats.blocks.traces import Told, told
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import Record, Skip, Transcript, Usage
from ctxcli.shelf import Format

_NAME = "openai-responses"
_MOST_HELD = 64
"""Responses whose history is kept for requests that name them."""
_HIDDEN = "A request goes on from a response that is not in this source: what came before it shows in the usage alone."


def _speak(exchange: Exchange) -> Any:
    return exchange.spoken if isinstance(exchange, Told) else None


@dataclass(slots=True)
class _Source:
    """Reads one source: turns into exchanges, and items by themselves into one conversation."""

    chain: Chain = field(default_factory=lambda: Chain(_NAME, "openai", _speak))
    odd: Draft = field(default_factory=lambda: Draft(_NAME))
    """What belongs to no message: counts and skips, which the next conversation carries."""
    _items: list[Placed] = field(default_factory=list)
    _size: int = 0
    _streamed: list[Placed] = field(default_factory=list)
    """Items of a response that is being streamed; its last event repeats them all."""
    _held: OrderedDict[str, tuple[Placed, ...]] = field(default_factory=OrderedDict)
    _known: OrderedDict[str, Mapping[str, Any]] = field(default_factory=OrderedDict)
    _compactions: dict[int, Usage] = field(default_factory=dict)
    """By its line: what the call that made a new context took."""
    _seen: set[str] = field(default_factory=set)
    _hidden: set[int] = field(default_factory=set)
    """Lines of the turns that go on from what is not here."""

    def read(self, record: Record) -> Iterator[Transcript]:
        """Take one record; yields the conversations that are finished by it."""
        value = record.value
        listed = items_in(record)
        turns = [] if listed else [(turn_of(one, record, at), one, at) for one, at in _elements(value)]
        found = any(turn is not None for turn, _, _ in turns)
        if listed is None and not found and is_item(value) and not is_stream_event(value):
            self._items.append((value, record.line))
            self._size += record.size
            return
        if listed is not None or found:
            self._streamed.clear()
            yield from self.flush()
        if listed is not None:
            yield from self._conversation(listed, 1, record.size)
            return
        first = True
        for turn, one, at in turns:
            if turn is not None:
                yield from self._turn(turn, record.size // len(turns), opens=first)
                first = False
            elif is_stream_event(one):
                self.odd.bookkeep(text(one.get("type")))
                if one["type"] == "response.output_item.done" and is_item(one.get("item")):
                    self._streamed.append((one["item"], record.line))
            else:
                kind = JSON_NAMES.get(type(one).__name__, "a value")
                what = f"element {at[0] + 1} of the array" if at else kind
                self.odd.skips.append(Skip(record.line, f"{what} holds no item and no response: skipped"))
        self.odd.records += first

    def flush(self) -> Iterator[Transcript]:
        """Items on lines of their own are one conversation, and so are those of a stream that broke off."""
        if self._items:
            items, self._items = tuple(self._items), []
            yield from self._conversation(items, len(items), self._size)
            self._size = 0
        if self._streamed:
            yield from self._conversation(tuple(self._streamed), 0, 0)
            self._streamed.clear()

    def _conversation(self, items: tuple[Placed, ...], records: int, size: int) -> Iterator[Transcript]:
        speech = Speech(self.odd, {})
        speech.hear(items)
        if not speech.said:
            self.odd.records += records
            return
        line = items[0][1]
        exchange = replace(told(speech.said, None, None, line, id="", start=""), response=None, unanswered=False)
        for transcript in self.chain.put(exchange):
            yield replace(transcript, records=records, bytes=size)

    def _turn(self, turn: Turn, size: int, *, opens: bool) -> Iterator[Transcript]:
        response = mapping(turn.response)
        id_ = text(response.get("id"))
        if id_ and id_ in self._seen:
            self.odd.duplicates += 1
            self.odd.records += opens
            return
        self._seen.update([id_] if id_ else [])
        before = self._before(turn)
        self._remember(turn, id_, before)
        head = head_of({**response, **turn.request}, turn.line, self.odd)
        speech = Speech(self.odd, self._known, list(head))
        speech.hear(before, seal=False)
        speech.hear(turn.input)
        usage = usage_of(response.get("usage"))
        answer = None
        if turn.response is not None and not turn.compacts:
            answer = sized(speech.answer(turn.output, turn.line), usage)
        exchange = told(
            speech.said, answer, usage, turn.line, id=id_, start="", conversation=turn.conversation, size=size,
            time=_moment(turn.time), model=text(response.get("model")) or text(turn.request.get("model")),
        )  # fmt: skip
        exchange = replace(exchange, spoken=replace(exchange.spoken, keeps_head=turn.compacts and not head))
        if turn.input or before or not turn.compacts:
            alone = turn.response is None
            answered = None if alone else exchange.response
            exchange = replace(exchange, opens_record=opens, unanswered=alone, response=answered)
            yield from self.chain.put(exchange)
            opens = False
        if turn.compacts:
            places = {turn.line, *(line for item, line in turn.output if kind_of(item) in SEALED)}
            self._compactions.update(dict.fromkeys(places, usage or Usage()))
            speech = Speech(self.odd, self._known, list(head))
            speech.hear(turn.output)
            spoken = replace(exchange.spoken, sent=tuple(speech.said), answer=None)
            window = replace(exchange, opens_record=opens, unanswered=False, spoken=spoken)
            yield from self.chain.put(window)

    def _before(self, turn: Turn) -> tuple[Placed, ...]:
        """What the provider puts before the input: the history of the response or the conversation that it names."""
        response = mapping(turn.response)
        named = text(turn.request.get("previous_response_id") or response.get("previous_response_id"))
        if named and named not in self._held:
            self._hidden.add(turn.line)
        return self._held.get(named or f"conversation {turn.conversation}", ())

    def _remember(self, turn: Turn, id_: str, before: tuple[Placed, ...]) -> None:
        """Keep the history up to a response for those that go on from it."""
        whole = turn.output if turn.compacts else (*before, *turn.input, *turn.output)
        kept = mapping(turn.response).get("store", turn.request.get("store")) is not False
        names = [id_] if id_ and kept else []
        if turn.conversation and turn.request.get("conversation"):
            names.append(f"conversation {turn.conversation}")
        for name in names:
            self._held[name] = whole
            self._held.move_to_end(name)
        for item, _ in turn.output:
            if item.get("id"):
                self._known[text(item["id"])] = item
        for store in (self._held, self._known):
            while len(store) > _MOST_HELD * (1 if store is self._held else 16):
                store.popitem(last=False)

    def dress(self, transcript: Transcript) -> Transcript:
        """The conversation with what was read beside it, its compactions' sizes, and its reasoning where it left."""
        books, self.odd = self.odd.finish(), Draft(_NAME)
        hidden = any(call.line in self._hidden for call in transcript.calls)
        notes = (*transcript.notes, *([_HIDDEN] if hidden else []))
        return without_old_reasoning(measured(with_books(replace(transcript, notes=notes), books), self._compactions))


def _elements(value: Any) -> list[tuple[Any, tuple[int, ...]]]:
    if isinstance(value, list):
        return [(one, (number,)) for number, one in enumerate(value)] or [(value, ())]
    return [(value, ())]


def _moment(value: Any) -> str:
    """The API counts seconds; a log of its own may have written a text."""
    return from_milliseconds(value * 1000) if isinstance(value, (int, float)) else from_milliseconds(value)


def claims(records: Sequence[Record]) -> bool:
    """Responses, requests with items, events of a stream, or items that no other API has."""
    values = [mapping(record.value) for record in records]
    if any("record_type" in value or {"instructions", "timestamp", "git"} <= value.keys() for value in values):
        return False  # a rollout of Codex's first generation
    if any(is_task(record.value) for record in records[:1]):
        return False  # a task of Roo's, with items of reasoning among its messages
    return any(
        is_mark(record.value)
        or (is_stream_event(record.value) and isinstance(record.value.get("response"), dict))
        or items_in(record) is not None
        or any(turn_of(one, record) is not None for one in sequence(record.value)[:25] or [record.value])
        for record in records
    )


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a source; what was read after the last one is told with it."""
    source = _Source()
    held: Transcript | None = None
    for transcript in _all(source, records):
        if held is not None:
            yield held
        held = source.dress(transcript)
    books = source.odd.finish()
    yield with_books(held, books) if held is not None else books


def _all(source: _Source, records: Iterable[Record]) -> Iterator[Transcript]:
    for record in records:
        yield from source.read(record)
    yield from source.flush()
    yield from source.chain.close()


FORMAT = Format(
    name=_NAME,
    title="OpenAI Responses (requests, responses, items, compactions)",
    recognised_by="`object: response`, `input` of items; items such as function_call, reasoning, compaction",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt", "compaction", "timestamps"}),
)
