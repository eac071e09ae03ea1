"""What always holds: nothing is lost between a context and itself, and nothing required goes unseen."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.guard import Policy, guard, guard_recorded
from guard_support import WEIGH, compare, finding, status
from support import chat, fixture_files, name_of, needs_shared, plain_text, read, shared_files

SHARED_FILES = shared_files("claude-code", "codex", "openai-chat", "mini-swe-agent")
FILES = [*fixture_files(), *(path for path in SHARED_FILES if path.stat().st_size < 1_500_000)]  # larger ones take long
IDENTIFIERS = {
    "path": "src/auth/login.ts",
    "absolute path": "/srv/shop/config/routes.yaml",
    "url": "https://git.example.com/shop/issues/42",
    "uuid": "28c304f6-3c5f-4539-af1d-07ae450e639d",
    "hash": "9f3c2ab81d",
    "version": "3.11.4",
    "package": "stripe==7.4.0",
    "ticket": "PAY-1432",
    "number": "#4512",
    "email": "ana.lima@shop.example",
    "id": "RF-2026-00817",
    "error": "ECONNREFUSED",
}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_context_compared_with_itself_is_clean(path) -> None:
    for transcript in read(path)[:5]:
        report = guard(transcript, transcript, Policy(strict=True), WEIGH)
        assert report.verdict == "pass"
        assert not report.findings
        assert not [row for row in report.constraints if row.status != "kept"]
        assert report.counts.kept == report.counts.required


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_counts_add_up(path) -> None:
    for transcript in read(path)[:3]:
        for report in guard_recorded(transcript, Policy(), WEIGH):
            for counts in (report.counts, *report.by_kind.values()):
                parts = ("kept", "at_risk", "noted", "moved", "lost", "mutated", "waived", "baselined")
                if report.verdict != "unverifiable":
                    assert sum(getattr(counts, name) for name in parts) == counts.required
            assert report.counts.found == sum(row.found for row in report.by_source.values())
            assert sum(one.fails for one in report.findings) <= report.counts.required + report.counts.invented


def told(values: list[str]) -> str:
    return "\n".join(f"- use {value} here" for value in values)


@given(st.lists(st.sampled_from(sorted(IDENTIFIERS.values())), min_size=1, unique=True), st.data())
def test_removing_any_one_required_identifier_fails_and_names_it(values: list[str], data: st.DataObject) -> None:
    gone = data.draw(st.sampled_from(values))
    before = chat(("user", told(values)), ("assistant", "I will."))
    assert compare(before, told(values)).verdict == "pass"
    report = compare(before, "So far so good.\n" + told([value for value in values if value != gone]))
    assert report.verdict == "loss"
    assert [one.value for one in report.findings if one.fails] == [gone]


@needs_shared
@pytest.mark.parametrize("name", ["few-long-lines.jsonl", "image.jsonl"])
def test_removing_any_one_required_identifier_of_a_real_session_names_it(name: str) -> None:
    (transcript, *_) = [read(path)[0] for path in shared_files("claude-code") if path.name == name]
    whole = guard(transcript, plain_text("nothing"), Policy(), WEIGH)
    values = [one.value for one in whole.findings if one.required]
    assert len(values) > 8
    for gone in values[:: max(1, len(values) // 8)]:
        rest = [value for value in values if gone not in value]
        report = guard(transcript, plain_text("\n".join(rest)), Policy(), WEIGH)
        found = finding(report, gone)
        assert found is not None
        assert found.required
        assert found.fails or found.status == "moved", gone


VARIATIONS = {
    "ticks": lambda value: f"`{value}`",
    "bold": lambda value: f"**{value}**",
    "full stop": lambda value: f"It was {value}.",
    "comma": lambda value: f"{value}, and more",
    "quotes": lambda value: f'“{value}” or "{value}"',
    "brackets": lambda value: f"({value})",
    "link": lambda value: f"[here]({value})",
    "angle": lambda value: f"<{value}>",
    "table": lambda value: f"| a | {value} | b |",
    "JSON": lambda value: '{"what": "' + value.replace("/", "\\/") + '\\nnext"}',
    "NFD": lambda value: unicodedata.normalize("NFD", value),
    "wrapped": lambda value: f"  {value[: len(value) // 2]}\n  {value[len(value) // 2 :]}",
    "bullet": lambda value: f"* {value}\n* more",
}


@pytest.mark.parametrize("value", [*IDENTIFIERS.values(), "src/prüfung/über.py"])
@pytest.mark.parametrize("how", VARIATIONS)
def test_normal_ways_of_writing_are_no_loss(how: str, value: str) -> None:
    if how == "wrapped" and len(value) < 8:
        pytest.skip("too short for anybody to wrap it")
    report = compare(chat(("user", told([value]))), VARIATIONS[how](value))
    assert report.verdict == "pass", report.findings
    assert report.counts.kept == report.counts.required == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("src/auth/login.ts", "./src/auth/login.ts"),
        ("src/auth/login.ts", "src\\auth\\login.ts"),
        ("src/auth/", "src/auth"),
        (r"C:\work\shop\main.py", "c:/work/shop/main.py"),
        ("9f3c2ab81d", "9F3C2AB81D"),
        ("28c304f6-3c5f-4539-af1d-07ae450e639d", "28C304F6-3C5F-4539-AF1D-07AE450E639D"),
        ("https://Git.Example.com/a/b/", "https://git.example.com/a/b"),
        ("see @src/auth/login.ts please", "src/auth/login.ts"),
    ],
)
def test_what_is_normalised(before: str, after: str) -> None:
    assert compare(chat(("user", f"use {before} here")), f"used {after} there").verdict == "pass"


def test_the_working_folder_in_front_is_normalised_both_ways() -> None:
    here = ("/home/ana/shop",)
    for one, other in (("/home/ana/shop/src/a.py", "src/a.py"), ("src/a.py", "/home/ana/shop/src/a.py")):
        assert compare(chat(("user", f"open {one} now"), folders=here), f"- {other}").verdict == "pass"


def swap_digit(value: str) -> str:
    at = max(place for place, sign in enumerate(value) if sign.isdigit())
    return f"{value[:at]}{(int(value[at]) + 3) % 10}{value[at + 1 :]}"


MUTATIONS = {
    "digit swapped": (lambda value: swap_digit(value) if re.search(r"\d", value) else None, "mutated"),
    "cut short": (lambda value: value[:-1], "mutated"),
    "longer": (lambda value: value + "7", "mutated"),
    "dropped": (lambda _: "nothing", "lost"),
    "file name": (lambda value: value.rsplit("/", 1)[-1] if re.search(r"/\w+\.\w+$", value) else None, "moved"),
}


@pytest.mark.parametrize("kind", IDENTIFIERS)
@pytest.mark.parametrize("how", MUTATIONS)
def test_slips_are_caught_with_the_right_status(how: str, kind: str) -> None:
    change, expected = MUTATIONS[how]
    value = IDENTIFIERS[kind]
    changed = change(value)
    if changed is None:
        pytest.skip("does not apply to this kind")
    report = compare(chat(("user", told([value]))), f"- use {changed} here")
    assert status(report, value) == expected, report.findings
    assert report.verdict == ("pass" if expected == "moved" else "loss")
    assert compare(chat(("user", told([value]))), f"- use {changed} here", strict=True).verdict == "loss"
