"""From graded answers to the report: what was kept, what changed, and how sure that is."""

from collections.abc import Iterator, Sequence

from ctxcli.ask import Asker
from ctxcli.intervals import bootstrap, newcombe, wilson
from ctxcli.probe.prompts import AFTER, BEFORE, NONE
from ctxcli.probe.questions import Question
from ctxcli.probe.run import Probe
from ctxcli.probe.sides import Side
from ctxcli.reports.probe import (
    CHANGED,
    GUESSABLE,
    KEPT,
    UNANSWERABLE,
    UNASKED,
    VERDICTS,
    ProbeReport,
    ProbeRow,
    ProbeScore,
    ProbeSide,
    ProbeSpent,
    ProbeTotals,
)
from ctxcli.shelf import Weigh

_SHOWN = 300


def report_of(probe: Probe, asker: Asker, judge: Asker, weigh: Weigh, min_score: float | None) -> ProbeReport:
    """The report on a probe, whether or not all of it was answered."""
    rows = tuple(_row(probe, one) for one in probe.questions)
    totals = _totals(rows)
    if totals.kept_share is None or totals.unasked:
        ok = False
    else:
        ok = not totals.changed if min_score is None else totals.kept_share >= min_score
    pair = probe.pair
    return ProbeReport(
        "ctx.probe", 1, ok, _side(pair.before, weigh), _side(pair.after, weigh), pair.compaction, pair.strategy,
        asker.name, judge.name, probe.how.repeats, min_score, rows, totals, _spent(asker, judge),
        (*pair.notes, *_notes(probe, rows, totals)),
    )  # fmt: skip


def _row(probe: Probe, one: Question) -> ProbeRow:
    scores = {condition: score_of(probe.grades(one, condition)) for condition in (NONE, BEFORE, AFTER)}
    found = _verdict(probe, scores)
    before, after = scores[BEFORE], scores[AFTER]
    certain = None
    if found == CHANGED:
        fall = newcombe((before.right, before.asked), (after.right, after.asked))
        certain = fall is not None and fall[0] > 0
    return ProbeRow(
        one.id, one.slot, one.question, one.answers or (one.regex,), one.grading, one.line, scores[NONE], before, after,
        found, certain, _cut(probe.said(one, BEFORE)), _cut(probe.said(one, AFTER)),
    )  # fmt: skip


def score_of(grades: Sequence[bool | None]) -> ProbeScore:
    """How often the answers were right, of those that were graded."""
    known = [grade for grade in grades if grade is not None]
    low, high = wilson(sum(known), len(known)) or (None, None)
    return ProbeScore(sum(known), len(known), sum(known) / len(known) if known else None, _short(low), _short(high))


def _verdict(probe: Probe, scores: dict[str, ProbeScore]) -> str:
    """By the majority of the repeats; half of them right is guessed without a context, and no answer with one."""
    every = probe.how.repeats
    if scores[NONE].asked < every:
        return UNASKED
    if scores[NONE].right * 2 >= every:
        return GUESSABLE
    if scores[BEFORE].asked < every:
        return UNASKED
    if scores[BEFORE].right * 2 <= every:
        return UNANSWERABLE
    if scores[AFTER].asked < every:
        return UNASKED
    return KEPT if scores[AFTER].right * 2 > every else CHANGED


def _totals(rows: Sequence[ProbeRow]) -> ProbeTotals:
    kept, changed, unanswerable, guessable, unasked = (
        sum(row.verdict == verdict for row in rows) for verdict in VERDICTS
    )
    told = [row for row in rows if row.verdict in (KEPT, CHANGED)]
    low, high = wilson(kept, len(told)) or (None, None)
    return ProbeTotals(
        len(rows), kept, changed, unanswerable, guessable, unasked,
        _over([row.before for row in told], BEFORE), _over([row.after for row in told], AFTER),
        kept / len(told) if told else None, _short(low), _short(high),
    )  # fmt: skip


def _over(scores: Sequence[ProbeScore], seed: str) -> ProbeScore:
    """The score over several questions, whose repeats are alike: the bootstrap draws questions, then their repeats."""
    right, asked = sum(one.right for one in scores), sum(one.asked for one in scores)
    drawn = {
        str(place): [1.0] * one.right + [0.0] * (one.asked - one.right) for place, one in enumerate(scores)
    }  # fmt: skip
    ends = [interval for interval in (wilson(right, asked), bootstrap(drawn, seed)) if interval]
    low = min((interval[0] for interval in ends), default=None)
    high = max((interval[1] for interval in ends), default=None)
    return ProbeScore(right, asked, right / asked if asked else None, _short(low), _short(high))


def _notes(probe: Probe, rows: Sequence[ProbeRow], totals: ProbeTotals) -> Iterator[str]:
    if probe.stopped or probe.failed:
        why = probe.stopped or next(iter(probe.failed.values()))
        on = "The same command goes on from here" if probe.how.kept else "No answer was kept (--no-reply-cache)"
        yield f"Not everything was answered: {why}. {on}."
    elif totals.unasked:
        yield "Not every answer could be graded: the judge said neither yes nor no. Another --judge may."
    if probe.how.repeats == 1 and totals.changed:
        yield (
            "Each question was asked once: whether an answer changed by the compaction, or would have been another one "
            "anyway, cannot be told. --repeats 3 can."
        )
    elif any(row.certain is False for row in rows):
        yield "With more --repeats it can be told whether an answer changed by chance."
    if totals.kept_share is None and not totals.unasked:
        yield (
            "No question can tell anything: each is answered without the context, or not even with the one before. "
            "Give questions of your own with --questions."
        )


def _side(side: Side, weigh: Weigh) -> ProbeSide:
    return ProbeSide(side.transcript.path, len(side.transcript.messages), weigh.count([side.text])[0])


def _spent(asker: Asker, judge: Asker) -> ProbeSpent:
    every = [asker.spent] if judge is asker else [asker.spent, judge.spent]
    costs = [one.cost for one in every if one.calls]
    return ProbeSpent(
        sum(one.calls for one in every), sum(one.stored for one in every), sum(one.prompt for one in every),
        sum(one.output for one in every), None if None in costs else sum(cost for cost in costs if cost is not None),
    )  # fmt: skip


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
