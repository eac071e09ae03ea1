"""Usage of Cline and Roo tasks: it stands in `ui_messages.json`, beside the messages, one entry a request.

Source of the shapes: https://github.com/cline/cline/blob/main/apps/vscode/src/shared/ExtensionMessage.ts, and Roo's
packages/core/src/message-utils/consolidateTokenUsage.ts: there `tokensIn` holds the cached tokens, in Cline's it does
not.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.moments import number
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import Usage


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the client's display tells of it."""

    time: float
    after: int | None
    """Index of the last message there was when it was made, where the client says."""
    facts: Mapping[str, Any]
    model: str
    provider: str
    """As the client calls it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the messages, which is to find its request."""

    index: int
    """Among the messages."""
    time: float


@dataclass(slots=True)
class Display:
    """What the display of a task tells of its requests and of its context."""

    requests: list[Request] = field(default_factory=list)
    compacted: dict[str, tuple[float, int | None, int | None]] = field(default_factory=dict)
    """By id of a condensation or truncation: when, and the tokens before and after."""
    cuts: list[tuple[int, int, int]] = field(default_factory=list)
    """(messages there were, first, last): what of them was left out from then on."""
    others: int = 0
    """Entries that say nothing of either."""

    def take(self, entries: Sequence[Any]) -> None:
        """All entries of the display."""
        for entry in entries:
            value = mapping(entry)
            self._cut(value)
            kind = value.get("say") if value.get("type") == "say" and value.get("partial") is not True else None
            if kind == "api_req_started":
                self._request(value)
            elif kind in ("condense_context", "sliding_window_truncation"):
                self._compaction(value)
            else:
                self.others += 1

    def _request(self, value: Mapping[str, Any]) -> None:
        facts, info = _parsed(value.get("text")), mapping(value.get("modelInfo"))
        after = count(value.get("conversationHistoryIndex"))
        if value.get("conversationHistoryIndex") == -1:
            after = -1
        model = text(info.get("modelId")) or text(facts.get("model"))
        self.requests.append(Request(number(value.get("ts")), after, facts, model, text(info.get("providerId"))))

    def _compaction(self, value: Mapping[str, Any]) -> None:
        facts = mapping(value.get("contextCondense")) or mapping(value.get("contextTruncation"))
        for key in ("condenseId", "truncationId"):
            if name := text(facts.get(key)):
                before, after = count(facts.get("prevContextTokens")), count(facts.get("newContextTokens"))
                self.compacted[name] = (number(value.get("ts")), before, after)

    def _cut(self, value: Mapping[str, Any]) -> None:
        """Cline writes on each entry which messages it leaves out; only where that changes it is news."""
        found = [count(place) for place in sequence(value.get("conversationHistoryDeletedRange"))]
        there = count(value.get("conversationHistoryIndex"))
        if len(found) != 2 or found[0] is None or found[1] is None or there is None:
            return
        if not self.cuts or self.cuts[-1][1:] != (found[0], found[1]):
            self.cuts.append((there + 1, found[0], found[1]))

    def _told(self) -> list[Request]:
        """The requests that came to something: of one that is under way, or failed, no figures are written."""
        return [one for one in self.requests if "tokensIn" in one.facts or "tokensOut" in one.facts]

    @property
    def told(self) -> int:
        """How many requests came to something."""
        return len(self._told())

    def pair(self, answers: Sequence[Answer]) -> dict[int, Request]:
        """Which request each answer belongs to: by its place, by time, or by order where there are as many."""
        told = self._told()
        found: dict[int, Request] = {}
        if told and all(one.after is not None for one in told):
            for one in told:
                place = next((answer.index for answer in answers if answer.index > (one.after or 0)), None)
                if place is not None:
                    found[place] = one
            return found
        if told and answers and all(answer.time for answer in answers):
            last = 0.0
            for answer in answers:
                made = [one for one in told if last <= one.time <= answer.time]
                if made:
                    found[answer.index] = made[-1]
                last = answer.time
            return found
        same = len(told) == len(answers)
        return {answer.index: one for answer, one in zip(answers, told, strict=False)} if same else {}

    def usage_of(self, request: Request) -> Usage | None:
        """What a request used."""
        facts = request.facts
        sent, read, write = (count(facts.get(key)) for key in ("tokensIn", "cacheReads", "cacheWrites"))
        if sent is None:
            return None
        cached = _cached(facts)
        inclusive = self._is_inclusive() or (request.provider.startswith("openai") and sent >= cached)
        whole = sent if inclusive else sent + cached
        output = count(facts.get("tokensOut"))
        return Usage(prompt=whole, uncached=whole - cached, cache_read=read, cache_write=write, output=output)

    def _is_inclusive(self) -> bool:
        """Whether the input holds what came from the cache.

        Roo's does, and Roo says which protocol it spoke; its earlier versions say so too, but their input is less than
        what came from the cache. Cline's does not, but for the providers of OpenAI's API.
        """
        roo = any("apiProtocol" in one.facts for one in self.requests)
        return roo and all((count(one.facts.get("tokensIn")) or 0) >= _cached(one.facts) for one in self._told())


def usage_beside(metrics: Mapping[str, Any]) -> Usage | None:
    """The figures that later versions of Cline write on an answer: reads and writes of the cache are one sum there."""
    tokens = mapping(metrics.get("tokens"))
    sent, cached = count(tokens.get("prompt")), count(tokens.get("cached"))
    if sent is None:
        return None
    return Usage(prompt=sent + (cached or 0), uncached=sent, output=count(tokens.get("completion")))


def _cached(facts: Mapping[str, Any]) -> int:
    return (count(facts.get("cacheReads")) or 0) + (count(facts.get("cacheWrites")) or 0)


def _parsed(value: Any) -> Mapping[str, Any]:
    """The facts of a request, which stand as JSON in its text."""
    try:
        return mapping(json.loads(value)) if isinstance(value, str) else mapping(value)
    except (ValueError, RecursionError):
        return {}
