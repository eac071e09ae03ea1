"""What is required, and what excuses: sources, kinds, globs, shares, waivers, baselines, notes."""

from dataclasses import replace
from datetime import date

import pytest

from ctxcli.guard import Policy, Waiver, guard
from ctxcli.guard.baseline import baseline_of
from guard_support import WEIGH, compare, finding
from support import chat, plain_text, tool_call, tool_result

BEFORE = chat(
    ("user", "Fix PAY-7 and PAY-8. Never push to main."),
    tool_call("read", '{"path": "lib/tax.py"}', address="lib/tax.py"),
    tool_result("see lib/vat.py and WRONG_RATE"),
    ("assistant", "Read it with --strict."),
)
BOUNDARY = "\nNever push to main."


def failing(after: str, **policy: object) -> set[str]:
    return {one.value for one in compare(BEFORE, after + BOUNDARY, **policy).findings if one.fails}


def test_sources_kinds_and_globs() -> None:
    assert failing("") == {"PAY-7", "PAY-8", "lib/tax.py"}
    assert failing("", sources={"stated"}) == {"PAY-7", "PAY-8"}
    assert failing("", sources={"seen"}) == {"lib/vat.py"}
    assert failing("", kinds={"flag"}) == {"--strict"}
    assert failing("", ignore=("PAY-*",)) == {"lib/tax.py"}
    assert failing("", sources=frozenset(), always=("*vat*",)) == {"lib/vat.py"}
    assert failing("", everything=True) >= {"PAY-7", "lib/tax.py", "lib/vat.py", "--strict"}


def test_a_share_that_suffices() -> None:
    kept_two = "PAY-7 PAY-8"
    assert not failing(kept_two, min_kept={None: 0.6})
    assert failing(kept_two, min_kept={None: 0.7}) == {"lib/tax.py"}
    assert failing("PAY-7 lib/tax.py", min_kept={"ticket": 0.5}) == set()
    assert failing("PAY-7", min_kept={"ticket": 0.5}) == {"lib/tax.py"}


def test_a_share_never_excuses_what_is_wrong() -> None:
    assert failing("PAY-7 PAY-88 lib/tax.py", min_kept={None: 0.1}) == {"PAY-8"}


def test_a_waiver_needs_its_last_day_not_to_have_passed() -> None:
    waiver = Waiver("PAY-*", "closed", "ticket", date(2026, 3, 1))
    report = compare(BEFORE, "lib/tax.py" + BOUNDARY, waivers=(waiver,), today=date(2026, 3, 1))
    assert report.verdict == "pass"
    assert report.counts.waived == 2
    assert finding(report, "PAY-7").waived == "closed"
    late = compare(BEFORE, "lib/tax.py" + BOUNDARY, waivers=(waiver,), today=date(2026, 3, 2))
    assert late.verdict == "loss"
    assert any("ended on 2026-03-01" in remark for remark in late.remarks)


def test_a_boundary_can_be_waived() -> None:
    waiver = Waiver("Never push*", "the branch is protected", "constraint")
    report = compare(BEFORE, "PAY-7 PAY-8 lib/tax.py", waivers=(waiver,))
    assert report.verdict == "pass"
    assert report.constraints[0].waived == "the branch is protected"


def test_a_baseline_knows_findings_without_their_values() -> None:
    first = compare(BEFORE, "lib/tax.py")
    document = baseline_of([first])
    assert len(document.findings) == 3
    assert "PAY" not in str(document)
    known = frozenset(entry.fingerprint for entry in document.findings)
    again = compare(BEFORE, "lib/tax.py", baseline=known)
    assert again.verdict == "pass"
    assert again.counts.baselined == 2
    worse = compare(BEFORE, "PAY-77 lib/tax.py", baseline=known)
    assert {one.value for one in worse.findings if one.fails} == {"PAY-7"}  # lost was known, mutated is worse


def test_notes_count_where_the_context_names_them() -> None:
    notes = replace(plain_text("- PAY-7\n- PAY-8\n\n- lib/tax.py\n"), path="work/notes.md")
    named = guard(BEFORE, plain_text("The rest is in work/notes.md" + BOUNDARY), Policy(), WEIGH, notes=notes)
    assert named.verdict == "pass"
    assert (named.counts.noted, named.notes.entries, named.notes.named) == (3, 3, True)
    unnamed = guard(BEFORE, plain_text("Go on" + BOUNDARY), Policy(), WEIGH, notes=notes)
    assert unnamed.verdict == "loss"
    assert any("does not name the notes file" in remark for remark in unnamed.remarks)


def test_what_carrying_everything_costs_is_said() -> None:
    report = compare(BEFORE, "nothing")
    assert report.tokens_to_carry == WEIGH.count(["PAY-7\nPAY-8\nlib/tax.py"])[0]


@pytest.mark.parametrize("strict", [False, True])
def test_strict_makes_moved_fail(strict: bool) -> None:
    assert failing("PAY-7 PAY-8 tax.py", strict=strict) == ({"lib/tax.py"} if strict else set())
