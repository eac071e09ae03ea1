"""The identifiers of a whole conversation: each with where it stands, who used it, and how strongly."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ctxcli.identifiers.asides import asides
from ctxcli.identifiers.extract import Extractor, extract
from ctxcli.identifiers.normalise import plain, strings_of
from ctxcli.identifiers.secrets import secrets_in, shown
from ctxcli.model import PLAIN_TEXT, Message, Part, PartKind, Role, Transcript
from ctxcli.reports.identifiers import SEEN, SOURCES, STATED, TOUCHED, IdentifierRow

_HIDDEN = "REDACTED"
"""What exporters put in the place of a secret: never an identifier."""


class Use(NamedTuple):
    """One occurrence of an identifier."""

    kind: str
    value: str
    line: int
    role: str | None
    source: str
    part: Part
    """Where it stands."""
    aside: bool = False
    """Whether it stands in the text of a file that a call writes, in a code block, or in pasted records."""


@dataclass(slots=True)
class _Found:
    best: Use
    uses: int
    first_line: int
    last_line: int


def gather(transcript: Transcript, extract: Extractor = extract) -> tuple[IdentifierRow, ...]:
    """Each identifier of a conversation once, in order of first use; secrets are masked."""
    found: dict[tuple[str, str], _Found] = {}
    secrets = secrets_of(transcript)
    for use in uses_of(transcript, extract):
        if secrets:
            use = use._replace(value=shown(use.value, secrets))  # noqa: PLW2901 - the use as it may be shown
        known = found.get((use.kind, use.value))
        if known is None:
            found[use.kind, use.value] = _Found(use, 1, use.line, use.line)
            continue
        known.uses += 1
        known.first_line, known.last_line = min(known.first_line, use.line), max(known.last_line, use.line)
        if SOURCES.index(use.source) < SOURCES.index(known.best.source):
            known.best = use
    return tuple(
        IdentifierRow(*one.best[:5], uses=one.uses, first_line=one.first_line, last_line=one.last_line)
        for one in found.values()
    )


def secrets_of(transcript: Transcript) -> frozenset[str]:
    """The credentials that stand in a conversation."""
    texts = (plain(part.text) for message in transcript.messages for part in message.parts)
    return frozenset(secret for text in texts for secret in secrets_in(text))


def uses_of(transcript: Transcript, extract: Extractor = extract) -> Iterator[Use]:
    """Every occurrence, in order of the messages; what a source repeats is not looked at twice."""
    for message in transcript.messages:
        if not message.copied:
            yield from uses_in(message, extract, plain=transcript.format == PLAIN_TEXT)


def uses_in(message: Message, extract: Extractor = extract, *, plain: bool = False) -> Iterator[Use]:
    """Every occurrence in one message; of a plain text each with its own line."""
    for part in message.parts:
        source = _source(message, part)
        by_user = source == STATED and message.role is Role.USER and not plain
        role, start = _role(message, plain), part.line or message.line
        for text in texts_of(part):
            aside = asides(message, part, text)
            for at, hit in extract(text, by_user=by_user):
                if _HIDDEN not in hit.value:
                    yield Use(hit.kind, hit.value, start + at if plain else start, role, source, part, at in aside)


def texts_of(part: Part) -> Iterator[str]:
    """The strings inside JSON arguments and JSON results; any other text as it stands."""
    if part.kind in (PartKind.TOOL_CALL, PartKind.TOOL_RESULT, PartKind.TOOLS) and part.text.lstrip()[:1] in ("{", "["):
        yield from strings_of(part.text)
    else:
        yield part.text


def _source(message: Message, part: Part) -> str:
    """Reasoning counts as seen: nobody reads it later, and most providers drop it."""
    if part.kind is PartKind.TOOL_CALL:
        return TOUCHED
    spoken = message.role in (Role.USER, Role.ASSISTANT) and not message.harness
    return STATED if spoken and part.kind is PartKind.TEXT else SEEN


def _role(message: Message, plain: bool) -> str | None:
    return None if plain else message.role.value
