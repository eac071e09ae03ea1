"""`ctx guard` and `ctx rules` as a user runs them."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from ctxcli.contract import problems
from ctxcli.rules import RULES
from support import FIXTURES, ROOT, ctx, formats_of, golden

REFUNDS, KEPT, FLUENT = (f"fixtures/guard/refunds{end}" for end in (".json", "-kept.md", "-fluent.md"))
SESSION = "fixtures/claude-code/session.jsonl"
OPAQUE = "fixtures/codex/compactions-and-rollback.jsonl"
GOLDEN = FIXTURES / "golden" / "guard"


def test_a_summary_that_keeps_the_contract_passes_and_a_fluent_one_fails() -> None:
    assert ctx("guard", REFUNDS, KEPT).returncode == 0
    assert ctx("guard", REFUNDS, KEPT, "--strict").returncode == 0
    fluent = ctx("guard", REFUNDS, FLUENT, "--json")
    assert fluent.returncode == 1
    report = json.loads(fluent.stdout)
    failing = {(one["status"], one["value"]) for one in report["findings"] if one["fails"]}
    assert failing == {
        ("lost", "PAY-1432"),
        ("lost", "https://wiki.shop.example/pay/refund-limits?rev=7"),
        ("lost", "services/refunds/"),
        ("lost", "services/refunds/policy.py"),
        ("lost", "E4021"),
        ("lost", "9f3c2ab"),
        ("lost", "RF-2026-00817"),
        ("lost", "stripe==7.1.2"),
        ("lost", "Refund needs a second pair of eyes"),
        ("mutated", "$500"),
        ("mutated", "200 ms"),
        ("mutated", "stripe==7.4.0"),
        ("mutated", "feat/refund-limits"),
    }
    assert [row["status"] for row in report["constraints"]] == ["weakened", "lost", "weakened", "lost"]


@pytest.mark.parametrize("format_", formats_of("guard"))
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([REFUNDS, KEPT], 0),
        ([REFUNDS, FLUENT], 1),
        ([REFUNDS, FLUENT, "--exit-zero"], 0),
        ([REFUNDS, "fixtures/guard/none.md"], 2),
        (["--recorded", OPAQUE], 3),
        (["--recorded", OPAQUE, "--allow-unverifiable"], 0),
        (["--recorded", SESSION], 1),
        (["--recorded", REFUNDS], 0),
        (["--recorded", REFUNDS, "--require-compaction"], 1),
    ],
    ids=str,
)
def test_the_exit_code_is_the_same_in_every_format(format_: str, arguments: list[str], code: int) -> None:
    result = ctx("guard", *arguments, "--format", format_, "--tokenizer", "heuristic")
    assert result.returncode == code, result.stderr
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize("format_", formats_of("guard"))
def test_golden(format_: str) -> None:
    fluent = ctx("guard", REFUNDS, FLUENT, "--format", format_, COLUMNS="100")
    if format_ not in ("json", "jsonl"):
        golden(fluent.stdout.decode(), GOLDEN / f"fluent.{format_}.txt")


@pytest.mark.parametrize("arguments", [[REFUNDS, FLUENT], ["fixtures/codex/session.jsonl", "README.md"]], ids=str)
def test_the_same_bytes_in_give_the_same_bytes_out(arguments: list[str]) -> None:
    """Whatever order Python's sets have: many sentences of a long text share as many words with a boundary."""
    runs = {ctx("guard", *arguments, "--json", PYTHONHASHSEED=seed).stdout for seed in ("0", "1", "2", "3")}
    assert len(runs) == 1


def test_golden_of_recorded_compactions() -> None:
    golden(ctx("guard", "--recorded", SESSION, OPAQUE, COLUMNS="100").stdout.decode(), GOLDEN / "recorded.txt")


