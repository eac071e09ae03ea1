"""`ctx simulate`: its arithmetic, the laws of a replay, its document and its command."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from ctxcli.audit import audit
from ctxcli.budget import Limits
from ctxcli.caching import Compacted, break_even
from ctxcli.contract import problems
from ctxcli.errors import SettingError
from ctxcli.guard import Policy as GuardPolicy
from ctxcli.guard.run import guard_recorded
from ctxcli.model import Call, Message, Part, PartKind, Role, Transcript, Usage
from ctxcli.prices import Prices, rates_of
from ctxcli.renderers.json import dump
from ctxcli.reports.calls import Cache
from ctxcli.reports.simulate import SimulateReport
from ctxcli.simulate import Policy, Settings, simulate
from ctxcli.strategies import STRATEGIES
from ctxcli.tokens import counter
from support import FIXTURES, ctx, formats_of, read, shared_files

SESSION = FIXTURES / "claude-code" / "session.jsonl"


def long_session(turns: int = 12) -> Transcript:
    """Reads of files, one a call, each with a measured context: 1,500 tokens that stand in no file, then about 900 a turn."""
    messages = [
        Message(
            Role.USER,
            (Part(PartKind.TEXT, "Find where the port 8443 is set, never touch /etc.", line=1),),
            line=1,
            id="u",
        )
    ]
    calls, sent = [], 1_500
    for turn in range(turns):
        sent += 900
        path = f"/srv/app/part{turn}.py"
        asked = Part(PartKind.TOOL_CALL, json.dumps({"path": path}), name="Read", ref=f"t{turn}", address=path)
        body = " ".join(f"value{turn}_{word} = {word * 37 + turn}" for word in range(90))
        time = f"2026-11-30T09:{turn:02d}:00+00:00"
        calls.append(
            Call(
                len(messages),
                line=len(messages) + 1,
                time=time,
                model="claude-sonnet-4-5",
                usage=Usage(sent, 10, sent - 10, 0, 40),
            )
        )
        messages.append(Message(Role.ASSISTANT, (asked,), line=len(messages) + 1, time=time))
        messages.append(
            Message(
                Role.TOOL,
                (Part(PartKind.TOOL_RESULT, body, name="Read", ref=f"t{turn}", address=path),),
                line=len(messages) + 1,
            )
        )
    return Transcript(
        "claude-code", provider="anthropic", messages=tuple(messages), calls=tuple(calls), path="long.jsonl"
    )


def run(transcript: Transcript, *policies: Policy, window: int = 8_000) -> SimulateReport:
    return simulate(transcript, Settings(policies, Limits(window, reserve_output=1_000)))


# -- the arithmetic


def test_the_formula_of_break_even() -> None:
    sizes = Compacted(167_000, 30_000, 10_000, 4_000)
    assert round(break_even(sizes).calls or 0, 1) == 3.4
    assert round(break_even(sizes, warm=False).calls or 0, 1) == 14.3
    bare = break_even(sizes, cached=False)
    assert bare.saving == 137_000
    assert bare.at_once


def test_what_gets_no_smaller_never_pays() -> None:
    assert break_even(Compacted(30_000, 30_000, 10_000, 0)).calls is None
    assert not break_even(Compacted(30_000, 31_000, 10_000, 0)).at_once


# -- the laws


@pytest.mark.parametrize("path", [SESSION, *shared_files("claude-code")], ids=lambda path: path.name)
def test_the_recorded_policy_reproduces_the_recorded_run(path: Path) -> None:
    for transcript in read(path):
        found = simulate(transcript)
        recorded, agreed = found.policies[0], found.agreement
        calls = [call for call in audit(transcript).calls if call.lane == "main"]
        assert [call.n for call in recorded.calls] == [call.n for call in calls]
        assert agreed is not None
        assert agreed.context is not None and agreed.context <= 0.1  # noqa: PT018
        assert agreed.cache_read is not None and agreed.cache_read <= 0.1  # noqa: PT018
        assert agreed.context_beyond == 0
        assert agreed.cache_beyond <= 0.05 * agreed.cache_calls
        assert recorded.measured is not None
        assert recorded.measured.sent == sum(call.context.size for call in calls)


def test_cache_and_context_add_up() -> None:
    for policy in run(long_session(), Policy("contract"), Policy("drop-oldest")).policies:
        for call in policy.calls:
            assert call.cache is not None
            assert call.cache.read + call.cache.write + call.cache.uncached == call.context
            assert call.cache.read <= ((call.prefix or 0) if call.n > 1 else call.context) <= call.context


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "semantic"])
def test_a_policy_never_sends_more_than_none_and_stays_within_the_window(strategy: str) -> None:
    found = run(long_session(), Policy(strategy, name=strategy))
    none, own = found.policies[1], found.policies[2]
    assert all(one.context <= other.context for one, other in zip(own.calls, none.calls, strict=True))
    assert own.compactions
    if all(row.done for row in own.compactions):
        assert own.totals.over == 0
    assert none.totals.over


def test_a_policy_that_never_fires_is_none() -> None:
    none, own = run(long_session(), Policy("contract", trigger=1_000_000)).policies[1:]
    assert own.calls == none.calls


def test_what_cannot_reach_its_trigger_loops_and_gives_up() -> None:
    own = run(long_session(), Policy("contract", trigger=1_600)).policies[2]
    assert own.loops
    assert own.gave_up is not None


def test_later_passes_go_on_from_raw_turns() -> None:
    own = run(long_session(30), Policy("rolling", trigger=0.5)).policies[2]
    assert len(own.compactions) >= 2
    assert all((row.after or 0) < (row.before or 0) for row in own.compactions)


def test_the_input_is_unchanged_and_the_same_input_gives_the_same_bytes() -> None:
    one, other = (dump(run(long_session(), Policy("contract"))) for _ in range(2))
    assert one == other


def test_a_share_of_an_unknown_window_is_refused() -> None:
    unknown = replace(long_session(), calls=tuple(replace(call, model="house-model") for call in long_session().calls))
    with pytest.raises(SettingError, match="max-context"):
        simulate(unknown, Settings((Policy("contract", name="contract"),)))


def test_hindsight_of_the_recorded_compactions_is_that_of_the_guard() -> None:
    for path in [SESSION, *shared_files("claude-code")[:2]]:
        for transcript in read(path):
            said = [one.hindsight for one in guard_recorded(transcript, GuardPolicy(), counter("heuristic"))]
            assert [row.hindsight for row in simulate(transcript).policies[0].compactions] == said


def test_hindsight_says_what_a_policy_lost() -> None:
    base = long_session()
    asked = Message(
        Role.USER, (Part(PartKind.TEXT, "Now change /srv/app/part1.py and keep port 8443.", line=99),), line=99
    )
    answer = Message(Role.ASSISTANT, (Part(PartKind.TEXT, "/srv/app/part1.py is changed.", line=100),), line=100)
    longer = replace(base, messages=(*base.messages, asked, answer))
    found = run(longer, Policy("contract", name="contract"), Policy("drop-oldest", name="drop"))
    kept, dropped = found.policies[2], found.policies[3]
    assert kept.hindsight == 1
    assert dropped.hindsight is not None
    assert dropped.hindsight < 1


# -- the cache


def test_a_pause_longer_than_the_time_to_live_misses() -> None:
    base = long_session()
    late = tuple(
        replace(call, time=f"2026-11-30T10:{30 * (at > 5):02d}:00+00:00") for at, call in enumerate(base.calls)
    )
    for ttl, read_at_the_pause in ((300, 0), (3_600, 1)):
        calls = simulate(replace(base, calls=late), Settings(ttl=ttl)).policies[0].calls
        assert calls[6].cache is not None
        assert bool(calls[6].cache.read) == bool(read_at_the_pause)
        assert ("idle" in calls[6].miss) is (ttl == 300)


def test_without_times_the_cache_is_warm_and_that_is_said() -> None:
    base = long_session()
    found = simulate(replace(base, calls=tuple(replace(call, time="") for call in base.calls)))
    assert not any("idle" in call.miss for call in found.policies[0].calls)
    assert found.timed == 0
    assert any("warm" in note for note in found.notes)


def with_a_jump(at: int, tokens: int) -> Transcript:
    """From a call on so many more tokens are measured, and no message tells of them."""
    base = long_session()
    calls = [
        replace(call, usage=Usage(sent := (call.usage.prompt or 0) + (tokens if number >= at else 0), 10, sent - 10, 0, 40))
        for number, call in enumerate(base.calls, 1) if call.usage
    ]  # fmt: skip
    return replace(base, calls=tuple(calls))


def test_what_changes_without_a_record_is_told_by_the_provider_under_every_policy() -> None:
    found = run(with_a_jump(6, 9_000), Policy("contract", trigger=1_000_000))
    agreed = found.agreement
    assert agreed is not None
    assert (agreed.context_beyond, agreed.told) == (0, 2)
    for policy in found.policies:
        sizes = [call.context for call in policy.calls]
        assert sizes[5] - sizes[4] > 9_000
        assert all(after - before < 2_000 for before, after in pairwise(sizes[5:]))
    assert any("at call 6" in note for note in found.notes)
    assert run(with_a_jump(6, 3_000)).agreement.told == 1  # type: ignore[union-attr]


def test_what_goes_later_without_a_record_was_no_earlier_turn() -> None:
    base = with_a_jump(1, 20_000)
    fewer = with_a_jump(1, 5_000)
    calls = (*base.calls[:7], *fewer.calls[7:])
    found = run(replace(base, calls=calls), Policy("drop-oldest", trigger=24_000, target=0.5), window=60_000)
    own = found.policies[2]
    assert own.compactions
    assert own.compactions[0].call is not None
    assert own.compactions[0].call < 7
    assert all(call.context > 20_000 for call in own.calls[:7])
    assert all(call.context < 20_000 for call in own.calls[7:])
    assert not any("earlier turns" in note for note in found.notes)


def test_how_long_the_cache_lives_is_told_by_what_was_read_after_a_pause() -> None:
    base = long_session()
    late = tuple(
        replace(call, time=f"2026-11-30T10:{20 * (at > 5) + at:02d}:00+00:00") for at, call in enumerate(base.calls)
    )
    read = simulate(replace(base, calls=late)).rules[0]
    assert (read.ttl, read.ttl_origin) == (3_600, "measured")
    lost = [
        replace(call, usage=Usage((call.usage or Usage()).prompt, 10, 0, 900, 40)) if at == 6 else call
        for at, call in enumerate(late)
    ]
    gone = simulate(replace(base, calls=tuple(lost))).rules[0]
    assert (gone.ttl, gone.ttl_origin) == (300, "measured")
    said = simulate(replace(base, calls=late), Settings(ttl=300)).rules[0]
    assert (said.ttl, said.ttl_origin) == (300, "flag")


# -- prices


def test_own_prices_are_used_and_an_unknown_model_has_no_cost() -> None:
    rates = rates_of({"claude-sonnet-4-5": {"input": 10, "output": 0, "cache_read": 0, "cache_write": 0}}, "p.toml")
    free = simulate(long_session(), Settings(prices=Prices(rates, "p.toml"))).policies[1].totals
    assert free.cost == 0
    base = long_session()
    other = replace(base, calls=tuple(replace(call, model="house-model") for call in base.calls))
    prices = Prices()
    found = simulate(other, Settings(prices=prices))
    assert found.policies[0].totals.cost is None
    assert any("house-model" in note for note in found.notes)
    assert not any("house-model" in note for note in simulate(base, Settings(prices=prices)).notes)


def test_what_is_written_for_an_hour_costs_more() -> None:
    prices = Prices(rates_of({"m": {"input": 10, "output": 0}}, "p.toml"))
    assert prices.paid("m", Cache(0, 1_000_000, 0, 400_000), 0) == pytest.approx(0.6 * 12.5 + 0.4 * 20)
    dear = Prices(rates_of({"m": {"input": 10, "output": 0, "cache_write_1h": 30}}, "p.toml"))
    assert dear.paid("m", Cache(0, 1_000_000, 0, 400_000), 0) == pytest.approx(0.6 * 12.5 + 0.4 * 30)
    base = long_session()
    hourly = replace(base, calls=tuple(_kept_an_hour(call) for call in base.calls))
    found = simulate(hourly, Settings(prices=prices))
    assert (found.rules[0].ttl, found.rules[0].write) == (3_600, 2.0)
    assert all(one.totals.cache.write_1h == one.totals.cache.write for one in found.policies if one.totals.cache)
    short = replace(base, calls=tuple(_kept_an_hour(call, 0) for call in base.calls))
    assert simulate(short, Settings(prices=prices)).rules[0].ttl_origin == "measured"


def _kept_an_hour(call: Call, share: int = 1) -> Call:
    usage = replace(call.usage or Usage(), uncached=0, cache_write=10)
    return replace(call, usage=replace(usage, cache_write_1h=10 * share))


def test_without_the_library_there_is_no_cost_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxcli.prices.LIBRARY", "no-such-library")
    found = simulate(long_session(), Settings(prices=Prices()))
    assert found.prices is None
    assert found.policies[0].totals.cost is None
    assert any("[prices]" in note for note in found.notes)


@pytest.mark.parametrize("row", [{"input": 1}, {"input": "1", "output": 2}, {"input": 1, "output": 2, "cash": 3}, 4])
def test_a_table_that_is_no_price_list_is_refused(row: object) -> None:
    with pytest.raises(SettingError, match=r"p\.toml"):
        rates_of({"m": row}, "p.toml")


# -- the command


def test_the_document_keeps_to_its_schema() -> None:
    done = ctx(
        "simulate", SESSION, "--json", "--policy", "contract:trigger=20k:target=30%:keep-last=4", "--explain", 12
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert problems("simulate", document) == []
    assert [one["kind"] for one in document["policies"]] == ["recorded", "none", "strategy"]
    assert any("Compaction: extra" in line for line in document["explained"])


@pytest.mark.parametrize("name", formats_of("simulate"))
def test_every_format_is_drawn(name: str) -> None:
    done = ctx("simulate", SESSION, "--format", name, "--all")
    assert done.returncode == 0, done.stderr
    assert b"recorded" in done.stdout


@pytest.mark.parametrize(
    "flags",
    [
        ["--policy", "nonesuch"], ["--policy", "contract:trigger"], ["--policy", "contract:trigger=0%"],
        ["--policy", "contract:speed=9"], ["--policy", "contract:target=1k:target=2k"], ["--ttl", "2h"],
        ["--explain", "0"], ["--explain", "9999"], ["--prices", "nonesuch.toml"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_bad_flags_exit_2(flags: list[str]) -> None:
    done = ctx("simulate", SESSION, *flags)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_prices_from_a_file(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(
        '["claude-opus-4-5-20251101"]\ninput = 5\noutput = 25\n["claude-haiku-4-5-20251001"]\ninput = 1\noutput = 5\n'
    )
    done = ctx("simulate", SESSION, "--prices", prices, "--json")
    document = json.loads(done.stdout)
    assert document["prices"]["origin"] == str(prices)
    assert document["policies"][0]["totals"]["cost"] > 0
