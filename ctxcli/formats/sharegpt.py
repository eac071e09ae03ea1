"""ShareGPT data sets: `conversations` of `{from, value}` turns, in an array, a line each, or turns by themselves.

The shape comes from the dumps of ShareGPT (https://github.com/lm-sys/FastChat, data/dummy_conversation.json) and was
widened by the tools that train on it: roles for tool calls and their results, `system`, `tools` as JSON text, and
`images`, `videos` and `audios` that stand for placeholders in the text
(https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md). There is no usage, no model and no time.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.lists import Lists, no_message, read_lists
from ctxcli.formats.blocks.media import media_part
from ctxcli.formats.blocks.openai import message_pieces, tool_parts
from ctxcli.formats.blocks.values import address_of, blocks, mapping, text
from ctxcli.model import Media, Part, PartKind, Record, Role, Transcript
from ctxcli.shelf import Format

_CALL = "call"
_SPEAKERS = {
    "system": Role.SYSTEM, "developer": Role.SYSTEM,
    "human": Role.USER, "user": Role.USER, "prompter": Role.USER,
    "gpt": Role.ASSISTANT, "chatgpt": Role.ASSISTANT, "assistant": Role.ASSISTANT, "bing": Role.ASSISTANT,
    "bard": Role.ASSISTANT, "claude": Role.ASSISTANT, "model": Role.ASSISTANT, "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT, "chatbot": Role.ASSISTANT,
    "function_call": _CALL, "tool_call": _CALL,
    "observation": Role.TOOL, "tool": Role.TOOL, "tool_response": Role.TOOL, "function_response": Role.TOOL,
    "function": Role.TOOL, "ipython": Role.TOOL,
}  # fmt: skip
"""Who a turn is from, in lower case; a call of a tool is the model's."""
_OWN_KEYS = ("conversations", "conversation", "items")
_MEDIA_KEYS = {
    "images": "image", "image": "image", "videos": "video", "video": "video", "audios": "audio", "audio": "audio",
}  # fmt: skip
_PLACEHOLDER = re.compile(r"<(image|video|audio)>\n?")
_LEAST_BASE64 = 1_000


class _Reader:
    """Reads one conversation, turn by turn."""

    def __init__(self, owner: Mapping[str, Any], line: int) -> None:
        self.draft = Draft("sharegpt", id=text(owner.get("id")) or None)
        self._media = _media_of(owner, line)
        self._calls: list[Part] = []
        """Calls that no result has answered yet: neither has an id."""
        self._choice = mapping(owner.get("chosen"))
        self._line = line
        head = tuple(tool_parts(owner.get("tools"), line)) if owner.get("tools") else ()
        said = text(owner.get("system") or owner.get("system_prompt"))
        head += (Part(PartKind.TEXT, said, line),) if said else ()
        if head:
            self.draft.add(Role.SYSTEM, head, line)

    def take(self, value: Any, line: int) -> None:
        """One turn, or whatever stands where one should."""
        if not _is_turn(value):
            self.draft.skips.append(no_message(value, line))
            return
        name = _speaker(value)
        role = _SPEAKERS.get(name)
        if role is None:
            self.draft.unknown(f"turn from {name}", line)
        elif role == _CALL:
            self._add(Role.ASSISTANT, list(_called(value.get("value", value.get("content")), line)), line)
        else:
            self._add(Role(role), self._parts(value, Role(role), line), line)

    def _parts(self, value: Mapping[str, Any], role: Role, line: int) -> list[Part]:
        if "from" not in value:
            found = [part for _, piece in message_pieces(value, line) for part in piece]
        elif role is Role.TOOL:
            found = [self._result(text(value.get("value")), line)]
        else:
            found = [Part(PartKind.TEXT, said, line) for said in map(text, blocks(value.get("value"))) if said]
        return found if role is Role.ASSISTANT else [part for one in found for part in self._with_media(one)]

    def _result(self, said: str, line: int) -> Part:
        """What a tool gave back; it answers the first call that has no answer yet."""
        call = self._calls.pop(0) if self._calls else Part(PartKind.TOOL_CALL)
        return Part(PartKind.TOOL_RESULT, said, line, name=call.name, address=call.address)

    def _with_media(self, part: Part) -> Iterator[Part]:
        """A part whose placeholders give way to the images, videos and sounds of the conversation, in their order."""
        found: list[Part] = []

        def taken(match: re.Match[str]) -> str:
            waiting = self._media.get(match[1], [])
            if not waiting:
                return match[0]
            found.append(waiting.pop(0))
            return ""

        said = _PLACEHOLDER.sub(taken, part.text) if self._media and part.kind is PartKind.TEXT else part.text
        if not found:
            yield part
            return
        yield from found
        if said:
            yield Part(part.kind, said, part.line)

    def _add(self, role: Role, parts: list[Part], line: int) -> None:
        """Add a turn. What the model says after somebody else has spoken is the answer of a call."""
        messages = self.draft.messages
        answers = role is Role.ASSISTANT and not (messages and messages[-1].role is Role.ASSISTANT)
        self._calls += [part for part in parts if part.kind is PartKind.TOOL_CALL]
        at = self.draft.add(role, parts, line)
        if answers:
            self.draft.call(at, line)

    def close(self) -> Transcript:
        """The finished conversation: media without a placeholder came with the first words of the user."""
        if _is_turn(self._choice):
            self.take(self._choice, self._line)
            self.draft.notes.append("Two answers stand at the end to choose from: the chosen one is read.")
        messages = self.draft.messages
        rest = [part for waiting in self._media.values() for part in waiting]
        first = next((one for one in messages if one.role is Role.USER), None)
        if rest and first is not None:
            first.parts[:0] = rest
        if messages and not self.draft.calls:
            self.draft.call(self.draft.add(Role.ASSISTANT, (), messages[-1].line), messages[-1].line)
        return self.draft.finish()


