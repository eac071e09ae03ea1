"""The shelf of formats that a conversation can be written in, whatever it was read from."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ctxcli.errors import UnreadableError
from ctxcli.formats.blocks.splice import escaped
from ctxcli.formats.targets.turns import Lost, remarks, turns
from ctxcli.model import MAIN, Message, Role, Transcript
from ctxcli.shelf import Conversation, LateShelf, Target

_MODULES = {
    "openai-chat": "chat", "anthropic": "messages", "openai-responses": "responses", "pi": "pi", "gemini": "gemini",
    "cline": "cline", "sharegpt": "sharegpt",
}  # fmt: skip
TARGETS: LateShelf[Target] = LateShelf("TARGET", {name: f"{__name__}.{module}" for name, module in _MODULES.items()})
"""Each is named like the format that reads it."""


def convert(said: Conversation, target: str, *, one_line: bool = False) -> tuple[bytes, list[str]]:
    """A conversation as a document (or lines) that ends with a line feed, and a sentence for each thing left out.

    Raises UnreadableError for a target that is none of TARGETS, and for a conversation of which nothing can be written.
    The same conversation gives the same bytes.
    """
    if target not in TARGETS:
        raise UnreadableError(f"{target}: conversations are converted to {', '.join(TARGETS)}")
    if all(turn.role is Role.SYSTEM for turn in turns(said.messages, Counter())):
        raise UnreadableError("nothing of this context can be written: no text and no call with its result is in it")
    lost: Lost = Counter()
    card = TARGETS[target]
    values = card.write(said, lost)
    text = "".join(_dumped(value, one_line=one_line or card.lines) for value in values)
    return escaped(text).encode("utf-8"), remarks(lost)


def conversation_of(transcript: Transcript, messages: Sequence[Message], lane: str = MAIN) -> Conversation:
    """Messages of a transcript as what can be written in another format; those of another lane count as sub-agents'."""
    lanes = {lane: MAIN} if lane == MAIN else {lane: MAIN, MAIN: "the conversation itself"}
    main = [replace(one, lane=lanes.get(one.lane, one.lane)) for one in messages]
    model = next((call.model for call in reversed(transcript.calls) if call.model and call.lane == lane), "")
    return Conversation(main, transcript.id or "", next(iter(transcript.folders), ""), model)


def _dumped(value: Any, *, one_line: bool) -> str:
    separators = (",", ":") if one_line else None
    return json.dumps(value, ensure_ascii=False, indent=None if one_line else 2, separators=separators) + "\n"
