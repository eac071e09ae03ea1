"""Rules on who speaks when."""

from collections.abc import Callable, Iterator, Sequence

from ctxcli.model import Message, PartKind, Role
from ctxcli.rules import (
    ALTERNATION,
    BROKEN_THINKING,
    EMPTY_MESSAGE,
    ENDS_ON_ASSISTANT,
    FIRST_NOT_USER,
    LATE_SYSTEM,
    NO_MESSAGES,
    SYSTEM_CHANGED,
)
from ctxcli.validity.wire import Violation, Wire, is_summary, wire_role


def nothing(wire: Wire) -> Iterator[Violation]:
    """No message at all, or nothing but the system prompt."""
    said = [message for message in wire.messages if message.parts]
    if not wire.messages:
        yield wire.violation(NO_MESSAGES.name, (0, None), "there is no message")
    elif said and not wire.profile.system_alone and all(message.role is Role.SYSTEM for message in said):
        yield wire.violation(NO_MESSAGES.name, (0, None), "there are only system messages")


def first(wire: Wire) -> Iterator[Violation]:
    """The conversation begins with something that is not the user's."""
    for number, message in enumerate(wire.messages):
        if message.role is Role.SYSTEM or not message.parts:
            continue
        if message.role is Role.ASSISTANT and not is_summary(message):
            yield wire.violation(FIRST_NOT_USER.name, (number, None), "the first message is the assistant's")
        return


def last(wire: Wire) -> Iterator[Violation]:
    """The list ends on an answer, in a way that the provider does not go on from."""
    number = next((at for at in reversed(range(len(wire.messages))) if wire.messages[at].parts), None)
    if number is None or wire.messages[number].role is not Role.ASSISTANT or _ended_so(wire.before or ()):
        return
    parts = wire.messages[number].parts
    final = parts[-1]
    if wire.profile.name == "gemini":
        if final.kind is not PartKind.TOOL_CALL:
            yield wire.violation(ENDS_ON_ASSISTANT.name, (number, None), "the last message is the model's")
    elif final.kind is PartKind.THINKING:
        at = (number, len(parts) - 1)
        yield wire.violation(ENDS_ON_ASSISTANT.name, at, "the last message ends with thinking")
    elif final.kind is PartKind.TEXT and final.text != final.text.rstrip() and final.text.strip():
        at = (number, len(parts) - 1)
        yield wire.violation(ENDS_ON_ASSISTANT.name, at, "the last message is the assistant's and ends with whitespace")


def _ended_so(before: Sequence[Message]) -> bool:
    """Whether the context before a compaction ended on an answer too: then the user's turn is still to come."""
    final = next((message for message in reversed(before) if message.parts), None)
    return final is not None and final.role is Role.ASSISTANT


def empty(wire: Wire) -> Iterator[Violation]:
    """Messages without content; Anthropic takes an empty answer (measured: experientiallabs/experiential#804)."""
    for number, message in enumerate(wire.messages):
        taken = message.role is Role.ASSISTANT and wire.profile.empty_answers
        if not message.parts and not taken:
            yield wire.violation(EMPTY_MESSAGE.name, (number, None), f"a message of the {message.role} is empty")


def alternation(wire: Wire) -> Iterator[Violation]:
    """Two messages of one speaker in a row. Results go into one turn, and clients join their own words to others."""
    previous: Message | None = None
    for number, message in enumerate(wire.messages):
        if wire_role(message) is None or message.harness or not message.parts:
            continue
        if previous is not None and message.role is previous.role and message.role is not Role.TOOL:
            yield wire.violation(ALTERNATION.name, (number, None), f"two messages of the {message.role} in a row")
        previous = message


def late_system(wire: Wire) -> Iterator[Violation]:
    """System messages behind the first one of another speaker, where the provider takes none."""
    said = [at for at, message in enumerate(wire.messages) if message.parts]
    for place, number in enumerate(said):
        if wire.messages[number].role is not Role.SYSTEM:
            continue
        around = [wire.messages[said[at]].role if at < len(said) else None for at in (place - 1, place + 1)]
        spoken = any(wire.messages[at].role is not Role.SYSTEM for at in said[:place])
        fits = wire.profile.late_system and around[0] in (Role.USER, Role.TOOL) and around[1] in (Role.ASSISTANT, None)
        if spoken and not fits:
            yield wire.violation(LATE_SYSTEM.name, (number, None), "a system message stands inside the conversation")


def system_changed(wire: Wire) -> Iterator[Violation]:
    """The system prompt is not what it was before the compaction."""
    if wire.before is None:
        return
    was = [_content(message) for message in wire.before if message.role is Role.SYSTEM]
    now = [(at, _content(message)) for at, message in enumerate(wire.messages) if message.role is Role.SYSTEM]
    for number, (at, content) in enumerate(now):
        if number >= len(was) or content != was[number]:
            yield wire.violation(SYSTEM_CHANGED.name, (at, None), "the system prompt is not the one before")
            return
    if len(now) < len(was):
        yield wire.violation(SYSTEM_CHANGED.name, (0, None), "a part of the system prompt is gone")


def _content(message: Message) -> tuple[tuple[PartKind, str], ...]:
    return tuple((part.kind, part.text) for part in message.parts)


def thinking(wire: Wire) -> Iterator[Violation]:
    """Thinking that is unsigned, that a compaction changed, or that it took out of the last answer."""
    known = None
    if wire.before is not None:
        known = {part.text for message in wire.before for part in message.parts if part.kind is PartKind.THINKING}
    for number, message in enumerate(wire.messages):
        for place, part in enumerate(message.parts):
            if part.kind is not PartKind.THINKING:
                continue
            if part.signed is False:
                yield wire.violation(BROKEN_THINKING.name, (number, place), "thinking without a signature")
            elif known is not None and part.text not in known:
                why = "thinking is not what it was before the compaction"
                yield wire.violation(BROKEN_THINKING.name, (number, place), why)
    yield from _thinking_gone(wire)


def _thinking_gone(wire: Wire) -> Iterator[Violation]:
    """The last answer, whose results go back to the model, keeps its thinking."""
    if wire.before is None or wire.last_answer is None or wire.pending is None:
        return
    now = wire.messages[wire.last_answer]
    was = next((one for one in reversed(wire.before) if one.role is Role.ASSISTANT and one.parts), None)
    if was is None or (was.line, was.id) != (now.line, now.id):
        return
    if any(part.kind is PartKind.TOOL_CALL for part in now.parts) and _thoughts(now) < _thoughts(was):
        yield wire.violation(BROKEN_THINKING.name, (wire.last_answer, None), "the last answer lost its thinking")


def _thoughts(message: Message) -> int:
    return sum(part.kind is PartKind.THINKING for part in message.parts)


TURN_RULES: dict[str, Callable[[Wire], Iterator[Violation]]] = {
    NO_MESSAGES.name: nothing,
    FIRST_NOT_USER.name: first,
    ENDS_ON_ASSISTANT.name: last,
    EMPTY_MESSAGE.name: empty,
    ALTERNATION.name: alternation,
    LATE_SYSTEM.name: late_system,
    SYSTEM_CHANGED.name: system_changed,
    BROKEN_THINKING.name: thinking,
}
"""By rule."""
