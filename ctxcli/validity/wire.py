"""A list of messages as a provider sees it: turns, tool calls, and the results that belong to them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ctxcli.model import Message, Part, PartKind, Role
from ctxcli.shelf import Profile

_PROVIDER_RUN = ("srvtoolu_", "mcptoolu_", "ws_", "fs_", "ci_", "ig_", "mcp_")
"""How the ids of calls begin that the provider itself runs: the APIs of Anthropic, and of OpenAI (Responses)."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a list of messages breaks."""

    rule: str
    message: int
    """Index into the messages; 0 where there are none."""
    line: int
    """1-based source line; 0 where it is not known."""
    why: str
    part: int | None = None
    """Index of the part that is at fault; None where it is the message, or the list."""


@dataclass(slots=True)
class Pair:
    """A tool call and the results that name it."""

    ref: str
    call: tuple[int, int] | None
    """(message, part); None where the results name a call that is not there."""
    results: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Wire:
    """The messages under one profile; what several rules look at is found once."""

    messages: Sequence[Message]
    profile: Profile
    before: Sequence[Message] | None = None

    def violation(self, rule: str, at: tuple[int, int | None], why: str) -> Violation:
        """A violation at a message, or at one of its parts."""
        message, part = at
        if message >= len(self.messages):
            return Violation(rule, 0, 0, why)
        own = self.messages[message]
        line = own.parts[part].line if part is not None else 0
        return Violation(rule, message, line or own.line, why, part)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every call with its results, in order; a result belongs to the last call before it that has its id."""
        found: list[Pair] = []
        latest: dict[str, Pair] = {}
        for number, message in enumerate(self.messages):
            for place, part in enumerate(message.parts):
                if part.kind is PartKind.TOOL_CALL:
                    latest[part.ref] = Pair(part.ref, (number, place))
                    found.append(latest[part.ref])
                elif part.kind is PartKind.TOOL_RESULT:
                    if part.ref not in latest:
                        latest[part.ref] = Pair(part.ref, None)
                        found.append(latest[part.ref])
                    latest[part.ref].results.append((number, place))
        return tuple(found)

    @cached_property
    def turns(self) -> tuple[int, ...]:
        """The number of the turn that each message is in: consecutive messages of one wire role are one turn.

        What a provider keeps outside of the turns (system messages), and messages without content, are in the turn
        before them.
        """
        found: list[int] = []
        turn, last = 0, None
        for message in self.messages:
            role = wire_role(message)
            if role is not None and message.parts and role is not last:
                turn, last = turn + (last is not None), role
            found.append(turn)
        return tuple(found)

    @cached_property
    def last_answer(self) -> int | None:
        """Index of the last message of the assistant."""
        return next((at for at in reversed(range(len(self.messages))) if is_answer(self.messages[at])), None)

    @cached_property
    def pending(self) -> int | None:
        """Index of the last message of the assistant, where nothing but results and the client's words follow it."""
        last = self.last_answer
        if last is None or not all(_goes_with_results(message) for message in self.messages[last + 1 :]):
            return None
        return last

    def part(self, at: tuple[int, int]) -> Part:
        """One part."""
        return self.messages[at[0]].parts[at[1]]


def wire_role(message: Message) -> Role | None:
    """Who speaks on the wire, where results are the user's; None for a system message."""
    return {Role.SYSTEM: None, Role.TOOL: Role.USER}.get(message.role, message.role)


def is_answer(message: Message) -> bool:
    """Whether the model said it."""
    return message.role is Role.ASSISTANT and bool(message.parts)


def is_summary(message: Message) -> bool:
    """Whether a message stands for what a compaction took out."""
    return any(part.sums_up for part in message.parts)


def is_set_aside(message: Message) -> bool:
    """Whether a client puts a message behind the results that it was recorded before: its own words, no summary."""
    return not message.parts or (message.harness and not is_summary(message))


def _goes_with_results(message: Message) -> bool:
    return message.role is Role.TOOL or is_set_aside(message)


def is_run_by_provider(pair: Pair) -> bool:
    """Whether the provider runs a call itself, so that the result stands in the same message, or nowhere."""
    if pair.call is None:
        return False
    return pair.ref.startswith(_PROVIDER_RUN) or any(message == pair.call[0] for message, _ in pair.results)
