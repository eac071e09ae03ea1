"""`ctx order`."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.sweep.order import ordered
from support import FIXTURES, ctx

DOCUMENTS = FIXTURES / "sweep" / "documents.jsonl"
SCORES = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=40)


@given(SCORES, st.integers(1, 30))
def test_the_best_stand_at_the_ends_and_each_one_towards_the_middle_is_worse(scores: list[float], most: int) -> None:
    order = ordered(scores, most)
    kept = [scores[index] for index in order]
    assert len(set(order)) == len(order) == min(most, len(scores))
    assert sorted(kept) == sorted(scores)[-len(kept) :]
    ranks = [kept[place // 2] if place % 2 == 0 else kept[-(place // 2) - 1] for place in range(len(kept))]
    assert ranks == sorted(kept, reverse=True)


@given(st.integers(1, 30))
def test_equals_keep_their_order_of_arrival(count: int) -> None:
    order = ordered([1.0] * count)
    by_rank = [order[place // 2] if place % 2 == 0 else order[-(place // 2) - 1] for place in range(len(order))]
    assert by_rank == list(range(min(count, 20)))


def test_the_same_lines_come_out_in_order() -> None:
    done = ctx("order", DOCUMENTS)
    lines = done.stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["ports", "owners", "history", "runbook", "alerts"]
    assert sorted(lines) == sorted(DOCUMENTS.read_bytes().splitlines())
    assert not done.stderr


def test_what_is_over_the_cap_is_left_out_and_said() -> None:
    rows = b"".join(b'{ "id": %d, "score": %d }\n' % (number, number) for number in range(25))
    done = ctx("order", stdin=rows)
    ids = [json.loads(line)["id"] for line in done.stdout.splitlines()]
    assert ids[0] == 24
    assert ids[-1] == 23
    assert sorted(ids) == list(range(5, 25))
    assert b"5 of 25 documents are left out" in done.stderr
    assert len(ctx("order", "--cap", 3, stdin=rows).stdout.splitlines()) == 3


def test_a_score_may_stand_inside(tmp_path: Path) -> None:
    file = tmp_path / "found.jsonl"
    file.write_text(
        '{"n":1,"metadata":{"score":0.1}}\n{"n":2,"metadata":{"score":7}}\n{"n":3,"metadata.score":8}', "utf-8"
    )
    done = ctx("order", file, "--score-field", "metadata.score", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["n"] for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()] == [3, 1, 2]
    assert ctx("order", file, "--score-field", "metadata.score", "-o", file).returncode == 2


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (b'{"score":1}\n\n{"text":"x"}\n', b"line 3: has no 'score'"),
        (b'{"score":1}\n{"score":NaN}\n', b"line 2: 'score' is no finite number"),
        (b'{"score":"0.5"}\n', b"line 1: 'score' is no finite number"),
        (b'{"score":true}\n', b"line 1: 'score' is no finite number"),
        (b'{"score":1' + b"0" * 400 + b"}\n", b"line 1: 'score' is no finite number"),
        (b'{"score":1}\n{"score":', b"line 2: is not valid JSON"),
        (b'[{"score":1}]', b"jq -c"),
        (b'{"score":1}\n\xff\n', b"line 2: byte 0xFF is not UTF-8"),
        (b"\n", b"is empty"),
    ],
)  # fmt: skip
def test_a_line_without_a_score_is_named_and_nothing_comes_out(rows: bytes, said: bytes) -> None:
    done = ctx("order", stdin=rows)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr
    assert b"Traceback" not in done.stderr
