"""`ctx compact --summariser llm`: a real client against a server on the loopback address that plays the provider."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctxcli.cli.main import main
from ctxcli.contract import problems
from provider_support import (
    KEY,
    SILENT,
    Answer,
    Asked,
    Fault,
    Provider,
    Script,
    Scripted,
    calls_a_tool,
    cut_off,
    provider,
    refused,
)
from support import FIXTURES, ctx

SEARCH = FIXTURES / "compaction" / "search-index.json"
GOOD = (FIXTURES / "compaction" / "answer.md").read_text("utf-8").replace("data/catalog.ndjson", "data/catalog.ndjson, tests/search")  # fmt: skip
LOST = GOOD.replace("src/search/schema.sql, ", "")
MIDDLE = ("--strategy", "summarise-middle", "--target", "10%")
LONG = GOOD.replace("- none", "\n".join(f"- step {at} of the work was looked at once more and found well" for at in range(500)))  # fmt: skip


@dataclass
class Done:
    """A run of the command in this process."""

    code: object
    stdout: str
    stderr: str
    server: Provider
    folder: Path

    @property
    def report(self) -> dict[str, dict[str, object]]:
        """The report, held to its schema."""
        found = json.loads(self.stdout)
        assert problems("compact", found) == []
        return found  # type: ignore[no-any-return]

    @property
    def summary(self) -> str:
        """The synthetic message."""
        rows = json.loads((self.folder / "out.json").read_text("utf-8"))["messages"]
        return next(row["content"] for row in rows if "[Compacted by ctx" in (row["content"] or ""))  # type: ignore[no-any-return]


Compact = Callable[..., Done]


def here(*arguments: object) -> object:
    """Run the program in this process, for its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    return ended.value.code or 0


@pytest.fixture
def compact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Compact:
    """Run `ctx compact` on the fixture against a scripted provider; the key may be nowhere afterwards."""
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.setenv("CTX_CACHE_DIR", str(tmp_path / "cache"))

    def run(
        script: Script, *more: object, kind: str = "openai", cached: bool = False, source: Path = SEARCH
    ) -> Done:  # fmt: skip
        with provider(script, kind) as server:
            for name, value in server.env.items():
                monkeypatch.setenv(name, value)
            flags = [one for one in server.flags if not (cached and one == "--no-reply-cache")]
            output = () if "--dry-run" in more else ("-o", folder / "out.json", "--json")
            code = here("compact", source, *output, *MIDDLE, "--summariser", "llm", *flags, *more)
        said = capfd.readouterr()
        files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert KEY not in said.out + said.err
        assert all(KEY.encode() not in data for data in files)
        if code:
            assert not list(folder.iterdir())
            assert said.out == ""
        return Done(code, said.out, said.err, server, folder)

    return run


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_good_answer_stands_in_the_context(compact: Compact, kind: str) -> None:
    done = compact([Answer(GOOD, prompt=6_000, output=300, cache_read=1_024)], kind=kind)
    assert done.code == 0
    used = done.report["summariser"]
    assert (used["name"], used["model"], used["attempts"]) == ("llm", f"{kind}:test-model", 1)
    assert used["usage"] == {
        "calls": 1, "stored": 0, "prompt": 6_000, "cache_read": 1_024, "cache_write": 0, "output": 300,
    }  # fmt: skip
    assert (used["cost"], used["repaired"], used["removed"]) == (None, [], [])
    assert "rejected: a second index | because: the second index would need a migration" in done.summary
    assert "Repaired" not in done.summary
    (asked,) = done.server.requests
    assert "do not cache answers" in asked.text
    assert "tools" not in asked.body


# -- acceptance: an answer that loses identifiers


def test_the_retry_names_exactly_what_was_lost(compact: Compact) -> None:
    done = compact([LOST, GOOD])
    assert done.code == 0
    assert (done.report["summariser"]["attempts"], done.report["summariser"]["repaired"]) == (2, [])
    first, second = done.server.requests
    assert "An earlier answer" not in first.text
    asked = second.text.split("Each has to stand in yours as it is here:\n")[1].split("\n\n")[0]
    assert asked.splitlines() == ["- src/search/schema.sql"]


