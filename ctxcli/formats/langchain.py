"""LangChain and LangGraph messages as they are dumped: an array, JSONL, or a graph's state with `messages`.

Messages have ids, and LangGraph's reducer goes by them: a message of a known id takes the place of the
one before, a RemoveMessage takes one out (or all), and what follows a removal of all with a known id was kept.
Source: langgraph/graph/message.py (add_messages) of https://github.com/langchain-ai/langgraph and
langchain/agents/middleware/summarization.py of https://github.com/langchain-ai/langchain.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.langchain import (
    TYPES,
    is_summary,
    model_of,
    provider_of,
    said,
    tool_parts,
    unwrapped,
    usage_of,
)
from ctxcli.formats.blocks.lists import Lists, no_message, read_lists
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.synthetic import BY_CTX, is_told
from ctxcli.formats.blocks.values import count, mapping, text
from ctxcli.model import MAIN, EventKind, PartKind, Record, Role, Skip, Transcript
from ctxcli.shelf import Format

_ALL = "__remove_all__"
"""The id by which a RemoveMessage takes out every message."""
_OWN_TYPES = frozenset({"human", "ai", "HumanMessage", "AIMessage", "HumanMessageChunk", "AIMessageChunk"})
_OTHERS = frozenset({"role", "message", "uuid", "sessionId", "from", "parts"})
_IDS = ("thread_id", "id", "conversation_id")


@dataclass(slots=True)
class _Removal:
    """A removal that is not settled: messages that were taken out may still be given back."""

    at: int
    line: int
    gone: set[int] = field(default_factory=set)
    summary: int | None = None


@dataclass(slots=True)
class _Reader:
    """Reads one conversation."""

    owner: Mapping[str, Any]
    line: int
    draft: Draft = field(default_factory=lambda: Draft("langchain"))
    _keys: dict[int, bytes] = field(default_factory=dict)
    _by_id: dict[str, int] = field(default_factory=dict)
    _removal: _Removal | None = None
    _places: list[int | None] = field(default_factory=list)
    """Where each message of the list ended up: `cutoff_index` counts in the list."""

    def __post_init__(self) -> None:
        names = (self.owner.get(key) or mapping(self.owner.get("metadata")).get(key) for key in _IDS)
        self.draft.id = next((name for name in names if isinstance(name, str)), None)
        tools = tuple(tool_parts(self.owner.get("tools"), self.line))
        if tools:
            self.draft.add(Role.SYSTEM, tools, self.line)

    def take(self, value: Any, line: int) -> None:
        """One message, or what stands where one should."""
        found = unwrapped(value)
        self._places.append(None)
        if found is None:
            self.draft.skips.append(no_message(value, line))
            return
        kind, fields = found
        if kind not in TYPES:
            self.draft.unknown(kind, line)
        elif kind == "remove":
            self._remove(text(fields.get("id")), line)
        else:
            self._message(said(kind, fields, line), fields, line)

    def _message(self, one: Said, fields: Mapping[str, Any], line: int) -> None:
        name, key = text(fields.get("id")), one.key
        before = self._by_id.get(name) if name else None
        if before is not None and self._keys[before] == key:
            self.draft.duplicates += 1
            self._places[-1] = before
            if self._removal:
                self._removal.gone.discard(before)
            return
        if not is_summary(fields):
            self._settle()
        if before is not None and before in self.draft.live[MAIN]:
            self.draft.event(EventKind.REWRITE, line, drops=[before], trigger="client")
        at = self._add(one, fields, line)
        self._by_id[name] = self._places[-1] = at

    def _add(self, one: Said, fields: Mapping[str, Any], line: int) -> int:
        draft = self.draft
        if any(part.sums_up for part in one.parts):
            self._summed(one, line)
        at = draft.add(one.role, one.parts, line, id=text(fields.get("id")), harness=one.harness)
        self._keys[at] = one.key
        if one.role is Role.ASSISTANT:
            about = mapping(fields.get("response_metadata"))
            model = model_of(fields)
            draft.provider = draft.provider or provider_of(text(about.get("model_provider")), model)
            name = text(about.get("id") or fields.get("id"))
            draft.call(at, line, id=name, model=model, usage=usage_of(fields))
        return at

    def _summed(self, one: Said, line: int) -> None:
        """What the summary stands for is what was taken out just before; else the source has lost it."""
        if self._removal:
            self._removal.summary = len(self.draft.messages)
            return
        draft = self.draft
        provider = one.role is Role.ASSISTANT
        drops = [at for at in draft.live[MAIN] if draft.messages[at].role is not Role.SYSTEM] if provider else []
        trigger = "provider" if provider else BY_CTX if any(map(is_told, one.parts)) else "client"
        opaque = all(part.kind is not PartKind.SUMMARY for part in one.parts)
        event = draft.event(EventKind.SUMMARY, line, drops=drops, trigger=trigger, opaque=opaque)
        draft.amend(event, summary=len(draft.messages))

    def _remove(self, name: str, line: int) -> None:
        live = self.draft.live[MAIN]
        gone = {at for at in live if at in self._keys and name in (_ALL, self.draft.messages[at].id)}
        if not gone:
            reason = "a removal names no message of the context: nothing to take out"
            self.draft.skips.append(Skip(line, reason, recovered=True))
            return
        self._removal = self._removal or _Removal(len(self.draft.messages), line)
        self._removal.gone |= gone

    def _settle(self) -> None:
        """Nothing that was taken out comes back from here on."""
        removal, self._removal = self._removal, None
        if removal is None or not (removal.gone or removal.summary is not None):
            return
        left = [at for at in self.draft.live[MAIN] if at not in removal.gone and at in self._keys]
        shortened = EventKind.TRIM if left else EventKind.RESET
        kind = shortened if removal.summary is None else EventKind.SUMMARY
        event = self.draft.event(kind, removal.line, drops=removal.gone, trigger="client", at=removal.at)
        self.draft.amend(event, summary=removal.summary)

    def close(self) -> Transcript:
        """The finished conversation, with a summary that the state holds beside its messages."""
        self._settle()
        state = mapping(self.owner.get("values")) or self.owner
        beside = mapping(state.get("_summarization_event"))
        found = unwrapped(beside.get("summary_message"))
        if found is not None and count(beside.get("cutoff_index")):
            self._summed_beside(found, count(beside.get("cutoff_index")) or 0)
        return self.draft.finish()

    def _summed_beside(self, found: tuple[str, Mapping[str, Any]], cutoff: int) -> None:
        """The deepagents middleware leaves messages in the state and sends its summary in their place."""
        draft, (kind, fields) = self.draft, found
        marked = {**fields, "additional_kwargs": {"lc_source": "summarization"}}
        line = draft.messages[-1].line if draft.messages else 0
        one = said(kind, marked, line)
        drops = {at for at in self._places[:cutoff] if at is not None} & set(draft.live[MAIN])
        event = draft.event(EventKind.SUMMARY, line, drops=drops, trigger="client")
        draft.amend(event, summary=draft.add(one.role, one.parts, line, harness=True))
        draft.notes.append(
            "the state does not say when the history was summarised: the summary stands at the end, "
            "and earlier calls may have had a shorter context than shown"
        )


def _is_message(value: Any) -> bool:
    found = unwrapped(value)
    return found is not None and found[0] in TYPES and not (_OTHERS & mapping(value).keys() - {"role"})


def _is_own(value: Any) -> bool:
    """A constructor of a message, a type with its data, or a type that no other format has."""
    raw = mapping(value)
    if "lc" in raw:
        return isinstance(raw.get("kwargs"), dict) and _is_message(raw)
    if raw.get("type") == "remove" or not _is_message(raw):
        return False
    data = raw.get("data")
    if isinstance(data, dict):
        return "content" in data
    return raw["type"] in _OWN_TYPES and "content" in raw and not _OTHERS & raw.keys()


_LISTS = Lists(_is_message, _is_own, (("messages",), ("values", "messages"), ("channel_values", "messages")))


def claims(records: Sequence[Record]) -> bool:
    """LangChain's constructors, types with their data, or its own names of types: human and ai."""
    return _LISTS.claim(records)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a source, one after the other."""
    return read_lists(records, _LISTS, _Reader)


FORMAT = Format(
    name="langchain",
    title="LangChain and LangGraph message dumps",
    recognised_by="`lc` constructors of messages, `type` with `data`, messages of type human and ai",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "compaction"}),
)
