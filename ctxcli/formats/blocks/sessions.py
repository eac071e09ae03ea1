"""Which sessions of one file belong to one conversation, by their parent links."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.model import MAIN, Call, Event, Transcript

_LINKS = ("parentUuid", "logicalParentUuid", "sourceToolAssistantUUID")


@dataclass(slots=True)
class Sessions:
    """Joins session ids whose records name one another as parents, or hold the same record."""

    _session_of: dict[str, str] = field(default_factory=dict)
    _joined: dict[str, str] = field(default_factory=dict)

    def link(self, value: Mapping[str, Any]) -> None:
        """Take one record's id, session and parents into account."""
        session = value.get("sessionId")
        if not isinstance(session, str):
            return
        self._joined.setdefault(session, session)
        uuid = value.get("uuid")
        if isinstance(uuid, str):
            self._join(session, self._session_of.setdefault(uuid, session))
        for key in _LINKS:
            parent = value.get(key)
            if isinstance(parent, str) and parent in self._session_of:
                self._join(session, self._session_of[parent])

    def root(self, session: str) -> str:
        """The session that stands for all those joined with this one."""
        while self._joined.get(session, session) != session:
            session = self._joined[session]
        return session

    def _join(self, first: str, second: str) -> None:
        one, other = self.root(first), self.root(second)
        if one != other:
            self._joined[one] = other


def split_sessions(draft: Draft, sessions: Sessions) -> list[Transcript]:
    """One transcript for each set of joined sessions; the first one carries skips and bookkeeping."""
    roots: list[str] = []
    groups: dict[str, list[int]] = {}
    for index, message in enumerate(draft.messages):
        root = sessions.root(message.group) if message.group else (roots[-1] if roots else "")
        if root not in groups:
            groups[root] = []
            roots.append(root)
        groups[root].append(index)
    whole = draft.finish()
    first_id = next((message.group for message in draft.messages if message.group), None)
    if len(roots) < 2:
        return [replace(whole, id=first_id or draft.id)]
    calls: defaultdict[str, list[Call]] = defaultdict(list)
    events: defaultdict[str, list[Event]] = defaultdict(list)
    for call in whole.calls:
        calls[sessions.root(draft.messages[call.at].group)].append(call)
    for event, group in zip(whole.events, draft.event_groups, strict=True):
        events[sessions.root(group)].append(event)
    parts = [
        _pick(replace(whole, calls=tuple(calls[root]), events=tuple(events[root])), groups[root], draft)
        for root in roots
    ]
    return [parts[0], *map(_without_books, parts[1:])]


def _without_books(part: Transcript) -> Transcript:
    return replace(part, skips=(), bookkeeping=(), duplicates=0, records=0, bytes=0)


def _pick(whole: Transcript, indices: list[int], draft: Draft) -> Transcript:
    """The part of a transcript that these messages make up, with every index moved along."""
    moved = {old: new for new, old in enumerate(indices)}
    messages = tuple(whole.messages[index] for index in indices)
    calls = tuple(_move_call(call, moved) for call in whole.calls if call.at in moved)
    events = tuple(_move_event(event, moved, indices) for event in whole.events)
    names = {message.lane for message in messages} | {MAIN}
    lanes = tuple(lane for lane in whole.lanes if lane.name in names)
    session = draft.messages[indices[0]].group
    return replace(whole, id=session, messages=messages, calls=calls, events=events, lanes=lanes)


def _move_call(call: Call, moved: Mapping[int, int]) -> Call:
    return replace(call, at=moved[call.at])


def _move_event(event: Event, moved: Mapping[int, int], indices: list[int]) -> Event:
    drops = tuple(moved[index] for index in event.drops if index in moved)
    clears = tuple((moved[index], part) for index, part in event.clears if index in moved)
    summary = None if event.summary is None else moved.get(event.summary)
    at = bisect_left(indices, event.at)
    return replace(event, at=at, drops=drops, clears=clears, summary=summary)


def only_lane_as_main(transcript: Transcript) -> Transcript:
    """A sub-agent's own file, read by itself: its one lane is the conversation."""
    name = transcript.messages[0].lane
    return replace(
        transcript,
        id=name,
        messages=tuple(replace(message, lane=MAIN) for message in transcript.messages),
        calls=tuple(replace(call, lane=MAIN) for call in transcript.calls),
        events=tuple(replace(event, lane=MAIN) for event in transcript.events),
        lanes=tuple(lane for lane in transcript.lanes if lane.name != name),
    )
