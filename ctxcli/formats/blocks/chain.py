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
class _Conversation:
    """The conversation that is open."""

    draft: Draft
    id: str
    keys: dict[int, bytes] = field(default_factory=dict)
    history: list[int] = field(default_factory=list)
    """What the client holds: it goes on sending what the provider has compacted away."""
    last: Exchange | None = None

    def continues(self, exchange: Exchange, spoken: Spoken) -> bool:
        """Whether an exchange goes on from here.

        A loose message always does, a conversation that is stored as one never. Of a logged request
        what came before must be a prefix, or it must hold the task and something said after it.
        """
        if exchange.loose:
            return True
        if exchange.response is None and not exchange.unanswered:
            return False
        before, now = [self.keys[index] for index in self.history], [said.key for said in spoken.sent]
        same = _same(before, now)
        if before and len(now) >= len(before):
            if same == len(before):
                return True
            if same == len(before) - 1 and self._is_last_answer(spoken.sent[same]):
                return True
        if exchange.response is None or not any(said.role is Role.ASSISTANT for said in spoken.sent):
            return False
        task = next((said.key for said in spoken.sent if said.role is Role.USER), None)
        return task in before and len(set(before) & set(now)) >= max(3, len(now) // 2)

    def take(self, exchange: Exchange, spoken: Spoken) -> None:
        """Add what an exchange says that is new, drop what it no longer sends, and record its call."""
        self.id, self.last = self.id or exchange.id, exchange
        fresh = list(spoken.sent) if exchange.loose else self._new_of(exchange, spoken)
        for said in fresh:
            self._say(said, exchange)
        self._provider_edits(exchange, spoken)
        if spoken.answer is not None:
            at = self._add(spoken.answer, exchange)
            line, usage = spoken.answer.line, spoken.usage
            self.draft.call(at, line, id=exchange.id, time=exchange.time, model=exchange.model, usage=usage)

    def close(self) -> Transcript:
        """The finished transcript; a request whose answer was not stored still shows its context."""
        draft = self.draft
        unanswered = self.last is not None and self.last.unanswered
        if draft.messages and draft.messages[-1].role is not Role.ASSISTANT and (unanswered or not draft.calls):
            line = draft.messages[-1].line
            at = draft.add(Role.ASSISTANT, (), line)
            draft.call(at, line, model=self.last.model if self.last else "")
        draft.id = self.id or None
        return draft.finish()

    def _new_of(self, exchange: Exchange, spoken: Spoken) -> list[Said]:
        """What of a request was not sent before; what was sent before and is missing leaves the context."""
        held = self.history
        same = _same([self.keys[index] for index in held], [said.key for said in spoken.sent])
        unmatched, fresh = held[same:], []
        for said in spoken.sent[same:]:
            found = next((index for index in unmatched if self.keys[index] == said.key), None)
            if found is None and unmatched and unmatched[-1] == held[-1] and self._is_last_answer(said):
                found = held[-1]
            if found is None:
                fresh.append(said)
            else:
                unmatched.remove(found)
        if unmatched:
            gone = frozenset(unmatched)
            self.history = [index for index in held if index not in gone]
            drops = gone & frozenset(self.draft.live[MAIN])
            self.draft.event(EventKind.REWRITE, exchange.line, drops=drops, trigger="client")
        return fresh

    def _is_last_answer(self, said: Said) -> bool:
        """The answer to the request before, sent back with other ids or without its thinking."""
        last = self.draft.messages[self.history[-1]]
        both_answer = said.role is Role.ASSISTANT and last.role is Role.ASSISTANT
        return both_answer and _words(last.parts) == _words(said.parts)

    def _say(self, said: Said, exchange: Exchange) -> None:
        """Add a message of a request; an answer in it was a call, though nothing was recorded of that."""
        follows_answer = bool(self.draft.messages) and self.draft.messages[-1].role is Role.ASSISTANT
        at = self._add(said, exchange)
        if said.role is Role.ASSISTANT and not follows_answer:
            self.draft.call(at, said.line, time=exchange.time, model=exchange.model)

    def _add(self, said: Said, exchange: Exchange) -> int:
        if any(part.kind is PartKind.SUMMARY or part.name == "compaction" for part in said.parts):
            self._compacted(said)
        at = self.draft.add(said.role, said.parts, said.line, time=exchange.time)
        self.keys[at] = said.key
        self.history.append(at)
        return at

    def _compacted(self, said: Said) -> None:
        """Everything before a compaction block is dropped by the provider, but for system and tools."""
        draft = self.draft
        drops = [index for index in draft.live[MAIN] if draft.messages[index].role is not Role.SYSTEM]
        opaque = not any(part.kind is PartKind.SUMMARY for part in said.parts)
        event = draft.event(EventKind.SUMMARY, said.line, drops=drops, trigger="provider", opaque=opaque)
        draft.amend(event, summary=len(draft.messages))

    def _provider_edits(self, exchange: Exchange, spoken: Spoken) -> None:
        """What the provider cleared before it answered: the oldest results, the thinking of old turns."""
        for kind, event, many in (
            (PartKind.TOOL_RESULT, EventKind.CLEAR, spoken.cleared_results),
            (PartKind.THINKING, EventKind.STRIP, spoken.stripped_turns),
        ):
            if many:
                places = self.draft.unstripped(kind)[:many]
                self.draft.event(event, exchange.line, clears=places, trigger="provider")


@dataclass(slots=True)
class Chain:
    """Strings exchanges together while each one continues the one before."""

    format: str
    provider: str
    speak: Callable[[Exchange], Spoken]
    _open: _Conversation | None = None

    def put(self, exchange: Exchange) -> Iterator[Transcript]:
        """Take one exchange; yields the conversation before it where this one starts another."""
        spoken = self.speak(exchange)
        if self._open is not None and not self._open.continues(exchange, spoken):
            yield from self.close()
        if self._open is None:
            self._open = _Conversation(Draft(self.format, self.provider), exchange.id)
        self._open.take(exchange, spoken)

    def close(self) -> Iterator[Transcript]:
        """Finish the conversation that is open, if one is."""
        if self._open is not None:
            yield self._open.close()
            self._open = None


def _words(parts: Sequence[Part]) -> list[tuple[str, str]]:
    return [(part.name, part.text) for part in parts if part.kind in (PartKind.TEXT, PartKind.TOOL_CALL)]


def _same(first: Sequence[bytes], second: Sequence[bytes]) -> int:
    """How many leading elements two sequences share."""
    return next(
        (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
