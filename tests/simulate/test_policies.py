"""Policies of `ctx simulate` from a TOML list, a window of their own, and sub-agents."""

import json
import tomllib
from pathlib import Path

import pytest

from ctxcli.cli.policies import policies_in
from ctxcli.errors import SettingError
from ctxcli.model import MAIN
from ctxcli.simulate import Settings, simulate
from ctxcli.simulate.lanes import as_main, lanes_with_calls
from support import FIXTURES, ROOT, ctx, read

SESSION = FIXTURES / "claude-code" / "session.jsonl"
AGENTS = FIXTURES / "claude-code" / "with-agents.jsonl"
LIST = """
[[policy]]
name = "early"
strategy = "contract"
trigger = "12%"
target = 0.5

[[policy]]
name = "small"
strategy = "drop-oldest"
window = "40k"
trigger = 0.75
keep-last = 4

[[policy]]
strategy = "clear-tool-results"
trigger = 25_000
"""


def policies(tmp_path: Path, text: str, *flags: str) -> object:
    path = tmp_path / "policies.toml"
    path.write_text(text)
    done = ctx("simulate", SESSION, "--policies", path, "--no-cost", "--json", *flags)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.decode()


def test_a_list_gives_what_the_flags_give(tmp_path: Path) -> None:
    found = policies(tmp_path, LIST)
    flags = ["contract:trigger=12%:target=50%", "drop-oldest:window=40k:trigger=75%:keep-last=4", "clear-tool-results:trigger=25k"]  # fmt: skip
    asked = json.loads(ctx("simulate", SESSION, "--no-cost", "--json", *(word for one in flags for word in ("--policy", one))).stdout)  # fmt: skip
    names = [one.pop("name") for one in found["policies"][2:]]
    assert names == ["early", "small", "clear-tool-results:trigger=25000"]
    assert found["policies"][2:] == [{key: one[key] for key in one if key != "name"} for one in asked["policies"][2:]]


def test_a_window_of_its_own_changes_what_a_share_is_of(tmp_path: Path) -> None:
    early, small = policies(tmp_path, LIST)["policies"][2:4]
    assert (early["window"], early["trigger"]) == (168_000, 20_160)
    assert (small["window"], small["trigger"]) == (30_000, 22_500)
    assert small["totals"]["peak_share"] == round(small["totals"]["peak"] / 30_000, 4)


def test_a_summary_that_a_model_would_write_costs_its_output_and_a_call_that_reads_the_context() -> None:
    flags = [word for more in ("", ":summary=4k") for word in ("--policy", f"contract:trigger=25k{more}")]
    free, paid = json.loads(ctx("simulate", SESSION, *flags, "--no-cost", "--json").stdout)["policies"][2:]
    assert free["calls"] == paid["calls"]
    assert (free["totals"]["summary_output"], free["totals"]["summary_sent"]) == (0, 0)
    done = [one for one in paid["compactions"] if one["done"]]
    assert paid["totals"]["summary_output"] == 4_000 * len(done) > 0
    assert paid["totals"]["summary_sent"] == sum(one["before"] for one in done)
    for one, other in zip((one for one in free["compactions"] if one["done"]), done, strict=True):
        assert other["break_even_calls"] == pytest.approx(
            one["break_even_calls"] + 20_000 / (0.1 * (one["before"] - one["after"])), rel=0.02
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[policy]]\nstrategy = "contract"\nspeed = 9\n', "policy 1: 'speed' is no setting; there are name, strategy"),
        ('[[policy]]\nstrategy = "contract"\n[[policy]]\nname = "x"\n', "policy 2: names no strategy"),
        ('[[policy]]\nstrategy = "trim"\n', "'trim' is no strategy"),
        ('[[policy]]\nstrategy = "contract"\ntrigger = true\n', "trigger: True is neither"),
        ('[[policy]]\nstrategy = "contract"\ntrigger = 1.5\n', "trigger: '1.5' is not between"),
        ('[[policy]]\nstrategy = "contract"\n[[policy]]\nstrategy = "contract"\n', "'contract' stands twice"),
        ('[[policy]]\nstrategy = "contract"\nname = "none"\n', "'none' is that of a base line"),
        ('[[policy]]\nstrategy = "drop-oldest"\nsummary = "4k"\n', "'drop-oldest' writes no summary"),
        ('[policy]\nstrategy = "contract"\n', "holds no list of policies"),
        ('[[policies]]\nstrategy = "contract"\n', "'policies' is nothing that it can hold"),
        ("[[policy]]\nname = \n", "is not valid TOML"),
        ("", "holds no list of policies; write [[policy]] tables"),
    ],
)
def test_a_list_that_is_wrong_says_where(tmp_path: Path, text: str, said: str) -> None:
    found = policies(tmp_path, text)
    assert isinstance(found, str)
    assert "policies.toml" in found
    assert said in found
    assert "Traceback" not in found


def test_two_flags_that_say_the_same_are_refused() -> None:
    done = ctx("simulate", SESSION, "--policy", "contract", "--policy", "contract")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the policy name 'contract' stands twice" in done.stderr


def test_a_window_of_the_settings_file_and_no_cost_are_told_as_such(tmp_path: Path) -> None:
    settings, table = tmp_path / "ctx.toml", tmp_path / "prices.toml"
    settings.write_text('max-context = "90k"\n')
    table.write_text('["claude-opus-4-5-20251101"]\ninput = 5\noutput = 25\n')
    done = ctx("simulate", SESSION, "--config", settings, "--prices", table, "--no-cost", "--json")
    report = json.loads(done.stdout)
    assert (report["window"]["max_context"], report["window"]["origin"], report["prices"]) == (90_000, "config", None)


def test_the_list_that_the_readme_shows_is_one() -> None:
    shown = (ROOT / "README.md").read_text("utf-8").partition("```toml policies.toml\n")[2].partition("```")[0]
    path = FIXTURES / "simulate" / "policies.toml"
    assert shown == path.read_text("utf-8")
    assert [one.name for one in policies_in(tomllib.loads(shown), str(path))] == ["early", "small window"]


# -- sub-agents


def test_a_lane_in_the_place_of_the_main_one_and_back() -> None:
    (transcript,) = read(AGENTS)
    agent = lanes_with_calls(transcript)[1]
    assert lanes_with_calls(transcript)[0] == MAIN
    assert as_main(as_main(transcript, agent), agent) == transcript


def test_lanes_are_listed_apart_and_can_be_replayed() -> None:
    (transcript,) = read(AGENTS)
    main = simulate(transcript)
    agent = lanes_with_calls(transcript)[1]
    other = simulate(transcript, Settings(lane=agent))
    assert [row.lane for row in main.lanes] == [agent]
    assert [row.lane for row in other.lanes] == [MAIN]
    assert main.lanes[0].totals == other.policies[0].measured
    assert other.lanes[0].totals == main.policies[0].measured
    assert {call.n for call in main.policies[0].calls} & {call.n for call in other.policies[0].calls} == set()


def test_a_lane_without_calls_is_refused() -> None:
    (transcript,) = read(SESSION)
    with pytest.raises(SettingError, match="there are main"):
        simulate(transcript, Settings(lane="nobody"))


def test_each_lane_gives_a_report() -> None:
    done = ctx("simulate", AGENTS, "--lane", "all", "--json")
    assert done.returncode == 0, done.stderr
    assert [one["source"]["lane"] for one in json.loads(done.stdout)] == ["main", "ag01"]
