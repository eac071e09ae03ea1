"""A comparison's outcomes as findings."""

from ctxcli.guard.baseline import fingerprint
from ctxcli.guard.compare import Comparison
from ctxcli.guard.forms import Key, normal
from ctxcli.guard.strangers import Stranger
from ctxcli.identifiers.secrets import shown
from ctxcli.reports.guard import INVENTED, KEPT, LOST, MOVED, MUTATED, NOTED, Finding
from ctxcli.rules import RULES

RULE_OF = {rule.title.replace("-", "_"): rule.name for rule in RULES.values()}
"""Rule ids by status."""


def findings_of(comparison: Comparison) -> dict[Key, Finding]:
    """Every identifier of BEFORE that is not where it should be."""
    return {
        key: _finding(comparison, key, status)
        for key, status in comparison.status.items()
        if status not in (KEPT, NOTED)
    }


def inventions_of(comparison: Comparison) -> list[Finding]:
    """Every identifier of AFTER that should not be there."""
    return [_invention(comparison, stranger, like) for stranger, like in comparison.invented]


def _finding(comparison: Comparison, key: Key, status: str) -> Finding:
    one, policy, secrets = comparison.known[key], comparison.policy, comparison.secrets
    required = key in comparison.required.keys
    nearest = comparison.nearest.get(key)
    wrong = status == MUTATED
    waiver = policy.waiver_for(one.kind, one.value) if required and not wrong else None
    digest = fingerprint(RULE_OF[status], one.kind, f"{one.form}\0{nearest}" if wrong else one.form)
    known = required and digest in policy.baseline
    bad = wrong or status == LOST or (status == MOVED and policy.strict)
    return Finding(
        rule=RULE_OF[status], status=status, kind=one.kind, value=shown(one.value, secrets), required=required,
        fails=required and bad and not waiver and not known, source=one.source, role=one.role,
        line=one.line, first_line=one.first_line, last_line=one.last_line, uses=one.uses,
        nearest=shown(nearest, secrets) if nearest else None, masked=one.secret,
        waived=waiver.reason if waiver else None, baselined=known,
        why=comparison.required.keys.get(key) or comparison.required.excused.get(key), fingerprint=digest,
    )  # fmt: skip


def _invention(comparison: Comparison, stranger: Stranger, like: str | None) -> Finding:
    policy, secrets, kind = comparison.policy, comparison.secrets, stranger.kind or ""
    sure, due = comparison.before.is_whole, policy.asks_for_anything
    waiver = policy.waiver_for(kind, stranger.value)
    digest = fingerprint(RULE_OF[INVENTED], kind, normal(kind, stranger.value, comparison.before.folders))
    known = digest in policy.baseline
    return Finding(
        rule=RULE_OF[INVENTED], status=INVENTED, kind=kind, value=shown(stranger.value, secrets), required=sure and due,
        fails=sure and due and not waiver and not known, source=None, role=None,
        line=stranger.line, first_line=stranger.line, last_line=stranger.line, uses=1,
        nearest=shown(like, secrets) if like else None, masked=False,
        waived=waiver.reason if waiver else None, baselined=known,
        why=None if sure else "the file does not hold the whole context before, so it may have stood there",
        fingerprint=digest,
    )  # fmt: skip
