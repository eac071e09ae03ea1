"""What was said in an exchange, in neutral form."""

import hashlib
from dataclasses import dataclass

from ctxcli.model import Part, Role, Usage


@dataclass(frozen=True, slots=True)
class Said:
    """One message of an exchange, in neutral parts."""

    role: Role
    parts: tuple[Part, ...]
    line: int
    harness: bool = False
    """Written by a client, or by ctx, under the user's name."""

    @property
    def key(self) -> bytes:
        """Equal for messages that say the same, wherever they stand."""
        seen = hashlib.blake2b(self.role.encode(), digest_size=12)
        for part in self.parts:
            head = f"\0{part.kind}\0{part.name}\0{part.ref}\0{part.media}\0"
            seen.update(head.encode("utf-8", "surrogatepass"))
            seen.update(part.text.encode("utf-8", "surrogatepass"))
        return seen.digest()


@dataclass(frozen=True, slots=True)
class Spoken:
    """An exchange in neutral form: what was sent, what came back, and what changed on the way."""

    sent: tuple[Said, ...]
    answer: Said | None
    usage: Usage | None
    cleared_results: int = 0
    """Oldest tool results that the provider cleared before it answered."""
    stripped_turns: int = 0
    keeps_head: bool = False
    """Says nothing of the system prompt and the tools, so that those before stay."""