def test_what_is_lost_again_is_repaired_and_passes_the_guard(compact: Compact) -> None:
    done = compact([LOST])
    assert done.code == 0
    assert len(done.server.requests) == 2
    assert done.report["summariser"]["repaired"] == ["src/search/schema.sql"]
    assert done.report["guard"]["verdict"] == "pass"
    assert "stand here word for word: 1." in done.summary
    assert "- path: src/search/index.py, scripts/rebuild.py, data/catalog.ndjson, tests/search, src/search/schema.sql" in done.summary  # fmt: skip


def test_without_repair_nothing_is_written(compact: Compact) -> None:
    done = compact([LOST], "--no-repair", "--notes", "notes.jsonl")
    assert done.code == 1
    spent, said = done.stderr.split("ctx: the summary leaves these out, or changes them:\n")
    assert said == "  src/search/schema.sql\n"
    assert "openai:test-model: questions sent: 2, tokens sent: 2,000, answered: 200, cost unknown\n" in spent
    assert not Path("notes.jsonl").exists()


# -- whatever else an answer may be


RULE = "No, do not cache answers: stock levels change by the second."


@pytest.mark.parametrize(
    ("old", "new", "repaired", "removed"),
    [
        ("scripts/rebuild.py", "scripts/rebuilt.py", ["scripts/rebuild.py"], ["scripts/rebuilt.py"]),
        ("perf/srch-218", "perf/srch-281", [], ["perf/srch-281"]),
        ("scripts/rebuild.py", "scripts/rebuild.py, scripts/ghost.py", [], ["scripts/ghost.py"]),
        (f"- {RULE}", "- Cache answers as needed: stock levels change by the second.", [RULE], None),
        (f"- {RULE}", f"- {RULE}\n- Never run the test suite on Mondays.", [], ["Never run the test suite on Mondays."]),
        ("## Identifiers", "## Notes", None, []),
    ],
    ids=["mutated path", "mutated branch", "invented path", "weakened boundary", "invented boundary", "no section"],
)  # fmt: skip
def test_what_is_changed_or_made_up_is_put_right(
    compact: Compact, old: str, new: str, repaired: list[str] | None, removed: list[str] | None
) -> None:
    done = compact([GOOD.replace(old, new)])
    assert done.code == 0, done.stderr
    used = done.report["summariser"]
    assert used["attempts"] == 2
    assert repaired is None or used["repaired"] == repaired
    assert removed is None or used["removed"] == removed
    assert done.report["guard"]["verdict"] == "pass"
    assert "rebuilt.py" not in done.summary
    assert "281" not in done.summary
    assert "ghost" not in done.summary
    assert "as needed" not in done.summary
    assert "Mondays" not in done.summary
    assert RULE in done.summary


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(""), "it is empty"),
        (Answer(None), "it is empty"),
        (refused("I cannot sum this up."), "it refuses: I cannot sum this up."),
        (calls_a_tool(), "it calls a tool, though none was offered"),
        (cut_off(GOOD), "it was cut off at the limit of 8,192 tokens (--max-output), or of the window"),
        ("Error: 429 rate limit exceeded", "it has neither the section CONSTRAINTS nor any of the other three"),
    ],
)
def test_what_is_no_summary_is_asked_for_again_and_never_repaired(compact: Compact, answer: Scripted, why: str) -> None:
    """nao#950, langchain#38867: a failed call was stored as a summary, empty or with the error as its text."""
    done = compact([answer])
    assert done.code == 1
    assert done.stderr.endswith(f"ctx: no summary could be had (attempts: 2): {why}\n")
    _, second = done.server.requests
    assert f"An earlier answer could not be used: {why}." in second.text
    assert compact([answer, GOOD]).code == 0


