"""From a comparison to the report: counts, what fails, constraints, and the cost of carrying it all."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ctxcli.guard.baseline import CONSTRAINT, fingerprint
from ctxcli.guard.compare import Comparison
from ctxcli.guard.findings import RULE_OF, findings_of, inventions_of
from ctxcli.guard.forms import Key
from ctxcli.guard.judging import Judge, Judgement
from ctxcli.guard.policy import Policy
from ctxcli.guard.sides import After
from ctxcli.identifiers.secrets import mask
from ctxcli.model import Role, Transcript
from ctxcli.reports.guard import (
    HELD,
    INVENTED,
    LOSS,
    LOST,
    MOVED,
    MUTATED,
    PASS,
    STATUSES,
    UNJUDGED,
    UNVERIFIABLE,
    WEAKENED,
    CompactionRef,
    ConstraintRow,
    Counts,
    Finding,
    GuardReport,
    Hindsight,
    NotesSource,
    Round,
    SourceCounts,
)
from ctxcli.reports.identifiers import SOURCES
from ctxcli.shelf import Weigh


def conclude(
    comparison: Comparison,
    weigh: Weigh,
    *,
    notes: Transcript | None,
    compaction: CompactionRef | None = None,
    hindsight: Hindsight | None = None,
    rounds: tuple[Round, ...] = (),
) -> GuardReport:
    """The report of one comparison."""
    policy, after = comparison.policy, comparison.after
    found, inventions = findings_of(comparison), inventions_of(comparison)
    counts, by_kind = _counts(comparison, found, inventions)
    findings = _excused_by_share([*found.values(), *inventions], by_kind, policy)
    constraints = () if after.opaque else tuple(_constraints(comparison))
    fails = any(one.fails for one in findings) or any(row.fails for row in constraints)
    unknown = after.opaque or comparison.before.rewritten
    verdict = LOSS if fails else UNVERIFIABLE if unknown else PASS
    return GuardReport(
        kind="ctx.guard", version=1,
        ok=verdict == PASS or (verdict == UNVERIFIABLE and policy.allow_unverifiable),
        verdict=verdict,
        before=comparison.before.side(), after=after.side(),
        notes=_notes(notes, after),
        policy=policy.used(),
        counts=counts, by_kind=by_kind, by_source=_by_source(comparison),
        findings=tuple(sorted(findings, key=_order)),
        constraints=constraints,
        tokens_to_carry=_tokens_to_carry(comparison, weigh),
        compaction=compaction, hindsight=hindsight, rounds=rounds,
        remarks=tuple(_remarks(comparison, notes, constraints)),
    )  # fmt: skip


def _counts(
    comparison: Comparison, found: Mapping[Key, Finding], inventions: Iterable[Finding]
) -> tuple[Counts, dict[str, Counts]]:
    """Of the whole, and by kind; kinds in alphabetical order."""
    total: Counter[str] = Counter()
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, known in comparison.known.items():
        names = ["found"] + ["masked"] * known.secret
        if key in comparison.required.keys:
            names += ["required", *_outcome(comparison.status.get(key), found.get(key))]
        total.update(names)
        kinds[known.kind].update(names)
    for one in inventions:
        total[INVENTED] += 1
        kinds[one.kind][INVENTED] += 1
    return Counts(**total), {kind: Counts(**kinds[kind]) for kind in sorted(kinds)}


def _outcome(status: str | None, finding: Finding | None) -> list[str]:
    """What a required identifier counts as; nothing where AFTER cannot be read."""
    if finding is not None and status in (LOST, MUTATED, MOVED):
        if finding.waived:
            return ["waived"]
        if finding.baselined and status != MOVED:
            return ["baselined"]
    return [status] if status else []


def _by_source(comparison: Comparison) -> dict[str, SourceCounts]:
    rows = {}
    for source in SOURCES:
        statuses = [comparison.status.get(key) for key, one in comparison.known.items() if one.source == source]
        rows[source] = SourceCounts(
            found=len(statuses),
            held=sum(status in HELD for status in statuses),
            moved=statuses.count(MOVED),
            gone=statuses.count(LOST) + statuses.count(MUTATED),
        )
    return rows


def _excused_by_share(findings: list[Finding], by_kind: dict[str, Counts], policy: Policy) -> list[Finding]:
    """With `--min-kept`, what is lost does not fail while enough is kept; what is wrong always does."""
    if not policy.min_kept:
        return findings
    of_rest = _summed(figures for kind, figures in by_kind.items() if kind not in policy.min_kept)

    def enough(kind: str) -> bool:
        least = policy.min_kept.get(kind, policy.min_kept.get(None))
        figures = by_kind[kind] if kind in policy.min_kept else of_rest
        return least is not None and _share_kept(figures, strict=policy.strict) >= least

    return [
        replace(one, fails=False) if one.fails and one.status in (LOST, MOVED) and enough(one.kind) else one
        for one in findings
    ]


def _share_kept(counts: Counts, *, strict: bool) -> float:
    """Of what is required and not excused, the share that stands there; 1 where nothing is required."""
    due = counts.required - counts.waived - counts.baselined
    held = counts.held + (0 if strict else counts.moved)
    return held / due if due else 1.0


def _summed(figures: Iterable[Counts]) -> Counts:
    rows = list(figures)
    return Counts(**{name: sum(getattr(row, name) for row in rows) for name in Counts.__slots__})


_LAST = len(STATUSES)


def _order(one: Finding) -> tuple[bool, bool, int, str, int, str]:
    """What fails first, then what is required, the worst first, then by kind and line."""
    return (
        not one.fails,
        not one.required,
        _LAST - STATUSES.index(one.status),
        one.kind,
        one.line or 0,
        one.value,
    )


def _constraints(comparison: Comparison) -> Iterable[ConstraintRow]:
    """The boundaries of BEFORE, held against all that AFTER says."""
    before, after, policy = comparison.before, comparison.after, comparison.policy
    if not before.constraints:
        return
    judge = Judge(comparison.holdings.text)
    for constraint in before.constraints:
        judgement = judge.judge(constraint.text)
        bad = judgement.status in (LOST, WEAKENED)
        required, why = _is_required(constraint.role, constraint.pasted, after, judgement)
        required = required and policy.asks_for_anything
        waiver = policy.waiver_for(CONSTRAINT, constraint.text)
        form = " ".join(constraint.text.casefold().split())
        print_ = fingerprint(RULE_OF[CONSTRAINT], CONSTRAINT, form)
        known = print_ in policy.baseline
        yield ConstraintRow(
            text=mask(constraint.text, comparison.secrets), line=constraint.line, status=judgement.status,
            required=required, fails=bad and required and not waiver and not known,
            stands=mask(judgement.stands, comparison.secrets) if judgement.stands else None, why=why,
            waived=waiver.reason if waiver and bad else None, baselined=known and bad, fingerprint=print_,
        )  # fmt: skip


def _is_required(role: Role, pasted: bool, after: After, judgement: Judgement) -> tuple[bool, str]:
    if judgement.status == UNJUDGED:
        return False, judgement.why
    if pasted:
        return False, f"{judgement.why}; it stands in a document that was pasted, so it is only reported"
    if role is Role.SYSTEM and not after.is_system_there:
        return False, f"{judgement.why}; the client sends its instructions again, so it is only reported"
    return True, judgement.why


def _notes(notes: Transcript | None, after: After) -> NotesSource | None:
    if notes is None:
        return None
    entries = sum(bool(line.strip()) for message in notes.messages for line in message.parts[0].text.splitlines())
    return NotesSource(notes.path, entries, after.notes is not None)


def _tokens_to_carry(comparison: Comparison, weigh: Weigh) -> int:
    lines = "\n".join(comparison.known[key].value for key in comparison.required.keys)
    return weigh.count([lines])[0] if lines else 0


def _remarks(comparison: Comparison, notes: Transcript | None, constraints: Sequence[ConstraintRow]) -> Iterable[str]:
    if comparison.after.opaque:
        yield "The summary is encrypted or empty: what it holds cannot be checked, and nothing is said to be lost."
    if comparison.before.rewritten:
        yield (
            "The file does not hold what this compaction took out: nothing of it can be said to be lost, and what "
            "seems invented does not fail. Compare it with a copy from before: ctx guard BEFORE AFTER."
        )
    elif not comparison.before.is_whole:
        yield (
            "The file holds less than half of the context that the provider measured before the compaction: it begins "
            "in the middle of a session. What seems invented may have stood there, and does not fail."
        )
    if notes is not None and comparison.after.notes is None:
        yield f"AFTER does not name the notes file ({notes.path}), so what stands there does not count."
    if any(row.status == UNJUDGED for row in constraints):
        yield "A boundary that may be rephrased is reported and does not fail: only a model, or you, can judge it."
    for waiver in comparison.policy.waivers:
        if not comparison.policy.in_force(waiver):
            yield f"The waiver for {waiver.value} ended on {waiver.until}: it no longer counts."
