"""Conversations out of exchanges: a log that repeats the whole prompt in each request is counted once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import Exchange
from ctxcli.formats.blocks.said import Said, Spoken
from ctxcli.formats.blocks.synthetic import BY_CTX, is_told
from ctxcli.model import MAIN, EventKind, Part, PartKind, Role, Transcript


@dataclass(slots=True)
class _Conversation:
    """The conversation that is open."""

    draft: Draft
    id: str
    conversation: str
    keys: dict[int, bytes] = field(default_factory=dict)
    history: list[int] = field(default_factory=list)
    """What the client holds: it goes on sending what the provider has compacted away."""
    last: Exchange | None = None
    cleared: set[tuple[int, int]] = field(default_factory=set)
    """What the provider has cleared or stripped so far."""
    compaction: int | None = None
    """The event by which the client put a summary, which is still to come, in the place of messages."""

    def fits(self, exchange: Exchange, spoken: Spoken) -> int:
        """How well an exchange goes on from here: 0 not at all, else the more the better.

        A loose message always does, a conversation that is stored as one never. Of a logged request
        what came before must be a prefix (the system prompt may differ), or it must hold the task and
        something said after it, or its client's summary and something that was kept; an id of the
        log's own decides where there is one.
        """
        if exchange.loose:
            return 1
        if exchange.response is None and not exchange.unanswered:
            return 0
        if exchange.conversation or self.conversation:
            return 10**6 if exchange.conversation == self.conversation else 0
        before = [self.keys[index] for index in self.history if self._is_said(index)]
        sent = [said for said in spoken.sent if said.role is not Role.SYSTEM]
        now = [said.key for said in sent]
        same = _same(before, now)
        if before and same >= len(before) - 1:
            if same == len(before) and len(now) >= same:
                return 2 + same
            if same < len(now) and self._is_last_answer(sent[same]):
                return 2 + same
        if exchange.response is None:
            return 0
        shared = len(set(before) & set(now))
        if any(map(_is_client_summary, sent)):
            return 1 + shared if shared else 0
        if not any(said.role is Role.ASSISTANT for said in sent):
            return 0
        task = next((said.key for said in sent if said.role is Role.USER), None)
        return 1 + shared if task in before and shared >= max(2, len(now) // 2) else 0

    def _is_said(self, index: int) -> bool:
        return self.draft.messages[index].role is not Role.SYSTEM

    def take(self, exchange: Exchange, spoken: Spoken) -> None:
        """Add what an exchange says that is new, drop what it no longer sends, and record its call."""
        self.id, self.last = self.id or exchange.id, exchange
        self.draft.records += exchange.opens_record
        self.draft.size += exchange.size
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
        draft.id = self.conversation or self.id or None
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
        if spoken.keeps_head:
            unmatched = [index for index in unmatched if self._is_said(index)]
        says_history = any(said.role is not Role.SYSTEM for said in spoken.sent)
        if unmatched and says_history:
            self._dropped(unmatched, fresh, exchange)
        return fresh

    def _dropped(self, unmatched: Sequence[int], fresh: Sequence[Said], exchange: Exchange) -> None:
        """What a request no longer sends: another system prompt or other tools, an answer retried, or a rewrite."""
        gone = frozenset(unmatched)
        self.history = [index for index in self.history if index not in gone]
        live = gone & frozenset(self.draft.live[MAIN])
        system = {index for index in live if not self._is_said(index)}
        if system:
            self.draft.event(EventKind.RENEW, exchange.line, drops=system, trigger="client")
        if said := live - system:
            left = [index for index in self.history if self._is_said(index)]
            last = bool(left) and min(said) > max(left)
            retried = last and not any(one.role is Role.ASSISTANT for one in fresh)
            summed = any(map(_is_client_summary, fresh))
            kind = EventKind.SUMMARY if summed else EventKind.REWIND if retried else EventKind.REWRITE
            event = self.draft.event(kind, exchange.line, drops=said, trigger="client")
            self.compaction = event if summed else None

    def _is_last_answer(self, said: Said) -> bool:
        """The answer to the request before, sent back with other ids or without its thinking."""
        last = self.draft.messages[self.history[-1]]
        both_answer = said.role is Role.ASSISTANT and last.role is Role.ASSISTANT
        return both_answer and _words(last.parts) == _words(said.parts)

    def _say(self, said: Said, exchange: Exchange) -> None:
        """Add a message of a request; an answer in it was a call where answers are recorded nowhere else."""
        follows_answer = bool(self.draft.messages) and self.draft.messages[-1].role is Role.ASSISTANT
        at = self._add(said, exchange)
        if said.role is Role.ASSISTANT and not follows_answer and exchange.response is None:
            self.draft.call(at, said.line, time=exchange.time, model=exchange.model)

    def _add(self, said: Said, exchange: Exchange) -> int:
        if any(part.sums_up for part in said.parts):
            self._compacted(said)
        at = self.draft.add(said.role, said.parts, said.line, time=exchange.time, harness=said.harness)
        self.keys[at] = said.key
        self.history.append(at)
        return at

    def _compacted(self, said: Said) -> None:
        """Everything before a compaction block is dropped by the provider, but for system and tools.

        What a client's summary stands for was dropped just before, or is not in the source any more.
        """
        draft = self.draft
        ours = said.role is Role.USER and any(map(is_told, said.parts))
        theirs = _is_client_summary(said)
        kept = ours or theirs
        drops = [] if kept else [index for index in draft.live[MAIN] if draft.messages[index].role is not Role.SYSTEM]
        opaque = not any(part.kind is PartKind.SUMMARY for part in said.parts)
        event, self.compaction = self.compaction if theirs else None, None
        if event is None:
            trigger = BY_CTX if ours else "client" if theirs else "provider"
            event = draft.event(EventKind.SUMMARY, said.line, drops=drops, trigger=trigger, opaque=opaque)
        draft.amend(event, summary=len(draft.messages), opaque=opaque)

    def _provider_edits(self, exchange: Exchange, spoken: Spoken) -> None:
        """What the provider cleared before it answered: so many of the oldest results, of the oldest turns' thinking.

        The counts are of the whole history that the client sent, so that they repeat from request to
        request; only what was not cleared before is an event.
        """
        live = self.draft.live[MAIN]
        results = [
            (index, at)
            for index in live
            for at, part in enumerate(self.draft.messages[index].parts)
            if part.kind is PartKind.TOOL_RESULT
        ][: spoken.cleared_results]
        turns = [
            [(index, at) for at, part in enumerate(self.draft.messages[index].parts) if part.kind is PartKind.THINKING]
            for index in live
        ]
        thoughts = [place for turn in [turn for turn in turns if turn][: spoken.stripped_turns] for place in turn]
        for kind, places in ((EventKind.CLEAR, results), (EventKind.STRIP, thoughts)):
            new = [place for place in places if place not in self.cleared]
            if new:
                self.cleared.update(new)
                self.draft.event(kind, exchange.line, clears=new, trigger="provider")


_MOST_OPEN = 32


@dataclass(slots=True)
class Chain:
    """Strings exchanges together, each with the conversation that it goes on from; several may be open at once."""

    format: str
    provider: str
    speak: Callable[[Exchange], Spoken]
    watch: Callable[[int, int], None] | None = None
    """Told of each exchange where its conversation begins, and where it stands itself."""
    _open: list[_Conversation] = field(default_factory=list)
    """The one that was added to last stands last."""

    def put(self, exchange: Exchange) -> Iterator[Transcript]:
        """Take one exchange; yields conversations that nothing can go on from any more."""
        spoken = self.speak(exchange)
        fits = [(one.fits(exchange, spoken), at) for at, one in enumerate(self._open)]
        best, at = max(fits, default=(0, 0))
        if best:
            conversation = self._open.pop(at)
        else:
            conversation = _Conversation(Draft(self.format, self.provider), exchange.id, exchange.conversation)
        conversation.take(exchange, spoken)
        if self.watch is not None and conversation.draft.messages:
            self.watch(conversation.draft.messages[0].line, exchange.line)
        if exchange.response is None and not exchange.unanswered and not exchange.loose:
            yield conversation.close()
            return
        self._open.append(conversation)
        if len(self._open) > _MOST_OPEN:
            yield self._open.pop(0).close()

    def close(self) -> Iterator[Transcript]:
        """Finish the conversations that are open, in the order in which they began."""
        for conversation in sorted(self._open, key=lambda one: one.draft.messages[0].line if one.draft.messages else 0):
            yield conversation.close()
        self._open.clear()


def _is_client_summary(said: Said) -> bool:
    """Whether a client other than ctx wrote a message in the place of those before."""
    return said.harness and any(part.sums_up for part in said.parts) and not any(map(is_told, said.parts))


def _words(parts: Sequence[Part]) -> list[tuple[str, str]]:
    return [(part.name, part.text) for part in parts if part.kind in (PartKind.TEXT, PartKind.TOOL_CALL)]


def _same(first: Sequence[bytes], second: Sequence[bytes]) -> int:
    """How many leading elements two sequences share."""
    return next(
        (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
