"""Rules on what stands inside a message."""

import json
import re
from collections.abc import Callable, Iterator

from ctxcli.model import Message, Part, PartKind, Role
from ctxcli.rules import BAD_ARGUMENTS, BAD_NAME, EMPTY_SUMMARY, EMPTY_TEXT, LONE_SURROGATE, SUMMARY_AS_USER
from ctxcli.slots import is_synthetic
from ctxcli.validity.wire import Violation, Wire


def _parts(wire: Wire) -> Iterator[tuple[tuple[int, int], Message, Part]]:
    for number, message in enumerate(wire.messages):
        for place, part in enumerate(message.parts):
            yield (number, place), message, part


def empty_text(wire: Wire) -> Iterator[Violation]:
    """Texts that hold nothing, and messages of nothing but whitespace (measured: experientiallabs/experiential#804)."""
    for at, message, part in _parts(wire):
        if part.kind is not PartKind.TEXT or part.text.strip():
            continue
        if not part.text:
            yield wire.violation(EMPTY_TEXT.name, at, f"a text of the {message.role} is empty")
        elif not wire.profile.blank and all(_is_blank(other) for other in message.parts):
            yield wire.violation(EMPTY_TEXT.name, at, f"a message of the {message.role} is nothing but whitespace")


def _is_blank(part: Part) -> bool:
    return part.kind is PartKind.TEXT and not part.text.strip()


def empty_summary(wire: Wire) -> Iterator[Violation]:
    """Summaries that hold nothing; one that is encrypted may hold something."""
    for at, message, part in _parts(wire):
        nameless = part.kind is PartKind.OPAQUE and not part.name and message.role is Role.USER and message.harness
        if nameless or (part.kind is PartKind.SUMMARY and not part.text.strip()):
            yield wire.violation(EMPTY_SUMMARY.name, at, "the summary is empty")


def summary_as_user(wire: Wire) -> Iterator[Violation]:
    """Summaries by ctx that stand there as the user's own words."""
    for at, message, part in _parts(wire):
        own = message.role is Role.USER and not message.harness and part.kind is PartKind.TEXT
        if own and is_synthetic(part.text):
            yield wire.violation(SUMMARY_AS_USER.name, at, "a summary stands there as the user's words")


def surrogates(wire: Wire) -> Iterator[Violation]:
    """Halves of characters, which no UTF-8 can hold."""
    for at, _, part in _parts(wire):
        for where, text in (("text", part.text), ("name", part.name), ("id", part.ref)):
            if is_torn(text):
                yield wire.violation(LONE_SURROGATE.name, at, f"half a character (a lone surrogate) in a {where}")
                break


def is_torn(text: str) -> bool:
    """Whether a text holds a lone surrogate."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def arguments(wire: Wire) -> Iterator[Violation]:
    """Arguments of calls that are no JSON object."""
    for at, _, part in _parts(wire):
        if part.kind is PartKind.TOOL_CALL and not _is_object(part.text):
            yield wire.violation(BAD_ARGUMENTS.name, at, f"the arguments of {part.name or 'a call'} are no JSON object")


def _is_object(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
    except RecursionError:
        return True


def names(wire: Wire) -> Iterator[Violation]:
    """Names of tools, and ids of calls, that the provider's patterns do not match; results go by their call."""
    for at, _, part in _parts(wire):
        if part.kind is not PartKind.TOOL_CALL:
            continue
        if not re.fullmatch(wire.profile.names, part.name):
            yield wire.violation(BAD_NAME.name, at, f"no name for a tool: {part.name!r}")
        elif wire.profile.ids and not re.fullmatch(wire.profile.ids, part.ref):
            yield wire.violation(BAD_NAME.name, at, f"no id for a call: {part.ref!r}")


TEXT_RULES: dict[str, Callable[[Wire], Iterator[Violation]]] = {
    EMPTY_TEXT.name: empty_text,
    EMPTY_SUMMARY.name: empty_summary,
    SUMMARY_AS_USER.name: summary_as_user,
    LONE_SURROGATE.name: surrogates,
    BAD_ARGUMENTS.name: arguments,
    BAD_NAME.name: names,
}
"""By rule."""
