"""`ctx budget`: the note of a context, the shares of a window, its exit codes and its document."""

import json
from dataclasses import replace
from math import ceil
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.audit import audit
from ctxcli.audit.left import Settings, left, shared_out
from ctxcli.budget import Limits
from ctxcli.contract import problems
from ctxcli.errors import SettingError
from ctxcli.model import Call, Event, EventKind, Message, Part, PartKind, Role, Transcript, Usage
from support import FIXTURES, ctx, formats_of, read

SESSION = FIXTURES / "claude-code" / "session.jsonl"
AGENTS = FIXTURES / "claude-code" / "with-agents.jsonl"


def session(sizes: list[int], *, compacted: int | None = None, measured: bool = True) -> Transcript:
    """A question and an answer a call, with these measured contexts; before one call everything is compacted."""
    messages, calls, events = [], [], []
    for n, size in enumerate(sizes, 1):
        if n == compacted:
            events.append(Event(EventKind.SUMMARY, len(messages), drops=tuple(range(len(messages)))))
        messages.append(Message(Role.USER, (Part(PartKind.TEXT, f"question {n}", line=n),), line=n))
        usage = Usage(size, 10, size - 10, 0, 5) if measured else None
        calls.append(Call(len(messages), line=n, model="house-model", usage=usage))
        messages.append(Message(Role.ASSISTANT, (Part(PartKind.TEXT, "answer", line=n),), line=n))
    return Transcript("claude-code", messages=tuple(messages), calls=tuple(calls), events=tuple(events))


WINDOW = Limits(10_000, reserve_output=2_000)


# -- the figures


@settings(max_examples=40)
@given(st.lists(st.integers(1, 2_000), min_size=2, max_size=30), st.integers(1, 12_000))
def test_the_calls_left_are_those_to_the_trigger_at_the_median_growth(grown: list[int], trigger: int) -> None:
    sizes = [sum(grown[: at + 1]) for at in range(len(grown))]
    found = left(session(sizes), Settings(trigger=trigger, limits=WINDOW))
    grows = round(median(grown[1:]))
    assert (found.used, found.basis, found.call, found.last_call) == (sizes[-1], "measured", len(sizes), len(sizes))
    assert found.left == max(0, 8_000 - sizes[-1])
    assert found.growth is not None
    assert (found.growth.tokens, found.growth.calls) == (grows, len(grown) - 1)
    assert found.calls_left == (0 if sizes[-1] > trigger else ceil((trigger + 1 - sizes[-1]) / grows))
    if found.calls_left:
        assert sizes[-1] + grows * (found.calls_left - 1) <= trigger < sizes[-1] + grows * found.calls_left


def test_growth_counts_from_the_last_compaction() -> None:
    sizes = [1_000, 2_000, 3_000, 500, 600, 800]
    found = left(session(sizes, compacted=4), Settings(limits=WINDOW))
    assert found.growth is not None
    assert (found.growth.tokens, found.growth.calls) == (150, 2)
    at_it = left(session(sizes, compacted=4), Settings(at=4, limits=WINDOW))
    assert (at_it.growth and at_it.growth.tokens, at_it.calls_left) == (None, None)
    assert "not known yet" in " ".join(at_it.note)


def test_since_a_compaction_it_is_what_the_next_call_would_send() -> None:
    base = session([5_000, 6_000, 7_000])
    gone = Event(EventKind.SUMMARY, len(base.messages), line=7, drops=tuple(range(5)))
    hidden = 7_000 - audit(base).calls[-1].context.estimated
    found = left(replace(base, events=(gone,)), Settings(limits=WINDOW))
    assert (found.call, found.last_call, found.line, found.basis) == (None, 3, 7, "estimated")
    assert hidden < (found.used or 0) < hidden + 20
    assert found.growth is not None
    assert found.growth.tokens is None
    assert "since the compaction in line 7, estimated" in found.note[0]
    assert left(replace(base, events=(gone,)), Settings(3, limits=WINDOW)).used == 7_000


def test_a_compaction_that_nothing_records_ends_the_growth_too() -> None:
    sizes = [20_000, 30_000, 40_000, 5_000, 5_100, 5_200, 5_300]
    found = left(session(sizes), Settings(limits=WINDOW))
    assert found.growth is not None
    assert (found.growth.tokens, found.growth.calls) == (100, 3)


def test_without_a_measurement_the_text_is_counted_and_that_is_said() -> None:
    found = left(session([0] * 4, measured=False), Settings(limits=WINDOW))
    assert (found.basis, found.growth and found.growth.basis) == ("estimated", "estimated")
    assert "estimated" in found.note[0]
    calls = audit(session([0] * 4, measured=False)).calls
    assert found.used == calls[-1].context.estimated