def test_an_answer_longer_than_the_conversation_is_refused(compact: Compact) -> None:
    done = compact([LONG])
    assert done.code == 1
    assert "the summary cannot be repaired: it is longer than what it stands for: the context would grow" in done.stderr
    assert "it is longer than what it stands for" in done.server.requests[1].text
    many = ", ".join(f"src/made/up{at}.py" for at in range(4_000))
    assert "cannot be repaired: it is longer" in compact([GOOD.replace("tests/search", many)]).stderr


def test_attempts_are_as_many_as_said(compact: Compact) -> None:
    assert len(compact([LOST], "--attempts", 1).server.requests) == 1
    assert len(compact([refused(), LOST, GOOD], "--attempts", 4).server.requests) == 3


# -- faults


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Fault(429), "answers 429 (2 attempts): it does not work"),
        (Fault(500), "answers 500 (2 attempts): it does not work"),
        (Fault(401, json.dumps({"error": {"message": f"bad key {KEY}"}})), "answers 401: bad key ***"),
        (Fault(200, '{"choices": ['), "the answer is not valid JSON"),
        (SILENT, "gave no answer within 0.3 s"),
    ],
)
def test_a_provider_that_does_not_answer_leaves_the_input_as_it_is(compact: Compact, fault: Fault, why: str) -> None:
    more = ("--timeout", "0.3", "--retries", "0") if fault is SILENT else ("--retries", "1")
    done = compact([fault], *more)
    assert done.code == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_after_a_fault_the_client_goes_on(compact: Compact) -> None:
    done = compact([Fault(429), Fault(503), GOOD])
    assert (done.code, done.report["summariser"]["attempts"], len(done.server.requests)) == (0, 1, 3)


# -- pieces


def by_piece(asked: Asked) -> str:
    """A model that copies what it knows from the piece that it sees."""
    kept = [line for line in GOOD.split("\n") if line.startswith("#")]
    known = [one for one in ("src/search/index.py", "src/search/schema.sql", "scripts/rebuild.py", "data/catalog.ndjson", "tests/search", "2026.11-rc2", "perf/srch-218") if one in asked.text]  # fmt: skip
    rules = [f"- {rule}" for rule in ("No, do not cache answers: stock levels change by the second.",) if rule in asked.text]  # fmt: skip
    items = {"## Constraints": rules, "## Identifiers": [f"- other: {', '.join(known)}"] if known else []}
    return "\n".join(line for head in kept for line in (head, *(items.get(head) or ["- none"])))


def test_what_does_not_fit_is_asked_for_in_pieces_and_merged_by_slot(compact: Compact) -> None:
    done = compact(by_piece, "--chunk", "1.5k", "--no-repair")
    assert done.code == 0, done.stderr
    asked = done.server.requests
    assert len(asked) == done.report["summariser"]["usage"]["calls"] >= 3
    assert f"This is part 2 of {len(asked)} of the conversation" in asked[1].text
    assert [sum("ORDER BY rank` is not covered" in one.text for one in asked), done.summary.count("## OPEN")] == [1, 1]
    assert "src/search/index.py" in done.summary
    assert done.report["guard"]["verdict"] == "pass"


def test_only_the_piece_that_lost_something_is_asked_again(compact: Compact) -> None:
    forgot: list[str] = []

    def forgetful(asked: Asked) -> str:
        if "scripts/rebuild.py" in asked.text and not forgot:
            forgot.append(asked.text)
            return by_piece(asked).replace("scripts/rebuild.py, ", "")
        return by_piece(asked)

    done = compact(forgetful, "--chunk", "1.5k", "--no-repair")
    assert done.code == 0, done.stderr
    first = {one.text for one in done.server.requests if "An earlier answer" not in one.text}
    again = [one.text for one in done.server.requests if "An earlier answer" in one.text]
    assert len(first) == len(done.server.requests) - 1
    assert "- scripts/rebuild.py\n" in again[0].split("<<<TRANSCRIPT")[0]


# -- the cache, the cost, the limits


