"""A session of opencode read into a draft: what is in the context at each call, and what took things out of it.

Source: `filterCompacted` of packages/opencode/src/session/message-v2.ts and `prune` of compaction.ts beside it,
https://github.com/anomalyco/opencode.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.agents import provider_of
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.moments import from_milliseconds
from ctxcli.formats.blocks.opencode_parts import ASKED, Step, of_user, steps_of, usage_of
from ctxcli.formats.blocks.opencode_store import Session, Stored
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.model import EventKind, Lane, Part, PartKind, Role

_ABORTED = "MessageAbortedError"
_SAYS_NOTHING = frozenset({"step-start", "reasoning"})


class SessionReader:
    """Reads one session into one lane of a draft."""

    def __init__(self, draft: Draft, session: Session, lane: str) -> None:
        self._draft, self._session, self._lane = draft, session, lane
        self._indices: dict[str, list[int]] = {}
        """By message: the indices that it became."""
        self._cleared: dict[float, list[str]] = {}
        """By the time of a pruning: the ids of the calls whose results it cleared."""
        self._asked = {name: stored for name, stored in session.messages.items() if _mark(stored) is not None}
        self._done = {
            text(stored.info.get("parentID"))
            for stored in session.messages.values()
            if _is_summary(stored) and stored.info.get("finish") and not stored.info.get("error")
        }
        self._system: int | None = None
        self.spawned: dict[str, str] = {}
        """By the id of a session that a tool of this one started: the call's id."""

    def read(self) -> None:
        """Add all messages, calls and events."""
        self._draft.works_in(text(self._session.info.get("directory")))
        for name, stored in self._session.in_order():
            role = text(stored.info.get("role"))
            if role == "user":
                self._user(name, stored)
            elif role == "assistant":
                self._assistant(name, stored)
            else:
                self._draft.unknown(f"message/{role}", stored.line)
        self._prune()
        self._revert()

    def _user(self, name: str, stored: Stored) -> None:
        if name in self._asked and name in self._done:
            return  # it stands behind what its compaction dropped: see _summary
        self._instruct(stored)
        runs = of_user(stored, self._draft)
        if not runs:
            self._draft.bookkeep("message/empty")
        for ours, parts in runs:
            self._add(name, stored, Role.USER, parts, harness=ours)

    def _instruct(self, stored: Stored) -> None:
        """Instructions that a prompt adds to the system prompt; the next ones take their place."""
        said = text(stored.info.get("system"))
        known = self._system
        if not said or (known is not None and self._draft.messages[known].parts[0].text == said):
            return
        if known is not None:
            self._draft.event(EventKind.RENEW, stored.line, lane=self._lane, drops=[known], trigger="client")
        part = Part(PartKind.TEXT, said, stored.line)
        self._system = self._draft.add(Role.SYSTEM, [part], stored.line, lane=self._lane, time=_time(stored))

    def _assistant(self, name: str, stored: Stored) -> None:
        self._draft.works_in(text(mapping(stored.info.get("path")).get("cwd")))
        self._draft.provider = self._draft.provider or provider_of(
            text(stored.info.get("modelID")) or text(stored.info.get("providerID"))
        )
        steps = steps_of(stored, self._draft)
        if _is_summary(stored):
            self._summary(name, stored, steps)
            return
        tokens = None if any(step.finish is not None for step in steps) else stored.info.get("tokens")
        for step in steps:
            last = step is steps[-1]
            self._step(name, stored, step, tokens if last else None)
        if not steps:
            self._draft.bookkeep("message/error" if stored.info.get("error") else "message/empty")
        elif _is_lost(stored):
            drops = self._indices[name]
            self._draft.event(EventKind.REWIND, stored.line, lane=self._lane, drops=drops, trigger="error")

    def _step(self, name: str, stored: Stored, step: Step, tokens: Any) -> None:
        at = self._add(name, stored, Role.ASSISTANT, step.said)
        self._call(at, stored, step.finish, tokens)
        if step.results:
            self._add(name, stored, Role.TOOL, step.results)
        for ref, when in step.cleared.items():
            self._cleared.setdefault(when, []).append(ref)
        self.spawned.update(step.spawned)

    def _call(self, at: int, stored: Stored, finish: Mapping[str, Any] | None, tokens: Any) -> None:
        """What a step used stands in the part that ends it; the message's own figures are those of its last step."""
        id_ = text(mapping(finish).get("id")) or text(stored.info.get("id"))
        usage = usage_of(mapping(finish).get("tokens") or tokens)
        self._draft.call(
            at, stored.line, id=id_, time=_time(stored), model=text(stored.info.get("modelID")), usage=usage
        )

    def _summary(self, name: str, stored: Stored, steps: list[Step]) -> None:
        """The answer to a compaction: one that was finished takes the place of what was said before it.

        The call that wrote it saw the whole context, so it stands before the change, and what it said behind it.
        """
        parent = text(stored.info.get("parentID"))
        said = [
            replace(part, kind=PartKind.SUMMARY) for step in steps for part in step.said if part.kind is PartKind.TEXT
        ]
        marked = parent in self._asked
        if not said or stored.info.get("error") or (marked and parent not in self._done):
            self._draft.bookkeep("message/compaction failed")
            return
        at = self._add(name, stored, Role.ASSISTANT, ())
        finish = next((step.finish for step in reversed(steps) if step.finish is not None), None)
        self._call(at, stored, finish, stored.info.get("tokens"))
        mark = _mark(self._asked[parent]) if marked else None
        kept = self._tail(text(mapping(mark).get("tail_start_id")), parent)
        live = self._draft.live[self._lane]
        drops = [index for index in live if index not in kept and self._draft.messages[index].role is not Role.SYSTEM]
        trigger = "" if mark is None else "auto" if mark.get("auto") else "manual"
        event = self._draft.event(EventKind.SUMMARY, stored.line, lane=self._lane, drops=drops, trigger=trigger)
        if marked:
            asked = self._asked[parent]
            self._add(parent, asked, Role.USER, [Part(PartKind.TEXT, ASKED, asked.line)], harness=True)
        self._draft.amend(event, summary=self._add(name, stored, Role.ASSISTANT, said, harness=True))

    def _tail(self, first: str, parent: str) -> frozenset[int]:
        """The messages that a compaction keeps as they are, from one of them on."""
        names = [name for name, _ in self._session.in_order()]
        if first not in names:
            return frozenset()
        end = names.index(parent) if parent in names else len(names)
        kept = names[names.index(first) : end]
        return frozenset(index for name in kept for index in self._indices.get(name, ()))

    def _prune(self) -> None:
        """Old results that the client cleared: each time at once, before the first message that was begun later."""
        times = [
            (stored.created, self._indices[name]) for name, stored in self._session.in_order() if name in self._indices
        ]
        for when, refs in sorted(self._cleared.items()):
            at = next((indices[0] for created, indices in times if created >= when), len(self._draft.messages))
            places = [
                (index, number)
                for indices in self._indices.values()
                for index in indices
                for number, part in enumerate(self._draft.messages[index].parts)
                if part.kind is PartKind.TOOL_RESULT and part.ref in refs and index < at
            ]
            line = self._draft.messages[min(at, len(self._draft.messages) - 1)].line
            self._draft.event(EventKind.CLEAR, line, lane=self._lane, clears=sorted(places), trigger="prune", at=at)
        self._draft.events.sort(key=lambda event: event.at)

    def _revert(self) -> None:
        """What the user took back at the end: the client removes it with the next prompt."""
        revert = mapping(self._session.info.get("revert"))
        names = [name for name, _ in self._session.in_order()]
        first = text(revert.get("messageID"))
        if first not in names:
            return
        gone = names[names.index(first) + bool(revert.get("partID")) :]
        live = frozenset(self._draft.live[self._lane])
        drops = [index for name in gone for index in self._indices.get(name, ()) if index in live]
        if drops:
            line = self._draft.messages[-1].line
            self._draft.event(EventKind.REWIND, line, lane=self._lane, drops=drops, trigger="user")

    def _add(self, name: str, stored: Stored, role: Role, parts: Any, *, harness: bool = False) -> int:
        id_, said = text(stored.info.get("id")) or name, tuple(parts)
        lines = sorted({part.line for part in said}) or [stored.line]
        index = self._draft.add(role, said, lines[0], lane=self._lane, id=id_, time=_time(stored), harness=harness)
        self._draft.messages[index].lines += lines
        self._indices.setdefault(name, []).append(index)
        return index


def lane_of(session: Session, spawned_by: str) -> Lane:
    """The lane of a session that another one started."""
    return Lane(session.id, text(session.info.get("title")), spawned_by)


def _mark(stored: Stored) -> Mapping[str, Any] | None:
    """The mark of a compaction in a user's message."""
    return next((part for part in stored.parts.values() if part.get("type") == "compaction"), None)


def _is_summary(stored: Stored) -> bool:
    return stored.info.get("role") == "assistant" and stored.info.get("summary") is True


def _is_lost(stored: Stored) -> bool:
    """Whether an answer that failed is not sent again; one that was broken off is, as far as it got."""
    error = mapping(stored.info.get("error"))
    said = any(text(part.get("type")) not in _SAYS_NOTHING for part in stored.parts.values())
    return bool(error) and not (error.get("name") == _ABORTED and said)


def _time(stored: Stored) -> str:
    return from_milliseconds(stored.created)
