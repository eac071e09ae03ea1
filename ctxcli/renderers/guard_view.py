"""A comparison as blocks: what happened in five lines, then what fails, grouped by kind, the worst first."""

from collections.abc import Iterator, Sequence

from ctxcli.renderers.view import Block, Column, Facts, Grid, Notes, about, number, percent, plural
from ctxcli.reports.guard import (
    AT_RISK,
    INVENTED,
    LOSS,
    LOST,
    MOVED,
    MUTATED,
    UNVERIFIABLE,
    WEAKENED,
    ConstraintRow,
    Finding,
    GuardReport,
)
from ctxcli.reports.identifiers import STATED, TOUCHED

_MOST = 16
"""Findings that one comparison shows; of several recorded in one transcript they share them."""
_FEWEST = 4
_WORST = {MUTATED: 0, INVENTED: 1, LOST: 2, MOVED: 3, AT_RISK: 4}
_VERDICTS = {LOSS: "LOSS", UNVERIFIABLE: "NOT VERIFIABLE", "pass": "PASS"}


def guard_blocks(report: GuardReport, *, everything: bool = False) -> Iterator[Block]:
    """The blocks of one report."""
    yield Facts(tuple(_head(report)))
    rows = [row for row in report.constraints if row.status != "kept" and (row.fails or everything or not row.required)]
    if rows:
        yield _constraint_grid(rows)
    findings = [one for one in report.findings if one.fails or everything]
    of = report.compaction.of if report.compaction else 1
    shown = findings if everything else most_telling(findings, max(_FEWEST, _MOST // of))
    if shown:
        yield findings_grid(shown)
    rest = len(findings) - len(shown)
    if rest > 0:
        yield Notes("more", (f"{plural(rest, 'finding')} more that fail; --all lists everything",))
    if report.remarks:
        yield Notes("note", report.remarks)


def most_telling(findings: Sequence[Finding], most: int) -> list[Finding]:
    """The first so many in the order of what matters, then grouped by kind again."""
    chosen = sorted(findings, key=_weight)[:most]
    first_of: dict[str, int] = {}
    for at, one in enumerate(chosen):
        first_of.setdefault(one.kind, at)
    return sorted(chosen, key=lambda one: (first_of[one.kind], _weight(one)))


def _weight(one: Finding) -> tuple[bool, int, bool, int, int]:
    """What fails, the worst status, the user's own words, what was used most."""
    return (not one.fails, _WORST[one.status], one.role != "user", -one.uses, one.line or 0)


def _head(report: GuardReport) -> Iterator[tuple[str, ...]]:
    counts = report.counts
    yield tuple(title_of(report))
    yield (_VERDICTS[report.verdict], *what_happened(report))
    sources = [
        f"{number(row.held)} of {number(row.found)} {name}" for name, row in report.by_source.items() if row.found
    ]
    if report.verdict != UNVERIFIABLE and sources:
        yield (f"all identifiers held: {sources[0]}", *sources[1:])
    if report.hindsight and report.hindsight.used:
        later, held = report.hindsight.used, report.hindsight.held
        said = f"{number(held)} of {plural(later, 'identifier')} used later held ({percent(report.hindsight.recall)})"
        yield (f"hindsight: {said}", *_rounds(report))
    extra = [
        f"{number(getattr(counts, name))} {name}" for name in ("waived", "baselined", "masked") if getattr(counts, name)
    ]
    if counts.required:
        extra.insert(0, f"carrying all that is required takes {about(report.tokens_to_carry)} tokens")
    if extra:
        yield tuple(extra)


def title_of(report: GuardReport) -> Iterator[str]:
    """What is compared with what."""
    before = report.before
    if report.compaction is None:
        yield before.path
        yield f"against {report.after.path}"
        if before.conversation:
            yield f"conversation {before.conversation}"
        return
    one = report.compaction
    yield f"{before.path}, compaction {one.n} of {one.of}"
    yield f"line {number(one.line)}"
    yield " ".join(filter(None, (one.kind, f"({one.trigger})" if one.trigger else "")))
    if one.tokens_before:
        yield f"{number(one.tokens_before)} tokens before"


def what_happened(report: GuardReport) -> Iterator[str]:
    """The counts of what is required, and what became of the boundaries."""
    counts = report.counts
    if report.verdict == UNVERIFIABLE:
        yield f"{plural(counts.required, 'required identifier')}, and none can be checked: the note says why"
        return
    yield f"{number(counts.held)} of {plural(counts.required, 'required identifier')} held"
    for name, word in (
        ("at_risk", "of them at risk"),
        ("noted", "of them in the notes"),
        ("moved", "moved"),
        ("lost", "lost"),
    ):
        if getattr(counts, name):
            yield f"{number(getattr(counts, name))} {word}"
    for name in (MUTATED, INVENTED):
        failing = sum(one.fails for one in report.findings if one.status == name)
        if failing:
            yield f"{number(failing)} {name}"
    if report.constraints:
        yield _boundaries(report.constraints)


def _boundaries(rows: Sequence[ConstraintRow]) -> str:
    """`2 of 4 boundaries lost or weakened`, and how many of those fail where not all do."""
    many = plural(len(rows), "boundary", "boundaries")
    bad, failing = sum(row.status in (LOST, WEAKENED) for row in rows), sum(row.fails for row in rows)
    if not bad:
        return f"{many} set, none known to be lost"
    return f"{number(bad)} of {many} lost or weakened" + ("" if failing == bad else f", {number(failing)} of them fail")


def _rounds(report: GuardReport) -> Iterator[str]:
    """What is still held of what was required first before each earlier compaction."""
    earlier = [row for row in report.rounds if row.required and report.compaction and row.n < report.compaction.n]
    if earlier:
        said = ", ".join(
            f"{number(row.held)} of {number(row.required)} from before compaction {row.n}" for row in earlier
        )
        yield f"still held: {said}"


def findings_grid(findings: Sequence[Finding]) -> Grid:
    """The findings as a table."""
    columns = (
        Column("status"), Column("kind"), Column("identifier", long=True), Column("line", right=True),
        Column("uses", right=True, spare=True), Column("from", spare=True), Column("now", long=True),
    )  # fmt: skip
    return Grid(columns, tuple(_row(one) for one in findings))


def _row(one: Finding) -> tuple[str, ...]:
    status = one.status.replace("_", " ")
    return status, one.kind, one.value, number(one.line), number(one.uses), _origin(one), now(one)


def _origin(one: Finding) -> str:
    """Who said it: the user, the assistant, a tool call, a tool result, or only AFTER."""
    if one.source is None:
        return "AFTER"
    if one.source == STATED:
        return one.role or one.source
    return "tool call" if one.source == TOUCHED else f"{one.role or 'text'}, seen"


def now(one: Finding) -> str:
    """What stands in AFTER instead, or why the finding does not fail."""
    if one.waived:
        return f"waived: {one.waived}"
    if one.baselined:
        return "in the baseline"
    if one.status == INVENTED:
        return f"BEFORE has {one.nearest}" if one.nearest else one.why or "nothing like it in BEFORE"
    if one.nearest:
        return one.nearest
    if one.status == AT_RISK:
        return "in the kept messages only"
    return "nothing" if one.required else one.why or "nothing"


def _constraint_grid(rows: Sequence[ConstraintRow]) -> Grid:
    columns = (Column("status"), Column("boundary", prose=True), Column("line", right=True), Column("now", prose=True))
    ordered = sorted(rows, key=lambda row: not row.fails)
    return Grid(columns, tuple((_fate(row), row.text, number(row.line), _instead(row)) for row in ordered))


def _fate(row: ConstraintRow) -> str:
    return f"weakened: {row.why.partition(';')[0]}" if row.status == WEAKENED else row.status


def _instead(row: ConstraintRow) -> str:
    if row.waived:
        return f"waived: {row.waived}"
    if row.baselined:
        return "in the baseline"
    why = row.why.partition("; ")[2]
    return f"{row.stands or 'nothing'} ({why})" if why and not row.fails else row.stands or "nothing"
