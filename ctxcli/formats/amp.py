"""Amp threads: `T-<id>.json`, or what `amp threads export` writes.

Source of the shapes: https://github.com/junhoyeo/tokscale (crates/tokscale-core/src/sessions/amp.rs),
https://github.com/wesm/agentsview (internal/parser/amp.go) and the message schema that Amp's own client checks. No real
thread was at hand. `totalInputTokens` is the sum of the input and of what was read from and written to the cache.

The ledger of earlier versions and the usage on the messages are two records of the same calls.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from ctxcli.formats.blocks.agents import API_TYPES, odd_message, provider_of, result_block, shaped_parts
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.moments import from_milliseconds
from ctxcli.formats.blocks.values import blocks, count, dump, mapping, sequence, text, total
from ctxcli.model import MAIN, EventKind, Lane, Part, PartKind, Record, Role, Transcript, Usage
from ctxcli.shelf import Format

_DONE = ("done", "in-progress", "")
"""What a run comes to that did not fail."""


def _shape(kind: str, block: Mapping[str, Any]) -> list[Any] | None:
    """A block as the Messages API has it; results hold the run of their tool."""
    if kind == "tool_result":
        ref = block.get("toolUseID") or block.get("tool_use_id") or block.get("toolUseId")
        if "run" not in block and "content" in block:
            return [result_block(ref, block.get("content"), failed=block.get("is_error") is True, shape=_shape)]
        said, failed = _outcome(mapping(block.get("run") or block))
        return [result_block(ref, said, failed=failed, shape=_shape)]
    if kind == "image":
        source = mapping(block.get("source"))
        type_ = source.get("media_type") or source.get("mediaType") or block.get("mimeType")
        data = source.get("data") or source.get("url") or block.get("data") or block.get("url")
        return [{"type": "image", "source": {"data": data, "media_type": type_}}]
    if kind == "text" and block.get("hidden") is True and not block.get("text"):
        return []
    return [block] if kind in API_TYPES else None


def _outcome(run: Mapping[str, Any]) -> tuple[Any, bool]:
    """What a tool's run gave, and whether it failed: the result, else how far it came, else why it did not."""
    status = text(run.get("status"))
    if status not in _DONE:
        why = mapping(run.get("error")).get("message") or run.get("error") or run.get("reason")
        return text(why) or f"[{status}]", True
    said = run.get("result", run.get("output", run.get("progress")))
    if isinstance(said, dict) and isinstance(said.get("output"), str) and said.keys() <= {"output", "exitCode"}:
        return said["output"], said.get("exitCode") not in (None, 0)
    return (said if isinstance(said, (str, list)) or said is None else dump(said)), False


def _usage(raw: Mapping[str, Any]) -> Usage | None:
    """Input, cache reads and cache writes are disjoint, and add up to the prompt."""
    uncached = count(raw.get("inputTokens", raw.get("input")))
    read, write = count(raw.get("cacheReadInputTokens")), count(raw.get("cacheCreationInputTokens"))
    prompt = count(raw.get("totalInputTokens"))
    if prompt is None:
        prompt = total(uncached, read, write) if uncached is not None else None
    if prompt is None:
        return None
    output = count(raw.get("outputTokens", raw.get("output")))
    return Usage(prompt=prompt, uncached=uncached, cache_read=read, cache_write=write, output=output)


