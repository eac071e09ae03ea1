"""What the situations of compaction share: a few lines of conversation in either chat shape, and a whole pass over them.

A pass is what the command does to a file: read, compact, write, read again. What holds for every pass is asserted in
`shortened`, so that a test says only what its own situation asks for.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from compact_support import WEIGH
from ctxcli.change import applied
from ctxcli.compact.context import Keep, start_of
from ctxcli.compact.session import Outcome, Session
from ctxcli.compact.settings import Settings
from ctxcli.files.whole import transcripts_in
from ctxcli.formats import FORMATS
from ctxcli.guard import Policy
from ctxcli.guard.run import guard_context
from ctxcli.model import Message, PartKind, Transcript
from ctxcli.reports.guard import GuardReport
from ctxcli.rules import RULES
from ctxcli.validity import check, profile_of

OPENAI, ANTHROPIC = SHAPES = ("openai-chat", "anthropic")
LONG = "\n".join(f"{number:>4}  value_{number} = compute(value_{number - 1})" for number in range(1, 60))
"""A result that is worth clearing."""

Json = dict[str, Any]


def call(ref: str, name: str = "read_file", **arguments: object) -> Json:
    """A tool call of either shape."""
    return {"ref": ref, "name": name, "arguments": arguments}


def user(text: str) -> Json:
    """What the user says."""
    return {"role": "user", "text": text}


def says(text: str = "", *calls: Json, thinking: str = "") -> Json:
    """What the assistant says, and what it calls."""
    return {"role": "assistant", "text": text, "calls": calls, "thinking": thinking}


def result(ref: str, text: str = LONG, *, failed: bool = False) -> Json:
    """What a tool gave back."""
    return {"role": "tool", "ref": ref, "text": text, "failed": failed}


def document(shape: str, *turns: Json, system: str = "") -> Json:
    """A request in one of the shapes; a turn of a shape's own (`{"raw": …}`) stands in it as it is."""
    if shape == ANTHROPIC:
        return {"model": "claude", **({"system": system} if system else {}), "messages": _anthropic(turns)}
    rows = [{"role": "system", "content": system}] if system else []
    return {"model": "gpt-4o", "messages": rows + [_openai(turn) for turn in turns]}


def _openai(turn: Json) -> Json:
    if "raw" in turn:
        return turn["raw"]  # type: ignore[no-any-return]
    if turn["role"] == "tool":
        return {"role": "tool", "tool_call_id": turn["ref"], "content": turn["text"]}
    row = {"role": turn["role"], "content": turn["text"] if turn["text"] or not turn.get("calls") else None}
    calls = [
        {
            "id": one["ref"],
            "type": "function",
            "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])},
        }
        for one in turn.get("calls", ())
    ]
    return row | ({"tool_calls": calls} if calls else {})


def _anthropic(turns: tuple[Json, ...]) -> list[Json]:
    rows: list[Json] = []
    for turn in turns:
        if "raw" in turn:
            rows.append(turn["raw"])
        elif turn["role"] == "tool":
            block = {"type": "tool_result", "tool_use_id": turn["ref"], "content": turn["text"]}
            block |= {"is_error": True} if turn["failed"] else {}
            if rows and rows[-1]["role"] == "user" and isinstance(rows[-1]["content"], list):
                rows[-1]["content"].append(block)
            else:
                rows.append({"role": "user", "content": [block]})
        elif turn["role"] == "user":
            rows.append({"role": "user", "content": turn["text"]})
        else:
            rows.append({"role": "assistant", "content": _blocks(turn)})
    return rows


def _blocks(turn: Json) -> list[Json]:
    thinking = [{"type": "thinking", "thinking": turn["thinking"], "signature": "c2ln"}] if turn["thinking"] else []
    text = [{"type": "text", "text": turn["text"]}] if turn["text"] else []
    calls = [
        {"type": "tool_use", "id": one["ref"], "name": one["name"], "input": one["arguments"]} for one in turn["calls"]
    ]
    return thinking + text + calls


