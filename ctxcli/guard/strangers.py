"""What the compaction wrote and the original never held."""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from ctxcli.guard.derive import is_derived
from ctxcli.guard.forms import file_name, normal, path_form
from ctxcli.guard.holdings import wrapped_pieces
from ctxcli.guard.sides import After, Before
from ctxcli.identifiers.runs import runs_of
from ctxcli.identifiers.secrets import is_digest, is_secret

_SHORTEST = 3
"""Characters of a token that is worth a look."""
_SHORTEST_ID = 8
"""Characters of a conversation's id by which a file of it is known."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """A token of the compacted text that stands nowhere in the original."""

    value: str
    kind: str | None
    """None for a token that is no identifier by itself."""
    line: int | None
    derived: bool
    """Whether it follows from what the original says."""


def strangers_of(before: Before, after: After, secrets: Set[str]) -> list[Stranger]:
    """Identifiers first, then other tokens, each once; the halves of a word that a line break cut are none."""
    ever = before.ever_held
    broken = [half for piece in after.authored() for half in wrapped_pieces(piece.reading.text([piece.at]), ever)]
    found: dict[str, Stranger] = {}
    for kind, value, line in (*_identifiers(before, after), *_tokens(before, after)):
        if value not in found and not any(value in half for half in broken):
            own = _is_its_own(value, before, after, secrets)
            derived = own or is_derived(kind or "", value, ever, before.folders)
            found[value] = Stranger(value, kind, line, derived)
    return list(found.values())


def _identifiers(before: Before, after: After) -> Iterator[tuple[str | None, str, int | None]]:
    for piece in after.authored():
        for use in piece.reading.uses(piece.at):
            if not before.ever_held.holds(use.kind, normal(use.kind, use.value, before.folders), use.value):
                yield use.kind, use.value, use.line


def _tokens(before: Before, after: After) -> Iterator[tuple[str | None, str, int | None]]:
    lines = (line for piece in after.authored() for line in piece.reading.text([piece.at]).split("\n"))
    for token in dict.fromkeys(run.text for line in lines for run in runs_of(line)):
        kind = "path" if "/" in token else ""
        if len(token) >= _SHORTEST and not before.ever_held.holds(kind, path_form(token, before.folders), token):
            yield None, token, None


def _is_its_own(value: str, before: Before, after: After, secrets: Set[str]) -> bool:
    """Whether it is a secret or in its mask, a file of the conversation itself, as clients name it, or the notes."""
    own = before.reading.transcript.id or ""
    if is_secret(value, secrets) or is_digest(value, secrets) or (len(own) >= _SHORTEST_ID and own in value):
        return True
    return after.notes is not None and value.endswith(file_name(after.notes.transcript.path))
