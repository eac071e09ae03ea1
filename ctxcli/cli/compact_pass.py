"""One conversation of `ctx compact` on its way: its settings, its trigger, and what the strategies made of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import click

from ctxcli.ask import Asker
from ctxcli.audit.left import left
from ctxcli.budget import Limits, usable_in
from ctxcli.cli import options as opt
from ctxcli.cli.compact_asking import Asking, OnlyPlanned
from ctxcli.cli.compact_notes import NotesFile
from ctxcli.cli.prompt import instructions_of
from ctxcli.compact.context import Keep, named_by
from ctxcli.compact.session import Outcome, Session
from ctxcli.compact.settings import Settings
from ctxcli.compact.window import in_use
from ctxcli.guard import Policy
from ctxcli.identifiers import Extractor
from ctxcli.model import Transcript
from ctxcli.reports.guard import GuardReport
from ctxcli.rules import NOT_SMALLER, OVER_BUDGET
from ctxcli.task import Results
from ctxcli.tokens import CountCache, choose, counter


@dataclass(slots=True)
class Pass:
    """One conversation on its way."""

    session: Session
    settings: Settings
    exact: bool
    asking: Asking
    outcome: Outcome | None = None
    """None where the trigger was not reached."""
    guard: GuardReport | None = None
    refused: str = ""
    remarks: list[str] = field(default_factory=list)
    trigger: str = "manual"


def guard_flags(flags: dict[str, Any]) -> dict[str, Any]:
    """The guard's policy, from its own table of the settings."""
    own = opt.own_settings(flags["config"], "guard")
    usual: dict[str, Any] = {"require": (), "kinds": (), "ignore": (), "min_kept": (), "strict": False}
    return {**usual, "allow_unverifiable": False, **own, "config": flags["config"]}


@dataclass(frozen=True, slots=True)
class Run:
    """What the conversations of one run share."""

    flags: dict[str, Any]
    policy: Policy
    extractor: Extractor
    notes: NotesFile
    asker: Asker | None
    data: bytes
    """The source as it was read."""


def begun(transcript: Transcript, run: Run) -> Pass:
    """A conversation before its pass."""
    flags = run.flags
    choice = choose(transcript.models, flags["tokenizer"])
    weigh = counter(choice.name, CountCache() if flags["cache"] else None)
    session = Session(transcript, run.policy, weigh, run.extractor)
    asking = Asking.begun(flags, session, run.asker, run.data)
    return Pass(session, _settings(flags, run.notes, asking), choice.exact, asking)


def _settings(flags: dict[str, Any], notes: NotesFile, asking: Asking) -> Settings:
    messages, tokens = flags["keep_last"] or (None, None)
    for pin in flags["pin"]:
        try:
            re.compile(pin)
        except re.error as error:
            raise click.BadParameter(f"{pin!r} is no regular expression: {error}", param_hint="--pin") from None
    return Settings(
        strategies=flags["strategy"], target=flags["target"],
        keep_last=Keep(messages, tokens) if flags["keep_last"] else None,
        pins=flags["pin"], summary_tokens=flags["summary_tokens"],
        results=Results(flags["keep_results"], frozenset(flags["exclude_tool"]), flags["clear_at_least"]),
        profile=flags["profile"], instructions=instructions_of(flags["instructions"]),
        notes_name=notes.path or "", notes=notes.slots, **asking.settings(),
    )  # fmt: skip


def shorten(one: Pass, flags: dict[str, Any]) -> None:
    """Run the strategies, unless the trigger says that there is room."""
    trigger = flags["trigger"]
    if trigger is not None:
        limit, used = _limit(one, trigger, flags), _used(one.session)
        if used < limit:
            one.remarks.append(f"Nothing was done: {used:,} tokens are in use, the trigger is at {limit:,}.")
            return
        one.trigger = "budget"
    try:
        with one.asking.counted():
            one.outcome = one.session.compact(one.settings)
    except OnlyPlanned:
        return
    one.remarks += [*_without_use(one, flags), *one.asking.remarks()]
    tokens = one.session.weight(one.outcome.change)
    if flags["budget"] is not None and tokens > flags["budget"]:
        limit = flags["budget"]
        one.refused = f"{OVER_BUDGET.name}: the result weighs {tokens:,} tokens, the budget is {limit:,}."
    if tokens > one.session.tokens and not one.outcome.mended.repairs:
        one.refused = (
            f"{NOT_SMALLER.name}: the result weighs {tokens:,} tokens, more than the {one.session.tokens:,} before."
        )


def _without_use(one: Pass, flags: dict[str, Any]) -> Iterator[str]:
    """What was asked for and changed nothing: a pin that names no message, a tool without results, an answer unread."""
    transcript = one.session.transcript
    keep = one.session.start.keep
    for pin in flags["pin"]:
        if not named_by(transcript, keep, pin):
            yield f"--pin {pin!r} names no message of the context."
    tools = {part.name for index in keep for part in transcript.messages[index].parts if part.name}
    for tool in flags["exclude_tool"]:
        if tool not in tools:
            yield f"--exclude-tool {tool!r}: no result of the context is of this tool."
    asked = "--summary" if flags["summary"] else "--summariser" if flags["summariser"] else ""
    if asked and one.outcome is not None and one.outcome.summed is None:
        yield f"{asked} was not used: no summary was needed."


def _used(session: Session) -> int:
    """Tokens in use now; since a compaction as `ctx budget` tells them."""
    used = in_use(session)
    return max(session.tokens, left(session.transcript).used or 0) if used is None else used


def _limit(one: Pass, trigger: int | float, flags: dict[str, Any]) -> int:
    """Where the trigger stands, in tokens; raises UsageError for a share of a window that nobody knows."""
    if isinstance(trigger, int):
        return trigger
    limits = Limits(max_context=flags["max_context"], reserve_output=flags["reserve_output"])
    usable = usable_in(one.session.transcript, limits).usable
    if usable is None:
        raise click.UsageError("--trigger as a share wants the window: --max-context 200k, or give it in tokens")
    return int(usable * trigger)