@dataclass
class Shortened:
    """One pass: what went in, what came out."""

    session: Session
    outcome: Outcome
    before: Json
    document: Json
    """What was written, parsed."""
    after: Transcript
    """What was written, read."""
    guard: GuardReport
    target: int
    rows: list[Json] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = self.document["messages"]

    @property
    def text(self) -> str:
        """All that the context after says, but for what calls ask for."""
        return said(self.after.messages)

    @property
    def summary(self) -> str:
        """The synthetic message; empty where there is none."""
        return "\n".join(
            part.text for one in self.after.messages for part in one.parts if part.kind is PartKind.SUMMARY
        )

    @property
    def refs(self) -> tuple[list[str], list[str]]:
        """The ids of the calls, and of the results, that stand after it."""
        every = [part for message in self.after.messages for part in message.parts]
        return (
            [part.ref for part in every if part.kind is PartKind.TOOL_CALL],
            [part.ref for part in every if part.kind is PartKind.TOOL_RESULT],
        )

    def results(self) -> dict[str, str]:
        """What stands in each result, by its id."""
        every = [part for message in self.after.messages for part in message.parts]
        return {part.ref: part.text for part in every if part.kind is PartKind.TOOL_RESULT}

    @property
    def tokens(self) -> int:
        """What the context after weighs."""
        return self.session.weight(self.outcome.change)


def said(messages: tuple[Message, ...]) -> str:
    """The text of every part."""
    return "\n".join(part.text for message in messages for part in message.parts)


def read_document(value: Json, shape: str) -> Transcript:
    """A request, read."""
    (transcript,) = transcripts_in(json.dumps(value, indent=1).encode(), "before.json", shape)
    return transcript


def shortened(
    shape: str, *turns: Json, system: str = "", keep_last: int | Keep | None = None, **settings: object
) -> Shortened:  # fmt: skip
    """A pass over a conversation, and what holds after every pass.

    Valid for the provider; never heavier, but for repairs; what stays is what it was; a second pass that has reached
    the target does nothing, and one that has not makes nothing heavier.
    """
    before = document(shape, *turns, system=system)
    if keep_last is not None:
        settings["keep_last"] = keep_last if isinstance(keep_last, Keep) else Keep(messages=keep_last)
    return passed(before, shape, Settings(**settings))  # type: ignore[arg-type]


def passed(before: Json, shape: str, settings: Settings) -> Shortened:
    """The pass over a request."""
    session, outcome, data = _pass(json.dumps(before, indent=1).encode(), shape, settings)
    (after,) = transcripts_in(data, "after.json", shape)
    profile = settings.profile or profile_of(session.transcript)
    assert not errors(applied(after, start_of(after)), profile, before=session.messages)
    assert session.weight(outcome.change) <= session.tokens or outcome.mended.repairs
    _check_kept(before, json.loads(data), outcome)
    target = session.target(settings)
    again, second, _ = _pass(data, shape, Settings(target=target, strategies=settings.strategies, results=settings.results, keep_last=settings.keep_last))  # fmt: skip
    assert again.weight(second.change) <= again.tokens
    if again.tokens <= target:
        assert not second.steps
    report = guard_context(session.before, after, Policy(), WEIGH)
    return Shortened(session, outcome, before, json.loads(data), after, report, target)


def _pass(data: bytes, shape: str, settings: Settings) -> tuple[Session, Outcome, bytes]:
    (transcript,) = transcripts_in(data, "before.json", shape)
    session = Session(transcript, Policy(), WEIGH)
    outcome = session.compact(settings)
    change = outcome.change
    write = FORMATS[shape].write
    assert write is not None
    return session, outcome, write(data, [(transcript, change if change != outcome.start else None)])


def errors(messages: tuple[Message, ...], profile: str, *, before: tuple[Message, ...] | None = None) -> list[str]:
    """What a provider refuses."""
    found = check(messages, profile, before=before)
    return [f"{one.rule} at {one.line}: {one.why}" for one in found if RULES[one.rule].level == "error"]


def _check_kept(before: Json, after: Json, outcome: Outcome) -> None:
    """Nothing but messages changes in a request, and messages that no part left are what they were."""
    assert {key: value for key, value in after.items() if key != "messages"} == {
        key: value for key, value in before.items() if key != "messages"
    }
    if not outcome.mended.repairs:
        new = [row for row in after["messages"] if row not in before["messages"]]
        cleared = [row for row in new if "[cleared by ctx" in json.dumps(row)]
        summaries = [row for row in new if "[Compacted by ctx" in json.dumps(row)]
        assert len(new) == len(cleared) + len(summaries)
        assert len(summaries) <= 1


def work(number: int) -> list[Json]:
    """Turns that take room and say nothing of their own."""
    return [
        turn
        for at in range(number)
        for turn in (says(f"Step {at}.", call(f"w{at}", path=f"src/w{at}.py")), result(f"w{at}"))
    ]


def after_work(shape: str, *turns: Json, strategy: str = "contract", last: str = "Go on.", **settings: object) -> Shortened:  # fmt: skip
    """A pass over these turns and a lot of work behind them, from which little is left."""
    return shortened(
        shape, *turns, *work(5), says("All read."), user(last), strategies=(strategy,), target=0.15, **settings
    )
