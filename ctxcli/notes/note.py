"""The records of a notes file as values, each with the line that it is written as."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from ctxcli.model import Message, Transcript

NOTE, REMOVED, EXTRACTED = "ctx.note", "ctx.note.removed", "ctx.note.extracted"
VERSION = 1
HEAD = f'{{"kind":"{NOTE}'
"""How every record begins."""
_DIGITS = 16
_AWKWARD = re.compile("[\u0085\u2028\u2029\ud800-\udfff]")
"""Characters that stand as their escape: half characters, and those that some readers take for the end of a line."""


@dataclass(frozen=True, slots=True)
class Source:
    """The transcript that something was noted from."""

    path: str
    """The name of the file, without its folder."""
    conversation: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """One entry of one slot. Two with the same `id` are the same entry, wherever they were noted from."""

    slot: str
    text: str
    reason: str | None = None
    chosen: str | None = None
    rejected: tuple[str, ...] = ()
    type: str | None = None
    """Of an identifier, its kind."""
    superseded: bool = False
    """Taken back, resolved, or overtaken since."""
    source: Source | None = None
    line: int | None = None
    """1-based line of the source."""
    hash: str | None = None
    """`hash_of` the message that says it."""
    time: str = ""
    """When it was said or noted; empty where nothing tells."""

    @property
    def id(self) -> str:
        """16 hex digits over slot, text, reason and type; white space in the text does not count."""
        return digest([self.slot, " ".join(self.text.split()), self.reason, self.type])


@dataclass(frozen=True, slots=True)
class Removal:
    """The entry of this id does not stand any more."""

    id: str
    reason: str | None = None
    time: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """The first messages of a main conversation have been extracted already."""

    source: Source
    line: int
    """Source line of the last of them."""
    hash: str
    """`hash_over` them all."""
    messages: int
    time: str = ""


Item = Note | Removal | Mark
KINDS = {Note: NOTE, Removal: REMOVED, Mark: EXTRACTED}
"""How each kind of record is called in the file."""


def source_of(transcript: Transcript) -> Source:
    """A transcript by its file's name and its id."""
    return Source(re.split(r"[\\/]", transcript.path)[-1], transcript.id)


def hash_of(message: Message) -> str:
    """SHA-256 of the text of a message: that of its parts, each ended by a zero byte."""
    return hash_over([message])


def hash_over(messages: list[Message]) -> str:
    """SHA-256 of the text of several messages, in order."""
    found = hashlib.sha256()
    for message in messages:
        for part in message.parts:
            found.update(part.text.encode("utf-8", "surrogatepass") + b"\0")
    return found.hexdigest()


def record(item: Item) -> str:
    """The line that a value is written as, without its line feed."""
    fields: dict[str, Any] = {"kind": KINDS[type(item)], "version": VERSION}
    if isinstance(item, Note):
        fields["id"] = item.id
    fields |= asdict(item)
    return line_of({**fields, "check": digest(fields)})


def line_of(fields: dict[str, Any]) -> str:
    """JSON on one line, in the order of the fields."""
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    if not _AWKWARD.search(text):
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")  # halves that meet
    return _AWKWARD.sub(lambda match: f"\\u{ord(match[0]):04x}", whole)


def digest(value: Any) -> str:
    """16 hex digits of the SHA-256 over a value as JSON: sorted keys, no blanks, ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_DIGITS]
