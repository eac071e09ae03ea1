"""Commands that an agent writes into its prose, where the API's own tool calls are not used.

The text of the answer stays whole: the fence (or tag) with the command becomes a call, what stands around it
stays text.
"""

import re
from typing import NamedTuple

from ctxcli.formats.blocks.values import address_of
from ctxcli.model import Part, PartKind

_ACTION = re.compile(r"```([\w-]*)[ \t]*\r?\n(.*?)\r?\n?```|<(mswea_bash_command|command)>(.*?)</\3>", re.DOTALL)


class Fence(NamedTuple):
    """A fenced block of a text: where it begins and ends, its language, and what stands in it."""

    start: int
    end: int
    language: str
    command: str


def fences(text: str) -> list[Fence]:
    """The fenced blocks and the command tags of a text, in order."""
    return [
        Fence(
            match.start(), match.end(), match[1] or match[3] or "", match[2] if match[2] is not None else match[4] or ""
        )
        for match in _ACTION.finditer(text)
    ]


def with_call(text: str, fence: Fence, line: int, ref: str) -> list[Part]:
    """The whole text, in which the fence is a call of the shell by this id."""
    said, action, rest = text[: fence.start], text[fence.start : fence.end], text[fence.end :]
    address = address_of({"command": fence.command})
    parts = [Part(PartKind.TEXT, said, line)] if said.strip() else []
    parts.append(Part(PartKind.TOOL_CALL, action, line, name="bash", ref=ref, address=address))
    if rest.strip():
        parts.append(Part(PartKind.TEXT, rest, line))
    return parts