def test_the_note_agrees_with_the_audit_at_every_call() -> None:
    (transcript,) = read(SESSION)
    for row in audit(transcript).calls:
        found = left(transcript, Settings(at=row.n, lane=row.lane))
        assert (found.used, found.line) == (row.context.size, row.line)
        kept = {one.layer: one.tokens for one in found.layers}
        assert kept["history"] == row.layers.history
        assert kept["retrieved"] == row.layers.retrieved
        assert 3 <= len(found.note) <= 4


def test_a_layer_over_its_quota_is_named() -> None:
    (transcript,) = read(SESSION)
    found = left(transcript, Settings(at=11, limits=Limits(26_000, reserve_output=1_000)))
    over = [one for one in found.layers if one.over]
    assert found.overflow
    assert not found.ok
    assert all((one.tokens or 0) - (one.quota or 0) == one.over for one in over)
    assert over
    assert found.note[-1].startswith("Over its quota: ")


@pytest.mark.parametrize(
    ("flags", "said"),
    [({"at": 999}, "its calls are 1 to 15"), ({"lane": "nobody"}, "--lane NAME"), ({"at": 1, "lane": "a1b2c3"}, "is of lane main")],
)  # fmt: skip
def test_a_call_that_there_is_not(flags: dict[str, object], said: str) -> None:
    (transcript,) = read(SESSION)
    with pytest.raises(SettingError, match=said):
        left(transcript, replace(Settings(), **flags))  # type: ignore[arg-type]


@settings(max_examples=40)
@given(st.integers(10, 10**6), st.integers(0, 10**6))
def test_what_is_shared_out_is_no_more_than_there_is(window: int, fixed: int) -> None:
    found = shared_out(Limits(window), fixed)
    usable = found.window.usable or 0
    shares = sum(one.quota or 0 for one in found.layers)
    assert found.window.reserve_output + usable == window
    assert shares <= max(0, usable - fixed)
    assert found.overflow is (fixed > usable)


# -- the command


def test_the_note_is_all_that_is_printed() -> None:
    done = ctx("budget", SESSION, "--at", 11)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == (
        "Context: 27,586 of 168,000 tokens used (16 %) at call 11, 140,414 left.\n"
        "Next compaction in about 279 calls at this growth, above 126,000 tokens.\n"
        "Growth: 353 tokens a call (median of the last 8 calls).\n"
    )


def test_a_note_for_each_conversation(tmp_path: Path) -> None:
    done = ctx("budget", SESSION, AGENTS)
    text = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert text.count("Context: ") == 2
    assert f"{SESSION}\nContext: " in text


@pytest.mark.parametrize("flags", [(), ("--at", "3"), ("--lane", "a1b2c3")], ids=" ".join)
def test_the_document_keeps_to_its_schema(flags: tuple[str, ...]) -> None:
    document = json.loads(ctx("budget", SESSION, *flags, "--json").stdout)
    assert problems("budget", document) == []


@pytest.mark.parametrize("name", formats_of("budget"))
def test_every_format_is_drawn(name: str) -> None:
    for what in ((SESSION,), ("--max-context", "200k")):
        done = ctx("budget", *what, "--format", name)
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_a_window_alone() -> None:
    document = json.loads(ctx("budget", "--max-context", "200k", "--fixed", "8k", "--json").stdout)
    assert problems("budget", document) == []
    quotas = {one["layer"]: one["quota"] for one in document["layers"]}
    assert (quotas["history"], quotas["retrieved"]) == (64_000, 96_000)


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ((SESSION, "--strict"), 0),
        ((SESSION, "--at", "11", "--max-context", "26k", "--reserve-output", "1k"), 0),
        ((SESSION, "--at", "11", "--max-context", "26k", "--reserve-output", "1k", "--strict"), 1),
        ((SESSION, "--at", "11", "--max-context", "26k", "--reserve-output", "1k", "--strict", "--json"), 1),
        ((FIXTURES / "mini-swe-agent", "--strict"), 3),
        (("--max-context", "100k", "--fixed", "90k", "--strict"), 1),
        (("--max-context", "100k", "--fixed", "90k"), 0),
        ((SESSION, "--at", "999"), 2),
        ((SESSION, "--at", "0"), 2),
        ((SESSION, "--fixed", "1"), 2),
        ((SESSION, "--trigger", "0%"), 2),
        (("--at", "3", "--max-context", "100k"), 2),
        (("--max-context", "100k", "--share", "history=90%", "--share", "retrieved=20%"), 2),
        ((), 2),
        (("nonesuch.jsonl",), 2),
    ],
)
def test_exit_codes(flags: tuple[object, ...], code: int) -> None:
    done = ctx("budget", *flags)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
