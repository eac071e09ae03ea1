"""Conversations out of exchanges: a log that repeats the whole prompt in each request is counted once."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import Exchange
from ctxcli.model import MAIN, EventKind, Part, PartKind, Role, Transcript, Usage


@dataclass(frozen=True, slots=True)
class Said:
    """One message of an exchange, in neutral parts."""

    role: Role
    parts: tuple[Part, ...]
    line: int

    @property
    def key(self) -> bytes:
        """Equal for messages that say the same, wherever they stand."""
        seen = hashlib.blake2b(self.role.encode(), digest_size=12)
        for part in self.parts:
            seen.update(f"\0{part.kind}\0{part.name}\0{part.ref}\0{part.media}\0".encode())
            seen.update(part.text.encode("utf-8", "surrogatepass"))
        return seen.digest()


@dataclass(frozen=True, slots=True)
class Spoken:
    """An exchange in neutral form: what was sent, what came back, and what changed on the way."""

    sent: tuple[Said, ...]
    answer: Said | None
    usage: Usage | None
    cleared_results: int = 0
    """Oldest tool results that the provider cleared before it answered."""
    stripped_turns: int = 0


@dataclass(slots=True)
class Chain:
    """Strings exchanges together while each one continues the one before."""

    format: str
    provider: str
    speak: Callable[[Exchange], Spoken]
    draft: Draft | None = None
    _keys: dict[int, bytes] = field(default_factory=dict)
    _history: list[int] = field(default_factory=list)
    """What the client holds: it goes on sending what the provider has compacted away."""
    _id: str = ""
    _unanswered: bool = False
    _model: str = ""

    def put(self, exchange: Exchange) -> Iterator[Transcript]:
        """Take one exchange; yields the conversation before it where this one starts another."""
        spoken = self.speak(exchange)
        if self.draft is not None and not self._continues(exchange, spoken):
            yield self.close()
        if self.draft is None:
            self.draft = Draft(self.format, self.provider)
            self._keys, self._history, self._id = {}, [], exchange.id
        self._id = self._id or exchange.id
        self._unanswered, self._model = exchange.unanswered, exchange.model
        self._send(exchange, spoken)
        if spoken.answer is not None:
            self._answer(exchange, spoken)

    def close(self) -> Transcript:
        """Finish the conversation that is open."""
        draft, self.draft = self.draft, None
        if draft is None:
            raise ValueError("no conversation is open")
        last = draft.messages[-1].role if draft.messages else Role.ASSISTANT
        if last is not Role.ASSISTANT and (self._unanswered or not draft.calls):
            # a request whose answer was not stored: what was in the context is still worth knowing
            at = draft.add(Role.ASSISTANT, (), draft.messages[-1].line)
            draft.call(at, draft.messages[-1].line, model=self._model)
        draft.id = self._id or None
        return draft.finish()

    def _continues(self, exchange: Exchange, spoken: Spoken) -> bool:
        """Whether the exchange goes on from what is in the context now.

        A loose message always does, a conversation that is stored as one never. Of a logged request
        what came before must be a prefix, or it must hold the task and something said after it.
        """
        if exchange.loose:
            return True
        if exchange.response is None and not exchange.unanswered:
            return False
        if self._id and exchange.id and self._id != exchange.id and exchange.response is None:
            return False
        before = [self._keys[index] for index in self._history]
        now = [said.key for said in spoken.sent]
        if len(now) >= len(before) and _same(before, now) == len(before) and before:
            return True
        if exchange.response is None or not any(said.role is Role.ASSISTANT for said in spoken.sent):
            return False
        task = next((said.key for said in spoken.sent if said.role is Role.USER), None)
        return task in before and len(set(before) & set(now)) >= max(3, len(now) // 2)

    def _send(self, exchange: Exchange, spoken: Spoken) -> None:
        draft = self.draft
        assert draft is not None  # noqa: S101 - put() has just made it
        if exchange.loose:
            for said in spoken.sent:
                self._say(said, exchange)
            return
        held = self._history
        same = _same([self._keys[index] for index in held], [said.key for said in spoken.sent])
        unmatched, fresh = held[same:], []
        for said in spoken.sent[same:]:
            found = next((index for index in unmatched if self._keys[index] == said.key), None)
            if found is None and unmatched and unmatched[-1] == held[-1] and self._is_last_answer(held[-1], said):
                found = held[-1]
            if found is None:
                fresh.append(said)
            else:
                unmatched.remove(found)
        if unmatched:
            gone = frozenset(unmatched)
            self._history = [index for index in held if index not in gone]
            draft.event(EventKind.REWRITE, exchange.line, drops=gone & frozenset(draft.live[MAIN]))
        for said in fresh:
            self._say(said, exchange)
        self._provider_edits(exchange, spoken)

    def _is_last_answer(self, last: int, said: Said) -> bool:
        """The answer to the request before, sent back with other ids or without its thinking."""
        draft = self.draft
        if draft is None or said.role is not Role.ASSISTANT or draft.messages[last].role is not Role.ASSISTANT:
            return False
        return _words(draft.messages[last].parts) == _words(said.parts)

    def _say(self, said: Said, exchange: Exchange, usage: Usage | None = None, *, answer: bool = False) -> None:
        draft = self.draft
        assert draft is not None  # noqa: S101 - put() has just made it
        if any(part.kind is PartKind.SUMMARY or part.name == "compaction" for part in said.parts):
            self._compacted(said)
        follows_answer = bool(draft.messages) and draft.messages[-1].role is Role.ASSISTANT
        at = draft.add(said.role, said.parts, said.line, time=exchange.time)
        self._keys[at] = said.key
        self._history.append(at)
        if said.role is Role.ASSISTANT and (answer or not follows_answer):
            draft.call(at, said.line, id=exchange.id if answer else "", time=exchange.time,
                       model=exchange.model, usage=usage)  # fmt: skip

    def _compacted(self, said: Said) -> None:
        """Everything before a compaction block is dropped by the provider, but for system and tools."""
        draft = self.draft
        assert draft is not None  # noqa: S101
        drops = [index for index in draft.live[MAIN] if draft.messages[index].role is not Role.SYSTEM]
        opaque = not any(part.kind is PartKind.SUMMARY for part in said.parts)
        event = draft.event(EventKind.SUMMARY, said.line, drops=drops, trigger="provider", opaque=opaque)
        draft.amend(event, summary=len(draft.messages))

    def _provider_edits(self, exchange: Exchange, spoken: Spoken) -> None:
        draft = self.draft
        if draft is None or not (spoken.cleared_results or spoken.stripped_turns):
            return
        if spoken.cleared_results:
            places = draft.unstripped(PartKind.TOOL_RESULT)[: spoken.cleared_results]
            draft.event(EventKind.CLEAR, exchange.line, clears=places, trigger="provider")
        if spoken.stripped_turns:
            places = draft.unstripped(PartKind.THINKING)[: spoken.stripped_turns]
            draft.event(EventKind.STRIP, exchange.line, clears=places, trigger="provider")

    def _answer(self, exchange: Exchange, spoken: Spoken) -> None:
        if spoken.answer is not None:
            self._say(spoken.answer, exchange, spoken.usage, answer=True)


def _words(parts: Sequence[Part]) -> list[tuple[str, str]]:
    return [(part.name, part.text) for part in parts if part.kind in (PartKind.TEXT, PartKind.TOOL_CALL)]


def _same(first: Sequence[bytes], second: Sequence[bytes]) -> int:
    """How many leading elements two sequences share."""
    return next(
        (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
