"""Vercel AI SDK: UI messages of versions 4 and 5 (and after), and model messages, as lists or a message a line.

One UI message of the assistant holds several model calls and the results of their tools. In version 4 its
`content`, `toolInvocations` and `parts` repeat one another: where there are parts, they are all that counts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.ai_sdk import Step, attachments, invocation, is_tool, steps_of, take, usage_of
from ctxcli.formats.blocks.cline_messages import is_task
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.langchain import provider_of
from ctxcli.formats.blocks.lists import Lists, no_message, read_lists
from ctxcli.formats.blocks.moments import from_milliseconds
from ctxcli.formats.blocks.synthetic import BY_CTX, told_by_ctx
from ctxcli.formats.blocks.values import blocks, dump, mapping, sequence, text
from ctxcli.model import EventKind, Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format

_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_OWN_PARTS = frozenset({"step-start", "dynamic-tool", "tool-invocation", "reasoning", "file", "source-url", "source"})
_OTHERS = frozenset({"info", "sessionID", "sessionId", "messageID", "uuid", "created", "message"})


@dataclass(slots=True)
class _Reader:
    """Reads one conversation."""

    owner: Mapping[str, Any]
    line: int
    draft: Draft = field(default_factory=lambda: Draft("ai-sdk"))
    _seen: dict[str, tuple[str, list[int]]] = field(default_factory=dict)
    """Of each id the message, and where it ended up."""
    _summed_up: int = 0
    """Messages whose figures are of several calls together."""

    def __post_init__(self) -> None:
        names = (self.owner.get(key) for key in ("id", "chatId", "sessionId"))
        self.draft.id = next((name for name in names if isinstance(name, str) and name), None)
        if isinstance(self.owner.get("system"), str) and self.owner["system"]:
            self.draft.add(Role.SYSTEM, [Part(PartKind.TEXT, self.owner["system"], self.line)], self.line)

    def take(self, value: Any, line: int) -> None:
        """One message, or what stands where one should."""
        raw = mapping(value)
        role = raw.get("role")
        if role == "data":
            self.draft.bookkeep("data")
        elif isinstance(role, str) and role in _ROLES:
            self._known(raw, _ROLES[role], line)
        elif isinstance(role, str) or isinstance(raw.get("type"), str):
            self.draft.unknown(f"role {role}" if isinstance(role, str) else raw["type"], line)
        else:
            self.draft.skips.append(no_message(value, line))

    def _known(self, raw: Mapping[str, Any], role: Role, line: int) -> None:
        """A message; one of an id that was met before takes the place of that one."""
        name, whole = text(raw.get("id")), dump(raw)
        before = self._seen.get(name) if name else None
        if before is not None and before[0] == whole:
            self.draft.duplicates += 1
            return
        if before is not None:
            self.draft.event(EventKind.REWRITE, line, drops=before[1], trigger="client")
        start = len(self.draft.messages)
        self._add(raw, role, line)
        self._seen[name] = whole, list(range(start, len(self.draft.messages)))

    def _add(self, raw: Mapping[str, Any], role: Role, line: int) -> None:
        steps = _steps(raw, line)
        for step in steps:
            for kind in step.books:
                self.draft.bookkeep(kind)
            for kind in step.unknown:
                self.draft.unknown(kind, line)
        steps = [step for step in steps if step.said or step.results]
        about = mapping(raw.get("metadata"))
        usage = usage_of(about) or usage_of(raw) if role is Role.ASSISTANT else None
        if usage is not None and len(steps) > 1:
            self._summed_up, usage = self._summed_up + 1, None
        time = from_milliseconds(raw.get("createdAt") or about.get("createdAt"))
        facts = (about.get("model"), about.get("modelId"), raw.get("model"), raw.get("modelId"))
        model = next((name for name in facts if isinstance(name, str) and name), "")
        self.draft.provider = self.draft.provider or provider_of("", model)
        for number, step in enumerate(steps):
            name = text(raw.get("id"))
            at = self._say(step, role, name, time, line)
            if role is Role.ASSISTANT and at is not None:
                call = f"{name}/{number + 1}" if number else name
                self.draft.call(at, line, id=call, time=time, model=model, usage=usage)

    def _say(self, step: Step, role: Role, name: str, time: str, line: int) -> int | None:
        """What a step said and what its tools gave back; the index of the former."""
        at = None
        if step.said:
            parts, ours = told_by_ctx(role, step.said)
            if any(part.sums_up for part in parts):
                event = self.draft.event(EventKind.SUMMARY, line, trigger=BY_CTX)
                self.draft.amend(event, summary=len(self.draft.messages))
            at = self.draft.add(role, parts, line, id=name, time=time, harness=ours)
        if step.results:
            self.draft.add(Role.TOOL, step.results, line, id=name, time=time)
        return at

    def close(self) -> Transcript:
        """The finished conversation."""
        if self._summed_up:
            many = "1 message" if self._summed_up == 1 else f"{self._summed_up} messages"
            self.draft.notes.append(
                f"usage of a message with several calls is one figure for all of them: given to none of them ({many})"
            )
        return self.draft.finish()


def _steps(raw: Mapping[str, Any], line: int) -> list[Step]:
    """The steps of a message, from its parts, else from what version 4 kept before it had any."""
    parts = raw.get("parts")
    if isinstance(parts, list) and parts:
        steps = steps_of(parts, line)
        shown = {part.media for step in steps for part in step.said if part.media}
        first = steps[0] if steps else Step()
        first.said += [
            part for part in attachments(raw.get("experimental_attachments"), line) if part.media not in shown
        ]
        return steps or [first]
    by_number: dict[str, Step] = {}
    for one in map(mapping, sequence(raw.get("toolInvocations"))):
        invocation(one, by_number.setdefault(text(one.get("step")), Step()), line)
    last = Step()
    thinking = raw.get("reasoning")
    if isinstance(thinking, str) and thinking:
        last.said.append(Part(PartKind.THINKING, thinking, line))
    for piece in blocks(raw.get("content")):
        take(piece, last, line)
    last.said += attachments(raw.get("experimental_attachments"), line)
    return [*by_number.values(), last]


def _is_message(value: Any) -> bool:
    raw = mapping(value)
    told = isinstance(raw.get("parts"), list) or "content" in raw or isinstance(raw.get("toolInvocations"), list)
    return isinstance(raw.get("role"), str) and told and not _OTHERS & raw.keys()


def _is_own(value: Any) -> bool:
    """A UI message by its parts, or a model message by calls and results of this SDK's own."""
    raw = mapping(value)
    if not _is_message(raw) or raw["role"] not in (*_ROLES, "data"):
        return False
    invocations = sequence(raw.get("toolInvocations"))
    if any("toolCallId" in mapping(one) for one in invocations):
        return True
    parts = sequence(raw.get("parts"))
    if parts:
        return all(isinstance(mapping(part).get("type"), str) for part in parts) and any(map(_is_own_part, parts))
    return any(
        mapping(piece).get("type") in ("tool-call", "tool-result") and "toolCallId" in piece
        for piece in sequence(raw.get("content"))
    )


def _is_own_part(part: Mapping[str, Any]) -> bool:
    kind = part["type"]
    if kind == "text":
        return isinstance(part.get("text"), str)
    if is_tool(kind):
        return "toolCallId" in part or "toolInvocation" in part
    return kind.startswith("data-") or (kind in _OWN_PARTS and "content" not in part)


_LISTS = Lists(_is_message, _is_own)


def claims(records: Sequence[Record]) -> bool:
    """UI messages with typed parts, `toolInvocations`, or tool-call and tool-result parts with a toolCallId."""
    return _LISTS.claim(records) and not any(is_task(record.value) for record in records[:1])


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a source, one after the other."""
    return read_lists(records, _LISTS, _Reader)


FORMAT = Format(
    name="ai-sdk",
    title="Vercel AI SDK (UI messages of v4 and v5, model messages)",
    recognised_by="messages with `role` and typed `parts`, `toolInvocations`, tool-call parts with `toolCallId`",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "timestamps"}),
)