def _speaker(value: Mapping[str, Any]) -> str:
    said = value.get("from", value.get("role"))
    return said.lower() if isinstance(said, str) else text(said)


def _called(value: Any, line: int) -> Iterator[Part]:
    """The calls of a turn: an object with name and arguments, or several, mostly as JSON text."""
    given = value
    if isinstance(value, str):
        try:
            given = json.loads(value)
        except (ValueError, RecursionError):
            given = None
    calls = [mapping(one) for one in blocks(given)]
    if not calls or not all("name" in call for call in calls):
        yield Part(PartKind.TOOL_CALL, text(value), line, address=address_of(given))
        return
    for call in calls:
        arguments = call.get("arguments", call.get("parameters", {}))
        name = text(call.get("name"))
        yield Part(PartKind.TOOL_CALL, text(arguments), line, name=name, address=address_of(arguments))


def _media_of(owner: Mapping[str, Any], line: int) -> dict[str, list[Part]]:
    """The images, videos and sounds of a conversation by what their placeholders are called."""
    found: dict[str, list[Part]] = {}
    for key, kind in _MEDIA_KEYS.items():
        parts = [_medium(one, kind, line) for one in blocks(owner.get(key)) if one]
        if parts:
            found.setdefault(kind, []).extend(parts)
    return found


def _medium(value: Any, kind: str, line: int) -> Part:
    """One of them: a path in most files, else a link, a `data:` URL or base64."""
    given = mapping(value)
    data = text(given.get("bytes") or given.get("url") or given.get("path")) if given else text(value)
    if data.startswith("data:") or "://" in data[:16] or len(data) >= _LEAST_BASE64:
        return media_part(data, kind, line)
    return Part(PartKind.MEDIA, "", line, address=data, media=Media(kind))


def _is_turn(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if "from" in value:
        return isinstance(value["from"], str) and "value" in value
    return isinstance(value.get("role"), str) and ("content" in value or "tool_calls" in value)


def _is_mark(value: Any) -> bool:
    """A turn of somebody who only speaks in this format: anything may have `from` and `value`."""
    return isinstance(value, dict) and "from" in value and _is_turn(value) and _speaker(value) in _SPEAKERS


_LISTS = Lists(_is_turn, _is_mark, tuple((key,) for key in (*_OWN_KEYS, "messages")))


def _is_conversation(value: Any) -> bool:
    """Turns under the key of this format, or messages with the media that their placeholders stand for beside them."""
    owner = mapping(value)
    turns = next((owner[key] for key in _OWN_KEYS[:2] if isinstance(owner.get(key), list)), None)
    if turns is None and any(isinstance(owner.get(key), list) for key in ("images", "videos", "audios")):
        turns = owner.get("messages")
    return isinstance(turns, list) and any(
        _is_turn(turn) and _speaker(turn) in _SPEAKERS and isinstance(turn.get("content", ""), (str, type(None)))
        for turn in islice(turns, 25)
    )


def claims(records: Sequence[Record]) -> bool:
    """Turns with from and value, or `conversations` of turns."""
    values = [one for record in records for one in islice(blocks(record.value), 25)]
    return _LISTS.claim(records) or (any(map(_is_conversation, values)) and "model" not in mapping(values[0]))


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a data set, one after the other; turns on lines of their own are one together."""
    return read_lists(records, _LISTS, _Reader)


FORMAT = Format(
    name="sharegpt",
    title="ShareGPT data set (JSON, JSONL)",
    recognised_by="`conversations` of turns with from and value; messages with `images` beside them",
    claims=claims,
    read=read,
    knows=frozenset({"tools", "system prompt"}),
)
