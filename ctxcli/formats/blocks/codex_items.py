"""The items of a Codex rollout: who wrote each one, and what the model saw of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ctxcli.formats.blocks.openai import content_parts, content_pieces, item_call, plain, result_parts
from ctxcli.formats.blocks.splice import Piece
from ctxcli.formats.blocks.synthetic import BY_CTX
from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import Part, PartKind, Role
from ctxcli.slots import is_synthetic

EVENTS_ONLY = frozenset({"turn_context", "world_state", "inter_agent_communication_metadata", "token_usage_record"})
"""Record types that repeat or describe what other records hold."""

ITEM_TYPES = frozenset(
    {"message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
     "custom_tool_call_output", "local_shell_call", "web_search_call", "ghost_snapshot"}
)  # fmt: skip

SEALED = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""Items that stand for what was compacted and that only the provider can read."""
OURS = BY_CTX
"""The key of a compaction record under which ctx says which items make up a message,
which of them sum up, and what encrypted reasoning was reported to take."""

_STANDING = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<recommended_plugins>",
    "<permissions instructions>", "<collaboration_mode>", "<skills_instructions>", "<INSTRUCTIONS>",
)  # fmt: skip
"""Standing instructions that the client sends under the user's name, and sends anew on each start."""

_NOTICES = (
    "<turn_aborted>", "<user_shell_command>", "<subagent_notification>", "<user_action>", "<skill>",
    "<model_switch>", "<goal_context>",
)  # fmt: skip


_KEEPS_REASONING = re.compile(r"gpt-(5\.([6-9]|\d\d)|[6-9])")


def keeps_reasoning(model: str) -> bool:
    """Whether a model's reasoning stays in the context after the next user turn.

    Measured on rollouts: with gpt-5.5 the context shrinks by the reported reasoning at each user
    turn (growth -480 where 663 entered and 1,133 were reasoning), with gpt-5.6 it does not.
    """
    return _KEEPS_REASONING.match(model) is not None


def is_model_item(item: Mapping[str, Any]) -> bool:
    """Whether the model itself wrote the item."""
    kind = text(item.get("type"))
    if kind == "message":
        return item.get("role") == "assistant"
    return kind == "reasoning" or kind.endswith("_call")


def message_role(item: Mapping[str, Any]) -> tuple[Role, bool]:
    """Who speaks in a message, and whether the client wrote it under the user's name."""
    if item.get("role") in ("developer", "system"):
        return Role.SYSTEM, True
    if item.get("role") == "assistant":
        return Role.ASSISTANT, False
    start = next((part.text.lstrip() for part in content_parts(item.get("content"), 0)), "")
    if start.startswith(_STANDING):
        return Role.SYSTEM, True
    return Role.USER, start.startswith(_NOTICES)


def output_parts(item: Mapping[str, Any], line: int) -> Iterator[Part]:
    """The parts of one item: reasoning, text, a call or the output of one."""
    kind = text(item.get("type"))
    if kind == "reasoning":
        yield from _reasoning(item, line)
    elif kind == "message":
        yield from content_parts(item.get("content"), line)
    elif kind.endswith("_output"):
        output = item.get("output")
        if isinstance(output, dict):
            output = output.get("content")
        yield from result_parts(output, line, text(item.get("call_id")))
    else:
        yield item_call(item, line)


def _reasoning(item: Mapping[str, Any], line: int) -> Iterator[Part]:
    """Encrypted reasoning is opaque; its summaries are shown to people and not sent to the model."""
    readable = "\n".join(text(mapping(piece).get("text")) for piece in sequence(item.get("content")))
    if readable:
        yield Part(PartKind.THINKING, readable, line)
    else:
        yield Part(PartKind.OPAQUE, "", line, name="reasoning", tokens=count(item.get(OURS)))


def item_pieces(item: Mapping[str, Any], line: int) -> Iterator[Piece]:
    """The parts of one item by the place that they stand at in it."""
    if text(item.get("type")) == "message":
        yield from content_pieces(item.get("content"), line, ("content",))
    elif text(item.get("type")) == "agent_message":
        yield ("content",), (Part(PartKind.TEXT, plain(item.get("content")), line),)
    else:
        yield (), tuple(output_parts(item, line))


def weighed(items: list[Mapping[str, Any]], payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The items of a new context, encrypted reasoning with the tokens that it was reported to take before."""
    tokens = mapping(mapping(payload.get(OURS)).get("tokens"))
    return [{**item, OURS: tokens[str(at)]} if str(at) in tokens else item for at, item in enumerate(items)]


def grouped(items: Sequence[Mapping[str, Any]], payload: Mapping[str, Any], message: str) -> Iterator[tuple[int, bool]]:
    """The messages that the items of a new context make up: (how many items, whether it is a summary).

    What a model wrote in a row is one answer, unless the record says more exactly.
    """
    told = mapping(payload.get(OURS))
    sizes = [size for size in map(count, sequence(told.get("items"))) if size]
    if sum(sizes) != len(items):
        sizes = [len(list(row)) for row in _answers(items)]
    summaries = {count(number) for number in sequence(told.get("summaries"))}
    start = 0
    for number, size in enumerate(sizes):
        yield size, number in summaries or _is_summary(items[start], message)
        start += size


def _answers(items: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    for is_answer, row in groupby(items, is_model_item):
        held = list(row)
        yield from [held] if is_answer else ([item] for item in held)


def _is_summary(item: Mapping[str, Any], message: str) -> bool:
    if item.get("type") != "message" or item.get("role") == "assistant":
        return False
    said = plain(item.get("content"))
    return is_synthetic(said) or (bool(message.strip()) and said == message)
