"""`ctx check --finding` as a user runs it."""

import json

import pytest

from ctxcli.contract import SCHEMAS, problems
from support import ctx, formats_of

SOUND, ANSWER = "fixtures/finding/finding.json", "fixtures/finding/answer.md"
EMPTY: dict[str, object] = {"answer": "x", "locations": [], "rejected": [], "unresolved": [], "failures": []}


def checked(text: object) -> tuple[int, dict[str, object]]:
    raw = text if isinstance(text, str) else json.dumps(text)
    done = ctx("check", "--finding", "-", "--json", stdin=raw.encode())
    return done.returncode, json.loads(done.stdout)


def faults(text: object) -> list[str]:
    code, report = checked(text)
    found = [fault["at"] for one in report["findings"] for fault in one["faults"]]  # type: ignore[attr-defined]
    assert code == (1 if found else 0)
    assert problems("finding-check", report) == []
    return found


def test_a_valid_finding_passes_and_its_schema_says_so_too() -> None:
    assert ctx("check", "--finding", SOUND).returncode == 0
    assert "finding" in SCHEMAS
    assert json.loads(ctx("schema", "finding").stdout)["required"] == list(EMPTY)
    assert faults(EMPTY) == []


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"answer": " "}, "answer"),
        ({"locations": ["src/a.py"]}, "locations/0"),
        ({"locations": ["a.py:1", "a.py:0"]}, "locations/1"),
        ({"locations": ["a.py:9-3"]}, "locations/0"),
        ({"locations": "a.py:1"}, "locations"),
        ({"rejected": ["that"]}, "rejected/0"),
        ({"failures": [{"what": "grep"}]}, "failures/0/why"),
        ({"unresolved": [""]}, "unresolved/0"),
        ({"certainty": 1}, "document"),
    ],
    ids=str,
)
def test_each_fault_is_named_by_its_path(change: dict[str, object], at: str) -> None:
    assert faults({**EMPTY, **change}) == [at]


@pytest.mark.parametrize("field", EMPTY)
def test_no_field_may_be_missing(field: str) -> None:
    assert faults({key: value for key, value in EMPTY.items() if key != field}) == [field]


def test_one_in_a_fenced_block_several_a_line_and_one_among_other_json() -> None:
    done = ctx("check", "--finding", ANSWER)
    assert done.returncode == 1
    assert "path:line-line" in done.stdout.decode()
    one = json.dumps(EMPTY)
    for text, lines in [
        (f"{one}\n\n{one}\n", [1, 3]),
        (f"[{one},{one}]", [1, 1]),
        (f"So:\n~~~json\n{one}\n~~~\n", [3]),
        (f'The config is\n```json\n{{"a": 1}}\n```\nand\n```\n{one}\n```\n', [7]),
        (f"I found {{}} braces, and this: {one}. Bye.", [1]),
    ]:
        code, report = checked(text)
        assert (code, [row["line"] for row in report["findings"]]) == (0, lines), text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("It is in refunds.py.", "holds no JSON"),
        ('{"answer": ', "line 1"),
        ('{"answer": "x"}\n{"answer": \n', "line 2"),
        ("a\n```json\n{\n```\n", "line 2"),
        ('{"answer": NaN}', "NaN"),
        ("[" * 100_000, "nested"),
    ],
    ids=range(7),
)
def test_what_is_no_json_cannot_be_checked(text: str, said: str) -> None:
    done = ctx("check", "--finding", "-", stdin=text.encode())
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert not text or b"ctx schema finding" in done.stderr


@pytest.mark.parametrize("format_", formats_of("finding"))
def test_the_exit_code_is_the_same_in_every_format(format_: str) -> None:
    assert ctx("check", "--finding", SOUND, "--format", format_).returncode == 0
    assert ctx("check", "--finding", SOUND, ANSWER, "--format", format_).returncode == 1
    assert ctx("check", "--finding", ANSWER, "--format", format_, "--exit-zero").returncode == 0
    assert ctx("check", "--finding", ANSWER, "nowhere.json", "--format", format_).returncode == 2


def test_what_does_not_go_together_is_refused() -> None:
    assert b"sarif" in ctx("check", "--finding", SOUND, "--format", "sarif").stderr
    assert b"--profile" in ctx("check", "--finding", SOUND, "--profile", "gemini").stderr