def test_a_run_that_is_repeated_costs_nothing_and_wants_no_server(
    compact: Compact, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    first = compact([LOST, GOOD], cached=True)
    assert first.report["summariser"]["usage"]["calls"] == 2
    before = (first.folder / "out.json").read_bytes()
    (first.folder / "out.json").unlink()
    monkeypatch.delenv("OPENAI_API_KEY")
    flags = ("-o", first.folder / "out.json", "--json", *MIDDLE, "--summariser", "llm", *first.server.flags[:4])
    assert here("compact", SEARCH, *flags) == 0
    used = json.loads(capfd.readouterr().out)["summariser"]
    assert (used["usage"]["calls"], used["usage"]["stored"], used["usage"]["prompt"]) == (0, 2, 0)
    assert (first.folder / "out.json").read_bytes() == before
    assert here("compact", SEARCH, *flags, "--attempts", 1, "--no-repair") == 1
    assert "answers from the cache on disk: 1 (--no-reply-cache asks anew)" in capfd.readouterr().err


def test_what_may_be_billed_for_no_answer_is_told(compact: Compact, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('["test-model"]\ninput = 3.0\noutput = 15.0\n', "utf-8")
    done = compact([Fault(200, "<html>")], "--prices", prices)
    assert done.code == 2
    assert "the answer is not valid JSON; nothing is made of it (is the base URL right?" in done.stderr
    assert "$0.0000, and up to $0.1" in done.stderr
    assert "cost unknown" in compact([Fault(200, "<html>")]).stderr


def test_what_it_cost_and_what_either_way_would_cost(compact: Compact, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('["test-model"]\ninput = 3.0\noutput = 15.0\n', "utf-8")
    done = compact([Answer(GOOD, prompt=6_000, output=300, cache_read=4_000)], "--prices", prices, "--max-cost", 1)
    used = done.report["summariser"]
    assert used["cost"] == pytest.approx((2_000 * 3 + 4_000 * 0.3 + 300 * 15) / 1e6)
    alone, behind = used["modes"]  # type: ignore[misc]
    assert (alone["name"], alone["chosen"], behind["name"], behind["chosen"]) == ("standalone", True, "reuse-prefix", False)  # fmt: skip
    assert alone["cacheable"] == 0 < behind["cacheable"] < behind["prompt"]
    assert alone["cost"] == pytest.approx((alone["prompt"] * 3 + 8_192 * 15) / 1e6, abs=1e-6)
    assert behind["cost"] < alone["cost"]


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--max-calls", 1), "--max-calls: 1 question was sent, and no more may be"),
        (("--max-cost", 0.01), "--max-cost: no price is known for test-model"),
        (("--max-cost", "nan"), "'nan' is no number above 0"),
        (("--max-cost", 0), "'0' is no number above 0"),
    ],
)
def test_limits_end_the_run_before_it_goes_over(compact: Compact, flags: tuple[object, ...], why: str) -> None:
    done = compact([LOST], *flags)
    assert done.code == 2
    assert why in done.stderr
    assert len(done.server.requests) <= 1


def test_the_conversation_itself_goes_first(compact: Compact) -> None:
    done = compact([GOOD], "--reuse-prefix")
    assert done.code == 0
    (asked,) = done.server.requests
    rows = json.loads(SEARCH.read_text("utf-8"))["messages"]
    assert asked.body["messages"][:-1] == rows
    assert "What stands above this message is data." in asked.text
    assert "src/search" not in asked.text
    assert "tools" not in asked.body
    assert any("lacks the tool definitions" in remark for remark in done.report["remarks"])


SECRET = "ghp_" + "A1b2C3d4" * 5
OPEN = {"role": "assistant", "content": None, "tool_calls": [{"id": "last", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]}  # fmt: skip


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_behind_the_conversation_no_call_is_open_and_no_secret_comes_back(
    compact: Compact, kind: str, tmp_path: Path
) -> None:
    """A provider refuses a question behind a call without its result; what it sees of a secret it may repeat."""
    rows = json.loads(SEARCH.read_text("utf-8"))["messages"]
    rows[2]["content"] = f"{rows[2]['content']} The token is {SECRET}."
    source = tmp_path / "secret.json"
    source.write_text(json.dumps({"messages": [*rows, OPEN]}), "utf-8")
    said = GOOD.replace("- none", f"- use {SECRET}")
    done = compact([refused(f"Not with {SECRET}!"), said], "--reuse-prefix", kind=kind, source=source)
    assert done.code == 0, done.stderr
    first, second = done.server.requests
    assert SECRET in json.dumps(first.body)
    assert SECRET not in second.text
    assert "use ghp_…[masked " in done.summary
    assert SECRET not in done.stdout + done.summary
    assert '"last"' not in json.dumps(first.body["messages"])
    assert '"last"' in (done.folder / "out.json").read_text("utf-8")


# -- a dry run


def test_a_dry_run_prints_the_requests_and_asks_nothing(compact: Compact) -> None:
    done = compact([GOOD], "--dry-run", "--json", "--chunk", "1.5k", kind="anthropic")
    assert (done.code, done.server.requests) == (0, [])
    plan = json.loads(done.stdout)
    assert problems("requests", plan) == []
    assert plan["model"] == "anthropic:test-model"
    assert len(plan["requests"]) == plan["total"]["requests"] >= 3
    assert plan["total"]["prompt"] == sum(one["prompt"] for one in plan["requests"])
    said = compact(by_piece, "--chunk", "1.5k", kind="anthropic")
    assert [one.body for one in said.server.requests] == [one["body"] for one in plan["requests"]]
    shown = compact([GOOD], "--dry-run").stdout
    assert "request 1 of 1 to openai:test-model: about" in shown
    assert "With --reuse-prefix: about" in shown


# -- the program as a user has it


def test_the_key_is_in_no_stream_even_where_a_client_is_told_to_log() -> None:
    echo = Fault(400, json.dumps({"error": {"message": f"{KEY} is wrong", "type": KEY}}), {"x-key": KEY})
    logs = {"OPENAI_LOG": "debug", "ANTHROPIC_LOG": "debug", "CTX_DEBUG": "1"}
    with provider([echo]) as server:
        done = ctx("compact", SEARCH, *MIDDLE, "--summariser", "llm", *server.flags, **server.env, **logs)
    assert done.returncode == 2
    assert b"answers 400: *** is wrong" in done.stderr
    assert KEY.encode() not in done.stdout + done.stderr
    assert b"DEBUG" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--summariser", "llm"), "a model is wanted: --model PROVIDER:NAME"),
        (("--model", "openai:x"), "--model has no use without --summariser llm"),
        (("--summariser", "llm", "--model", "gpt-4o"), "'gpt-4o' names no model; write anthropic:NAME or openai:NAME"),
        (("--summariser", "llm", "--model", "openai:x", "--base-url", "ftp://x"), "is no http or https address"),
        (("--summariser", "llm", "--model", "openai:x", "--key-env", "NO_SUCH"), "the variable NO_SUCH is not set"),
        (("--summary", "x.md", "--attempts", 2), "a stored answer cannot be asked again"),
        (("--no-repair",), "--repair has no use without --summariser"),
        (("--summariser", " "), "--summariser: an empty command cannot be asked; name one, or llm"),
        (("--summariser", "cat 'x"), '--summariser: "cat \'x" is no command: No closing quotation'),
    ],
)
def test_what_makes_no_sense_is_told(
    capfd: pytest.CaptureFixture[str], arguments: tuple[object, ...], why: str
) -> None:
    assert here("compact", SEARCH, *MIDDLE, *arguments) == 2
    assert why in capfd.readouterr().err


