"""Messages that ctx itself wrote in a compaction, found again under the user's name."""

from collections.abc import Sequence
from dataclasses import replace

from ctxcli.model import Part, PartKind, Role
from ctxcli.slots import is_synthetic

BY_CTX = "ctx"
"""The trigger of a compaction whose summary stands in a format that records none, and the key of what ctx adds to the
record of one where there is one."""


def told_by_ctx(role: Role, parts: Sequence[Part]) -> tuple[tuple[Part, ...], bool]:
    """The parts, a text that stands for what ctx compacted as a summary; whether they hold nothing else."""
    if role is not Role.USER or not any(map(is_told, parts)):
        return tuple(parts), False
    return tuple(_read(part) for part in parts), all(map(is_told, parts))


def is_told(part: Part) -> bool:
    """Whether a part stands for what ctx compacted."""
    return part.kind in (PartKind.TEXT, PartKind.SUMMARY) and is_synthetic(part.text)


def _read(part: Part) -> Part:
    return replace(part, kind=PartKind.SUMMARY) if is_told(part) else part