@dataclass(slots=True)
class _Thread:
    """One thread while it is being read."""

    main: Record
    draft: Draft
    _ledger: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Events of the ledger by the message that they gave."""

    def read(self) -> Transcript:
        """The conversation, each compaction where it took place."""
        value = mapping(self.main.value)
        self.draft.id = text(value.get("id")) or None
        self._works_in(mapping(mapping(value.get("env")).get("initial")))
        messages = sequence(value.get("messages"))
        self._take_ledger(sequence(mapping(value.get("usageLedger")).get("events")), messages)
        for at, message in enumerate(messages):
            self._message(message, line_of(self.main, ("messages", at)))
        models = [call.model for call in self.draft.calls if call.model]
        self.draft.provider = next((house for model in models if (house := provider_of(model))), "")
        return self.draft.finish()

    def _take_ledger(self, ledger: Sequence[Any], messages: Sequence[Any]) -> None:
        """Which event belongs to which answer: the one it names, else in order where there are as many."""
        events = [mapping(one) for one in ledger]
        answers = [text(one.get("messageId")) for one in map(mapping, messages) if one.get("role") == "assistant"]
        self._ledger = {text(one["toMessageId"]): one for one in events if one.get("toMessageId") is not None}
        if not self._ledger and len(events) == len(answers):
            self._ledger = dict(zip(answers, events, strict=True))
        if events:
            self.draft.bookkeep("usageLedger")
        if lost := len(events) - len(self._ledger.keys() & set(answers)):
            self.draft.notes.append(
                f"{lost:,} of {len(events):,} entries of the ledger name no answer here: not counted."
            )

    def _works_in(self, env: Mapping[str, Any]) -> None:
        self.draft.works_in(text(env.get("cwd")))
        for tree in sequence(env.get("trees")):
            address = text(mapping(tree).get("uri"))
            if address.startswith("file:"):
                try:
                    self.draft.works_in(unquote(urlsplit(address).path))
                except ValueError:
                    continue

    def _message(self, value: Any, line: int) -> None:
        role = value.get("role") if isinstance(value, dict) else None
        if role == "assistant":
            self._answer(value, line)
        elif role == "user":
            self._turn(value, line)
        elif role == "info":
            self._info(value, line)
        else:
            odd_message(self.draft, value, line)

    def _answer(self, value: Mapping[str, Any], line: int) -> None:
        """An answer is a call; those that a sub-agent gave stand in a lane of their own."""
        parent, lane = text(value.get("parentToolUseId")), MAIN
        if parent:
            lane = parent
            self.draft.lanes.setdefault(lane, Lane(lane, spawned_by=parent))
        parts = list(shaped_parts(value.get("content"), line, _shape, self.draft))
        usage, number = mapping(value.get("usage")), text(value.get("messageId"))
        event = self._ledger.get(number, {})
        time = text(usage.get("timestamp")) or text(event.get("timestamp")) or _time(value)
        if not parts and not usage and mapping(value.get("state")).get("type") == "error":
            self.draft.bookkeep("message/error")
            return
        at = self.draft.add(Role.ASSISTANT, parts, line, lane=lane, id=number, time=time)
        figures = _usage(usage) or _usage(mapping(event.get("tokens")))
        model = text(usage.get("model")) or text(event.get("model"))
        self.draft.call(at, line, id=number, time=time, model=model, usage=figures)
        self._measure(usage)

    def _measure(self, usage: Mapping[str, Any]) -> None:
        """`maxInputTokens` is the window less what is kept free for the output."""
        window = count(usage.get("maxInputTokens"))
        if window:
            self.draft.window, self.draft.window_is_usable = window, True

    def _turn(self, value: Mapping[str, Any], line: int) -> None:
        """What the user said; results of tools are a message of their own."""
        parts = list(shaped_parts(value.get("content"), line, _shape, self.draft))
        results = [part for part in parts if part.kind is PartKind.TOOL_RESULT or part.ref]
        rest = [part for part in parts if part not in results]
        parent = text(value.get("parentToolUseId"))
        lane, id_, time = parent or MAIN, text(value.get("messageId")), _time(value)
        if results:
            self.draft.add(Role.TOOL, results, line, lane=lane, id=id_, time=time)
        if rest or not results:
            client = mapping(value.get("meta")).get("fromAggman") is True
            self.draft.add(Role.USER, rest, line, lane=lane, id=id_, time=time, harness=client)

    def _info(self, value: Mapping[str, Any], line: int) -> None:
        """What the client tells of: a summary of the thread so far, or a command that the user ran."""
        for block in blocks(value.get("content")):
            kind, facts = text(mapping(block).get("type")), mapping(block)
            if kind == "summary":
                self._summary(mapping(facts.get("summary")), line, _time(value))
            elif kind == "manual_bash_invocation":
                self._bash(facts, line, _time(value))
            elif kind == "text":
                self.draft.add(Role.USER, [Part(PartKind.TEXT, text(facts.get("text")), line)], line, harness=True)
            else:
                self.draft.unknown(f"info/{kind}", line)

    def _summary(self, summary: Mapping[str, Any], line: int, time: str) -> None:
        """A summary in the place of everything before it; where it stands in another thread, it cannot be read here."""
        said = text(summary.get("summary"))
        if not said:
            self.draft.bookkeep(f"summary/{text(summary.get('type'))}")
            return
        drops = [at for at in self.draft.live[MAIN] if self.draft.messages[at].role is not Role.SYSTEM]
        event = self.draft.event(EventKind.SUMMARY, line, drops=drops)
        self.draft.amend(event, summary=len(self.draft.messages))
        self.draft.add(Role.USER, [Part(PartKind.SUMMARY, said, line)], line, time=time, harness=True)

    def _bash(self, facts: Mapping[str, Any], line: int, time: str) -> None:
        """A command that the user ran by hand is told to the model, but where it is hidden."""
        if facts.get("hidden") is True:
            self.draft.bookkeep("info/hidden command")
            return
        command, (said, _) = text(mapping(facts.get("args")).get("cmd")), _outcome(mapping(facts.get("toolRun")))
        told = f"$ {command}\n{text(said)}".rstrip()
        self.draft.add(Role.USER, [Part(PartKind.TEXT, told, line, address=command)], line, time=time, harness=True)


def _time(value: Mapping[str, Any]) -> str:
    return text(value.get("timestamp")) or from_milliseconds(mapping(value.get("meta")).get("sentAt"))


def claims(records: Sequence[Record]) -> bool:
    """A thread's id and messages, or the ledger of their usage."""
    value = mapping(records[0].value) if records else {}
    if not isinstance(value.get("messages"), list) or "sessionId" in value:
        return False
    messages = [mapping(one) for one in value["messages"][:25]]
    marked = any("messageId" in one and isinstance(one.get("content"), list) for one in messages)
    named = text(value.get("id")).startswith("T-")
    dated = "created" in value or "v" in value
    return isinstance(value.get("usageLedger"), dict) or (named + dated + marked >= 2)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """Each thread of a source."""
    draft = Draft("amp", agent="amp")
    found = False
    for record in records:
        draft.saw(record)
        if not isinstance(record.value, dict):
            draft.not_a_record(record)
        elif not isinstance(record.value.get("messages"), list):
            draft.unknown(text(record.value.get("type")), record.line)
        else:
            found = True
            yield _Thread(record, draft).read()
            draft = Draft("amp", agent="amp")
    if not found:
        yield draft.finish()


FORMAT = Format(
    name="amp",
    title="Amp thread (JSON)",
    recognised_by="an id T-…, created and messages, or usageLedger",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "compaction", "sub-agents", "timestamps"}),
)