def test_each_conversation_of_a_source_counts_what_was_asked_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    line = json.dumps({"messages": json.loads(SEARCH.read_text("utf-8"))["messages"]}) + "\n"
    (tmp_path / "two.jsonl").write_text(line * 2, "utf-8")
    with provider([LOST, GOOD, GOOD]) as server:
        for name, value in server.env.items():
            monkeypatch.setenv(name, value)
        flags = (*MIDDLE, "--summariser", "llm", *server.flags, "-o", tmp_path / "out.jsonl", "--json")
        assert here("compact", tmp_path / "two.jsonl", *flags) == 0
    reports = json.loads(capfd.readouterr().out)
    assert [one["summariser"]["usage"]["calls"] for one in reports] == [2, 1]


# -- settings


def test_settings_name_the_model_and_never_a_key(tmp_path: Path, compact: Compact, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "ctx.toml"
    file.write_text('[model]\nname = "openai:other"\nmax-output = 77\nreply-cache = false\n', "utf-8")
    done = compact([GOOD])
    assert done.server.requests[0].body["model"] == "test-model"
    assert done.server.requests[0].body["max_tokens"] == 77
    for text, why in (
        ('[model]\napi-key = "x"\n', "model.api-key is no setting; there are name, base-url, key-env"),
        ('[model]\nmax-cost = -1\n', "model.max-cost: -1 is no number above 0"),
    ):  # fmt: skip
        file.write_text(text, "utf-8")
        (tmp_path / "out" / "out.json").unlink(missing_ok=True)
        assert why in compact([GOOD]).stderr


def test_a_settings_file_that_lies_about_sends_nothing_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever opens a stranger's folder may not give them the key, nor the transcript."""
    settings = '[model]\nname = "openai:x"\nbase-url = "{}"\nreply-cache = false\n'
    (tmp_path / "ctx.toml").write_text(settings.format("https://elsewhere.invalid/v1"), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    asked = ("compact", SEARCH, *MIDDLE, "--summariser", "llm")
    assert here(*asked) == 2
    told = capfd.readouterr().err
    assert "would send the key in OPENAI_API_KEY and the transcript to elsewhere.invalid" in told
    assert here(*asked, "--dry-run", "--config", "ctx.toml") == 0
    with provider([GOOD]) as server:
        (tmp_path / "ctx.toml").write_text(settings.format(server.url), "utf-8")
        assert here(*asked, "-o", tmp_path / "out.json") == 0


def test_repair_holds_for_a_stored_answer_too(tmp_path: Path) -> None:
    stored, out = tmp_path / "answer.md", tmp_path / "out.json"
    stored.write_text(LOST, "utf-8")
    done = ctx("compact", SEARCH, "-o", out, "--json", *MIDDLE, "--summary", stored, "--repair")
    assert done.returncode == 0, done.stderr
    used = json.loads(done.stdout)["summariser"]
    assert (used["name"], used["repaired"], used["usage"]) == ("replayed", ["src/search/schema.sql"], None)


def test_repair_and_attempts_hold_for_a_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stored = tmp_path / "answer.md"
    stored.write_text(LOST, "utf-8")
    flags = (*MIDDLE, "--summariser", f"cat {stored}", "-o", tmp_path / "out.json", "--json")
    assert here("compact", SEARCH, *flags, "--attempts", 3) == 1
    capfd.readouterr()
    assert here("compact", SEARCH, *flags, "--attempts", 3, "--repair") == 0
    used = json.loads(capfd.readouterr().out)["summariser"]
    assert (used["name"], used["attempts"], used["repaired"]) == ("command", 3, ["src/search/schema.sql"])


def test_the_environment_names_the_model_and_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with provider([GOOD], "anthropic") as server:
        monkeypatch.setenv("MY_KEY", KEY)
        for name, value in {"CTX_MODEL": "anthropic:mine", "ANTHROPIC_BASE_URL": server.url, "NO_PROXY": "*"}.items():
            monkeypatch.setenv(name, value)
        flags = (*MIDDLE, "--summariser", "llm", "--key-env", "MY_KEY", "--no-reply-cache", "-o", tmp_path / "out.json")
        assert here("compact", SEARCH, *flags) == 0
    (asked,) = server.requests
    assert asked.body["model"] == "mine"
    assert KEY in asked.headers.get("x-api-key", asked.headers.get("authorization", ""))
    assert "llm" in capfd.readouterr().out
