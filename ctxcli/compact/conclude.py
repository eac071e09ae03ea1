"""From a pass to its report: what went and how to fetch it again, the cache, the remarks."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ctxcli.caching import READ, Compacted, Pay, break_even
from ctxcli.change import CLEARED, Change, placed
from ctxcli.compact.context import pinned_in
from ctxcli.compact.session import Outcome, Session
from ctxcli.compact.settings import Settings
from ctxcli.identifiers.secrets import mask
from ctxcli.model import PartKind
from ctxcli.reports.compact import (
    Address,
    CacheEffect,
    CompactReport,
    CompactSource,
    NotesUsed,
    OutputFile,
    SummariserUsed,
    SummaryMode,
    TokenBasis,
    ValidityFinding,
    ValidityResult,
)
from ctxcli.reports.guard import GuardReport
from ctxcli.rules import RULES, TARGET_MISSED
from ctxcli.validity import Violation, profile_of


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What asking a model came to."""

    name: str
    usage: dict[str, int]
    cost: float | None
    modes: tuple[SummaryMode, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the result outside the conversation itself."""

    guard: GuardReport | None = None
    output: OutputFile | None = None
    notes: NotesUsed | None = None
    trigger: str = "manual"
    exact: bool = False
    """Whether the tokenizer is the model's own."""
    done: bool = True
    """False where a trigger was not reached: then the remarks say it, and nothing else has to be said."""
    refused: str = ""
    """Why nothing may be written; empty where it may."""
    remarks: tuple[str, ...] = ()
    model: ModelUse | None = None


def conclude(session: Session, settings: Settings, outcome: Outcome, written: Written) -> CompactReport:
    """The report of one pass."""
    change, before = outcome.change, session.tokens
    after = session.weight(change)
    profile = settings.profile or profile_of(session.transcript)
    side = session.before.side()
    validity = _validity(session, profile, outcome)
    target = session.target(settings)
    said = _remarks(session, outcome, target, after) if written.done else ()
    gone = frozenset(outcome.start.keep) - frozenset(change.keep)
    return CompactReport(
        kind="ctx.compact", version=1,
        ok=not written.refused and validity.ok and (written.guard is None or written.guard.ok),
        strategy=",".join(settings.strategies), steps=outcome.steps, trigger=_trigger(outcome, written), target=target,
        tokens_before=before, tokens_after=after, tokens_reclaimed=before - after,
        messages_before=len(session.messages), messages_after=len(list(placed(session.transcript, change))),
        dropped_messages=len(gone), cleared_results=len(_cleared(change)),
        slots=outcome.slots, addresses=tuple(_addresses(session, outcome)),
        pinned=tuple(sorted({
            session.transcript.messages[index].line
            for index in pinned_in(session.transcript, outcome.start.keep, settings.pins)
        })),
        summariser=_summariser(settings, outcome, written.model),
        guard=written.guard, validity=validity, cache=_cache(session, outcome, settings, written.model),
        tokenizer=TokenBasis(session.weigh.name, session.weigh.engine, written.exact),
        source=CompactSource(side.path, side.format, side.conversation, side.sha256, side.lines),
        output=written.output, notes=written.notes,
        time=max((message.time for message in session.transcript.messages), default="") or None,
        remarks=tuple(filter(None, (written.refused, *written.remarks, *said))),
    )  # fmt: skip


def _summariser(settings: Settings, outcome: Outcome, model: ModelUse | None) -> SummariserUsed:
    summed = outcome.summed
    if summed is None:
        return SummariserUsed("none", None, 0, None, ())
    used = SummariserUsed(settings.summariser, None, summed.attempts, None, summed.added, summed.removed)
    if model is None:
        return used
    return replace(used, model=model.name, usage=model.usage, cost=model.cost, modes=model.modes)


def _trigger(outcome: Outcome, written: Written) -> str:
    """Stale where nothing but stale results went, whatever started the pass."""
    return "stale" if [step.strategy for step in outcome.steps] == ["clear-stale"] else written.trigger


def _cleared(change: Change) -> list[tuple[int, int]]:
    kept = frozenset(change.keep)
    return [at for at, text in change.texts.items() if text.startswith(CLEARED) and at[0] in kept]


def _validity(session: Session, profile: str, outcome: Outcome) -> ValidityResult:
    """What the result breaks; it is an error only where the input did not break it as well."""
    findings = tuple(ValidityFinding(one.rule, one.line, one.why) for one in outcome.mended.violations)
    return ValidityResult(profile, not new_violations(session, profile, outcome), findings, outcome.mended.repairs)


def new_violations(session: Session, profile: str, outcome: Outcome) -> list[Violation]:
    """The errors that the result has and the input had not."""
    return [
        one for one in outcome.mended.violations if one.rule not in session.broken(profile) and is_error(one)
    ]  # fmt: skip


def is_error(found: Violation) -> bool:
    """Whether a provider refuses it, rather than frowns on it."""
    return RULES[found.rule].level == "error"


def _addresses(session: Session, outcome: Outcome) -> Iterator[Address]:
    """The address of each result that left the context, the newest line of each."""
    kept, change = frozenset(outcome.change.keep), outcome.change
    secrets = session.before.reading.secrets
    found: dict[str, int] = {}
    for index in outcome.start.keep:
        message = session.transcript.messages[index]
        for number, part in enumerate(message.parts):
            away = index not in kept or (index, number) in change.texts or (index, number) in change.gone
            if part.kind is PartKind.TOOL_RESULT and part.address and away:
                found[part.address] = part.line or message.line
    yield from (Address(line, mask(address, secrets)) for address, line in found.items())


def _cache(session: Session, outcome: Outcome, settings: Settings, model: ModelUse | None) -> CacheEffect:
    """The arithmetic of a pass: what is written anew now, against what is not read at every call from now on.

    Where a model was asked through a provider its prompts are counted as they were, not as the context before: the raw
    turns behind a short context may be many.
    """
    before, after = session.tokens, session.weight(outcome.change)
    prefix = 0
    first = list(placed(session.transcript, outcome.start))
    for one, other in zip(first, placed(session.transcript, outcome.change), strict=False):
        if one.message is not other.message and one != other:
            break
        prefix += session.scale.of(one.index, outcome.start) if one.index is not None else 0
    prefix = min(prefix, after)
    summary = session.count(outcome.change.summary) if settings.ask is not None else 0
    chosen = next((one for one in model.modes if one.chosen), None) if model is not None else None
    pay = break_even(Compacted(before, after, prefix, summary), warm=settings.follows or chosen is not None)
    if chosen is not None:
        asked = chosen.prompt - chosen.cacheable + READ * chosen.cacheable
        pay = Pay(pay.extra + asked - READ * before, pay.saving)
    return CacheEffect(prefix, after - prefix, round(pay.calls, 1) if pay.calls is not None else None)


def _remarks(session: Session, outcome: Outcome, target: int, after: int) -> Iterable[str]:
    if not outcome.steps:
        if after <= target:
            yield "The context is within the target as it is: nothing was compacted."
        else:
            yield f"Nothing could be made shorter. {_floor(session, outcome.start)}"
    elif after > target:
        yield f"{TARGET_MISSED.name}: the target of {target:,} tokens is not met: {_floor(session, outcome.change)}"
    if outcome.mended.repairs:
        yield "The input broke rules of its provider; left out: " + "; ".join(outcome.mended.repairs[:5])


def _floor(session: Session, change: Change) -> str:
    """What takes the room that is left, the largest first."""
    shares: dict[str, int] = {}
    pinned = pinned_in(session.transcript, change.keep, ())
    for index in change.keep:
        name = "what is pinned" if index in pinned else "the newest messages"
        shares[name] = shares.get(name, 0) + session.scale.of(index, change)
    if change.summary:
        shares["the summary"] = session.count(change.summary)
    parts = sorted(shares.items(), key=lambda item: -item[1])
    return "There stay " + ", ".join(f"{tokens:,} tokens of {name}" for name, tokens in parts) + "."


def digest_of(data: bytes) -> str:
    """SHA-256 of what is written."""
    return hashlib.sha256(data).hexdigest()
