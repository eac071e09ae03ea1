"""A Gemini CLI session as the log of operations that it is: messages written again, replaced, rewound."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.gemini_records import ON_SCREEN, TYPES, Turn, says_same, side_of, turn_of
from ctxcli.formats.blocks.google import unknown_in
from ctxcli.formats.blocks.lists import no_message
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.tree import copy_of, settle
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Lane, Part, PartKind, Role


@dataclass(slots=True)
class _Entry:
    """A record of the session and the messages that it is."""

    turn: Turn
    at: int | None = None
    """Its message; None where it only repeats results."""
    start: int = 0
    """Where in that message its parts begin."""
    is_rest: bool = False
    """The message is the answer of another record, of which this one holds the calls."""
    results: int | None = None
    """The message with the results of its calls."""
    call: int | None = None

    def places(self) -> list[int]:
        return [at for at in (self.at, self.results) if at is not None]


@dataclass(slots=True)
class History:
    """Keeps the draft's context equal to the message list that the log describes."""

    draft: Draft
    _entries: dict[str, _Entry] = field(default_factory=dict)
    _answered: set[str] = field(default_factory=set)
    """The calls whose results are in the context."""
    _beside: set[tuple[object, ...]] = field(default_factory=set)
    """What was said beside those results."""
    _counted: set[str] = field(default_factory=set)
    """The records that were counted as calls."""

    def put(self, record: Any, line: int) -> None:
        """A message, new or written again: the last writing counts."""
        turn = self._turn(record, line)
        if turn is None:
            return
        id_ = text(mapping(record).get("id")) or f"#{line}.{len(self._entries)}"
        if id_ in self._entries:
            self._update(self._entries[id_], record, turn, line)
        else:
            self._entries[id_] = self._add(record, turn, line)

    def rewind(self, id_: str, line: int) -> None:
        """The message of an id and all after it leave; all of them where it is not known."""
        names = list(self._entries)
        gone = names[names.index(id_) if id_ in self._entries else 0 :]
        places = {at for name in gone for at in self._entries.pop(name).places()}
        if drops := places & set(self.draft.live[MAIN]):
            self.draft.event(EventKind.REWIND, line, drops=drops, trigger="user")
        self._look_again()

    def replace_all(self, records: Iterable[Any], line: int) -> None:
        """Another list takes the place of the one before: compressed, masked, or without a turn that failed."""
        before, self._entries = self._entries, {}
        plan: list[tuple[str, _Entry | None, Any, Turn]] = []
        for record in records:
            turn = self._turn(record, line, again=True)
            if turn is not None:
                id_ = text(mapping(record).get("id")) or f"#{line}.{len(plan)}"
                plan.append((id_, _known(before.get(id_), turn), record, turn))
        self._mask(plan, line)
        self._look_again(entry for _, entry, _, _ in plan)
        fresh = [turn for _, entry, _, turn in plan if entry is None]
        summed_up = any(part.kind is PartKind.SUMMARY for turn in fresh for part in turn.said.parts)
        stays = [entry for _, entry, _, _ in plan if entry is not None]
        if summed_up:
            self._compress(plan, stays, line)
        else:
            self._rewrite(plan, line, any(entry is None for _, entry, _, _ in plan))

    def _compress(self, plan: list[tuple[str, _Entry | None, Any, Turn]], stays: list[_Entry], line: int) -> None:
        """What stays keeps its place; the summary comes after it, as in every format."""
        kept = {at for entry in stays for at in entry.places()}
        drops = [at for at in self.draft.live[MAIN] if at not in kept]
        event = self.draft.event(EventKind.SUMMARY, line, drops=drops, trigger="client")
        for id_, entry, record, turn in plan:
            self._entries[id_] = entry or self._add(record, turn, line)
            if entry is None and any(part.kind is PartKind.SUMMARY for part in turn.said.parts):
                self.draft.amend(event, summary=self._entries[id_].at)

    def _rewrite(self, plan: list[tuple[str, _Entry | None, Any, Turn]], line: int, changed: bool) -> None:
        """What stands before the first new message stays; what stands after it is there again."""
        new = next((at for at, (_, entry, _, _) in enumerate(plan) if entry is None), len(plan))
        want = [at for _, entry, _, _ in plan[:new] if entry is not None for at in entry.places()]
        live = self.draft.live[MAIN]
        undone = not changed and want == live[: len(want)]
        kind = EventKind.REWRITE if changed else EventKind.REWIND if undone else EventKind.TRIM
        _, copies = settle(self.draft, want, kind, line, trigger="client")
        for place, (id_, known, record, turn) in enumerate(plan):
            if known is None:
                self._entries[id_] = self._add(record, turn, line)
                continue
            if place > new:
                copies |= {at: copy_of(self.draft, at, MAIN) for at in known.places()}
            known.at = None if known.at is None else copies.get(known.at, known.at)
            known.results = None if known.results is None else copies.get(known.results, known.results)
            self._entries[id_] = known

    def _mask(self, plan: list[tuple[str, _Entry | None, Any, Turn]], line: int) -> None:
        """Results whose text a placeholder has replaced."""
        clears = []
        for _, entry, _, turn in plan:
            at = None if entry is None else entry.results if turn.results else entry.at
            if entry is None or at is None:
                continue
            now = {part.ref: part.text for part in turn.results or turn.said.parts if part.kind is PartKind.TOOL_RESULT}
            parts = enumerate(self.draft.messages[at].parts)
            clears += [
                (at, number)
                for number, part in parts
                if part.kind is PartKind.TOOL_RESULT and now.get(part.ref, part.text) != part.text
            ]
            entry.turn = turn
        if clears:
            self.draft.event(EventKind.CLEAR, line, clears=clears, trigger="client")

    def _turn(self, record: Any, line: int, *, again: bool = False) -> Turn | None:
        """What a record says; None where that is nothing to a model."""
        if not isinstance(record, dict):
            self.draft.skips.append(no_message(record, line))
            return None
        type_ = text(record.get("type"))
        if type_ in ON_SCREEN:
            self.draft.bookkeep(f"message/{type_}")
            return None
        if type_ not in TYPES:
            self.draft.unknown(f"message/{type_}", line)
            return None
        if not again:
            for name in unknown_in(record.get("content")):
                self.draft.unknown(name, line)
        self._sub_agents(record)
        return turn_of(record, line)

    def _sub_agents(self, record: Mapping[str, Any]) -> None:
        for call in map(mapping, sequence(record.get("toolCalls"))):
            name = text(call.get("agentId"))
            if name and name not in self.draft.lanes:
                self.draft.lanes[name] = Lane(name, text(call.get("name")), text(call.get("id")))

    def _add(self, record: Mapping[str, Any], turn: Turn, line: int) -> _Entry:
        entry = _Entry(turn)
        parts = self._new(turn.said.parts)
        if turn.said.parts and not parts:
            self.draft.duplicates += 1
            return entry
        answer = self._open_answer() if turn.is_rest else None
        if answer is None:
            entry.at = self._say(turn.said, parts, record, line)
        else:
            entry.at, entry.start, entry.is_rest = answer, len(self.draft.messages[answer].parts), True
            self.draft.extend(answer, parts, line)
        self._follow(entry, record, turn, line)
        return entry

    def _say(self, said: Said, parts: tuple[Part, ...], record: Mapping[str, Any], line: int) -> int:
        id_, time = text(record.get("id")), text(record.get("timestamp"))
        return self.draft.add(said.role, parts, line, id=id_, time=time, harness=said.harness)

    def _update(self, entry: _Entry, record: Mapping[str, Any], turn: Turn, line: int) -> None:
        entry.turn = turn
        if entry.at is None:
            self.draft.duplicates += 1
            return
        message = self.draft.messages[entry.at]
        del message.parts[entry.start :]
        message.harness = turn.said.harness
        self.draft.extend(entry.at, turn.said.parts, line)
        self._follow(entry, record, turn, line)

    def _follow(self, entry: _Entry, record: Mapping[str, Any], turn: Turn, line: int) -> None:
        """The call that an answer was, and the results of its tool calls."""
        id_ = text(record.get("id"))
        if turn.is_call and not entry.is_rest and entry.at is not None:
            if entry.call is not None:
                known = self.draft.calls[entry.call]
                self.draft.calls[entry.call] = replace(known, model=turn.model or known.model, usage=turn.usage)
            elif not id_ or id_ not in self._counted:
                self._counted.add(id_)
                time = text(record.get("timestamp"))
                entry.call = self.draft.call(entry.at, line, id=id_, time=time, model=turn.model, usage=turn.usage)
        if not turn.results:
            return
        if entry.results is None:
            results = self._new(turn.results)
            entry.results = self._say(Said(Role.TOOL, (), line), results, {}, line) if results else None
        else:
            self.draft.messages[entry.results].parts.clear()
            self.draft.extend(entry.results, turn.results, line)

    def _new(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Without results that are in the context already, and what came with them."""
        results = [part for part in parts if part.kind is PartKind.TOOL_RESULT and part.ref]
        new = [part for part in parts if part.ref not in self._answered or part.kind is PartKind.TOOL_CALL]
        if any(part.ref in self._answered for part in results):
            return tuple(part for part in new if part.kind is PartKind.TOOL_RESULT or side_of(part) not in self._beside)
        if results:
            self._beside |= {side_of(part) for part in parts if part.kind is not PartKind.TOOL_RESULT}
        self._answered |= {part.ref for part in results}
        return tuple(new)

    def _look_again(self, entries: Iterable[_Entry | None] | None = None) -> None:
        """Tell anew which calls are answered, by what is in the context or will stay in it."""
        held = self._entries.values() if entries is None else entries
        self._answered = {
            part.ref
            for entry in held
            for at in (entry.places() if entry is not None else ())
            for part in self.draft.messages[at].parts
            if part.kind is PartKind.TOOL_RESULT and part.ref
        }

    def _open_answer(self) -> int | None:
        """The answer that nothing has followed yet."""
        live = self.draft.live[MAIN]
        return live[-1] if live and self.draft.messages[live[-1]].role is Role.ASSISTANT else None


def _known(entry: _Entry | None, turn: Turn) -> _Entry | None:
    """The entry if the record still says the same, but for the text of results."""
    return entry if entry is not None and says_same(entry.turn, turn) else None