@pytest.mark.parametrize("arguments", [[REFUNDS, FLUENT], ["--recorded", SESSION, OPAQUE]], ids=str)
def test_documents_hold_to_their_schema(arguments: list[str]) -> None:
    found = json.loads(ctx("guard", *arguments, "--json").stdout)
    documents = found if isinstance(found, list) else [found]
    lines = ctx("guard", *arguments, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == documents
    for document in documents:
        assert not problems("guard", document)


@pytest.mark.parametrize("arguments", [[REFUNDS, FLUENT], [REFUNDS, KEPT], ["--recorded", SESSION, OPAQUE]], ids=str)
def test_sarif_is_valid_under_the_official_schema(arguments: list[str]) -> None:
    # the final schema of OASIS, as Microsoft's sarif-multitool 5.7.0 ships it
    schema = json.loads((ROOT / "tests" / "data" / "sarif-2.1.0.schema.json").read_text("utf-8"))
    document = json.loads(ctx("guard", *arguments, "--format", "sarif").stdout)
    Draft202012Validator(schema).validate(document)
    for result in document["runs"][0]["results"]:
        assert document["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_gitlab_fingerprints_are_unique() -> None:
    rows = json.loads(ctx("guard", "--recorded", SESSION, "--format", "gitlab").stdout)
    assert rows
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    assert {"description", "check_name", "fingerprint", "severity", "location"} == set(rows[0])


def test_junit_counts_what_it_holds() -> None:
    root = ElementTree.fromstring(ctx("guard", REFUNDS, FLUENT, "--format", "junit").stdout)
    (suite,) = root
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == 17
    assert int(suite.get("tests")) == len(suite)
    opaque = ElementTree.fromstring(ctx("guard", "--recorded", OPAQUE, "--format", "junit").stdout)
    assert opaque.findall("testsuite/testcase/error")


def test_annotations_cannot_be_forged(tmp_path: Path) -> None:
    said = "use lib/a.py and\r\n::error::forged %0A::warning file=x::y PAY-1::set-output name=x::1\n"
    before, after = tmp_path / "odd,name:50%.md", tmp_path / "after.md"
    before.write_text(said)
    after.write_text("nothing")
    lines = ctx("guard", before, after, "--format", "github").stdout.decode().splitlines()
    assert any(line.startswith("::error file=") and "odd%2Cname%3A50%25.md" in line for line in lines)
    assert not any(line.startswith(("::error::forged", "::set-output")) for line in lines)


def test_a_csv_row_for_each_finding() -> None:
    rows = list(csv.DictReader(io.StringIO(ctx("guard", REFUNDS, FLUENT, "--format", "csv").stdout.decode())))
    assert sum(row["fails"] == "True" for row in rows) == 17


def test_a_secret_is_in_no_output() -> None:
    key = b"sk_test_4eC39HqLyjWDarjtT1zdp7dc"
    for format_ in formats_of("guard"):
        drawn = ctx(
            "guard", REFUNDS, FLUENT, "--require", "all", "--all", "--format", format_, "--tokenizer", "heuristic"
        )
        assert drawn.stdout
        assert key not in drawn.stdout
    assert key not in ctx("identifiers", REFUNDS, "--all").stdout


def test_the_summary_from_standard_input() -> None:
    piped = ctx("guard", REFUNDS, "-", stdin=(ROOT / KEPT).read_bytes())
    assert piped.returncode == 0
    assert b"against -" in piped.stdout


class TestSettings:
    def test_the_table_guard_and_a_flag_that_outweighs_it(self, tmp_path: Path) -> None:
        (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
        settings = tmp_path / "ctx.toml"
        settings.write_text('[guard]\nrequire = "none"\nignore = ["x"]\nmin-kept = "5%"\n')
        quiet = ctx("guard", REFUNDS, FLUENT, "--json", cwd=tmp_path)
        assert json.loads(quiet.stdout)["policy"]["require"] == []
        assert json.loads(ctx("guard", REFUNDS, FLUENT, "--json", "--require", "stated", cwd=tmp_path).stdout)[
            "policy"
        ]["require"] == ["stated"]

    def test_waivers(self, tmp_path: Path) -> None:
        (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
        (tmp_path / "ctx.toml").write_text(
            '[[guard.waivers]]\nvalue = "PAY-*"\nreason = "closed"\nuntil = 2999-01-01\n'
            '[[guard.waivers]]\nvalue = "9f3*"\nkind = "hash"\nreason = "old"\nuntil = "2020-01-01"\n'
        )
        report = json.loads(ctx("guard", REFUNDS, FLUENT, "--json", cwd=tmp_path).stdout)
        assert report["counts"]["waived"] == 1
        assert report["policy"]["waivers"] == 1
        assert any("ended on 2020-01-01" in remark for remark in report["remarks"])

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("[guard]\nrequires = 'all'\n", "guard.requires is no setting"),
            ("[guard]\nmin-kept = '5'\n", "guard.min-kept"),
            ("[guard]\nstrict = 'yes'\n", "neither true nor false"),
            ("[guard]\nignore = [1]\n", "list of texts"),
            ("guard = 1\n", "is a table"),
            ("[[guard.waivers]]\nvalue = 'x'\n", "has no reason"),
            ("[[guard.waivers]]\nreason = 'x'\n", "value is a glob"),
            ("[[guard.waivers]]\nvalue = 'x'\nreason = 'y'\nuntil = 'soon'\n", "until is a date"),
            ("[[guard.waivers]]\nvalue = 'x'\nreason = 'y'\nkind = 'wish'\n", "is no kind"),
            ("[guard]\nwaivers = 'x'\n", "list of tables"),
        ],
    )
    def test_what_cannot_be_is_said_with_the_file(self, text: str, complaint: str, tmp_path: Path) -> None:
        (tmp_path / "ctx.toml").write_text(text)
        result = ctx("guard", ROOT / REFUNDS, ROOT / KEPT, cwd=tmp_path)
        assert result.returncode == 2
        assert complaint in result.stderr.decode()
        assert "ctx.toml" in result.stderr.decode()


class TestBaseline:
    def test_ratchet(self, tmp_path: Path) -> None:
        baseline = tmp_path / "baseline.json"
        update = ctx("guard", REFUNDS, FLUENT, "--baseline", baseline, "--update-baseline")
        assert (update.returncode, b"17 findings written" in update.stderr) == (0, True)
        document = json.loads(baseline.read_text())
        assert not problems("guard-baseline", document)
        assert "PAY" not in baseline.read_text()
        again = ctx("guard", REFUNDS, FLUENT, "--baseline", baseline)
        assert (again.returncode, again.stderr) == (0, b"")
        better = ctx("guard", REFUNDS, KEPT, "--baseline", baseline)
        assert better.returncode == 0
        assert b"17 of 17 entries are not needed any more" in better.stderr

    def test_a_baseline_that_is_none(self, tmp_path: Path) -> None:
        broken = tmp_path / "baseline.json"
        assert ctx("guard", REFUNDS, KEPT, "--baseline", broken).returncode == 2
        for text in ("{", "[]", '{"kind": "ctx.guard-baseline", "version": 1, "findings": [{}]}'):
            broken.write_text(text)
            result = ctx("guard", REFUNDS, KEPT, "--baseline", broken)
            assert result.returncode == 2
            assert b"baseline.json" in result.stderr


class TestBadUse:
    @pytest.mark.parametrize(
        "arguments",
        [
            [REFUNDS],
            [REFUNDS, KEPT, FLUENT],
            ["-", "-"],
            [REFUNDS, KEPT, "--update-baseline"],
            [REFUNDS, KEPT, "--kinds", "wish"],
            [REFUNDS, KEPT, "--min-kept", "90"],
            [REFUNDS, KEPT, "--min-kept", "wish=90%"],
            [REFUNDS, KEPT, "--notes", "none.md"],
            ["fixtures/openai-chat/conversations.jsonl", KEPT],
        ],
        ids=str,
    )
    def test_exit_2_and_a_reason(self, arguments: list[str]) -> None:
        result = ctx("guard", *arguments, "--tokenizer", "heuristic", stdin=b"")
        assert result.returncode == 2
        assert result.stderr
        assert b"Traceback" not in result.stderr
        assert b"internal error" not in result.stderr

    @pytest.mark.parametrize("content", [b"", b"\0\1\2", b"{", b"   \n"])
    def test_bad_files(self, content: bytes, tmp_path: Path) -> None:
        bad = tmp_path / "bad"
        bad.write_bytes(content)
        for files in ([REFUNDS, bad], [bad, KEPT]):
            result = ctx("guard", *files, "--tokenizer", "heuristic")
            assert result.returncode == 2
            assert str(bad).encode() in result.stderr

    def test_a_baseline_is_never_written_over_an_input(self, tmp_path: Path) -> None:
        before = tmp_path / "before.md"
        before.write_text("Fix PAY-7")
        result = ctx("guard", before, ROOT / KEPT, "-o", before)
        assert result.returncode == 2
        assert before.read_text() == "Fix PAY-7"


def test_rules() -> None:
    listed = ctx("rules").stdout.decode()
    assert [line.split()[0] for line in listed.splitlines()] == list(RULES)
    assert ctx("rules", "CTX102").stdout == ctx("rules", "mutated").stdout == ctx("rules", "ctx102").stdout
    assert json.loads(ctx("rules", "CTX101", "--json").stdout)["rule"] == "CTX101"
    assert ctx("rules", "CTX999").returncode == 2
