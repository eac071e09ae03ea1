"""The guard: two contexts under a policy, or each compaction that a transcript records."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ctxcli.guard.compare import Comparison
from ctxcli.guard.conclude import conclude
from ctxcli.guard.forms import Key, file_name
from ctxcli.guard.policy import Policy
from ctxcli.guard.reading import Reading
from ctxcli.guard.recorded import Recorded, recorded, used_later
from ctxcli.guard.sides import After, Before, pieces_against
from ctxcli.identifiers import Extractor, extract
from ctxcli.model import MAIN, PartAt, Transcript
from ctxcli.replay import live
from ctxcli.reports.guard import HELD, CompactionRef, GuardReport, Hindsight, Round
from ctxcli.shelf import Weigh


def guard(
    before: Transcript,
    after: Transcript,
    policy: Policy,
    weigh: Weigh,
    *,
    extractor: Extractor = extract,
    notes: Transcript | None = None,
) -> GuardReport:
    """Compare what is in the context at the end of one transcript with what is at the end of another, or a text."""
    return guard_context(context_of(Reading(before, extractor)), after, policy, weigh, notes=notes)


def context_of(reading: Reading) -> Before:
    """What is in the context of the main lane at the end of a transcript."""
    now, cleared = live(reading.transcript)
    said = reading.parts(index for index, message in enumerate(reading.messages) if message.lane == MAIN)
    return Before(reading, reading.parts(now, cleared), said)


def guard_context(
    before: Before, after: Transcript, policy: Policy, weigh: Weigh, *, notes: Transcript | None = None
) -> GuardReport:
    """Compare a context that was read already with what is in the context at the end of a transcript, or a text."""
    one, other = before.reading, Reading(after, before.reading.extractor)
    was, (now, now_cleared) = list(dict.fromkeys(index for index, _ in before.parts)), live(after)
    parts = other.parts(now, now_cleared)
    opaque = bool(_opaque_summaries(other, now) - _opaque_summaries(one, was))
    named = _named(notes, other, other.parts(now))
    new = After(other, pieces_against(before, other, parts), parts, opaque, named)
    return conclude(Comparison(before, new, policy), weigh, notes=notes)


def guard_recorded(
    transcript: Transcript,
    policy: Policy,
    weigh: Weigh,
    *,
    extractor: Extractor = extract,
    notes: Transcript | None = None,
) -> Iterator[GuardReport]:
    """One report for each compaction that the transcript records, in order."""
    reading = Reading(transcript, extractor)
    found = list(recorded(reading))
    first_required: dict[tuple[str, Key], int] = {}
    for number, one in enumerate(found, 1):
        after = replace(one.after, notes=_named(notes, reading, one.after.own_parts))
        comparison = Comparison(one.before, after, policy)
        for key in comparison.required.keys:
            first_required.setdefault((one.event.lane, key), number)
        own = {key: n for (lane, key), n in first_required.items() if lane == one.event.lane}
        event = one.event
        yield conclude(
            comparison, weigh, notes=notes,
            compaction=CompactionRef(
                event.line, number, len(found), event.kind.value, event.trigger, event.tokens_before
            ),
            hindsight=hindsight_of(one, comparison),
            rounds=_rounds(own, comparison, number) if len(found) > 1 else (),
        )  # fmt: skip


def _opaque_summaries(reading: Reading, indices: list[int]) -> set[tuple[int, str]]:
    """(line, time) of the summaries in a context that cannot be read."""
    summaries = {event.summary for event in reading.transcript.events if event.opaque}
    messages = reading.messages
    return {(messages[index].line, messages[index].time) for index in indices if index in summaries}


def _named(notes: Transcript | None, reading: Reading, parts: Iterable[PartAt]) -> Reading | None:
    """The notes, if these parts of the context name their file."""
    if notes is None or not any(file_name(notes.path) in reading.part(at).text for at in parts):
        return None
    return Reading(notes, reading.extractor)


def hindsight_of(one: Recorded, comparison: Comparison) -> Hindsight | None:
    """Of what was used later and had appeared before, the share that is held; of the policy's kinds, no secrets."""
    if one.after.opaque:
        return None
    used = [
        key
        for key in used_later(one)
        if (known := comparison.known.get(key)) is not None and not known.secret
        and (comparison.policy.everything or known.kind in comparison.policy.kinds)
    ]  # fmt: skip
    held = sum(comparison.status[key] in HELD for key in used)
    return Hindsight(len(used), held, round(held / len(used), 4) if used else None)


def _rounds(first_required: dict[Key, int], comparison: Comparison, number: int) -> tuple[Round, ...]:
    """What was first required before each compaction so far, and is held by the context after this one."""
    if comparison.after.opaque:
        return ()
    holdings = comparison.holdings
    rows = []
    for n in range(1, number + 1):
        keys = [key for key, since in first_required.items() if since == n]
        rows.append(Round(n, len(keys), sum(holdings.place_of(*key, ()) is not None for key in keys)))
    return tuple(rows)
