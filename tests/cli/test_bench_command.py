"""`ctx bench` as a user runs it."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from ctxcli.contract import problems
from support import FIXTURES, ctx, formats_of

SEARCH = FIXTURES / "compaction" / "search-index.json"
SMALL = (SEARCH, "--min-context", "1k", "--cuts", 1, "--strategy", "contract,drop-oldest", "--jobs", 1)
LAST = f"""last="{sys.executable}" -c "import json,sys; d=json.load(open(sys.argv[1])); \
print(json.dumps(dict(messages=d['messages'][-10:])))" {{in}}"""


def test_a_run_is_a_document_resumes_and_fails_below_a_floor(tmp_path: Path) -> None:
    work, chart = tmp_path / "work.jsonl", tmp_path / "recall.svg"
    asked = (*SMALL, "--compactor", LAST, "--generations", 2, "--plant", 1, "--resume", work)
    first = ctx(
        "bench",
        *asked,
        "--json",
        "--all",
        "--chart",
        chart,
        "--floor",
        "recall=90%",
        "--floor",
        "contract:survival=0.5",
    )
    assert first.returncode == 1, first.stderr
    report = json.loads(first.stdout)
    assert not problems("bench", report)
    assert {row["compactor"] for row in report["rows"]} == {"contract", "drop-oldest", "last"}
    own = next(row for row in report["rows"] if row["compactor"] == "last")
    assert (own["kind"], own["against"], own["failed"]) == ("outside", "last", 0)
    assert [(one["compactor"], one["ok"]) for one in report["floors"]] == [("last", False), ("contract", True)]
    assert {one["form"] for one in report["generations"]} == {"raw turns", "copy of a copy"}
    assert chart.read_bytes().startswith(b"<?xml")
    held = [one for one in report["planted"] if one["compactor"] == "contract" and one["slot"] == "constraints"]
    assert held
    assert all(one["held"] == one["planted"] for one in held)

    lines = work.read_bytes()
    work.write_bytes(lines[:-40])  # it was killed while it wrote the last line
    again = ctx("bench", *asked, "--json", "--all")
    assert again.returncode == 0, again.stderr
    assert again.stderr == b""
    assert len(work.read_bytes().splitlines()) == len(lines.splitlines()) + 1  # only the torn one was computed again
    assert _without_times(json.loads(again.stdout)) == _without_times({**report, "floors": [], "ok": True})
    third = ctx("bench", *asked)
    assert third.returncode == 0
    assert third.stderr == b""
    assert b"at the size of last" in third.stdout
    assert b"copy of a copy" in third.stdout


def _without_times(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_times(one) for key, one in value.items() if key != "seconds"}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


def test_every_format_and_several_processes(tmp_path: Path) -> None:
    work = tmp_path / "work.jsonl"
    asked = ("bench", *SMALL[:-2], "--generations", 0, "--resume", work)
    assert ctx(*asked, "--jobs", 2).returncode == 0
    for name in formats_of("bench"):
        done = ctx(*asked, "--format", name)
        assert done.returncode == 0
        assert done.stdout
    rows = ctx(*asked, "--format", "csv").stdout.decode().splitlines()
    assert rows[0].startswith("path,conversation,call,compactor,budget")
    assert len(rows) == 1 + 2 * 5


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--compactor", "mine"), "is no compactor"),
        (("--compactor", "contract=cat {in}"), "a name of ctx's own"),
        (("--compactor", "mine=cat"), "reads nothing"),
        (("--compactor", "a=cat {in}", "--compactor", "a=cat {in}"), "the same name"),
        (("--floor", "beauty=1"), "is no floor"),
        (("--floor", "recall=much"), "is no figure"),
        (("--floor", "recall=2"), "can never be reached"),
        (("--floor", "mine:recall=1"), "nothing of this name"),
        (("--floor", "planted=1"), "nothing is planted"),
        (("--plant", "1", "--generations", "0"), "generations"),
        (("--budget", "0%"), "not between"),
        (("--chart", "x.gif"), ".svg, .png, .pdf"),
        (("--chart", "no/such/folder/x.svg"), "is no folder"),
        (("--output", "no/such/folder/x"), "is no folder"),
        (("--resume", "-"), "give its name"),
    ],
)
def test_what_cannot_be_is_said(flags: tuple[str, ...], said: str) -> None:
    done = ctx("bench", SEARCH, *flags)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.decode().split())
    assert not done.stdout


def test_a_compactor_that_fails_is_told_and_nothing_else_stops() -> None:
    done = ctx("bench", *SMALL, "--generations", 0, "--compactor", "mine=exit 3 # {in}", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert next(row["failed"] for row in report["rows"] if row["compactor"] == "mine") == 1
    assert any(note.startswith("mine: ended with code 3") for note in report["notes"])
    assert (
        ctx("bench", *SMALL, "--generations", 0, "--compactor", "mine=exit 3 # {in}", "--floor", "recall=0").returncode
        == 1
    )


def test_work_is_kept_in_no_file_but_its_own(tmp_path: Path) -> None:
    source, other = tmp_path / "source.json", tmp_path / "notes.md"
    source.write_bytes(SEARCH.read_bytes())
    other.write_text("# mine\n")
    asked = ("bench", source, *SMALL[1:], "--generations", 0)
    for path, said in ((source, b"is an input"), (other, b"line 1: is no work that ctx bench kept")):
        before = path.read_bytes()
        done = ctx(*asked, "--resume", path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert said in done.stderr
        assert path.read_bytes() == before


def test_a_source_that_breaks_off_is_compared_on_as_far_as_it_goes(tmp_path: Path) -> None:
    lines = [json.dumps({**json.loads(SEARCH.read_text()), "n": number}) for number in range(4)]
    packed = gzip.compress("\n".join(lines).encode(), 0, mtime=0)
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(packed[: len(packed) * 2 // 3])
    done = ctx("bench", torn, *SMALL[1:], "--generations", 0, "--json")
    assert b"cannot be read beyond line" in done.stderr
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sources"]


def test_sources_that_cannot_be_compared_on(tmp_path: Path) -> None:
    nothing = ctx("bench", tmp_path / "none.json")
    assert nothing.returncode == 2
    assert b"no such file" in nothing.stderr
    small = ctx("bench", SEARCH, "--generations", 0)
    assert small.returncode == 0
    assert b"No context was large enough" in small.stdout
    stream = ctx("bench", "-", stdin=b"{}")
    assert stream.returncode == 2
    assert b"name files" in stream.stderr
