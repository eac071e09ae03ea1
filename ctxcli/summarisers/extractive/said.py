"""What the parts of the extractive summariser look at: messages with their places, calls and results by id."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ctxcli.change import CLEARED
from ctxcli.model import Message, Part, PartKind, Role
from ctxcli.shelf import Material


class Said(NamedTuple):
    """One part, with the message that says it."""

    at: int
    """Index of the message."""
    message: Message
    part: Part

    @property
    def line(self) -> int:
        """1-based source line."""
        return self.part.line or self.message.line


def parts(material: Material, *kinds: PartKind) -> Iterator[Said]:
    """The parts of these kinds, in order."""
    for index in material.indices:
        message = material.transcript.messages[index]
        for part in message.parts:
            if part.kind in kinds:
                yield Said(index, message, replace(part, text="") if part.text.startswith(CLEARED) else part)


def is_request(said: Said) -> bool:
    """Whether a part is what the user asked for, in their own words."""
    return (
        said.message.role is Role.USER
        and not said.message.harness
        and said.part.kind is PartKind.TEXT
        and bool(said.part.text.strip())
    )


def calls_by_ref(material: Material) -> dict[str, Said]:
    """The tool calls, by the id that their results name."""
    return {said.part.ref: said for said in parts(material, PartKind.TOOL_CALL) if said.part.ref}


def first_line(text: str, most: int) -> str:
    """The first line that says something, up to so many characters, whole words only."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0]
