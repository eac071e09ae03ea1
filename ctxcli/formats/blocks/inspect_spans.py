"""Which agent an event of a log of Inspect belongs to: spans nest, and an agent inside another has its own context.

Source of the shape: inspect_ai/event/_span.py and _timeline.py of https://github.com/UKGovernmentBEIS/inspect_ai.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ctxcli.formats.blocks.values import mapping, text
from ctxcli.model import MAIN, Lane

_AGENTS = frozenset({"agent", "handoff", "subagent"})
_SCORERS = frozenset({"scorers", "scorer"})


class _Span(NamedTuple):
    parent: str
    type: str
    name: str


class Spans:
    """The spans of a sample, by id."""

    def __init__(self, events: Iterable[Any]) -> None:
        self._spans: dict[str, _Span] = {}
        self._calls: dict[str, str] = {}
        """The id of the tool call that runs in a span."""
        for event in map(mapping, events):
            kind, id_ = event.get("event"), text(event.get("id"))
            if kind == "span_begin" and id_:
                parent, type_, name = (text(event.get(key)) for key in ("parent_id", "type", "name"))
                self._spans[id_] = _Span(parent, type_, name)
            elif kind == "tool":
                self._calls[text(event.get("span_id"))] = id_

    def lane(self, event: Mapping[str, Any]) -> Lane:
        """The main lane, or that of the innermost agent, tool, scorer or branch with a model of its own."""
        found, inside, call = Lane(MAIN), False, ""
        for id_ in reversed(self._path(text(event.get("span_id")))):
            span = self._spans[id_]
            if span.type == "tool":
                call = self._calls.get(id_, call)
            own = span.type in ("tool", "branch") or span.type in _SCORERS or span.name in _SCORERS
            if own or (inside and span.type in _AGENTS):
                found = Lane(id_, span.name, call)
            inside = inside or span.type in _AGENTS or span.type == "tool"
        return found

    def _path(self, id_: str) -> list[str]:
        """From a span to the outermost one."""
        path: list[str] = []
        while id_ in self._spans and id_ not in path:
            path.append(id_)
            id_ = self._spans[id_].parent
        return path
