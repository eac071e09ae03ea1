"""Where a transcript may state a fact: its messages, of long ones the paragraphs, without those that hold secrets."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ctxcli.identifiers.secrets import secrets_in
from ctxcli.model import Message, PartKind, Role
from ctxcli.sweep.corpus import pieces_of
from ctxcli.sweep.grading import EXACT, normal, stands
from ctxcli.sweep.item import Item

_LONGEST_MESSAGE = 1_200
"""Characters of a message that is a span as a whole."""
_SAID = (PartKind.TEXT, PartKind.TOOL_RESULT, PartKind.DOCUMENT)
_SAMPLE = re.compile(
    r"(?:^|/)(?:path/to|abs(?:olute)?|dummy|fake)(?:/|$)|your[-_]|\bexample\b|abc-?123|x{3,}|\.{3}|…|/nope\b|not-?exist"
    r"|^/?(?:foo|bar|baz)\b|(?:^|/)file\.\w+$",
    re.IGNORECASE,
)


class Place(NamedTuple):
    """A paragraph, or a whole message, that may state a fact."""

    text: str
    normal: str
    line: int
    spoken: bool
    """By the user or the assistant, not only in a result."""


def places_of(messages: Iterable[Message]) -> Iterator[Place]:
    """The places of messages, in order."""
    for message in messages:
        for part in message.parts:
            if part.kind not in _SAID or not part.text.strip():
                continue
            spoken = message.role in (Role.USER, Role.ASSISTANT) and part.kind is PartKind.TEXT and not message.harness
            whole = spoken and len(part.text) <= _LONGEST_MESSAGE
            for text in [part.text.strip()] if whole else pieces_of(part.text):
                if not secrets_in(text):
                    yield Place(text, normal(text), part.line or message.line, spoken)


def first(places: Iterable[Place], answer: str) -> Place | None:
    """Where an answer stands first; rather where somebody says it than in a result."""
    holding = [place for place in places if stands(place.normal, answer)]
    return next((place for place in holding if place.spoken), holding[0] if holding else None)


def at(places: Iterable[Place], line: int | None, text: str) -> Place | None:
    """The place on a line that holds a text, or the first words of it."""
    words = normal(text)
    here = (place for place in places if place.line == line)
    return next((place for place in here if words in place.normal or words[:40] in place.normal), None)


def item_at(kind: str, question: str, place: Place, answers: tuple[str, ...], grading: str = EXACT) -> Item:
    """An item whose span is a place."""
    return Item(f"{kind}-{place.line}", question, place.text, answers, grading=grading, line=place.line)


def is_sample(value: str) -> bool:
    """Whether a value stands for another one, as in `/path/to/file`: no fact of the session."""
    return _SAMPLE.search(value) is not None
