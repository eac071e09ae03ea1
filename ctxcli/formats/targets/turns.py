"""A conversation turn by turn, as every target writes it: results beside their calls, and what had to be left out."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxcli.formats.blocks.pairs import Answer, Pairs, pair
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.model import MAIN, Message, Part, PartKind, Role

_SAID = (PartKind.TEXT, PartKind.SUMMARY, PartKind.DOCUMENT)
Lost = Counter[str]
"""How many parts a target cannot hold, by the reason: a key of the sentences of `remarks`."""


@dataclass(frozen=True, slots=True)
class TurnCall:
    """A call that a provider takes: its id, and what came back."""

    id: str
    part: Part
    answer: Answer | None

    @property
    def name(self) -> str:
        """The tool's name, which no provider takes empty."""
        return self.part.name or "tool"

    @property
    def arguments(self) -> dict[str, Any]:
        """As an object; a free text stands under `input`."""
        try:
            value = json.loads(self.part.text) if self.part.text.strip() else {}
        except (ValueError, RecursionError):
            value = None
        return value if isinstance(value, dict) else {"input": self.part.text}

    def result(self, lost: Lost) -> str:
        """What came back as text; empty where nothing did."""
        return "\n".join(_answer_texts(self.answer, lost)) if self.answer is not None else ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side says in one go."""

    role: Role
    texts: list[str]
    calls: list[TurnCall]
    thinking: list[str]
    message: Message
    """Where it comes from."""

    @property
    def sums_up(self) -> bool:
        """Whether it stands for turns that are gone."""
        return any(part.sums_up for part in self.message.parts)

    @property
    def text(self) -> str:
        """Its texts, one below the other."""
        return "\n\n".join(self.texts)


def definitions(messages: Sequence[Message]) -> Iterator[Part]:
    """The tool definitions of a context."""
    return (part for message in messages for part in message.parts if part.kind is PartKind.TOOLS)


def definition(part: Part, schema: str) -> dict[str, Any]:
    """A tool's definition, from any of the shapes that providers give it."""
    try:
        value = mapping(json.loads(part.text))
    except (ValueError, RecursionError):
        value = {}
    inner = mapping(value.get("function")) or value
    shape = next((inner[key] for key in ("parameters", "input_schema", "inputSchema") if mapping(inner.get(key))), None)
    said = {"description": text(inner["description"])} if inner.get("description") else {}
    return {"name": part.name or "tool", **said, schema: shape or {"type": "object"}}


def turns(messages: Sequence[Message], lost: Lost) -> Iterator[Turn]:
    """What is said, message by message; a result stands with its call, an empty message nowhere."""
    own = [message for message in messages if message.lane == MAIN]
    lost["lanes"] += len(messages) - len(own)
    pairs = pair(own)
    for index, message in enumerate(own):
        texts = [
            body for number, part in enumerate(message.parts) for body in _texts(part, (index, number), pairs, lost)
        ]
        calls = [
            TurnCall(pairs.ids[at], part, pairs.answers.get(at))
            for at, part in (((index, number), part) for number, part in enumerate(message.parts))
            if part.kind is PartKind.TOOL_CALL and at in pairs.ids
        ]
        thinking = [part.text for part in message.parts if part.kind is PartKind.THINKING and part.text.strip()]
        role = Role.USER if message.role is Role.TOOL else message.role
        if texts or calls:
            yield Turn(role, texts, calls, thinking, message)


def head_of(spoken: Sequence[Turn]) -> tuple[list[str], list[Turn]]:
    """The system texts with which a conversation begins, and the turns after them."""
    first = next((at for at, turn in enumerate(spoken) if turn.role is not Role.SYSTEM), len(spoken))
    return [body for turn in spoken[:first] for body in turn.texts], list(spoken[first:])


def _texts(part: Part, at: tuple[int, int], pairs: Pairs, lost: Lost) -> Iterator[str]:
    """A part as text, where it is one or has to become one."""
    if part.kind in _SAID:
        yield from [part.text] if part.text.strip() else []
    elif part.kind is PartKind.MEDIA and at not in pairs.taken:
        yield _left_out(part, lost)
    elif part.kind is PartKind.TOOL_CALL and at not in pairs.ids:
        lost["calls"] += 1
        yield f"[{part.name or 'tool'} was called, without a result: {part.text}]"
    elif part.kind is PartKind.TOOL_RESULT and at not in pairs.taken:
        lost["results"] += 1
        yield f"[a result of {part.name or 'a tool'}: {part.text}]"
    elif part.kind is PartKind.OPAQUE:
        lost["opaque"] += 1


def _answer_texts(answer: Answer, lost: Lost) -> Iterator[str]:
    if answer.part.text:
        yield answer.part.text
    yield from (_left_out(part, lost) for part in answer.media)


def _left_out(part: Part, lost: Lost) -> str:
    lost["media"] += 1
    kind = part.media.type.split("/")[0] if part.media is not None else "file"
    return f"[{kind if kind in ('image', 'audio', 'video') else 'file'} left out]"


CONTINUED = "(continued)"
"""What a conversation begins with for an API that wants the user to begin, where the assistant did."""
_LOST = {
    "thinking": "{0} of thinking left out: it cannot be sent to another API.",
    "opaque": "{0} that only the provider can read left out.",
    "media": "{0} of media left out; a text stands in the place of each.",
    "calls": "{0} of calls without a result written as text.",
    "results": "{0} of results without a call written as text.",
    "failed": "{0} of failed results without a mark: the target has none.",
    "moved": "{0} of system text within the conversation written under the user's name.",
    "system": "{0} of the system prompt left out: the target has no place for it.",
    "tools": "{0} of tool definitions left out: the target has no place for them.",
    "ids": "{0} of call ids left out: the target pairs calls and results by their order.",
    "lanes": "{0} of sub-agents left out.",
    "continued": f"“{CONTINUED}” written before the first message, which is the assistant's.",
}


def remarks(lost: Lost) -> list[str]:
    """A sentence for each thing that a target could not hold."""
    unit = {"lanes": "message"}
    return [
        sentence.format(f"{lost[key]:,} {unit.get(key, 'part')}{'' if lost[key] == 1 else 's'}")
        for key, sentence in _LOST.items()
        if lost[key]
    ]
