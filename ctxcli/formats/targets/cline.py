"""To the messages of a Cline session: blocks like those of the Messages API, a summary marked as one.

Source of the shape: https://github.com/cline/cline sdk/packages/core/docs/messages-contract-v1.md.
"""

from typing import Any

from ctxcli.formats.targets.clock import epoch_ms, time_of
from ctxcli.formats.targets.messages import result_block, use_block
from ctxcli.formats.targets.turns import Lost, Turn, definitions, head_of, turns
from ctxcli.model import Role
from ctxcli.shelf import Conversation, Target


def write(said: Conversation, lost: Lost) -> list[Any]:
    """One document."""
    system, spoken = head_of(list(turns(said.messages, lost)))
    lost["tools"] += sum(1 for _ in definitions(said.messages))
    messages: list[dict[str, Any]] = []
    for turn in spoken:
        _say(messages, turn, said, lost)
    last = time_of(spoken[-1].message if spoken else None)
    named = {"version": 1, "updated_at": last, "agent": "lead", "sessionId": said.id or "ctx"}
    return [{**named, "messages": messages, **({"system_prompt": "\n\n".join(system)} if system else {})}]


def _say(messages: list[dict[str, Any]], turn: Turn, said: Conversation, lost: Lost) -> None:
    lost["thinking"] += len(turn.thinking)
    lost["moved"] += turn.role is Role.SYSTEM
    texts = [{"type": "text", "text": body} for body in turn.texts]
    stamp = epoch_ms(time_of(turn.message))
    answering = turn.role is Role.ASSISTANT
    named: dict[str, Any] = {"id": f"msg_{len(messages) + 1:08x}", "role": "assistant" if answering else "user"}
    more: dict[str, Any] = {"modelInfo": {"id": said.model}} if answering and said.model else {}
    if turn.sums_up:
        more["metadata"] = {"kind": "compaction_summary"}
    elif turn.message.harness and not answering:
        more["metadata"] = {"displayRole": "system"}
    messages.append({**named, "content": [*texts, *map(use_block, turn.calls)], "ts": stamp, **more})
    results = [{**result_block(call, lost), "name": call.name} for call in turn.calls if call.answer]
    if results:
        messages.append({"id": f"msg_{len(messages) + 1:08x}", "role": "user", "content": results, "ts": stamp})


TARGET = Target("cline", "Cline session (messages.json)", write)
