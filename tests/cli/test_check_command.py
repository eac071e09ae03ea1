"""`ctx check` as a user runs it."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from ctxcli.contract import problems
from ctxcli.rules import HABITS, RULES
from support import FIXTURES, ROOT, ctx, formats_of, golden

CUT, SOUND = "fixtures/validity/cut.json", "fixtures/openai-chat/messages.jsonl"
FAULTY = "fixtures/validity/anthropic.json"
SESSION, OPEN_END = "fixtures/claude-code/session.jsonl", "fixtures/openai-chat/conversations.jsonl"
GOLDEN = FIXTURES / "golden" / "check"


def report(*arguments: object, **more: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(ctx("check", *arguments, "--json", **more).stdout)  # type: ignore[arg-type]
    return found


def test_a_cut_history_fails_and_a_whole_one_does_not() -> None:
    assert ctx("check", SOUND).returncode == 0
    found = report(CUT, "--no-habits")
    assert found["ok"] is False
    assert found["profile"] == "openai-chat"
    assert [(one["rule"], one["message"]) for one in found["findings"]] == [
        ("CTX201", 2), ("CTX205", 5), ("CTX202", 6), ("CTX219", 6),
    ]  # fmt: skip
    assert found["counts"] == {"messages": 7, "errors": 4, "warnings": 0}


@pytest.mark.parametrize("format_", formats_of("check"))
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([SOUND], 0),
        ([CUT], 1),
        ([CUT, "--exit-zero"], 0),
        ([SESSION], 0),
        ([SESSION, "--strict"], 1),
        ([SESSION, "--strict", "--no-habits"], 0),
        ([CUT, "fixtures/validity/none.json"], 2),
        ([CUT, "fixtures/validity/none.json", "--exit-zero"], 2),
        ([SOUND, CUT], 1),
        ([OPEN_END], 1),
        ([OPEN_END, "--conversation", "2"], 0),
        ([OPEN_END, "--profile", "lenient"], 0),
        (["README.md"], 2),
    ],
    ids=str,
)
def test_the_exit_code_is_the_same_in_every_format(format_: str, arguments: list[str], code: int) -> None:
    result = ctx("check", *arguments, "--format", format_, "--tokenizer", "heuristic")
    assert result.returncode == code, result.stderr
    assert b"Traceback" not in result.stderr


def test_the_formats_are_those_of_the_guard() -> None:
    assert formats_of("check") == formats_of("guard")


@pytest.mark.parametrize("format_", formats_of("check"))
def test_golden(format_: str, tmp_path: Path) -> None:
    (tmp_path / "fixtures").symlink_to(FIXTURES)
    found = ctx("check", FAULTY, SESSION, "--format", format_, "--tokenizer", "heuristic", cwd=tmp_path, COLUMNS="100")
    if format_ not in ("json", "jsonl"):
        golden(found.stdout.decode(), GOLDEN / f"faulty.{format_}.txt")


@pytest.mark.parametrize("arguments", [[CUT], [SOUND, SESSION], [FAULTY, "--strict"], [OPEN_END]], ids=str)
def test_documents_hold_to_their_schema(arguments: list[str]) -> None:
    found = json.loads(ctx("check", *arguments, "--json").stdout)
    documents = found if isinstance(found, list) else [found]
    lines = ctx("check", *arguments, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == documents
    for document in documents:
        assert not problems("check", document)
        assert [one["rule"] for one in document["habits"]] == list(HABITS)


@pytest.mark.parametrize("arguments", [[CUT], [SOUND], [FAULTY, SESSION, "--strict"]], ids=str)
def test_sarif_is_valid_under_the_official_schema(arguments: list[str]) -> None:
    schema = json.loads((ROOT / "tests" / "data" / "sarif-2.1.0.schema.json").read_text("utf-8"))
    document = json.loads(ctx("check", *arguments, "--format", "sarif").stdout)
    Draft202012Validator(schema).validate(document)
    for result in document["runs"][0]["results"]:
        assert document["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_gitlab_fingerprints_are_unique() -> None:
    rows = json.loads(ctx("check", FAULTY, SESSION, "--format", "gitlab").stdout)
    assert len({row["fingerprint"] for row in rows}) == len(rows) >= 5
    assert {"description", "check_name", "fingerprint", "severity", "location"} == set(rows[0])


def test_junit_counts_what_it_holds() -> None:
    (suite,) = ElementTree.fromstring(ctx("check", CUT, "--format", "junit").stdout)
    assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure")) == 4
    assert int(suite.get("tests", "")) == len(suite)


def test_csv_has_a_row_for_each_finding_and_each_habit() -> None:
    rows = list(csv.DictReader(io.StringIO(ctx("check", FAULTY, "--format", "csv").stdout.decode())))
    assert [row["rule"] for row in rows][5:] == list(HABITS)
    assert {row["answer"] for row in rows[5:]} <= {"yes", "no", "unknown"}


def test_another_profile_has_other_rules() -> None:
    def rules(profile: str) -> set[str]:
        return {one["rule"] for one in report(FAULTY, "--profile", profile, "--no-habits")["findings"]}

    assert rules("anthropic") == {"CTX205", "CTX207", "CTX209", "CTX210", "CTX212"}
    assert rules("openai-chat") == rules("lenient") == rules("openai-responses") == set()
    assert "CTX212" not in rules("gemini")


def test_the_same_bytes_in_give_the_same_bytes_out() -> None:
    runs = {ctx("check", FAULTY, SESSION, "--json", PYTHONHASHSEED=seed).stdout for seed in ("0", "1", "2")}
    assert len(runs) == 1


def test_it_reads_standard_input_and_writes_a_file(tmp_path: Path) -> None:
    data = (ROOT / CUT).read_bytes()
    out = tmp_path / "report.json"
    result = ctx("check", "-", "--json", "-o", out, stdin=data)
    assert (result.returncode, result.stdout) == (1, b"")
    assert json.loads(out.read_text("utf-8"))["counts"]["errors"] == 4
    again = ctx("check", CUT, "--json", "-o", CUT)
    assert again.returncode == 2
    assert (ROOT / CUT).read_bytes() == data


def test_an_unknown_profile_is_a_usage_error() -> None:
    result = ctx("check", CUT, "--profile", "none")
    assert result.returncode == 2
    assert b"lenient" in result.stderr


def test_strict_of_a_settings_file_is_about_reading_and_not_about_warnings(tmp_path: Path) -> None:
    (tmp_path / "ctx.toml").write_text("strict = true\n", "utf-8")
    assert ctx("check", ROOT / SESSION, cwd=tmp_path).returncode == 0
    assert ctx("check", ROOT / SESSION, cwd=tmp_path, CTX_CHECK_STRICT="1").returncode == 1


def test_rules_explains_each_finding() -> None:
    for name in ("CTX205", "CTX401", "displaced"):
        assert ctx("rules", name).returncode == 0
    assert all(len(card.title) <= 13 for card in RULES.values())


# -- habits


def answers(*arguments: object, **more: object) -> dict[str, tuple[str, str]]:
    habits = report(*arguments, "--tokenizer", "heuristic", **more)["habits"]
    return {one["rule"]: (one["answer"], one["why"]) for one in habits}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("file", "text", "answer"),
    [
        (".github/workflows/ci.yml", "jobs:\n  x:\n    steps:\n    - run: ctx guard --recorded s.jsonl\n", "yes"),
        (".gitlab-ci.yml", "compaction:\n  script:\n    - ctx check logs/\n", "yes"),
        (".pre-commit-config.yaml", "repos:\n- repo: local\n  hooks:\n  - id: ctx-guard\n", "yes"),
        ("Makefile", "check:\n\tctx compact s.jsonl -o t.jsonl\n", "yes"),
        ("justfile", "check:\n  uvx --from ctx-transcripts ctx check s.jsonl\n", "yes"),
        ("noxfile.py", 'session.run("ctx", "guard", "a", "b")\n', "yes"),
        ("package.json", '{"scripts": {"test": "ctx check s.jsonl"}}\n', "yes"),
        ("Makefile", "check:\n\tpytest  # later: ctx guard\n", "unknown"),
        ("Makefile", "context check:\n\tpytest\n", "unknown"),
        ("notes.md", "run ctx guard\n", "unknown"),
    ],
    ids=str,
)
def test_the_test_of_compaction_is_looked_for_in_the_working_folder(
    file: str, text: str, answer: str, tmp_path: Path
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text, "utf-8")
    found = answers(ROOT / SOUND, cwd=tmp_path)["CTX404"]
    assert found[0] == answer
    assert (file in found[1]) == (answer == "yes")


def claude(*records: dict[str, object]) -> bytes:
    """A session of Claude Code, a record a line."""
    base = {"sessionId": "s", "cwd": "/shop", "version": "2.1.80", "isSidechain": False, "userType": "external"}
    lines, parent = [], None
    for number, record in enumerate(records):
        row = {**base, "parentUuid": parent, "uuid": f"u{number}", "timestamp": "2026-03-02T09:00:00.000Z", **record}
        lines.append(json.dumps(row))
        parent = f"u{number}"
    return ("\n".join(lines) + "\n").encode()


def user(content: object, **more: object) -> dict[str, object]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def says(said: str, prompt: int, number: int, *blocks: dict[str, object]) -> dict[str, object]:
    usage = {"input_tokens": prompt, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 9}
    content = [{"type": "text", "text": said}, *blocks]
    message = {"id": f"m{number}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
               "content": content, "stop_reason": "end_turn", "usage": usage}  # fmt: skip
    return {"type": "assistant", "requestId": f"r{number}", "message": message}


TASK = "Port the refund service to the new ledger, and never touch billing/."
BOUNDARY = {"type": "system", "subtype": "compact_boundary", "content": "compacted",
            "compactMetadata": {"trigger": "auto", "preTokens": 150_000}}  # fmt: skip


def summary(text: str) -> dict[str, object]:
    return user(text, isCompactSummary=True)


def asked(rule: str, *records: dict[str, object]) -> tuple[str, str]:
    return answers("-", stdin=claude(*records))[rule]


def test_whether_the_task_is_still_there() -> None:
    head = (user(TASK), says("On it.", 150_000, 1), BOUNDARY)
    tail = (user("Go on."), says("Yes.", 20_000, 2))
    assert asked("CTX401", *head[:2])[0] == "unknown"
    assert asked("CTX401", *head, summary("The ledger is ported."), *tail)[0] == "no"
    assert (
        asked("CTX401", *head, summary(f"1. Request:\n   {TASK.replace(' ', chr(10), 3)}\n2. Done: half."), *tail)[0]
        == "yes"
    )
    assert asked("CTX401", *head, summary(""), *tail)[0] == "unknown"


def test_whether_compactions_are_recorded() -> None:
    def course(*prompts: int) -> list[dict[str, object]]:
        return [
            one
            for number, prompt in enumerate(prompts)
            for one in (user(f"step {number}"), says("done", prompt, number))
        ]

    assert asked("CTX403", *course(20_000, 60_000, 90_000))[0] == "yes"
    assert asked("CTX403", *course(20_000, 150_000, 40_000, 45_000)) == (
        "no", "150,000 tokens became 40,000 at line 6 and no event says why"
    )  # fmt: skip
    assert asked("CTX403", *course(9_000, 4_000))[0] == "no"
    assert asked("CTX403", *course(20_000, 150_000, 2_000, 151_000))[0] == "yes"
    assert asked("CTX403", *course(900, 300))[0] == "yes"
    assert asked("CTX403", *course(900_000, 830_000))[0] == "no"
    assert asked("CTX403", *course(150_000), BOUNDARY, summary("so far"), user("on"), says("ok", 20_000, 9))[0] == "yes"


def test_whether_room_is_left_for_the_answer() -> None:
    full = (user(TASK), says("On it.", 190_000, 1))
    assert asked("CTX402", *full)[0] == "no"
    assert asked("CTX402", *full[:1], says("On it.", 150_000, 1))[0] == "yes"
    assert answers("-", "--reserve-output", "5k", stdin=claude(*full))["CTX402"][0] == "yes"
    assert answers("-", "--max-context", "100k", stdin=claude(*full))["CTX402"][0] == "no"
    assert answers(SOUND)["CTX402"][0] == "unknown"


def read_of(path: str, text: str, number: int) -> tuple[dict[str, object], dict[str, object]]:
    use = {"type": "tool_use", "id": f"toolu_{number}", "name": "Read", "input": {"file_path": path}}
    return (
        says("I read it.", 1_000, number, use),
        user([{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text}]),
    )


def test_whether_results_are_bounded_and_read_once() -> None:
    small, large = "line of a log\n" * 40, "line of a log\n" * 40_000
    once = (user(TASK), *read_of("/shop/a.log", small, 1), says("Yes.", 2_000, 9))
    assert (asked("CTX405", *once)[0], asked("CTX406", *once)[0]) == ("yes", "yes")
    assert asked("CTX405", user(TASK), *read_of("/shop/a.log", large, 1))[0] == "no"
    twice = (user(TASK), *read_of("/shop/a.log", small, 1), *read_of("/shop/a.log", small, 2))
    assert asked("CTX406", *twice) == ("no", "/shop/a.log of line 3 came again unchanged at line 5")
    changed = (user(TASK), *read_of("/shop/a.log", small, 1), *read_of("/shop/a.log", small + "more", 2))
    assert asked("CTX406", *changed)[0] == "yes"
    apart = (*twice[:3], BOUNDARY, summary("read"), *read_of("/shop/a.log", small, 2))
    assert asked("CTX406", *apart)[0] == "yes"
