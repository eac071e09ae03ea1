"""Lines that a speaker does not say in their own name: the text of a file, an example in a block, pasted records.

What such a line names has an address, the file, or illustrates; that it was written does not make it needed.
"""

import re
from collections.abc import Container

from ctxcli.model import Message, Part, PartKind, Role

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HERE = re.compile(r"<<-?\s*\\?['\"]?(\w+)")
_PATCH = re.compile(r"\*\*\* Begin Patch|^diff --git ", re.MULTILINE)
_RECORD = re.compile(r"\s*\{\"[^\n]{60,}\}\s*$")
"""A JSON object on a line of its own, as in a log or a transcript that was pasted."""
_OF_PATCH = ("***", "diff --git", "+++ ", "--- ")


def asides(message: Message, part: Part, text: str) -> Container[int]:
    """The 0-based lines of one of a part's texts that are no statement and no argument."""
    if "\n" not in text:
        return ()
    if part.kind is PartKind.TEXT and message.role is Role.ASSISTANT:
        return _fenced(text)
    if part.kind is PartKind.TEXT and message.role is Role.USER:
        return {at for at, line in enumerate(text.split("\n")) if _RECORD.match(line)}
    if part.kind is not PartKind.TOOL_CALL:
        return ()
    if _PATCH.search(text):
        return {at for at, line in enumerate(text.split("\n")) if not line.startswith(_OF_PATCH)}
    if _is_file(part.address) and text.strip() != part.address:
        return range(text.count("\n") + 1)
    return _here_documents(text) | _fenced(text)


def _is_file(address: str) -> bool:
    """Whether a call's address is a file's, not a command's."""
    return bool(address) and not any(sign.isspace() for sign in address) and ("/" in address or "." in address)


def _fenced(text: str) -> set[int]:
    """The lines inside the fences of markdown."""
    found: set[int] = set()
    if "```" not in text and "~~~" not in text:
        return found
    inside = False
    for at, line in enumerate(text.split("\n")):
        if _FENCE.match(line):
            inside = not inside
        elif inside:
            found.add(at)
    return found


def _here_documents(script: str) -> set[int]:
    """The lines of a script's here-documents."""
    found: set[int] = set()
    if "<<" not in script:
        return found
    ends = ""
    for at, line in enumerate(script.split("\n")):
        if ends and line.strip() == ends:
            ends = ""
        elif ends:
            found.add(at)
        elif match := _HERE.search(line):
            ends = match[1]
    return found
