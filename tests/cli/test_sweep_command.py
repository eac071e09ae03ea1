"""`ctx sweep`, as a user runs it, against a server on the loopback address."""

import csv
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctxcli.contract import problems
from provider_support import KEY, Answer, Fault, Provider, provider
from support import FIXTURES, ROOT, ctx, formats_of, golden
from sweep_support import HANDBOOK, ITEMS, falls, right_answer, sags, text_in

GRID = ("--corpus", HANDBOOK, "--multiples", "1,4,16", "--concurrency", 8)
PROMPTS = 4 * (1 + 2 * 3)
"""Of one repeat."""


def sweep(server: Provider, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    return ctx("sweep", *arguments, *GRID, *server.flags, **server.env)


def document(done: subprocess.CompletedProcess[bytes], code: int = 0) -> dict[str, Any]:
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert problems("sweep", found) == []
    return found


def test_a_model_that_falls_at_16_and_in_the_middle(tmp_path: Path) -> None:
    with provider(lambda asked: falls(asked.text)) as server:
        done = sweep(server, ITEMS, "--repeats", 6, "--json", "--chart", tmp_path / "curve.svg")
    found = document(done)
    assert len(server.requests) == found["spent"]["calls"] == 6 * PROMPTS
    assert (found["knee"]["verdict"], found["knee"]["multiple"]) == ("knee", 16)
    four, sixteen = found["gaps"]
    assert (four["gap"], four["certain"]) == (0, False)
    means = {cell["position"]: cell["mean"] for cell in found["cells"] if cell["multiple"] == 16}
    assert means["middle"] == 0
    assert sixteen["gap"] == max(means.values()) > 0.5
    assert sixteen["certain"]
    assert found["effective"]["multiple"] == 4
    assert found["spent"]["prompt"] == 1_000 * len(server.requests)
    assert "knee at 16" in (tmp_path / "curve.svg").read_text("utf-8")
    assert KEY.encode() not in done.stdout + done.stderr
    assert all("tools" not in asked.body for asked in server.requests)
    again = [row for row in found["answers"] if row["right"]]
    assert sum(cell["right"] for cell in found["cells"]) == len(again)


def test_a_knee_is_narrowed_down_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    flags = ("--repeats", 6, "--narrow", "--answers", tmp_path / "a.jsonl", "--json")
    with provider(lambda asked: falls(asked.text)) as server:
        found = document(sweep(server, ITEMS, *flags))
        asked = len(server.requests)
        again = document(sweep(server, ITEMS, *flags))
    with provider(lambda asked: right_answer(asked.text)) as server:
        flat = document(sweep(server, ITEMS, "--repeats", 2, "--narrow", "--json"))
    assert found["plan"]["multiples"] == [1, 4, 8, 16]
    assert found["knee"]["multiple"] in (8, 16)
    assert asked == found["spent"]["calls"] == sum(cell["asked"] for cell in found["cells"])
    assert again["spent"]["calls"] == 0
    assert again["cells"] == found["cells"]
    assert any("narrow" in note for note in found["notes"])
    assert flat["plan"]["multiples"] == [1, 4, 16]


def test_a_flat_model_has_no_knee_and_one_repeat_cannot_tell() -> None:
    with provider(lambda asked: right_answer(asked.text)) as server:
        flat = sweep(server, ITEMS, "--repeats", 2)
        once = sweep(server, ITEMS, "--repeats", 1, "--min-effective", "64k")
    assert flat.returncode == 0
    assert "no knee · a fall of more than 14 points is ruled out" in flat.stdout.decode()
    assert "whether there is a knee cannot be told · one repeat shows no spread" in once.stdout.decode()
    assert once.returncode == 3, once.stderr


def test_a_sweep_that_was_killed_asks_nothing_twice(tmp_path: Path) -> None:
    """Killed while the 11th question waits: the ten answers are in the file, and are not asked for again."""
    answers = tmp_path / "answers.jsonl"
    command = ("sweep", ITEMS, *GRID[:-1], 1, "--repeats", 1, "--answers", answers, "--json")
    with provider(
        lambda asked: right_answer(asked.text) if len(server.requests) <= 10 else Fault(silent=True)
    ) as server:
        env = {**os.environ, **server.env}
        run = subprocess.Popen(
            [sys.executable, "-m", "ctxcli", *map(str, command), *server.flags], cwd=ROOT, env=env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 100
        while len(server.requests) <= 10 and run.poll() is None and time.monotonic() < deadline:
            server.stopped.wait(0.02)
        run.kill()
        run.wait()
        first = [asked.text for asked in server.requests]
    assert len(first) == 11
    assert len(answers.read_bytes().splitlines()) == 10
    with answers.open("ab") as stream:
        stream.write(b'{"id": "torn, as by a crash')
    with provider(lambda asked: right_answer(asked.text)) as server:
        done = ctx(*command, *server.flags, **server.env)
        second = [asked.text for asked in server.requests]
    found = document(done)
    assert b"answers.jsonl: line 11: breaks off: passed over" in done.stderr
    assert not set(first[:10]) & set(second)
    assert Counter(first[:10] + second).most_common(1)[0][1] == 1
    assert len(first[:10] + second) == PROMPTS
    assert (found["spent"]["resumed"], found["spent"]["calls"]) == (10, PROMPTS - 10)
    with provider(["never"]) as server:
        assert document(ctx(*command, *server.flags, **server.env))["cells"] == found["cells"]
        assert not server.requests


def test_a_limit_ends_with_a_word_on_how_to_go_on(tmp_path: Path) -> None:
    command = (ITEMS, "--repeats", 1, "--answers", tmp_path / "answers.jsonl", "--json")
    with provider(lambda asked: right_answer(asked.text)) as server:
        first = sweep(server, *command, "--max-calls", 9)
        partial = document(first, 2)
        assert len(server.requests) == 9
        assert b"--max-calls: 9 questions were sent" in first.stderr
        assert b"the same command goes on from here" in first.stderr
        rest = document(sweep(server, *command))
    assert sum(cell["answered"] for cell in partial["cells"]) == 9
    assert not partial["complete"]
    assert rest["complete"]
    assert len(server.requests) == len({asked.text for asked in server.requests}) == PROMPTS


def test_a_model_out_of_reach_is_said_and_nothing_is_reported() -> None:
    with provider([Fault(400)]) as server:
        done = sweep(server, ITEMS, "--repeats", 1)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"failures in a row" in done.stderr
    assert b"Traceback" not in done.stderr


def test_prompts_for_another_runner_and_its_answers(tmp_path: Path) -> None:
    emitted, answered = tmp_path / "prompts.jsonl", tmp_path / "answered.jsonl"
    command = ("sweep", ITEMS, *GRID[:-2], "--repeats", 2, "--recite")
    assert ctx(*command, "--emit", emitted).returncode == 0
    prompts = [json.loads(line) for line in emitted.read_text("utf-8").splitlines()]
    assert len(prompts) == 2 * PROMPTS
    assert all('begins with "Evidence:"' in one["prompt"] for one in prompts)
    rows = [
        {"id": one["id"], "answer": f"Evidence: {text_in(one['prompt'])}\nAnswer: {right_answer(one['prompt'])}"}
        for one in prompts
    ]
    answered.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = document(ctx(*command, "--grade", answered, "--json"))
    assert found["model"] is None
    assert all(cell["mean"] == 1 for cell in found["cells"])
    answered.write_text("".join(json.dumps(row) + "\n" for row in [*rows[:30], {"id": "x", "answer": "y"}]), "utf-8")
    partial = ctx(*command, "--grade", answered, "--json")
    assert sum(cell["answered"] for cell in document(partial, 2)["cells"]) == 30
    assert b"1 of 31 answers belong to no prompt" in partial.stderr
    answered.write_text('{"id": "x", "answer": "y"}\n', "utf-8")
    assert b"holds no answer to a prompt of this sweep" in ctx(*command, "--grade", answered).stderr


def test_every_format_says_the_same(tmp_path: Path) -> None:
    answered = tmp_path / "answered.jsonl"
    command = ("sweep", ITEMS, *GRID[:-2], "--repeats", 2)
    prompts = [json.loads(line) for line in ctx(*command, "--emit", "-").stdout.splitlines()]
    answered.write_text(
        "".join(json.dumps({"id": one["id"], "answer": falls(one["prompt"])}) + "\n" for one in prompts), "utf-8"
    )
    assert set(formats_of("sweep")) == {"table", "json", "jsonl", "csv", "markdown"}
    graded = {
        name: ctx(*command, "--grade", answered, "--all", "--format", name) for name in ("json", "csv", "markdown")
    }
    cells = document(graded["json"])["cells"]
    rows = list(csv.DictReader(graded["csv"].stdout.decode().splitlines()))
    assert [(row["multiple"], row["position"], row["right"]) for row in rows] == [
        (str(cell["multiple"]), cell["position"], str(cell["right"])) for cell in cells
    ]
    assert "| 16× |" in graded["markdown"].stdout.decode()
    floored = ctx(*command, "--grade", answered, "--min-score", "90%")
    assert floored.returncode == 1
    assert "knee at 16×" in floored.stdout.decode()
    assert "--min-score 90 %: not held, the lowest is that at 16×" in floored.stdout.decode()
    plan = json.loads(ctx(*command, "--dry-run", "--json").stdout)
    assert problems("sweep-plan", plan) == []
    assert plan["requests"] == len(prompts)


def test_the_answers_of_the_fixture_are_those_of_its_prompts() -> None:
    """Those that the README grades: of a model that gets worse with the length, and most in the middle."""
    done = ctx("sweep", ITEMS, *GRID[:-2], "--emit", "-")
    prompts = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [
        json.dumps({"id": one["id"], "answer": sags(one["prompt"])})
        for one in sorted(prompts, key=lambda one: one["id"])
    ]
    golden("\n".join(rows) + "\n", ITEMS.parent / "answers.jsonl")


def test_a_judge_grades_what_words_cannot(tmp_path: Path) -> None:
    """The model that is asked says it in other words, or something else; the judge is another one."""
    items = tmp_path / "items.jsonl"
    span = "The queue was chosen over the cron job, since the warehouse is slow in the morning."
    items.write_text(
        json.dumps({"question": "Why a queue?", "answer": "the warehouse is slow", "span": span, "grading": "judged"}),
        "utf-8",
    )
    command = (items, "--repeats", 2, "--json", "--answers", tmp_path / "answers.jsonl")

    def script(asked) -> str:
        if asked.body["model"] == "judge":
            return (
                "Yes." if "mornings are slow" in asked.text else "no, it is not" if "cheap" in asked.text else "perhaps"
            )
        return "it is cheap" if len(text_in(asked.text)) > 900 else "mornings are slow there"

    with provider(script) as server:
        found = document(sweep(server, *command, "--judge", "openai:judge"))
        count = len(server.requests)
        assert document(sweep(server, *command, "--judge", "openai:judge"))["cells"] == found["cells"]
        assert len(server.requests) == count == 2 * 7 + 2
    assert found["judge"] == "openai:judge"
    assert {cell["multiple"]: cell["mean"] for cell in found["cells"]} == {1: 1, 4: 1, 16: 0}


def test_items_out_of_a_transcript(tmp_path: Path) -> None:
    session = FIXTURES / "guard" / "refunds.json"
    made = tmp_path / "items.jsonl"
    assert ctx("sweep", "--from-transcript", session, "--emit-items", made, "--kinds", "path,decision").returncode == 0
    items = [json.loads(line) for line in made.read_text("utf-8").splitlines()]
    assert {one["id"].split("-")[0] for one in items} == {"path", "decision"}
    command = ("--from-transcript", session, "--kinds", "path", "--multiples", "1,2", "--repeats", 2, "--json")
    with provider([Answer("unknown")]) as server:
        found = document(ctx("sweep", *command, *server.flags, **server.env))
    assert found["source"]["from_transcript"]
    assert found["knee"]["verdict"] == "unknown"
    assert found["source"]["items"] == sum(one["id"].startswith("path") for one in items)


def test_secrets_of_the_corpus_are_masked(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "notes.md").write_text(
        f"The deploy job uses {secret} for the gateway.\n\n" * 2 + HANDBOOK.read_text("utf-8"), "utf-8"
    )
    (folder / "binary.bin").write_bytes(b"\0\1\2")
    done = ctx("sweep", ITEMS, "--corpus", folder, "--multiples", "1,16", "--repeats", 1, "--emit", "-")
    assert done.returncode == 0
    assert b"deploy job" in done.stdout
    assert secret.encode() not in done.stdout
    assert b"1 files of the corpus hold no text" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), b"give either ITEMS or --from-transcript"),
        ((ITEMS, "--emit", "-"), b"the corpus holds 0"),
        ((ITEMS, "--corpus", "nowhere.md", "--emit", "-"), b"nowhere.md"),
        ((ITEMS, "--emit", "-", "--grade", "x"), b"exclude one another"),
        ((ITEMS, "--corpus", HANDBOOK), b"a model is wanted"),
        ((ITEMS, "--multiples", "4,x", "--emit", "-"), b"no list of whole numbers"),
        ((HANDBOOK, "--emit", "-"), b"handbook.md: line 1: is not valid JSON"),
        ((ITEMS, "--corpus", HANDBOOK, "--multiples", "1", "--emit", ITEMS), b"is an input"),
        ((ITEMS, "--chart", "x.gif", "--model", "openai:m"), b"a chart is written as"),
        (("--from-transcript", HANDBOOK, "--emit", "-"), b"handbook.md"),
        ((ITEMS, "--corpus", HANDBOOK, "--multiples", "1", "--model", "openai:m", "--answers", HANDBOOK), b"is an input"),
        ((ITEMS, "--multiples", "1", "--model", "openai:m", "--answers", ROOT / "LICENSE"), b"holds no answers"),
        ((ITEMS, "--multiples", "1", "--model", "openai:m", "--answers", ROOT), b"is a folder"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(arguments: tuple[object, ...], said: bytes) -> None:
    done = ctx("sweep", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr
