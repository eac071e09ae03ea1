"""Laws over the shelf of kinds, then cases."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.identifiers import KINDS, Kind, extract
from ctxcli.identifiers.normalise import plain, strings_of

HITS = [(kind, line, values) for kind in KINDS.values() for line, values in kind.hits]
MISSES = [(kind, line) for kind in KINDS.values() for line in kind.misses]
WORDS = st.sampled_from([
    "src/a.py", "v1.2.3", "#12", "https://x.org/a?b=1", "--flag", "-v", "$HOME", "a_b", "aB", "F(x)", "5%", "10.0.0.1",
    "@scope/n", "a41c9d0", "2026-01-02", "|", "(", ")", "`", '"', "'", "[x](y)", "\u00e9", "\u00b2", "1.2.3.", "\ud800", "\x1b[0m", "\\n", "/", ":", "@", "{a}",
])  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=200), st.lists(WORDS, max_size=30).map(" ".join), st.lists(WORDS, max_size=12).map("".join)
)


def found(line: str, kind: str, *, by_user: bool = True) -> list[str]:
    return [hit.value for hit in extract.of_line(line, by_user=by_user) if hit.kind == kind]


@pytest.mark.parametrize(("kind", "line", "values"), HITS, ids=lambda value: getattr(value, "name", None))
def test_a_kind_finds_what_its_card_says(kind: Kind, line: str, values: tuple[str, ...]) -> None:
    assert found(line, kind.name) == list(values)


@pytest.mark.parametrize(("kind", "line"), MISSES, ids=lambda value: getattr(value, "name", None))
def test_a_kind_passes_over_what_its_card_says(kind: Kind, line: str) -> None:
    assert found(line, kind.name) == []


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_every_card_has_both(kind: Kind) -> None:
    assert kind.hits
    assert kind.misses


@given(TEXTS)
def test_a_value_stands_in_its_line_where_it_says(text: str) -> None:
    for number, hit in extract(text, by_user=True):
        line = plain(text).split("\n")[number]
        assert hit.value.strip() == hit.value != ""
        assert line[hit.start : hit.end] == hit.value


@given(TEXTS)
def test_hits_overlap_only_as_the_rules_allow(text: str) -> None:
    for line in plain(text).split("\n"):
        for first, second in pairwise(extract.of_line(line)):
            inside = first.start <= second.start and second.end <= first.end
            assert second.start >= first.end or (
                inside and (second.kind, first.kind) in {("path", "location"), ("env", "path")}
            )


@given(st.lists(WORDS.filter(str.isprintable), max_size=8))
def test_a_line_alone_gives_what_it_gives_among_others(words: list[str]) -> None:
    line = " ".join(words)
    alone = [hit for _, hit in extract(line)]
    assert [hit for number, hit in extract(f"one\n{line}\ntwo") if number == 1] == alone


@pytest.mark.parametrize(
    "unit",
    ["a.", "a/", "a_", "A1", "aB", "/", "(", "x=", "-a ", '"', "$", "http://", "@", "1.", "\\", "[", "..", "é", "=", "a@b.", "#1", "`a` ", "a b", "C:\\a", "./", "[a]/", "0-", "a:1:"],
    ids=repr,
)  # fmt: skip
def test_half_a_million_of_anything_is_read(unit: str) -> None:
    # at quadratic cost this would take hours
    assert sum(1 for _ in extract(unit * (500_000 // len(unit)))) >= 0


def test_a_long_line_loses_nothing_at_the_cuts() -> None:
    line = " ".join(f"src/module{number}/file{number}.py" for number in range(3_000))
    assert [hit.value for _, hit in extract(line)] == line.split()


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("\x1b[31msrc/a.py\x1b[0m failed", "path", ["src/a.py"]),
        (r"see src\/shop\/a.py", "path", ["src/shop/a.py"]),
        ("[the guide](docs/guide.md) and `src/b.py`.", "path", ["docs/guide.md", "src/b.py"]),
        ("cafe\u0301/menu.md", "path", ["caf\u00e9/menu.md"]),
        ("look at @src/a.py", "path", ["src/a.py"]),
        ("a.go-304-  if err != nil {", "path", ["a.go"]),
        ("apps/api/[catalogId]/route.ts", "path", ["apps/api/[catalogId]/route.ts"]),
        ("issue https://x.org/issues/420 open", "url", ["https://x.org/issues/420"]),
        ("metric=0.123456789", "id", []),
        ("it lost -5% or $5000", "quantity", ["-5%", "$5000"]),
        ("the non-existent branch and a feature branch", "branch", []),
        ("* Fine-grained", "branch", []),
        ("pluggy<2,>=1.5 is there", "package", ["pluggy<2,>=1.5"]),
        ("it exited with code 2", "error", ["code 2"]),
        ("ParseError: true", "error", []),
        ("/pkg/mod/github.com/!derek!stride/x@v0.3.11/a.txt:22", "location", ["/pkg/mod/github.com/!derek!stride/x@v0.3.11/a.txt:22"]),
        ("docs/a.md:348:3. Why did it fail?", "location", ["docs/a.md:348"]),
        ("open /history/{thread_id}.md", "path", ["/history/{thread_id}.md"]),
        ("#!/usr/bin/env python3", "path", ["/usr/bin/env"]),
        ("+settings.local.json", "path", ["settings.local.json"]),
        ("-github.com/davecgh/go-spew v1.1.1", "package", ["github.com/davecgh/go-spew"]),
        ("root@box:/app# ls", "path", ["/app"]),
        ('t.Fatalf("missing %q:\\n%s")', "path", []),
        ("[[:space:]]*$/0,", "path", []),
        ('print "$key = $ENV{$key}"', "env", []),
        ("if node.IsError() {", "error", []),
        ("if node.IsError() {", "symbol", ["node.IsError"]),
        ("Promise.all(names.map(f))", "symbol", ["Promise.all", "names.map"]),
        ("branch=entire/03e67d1", "branch", ["entire/03e67d1"]),
        ("branch_created=true", "branch", []),
        ("it is 1.5 meters long", "quantity", ["1.5 meters"]),
        ("The order ID is 9502127", "id", ["9502127"]),
        ("session_id=test-session-amend-restore", "id", ["test-session-amend-restore"]),
        ("a _different_ session, __name__", "symbol", ["__name__"]),
        ('<html lang="en-US">', "quoted", []),
        ("use `do $$ ... $$;`", "quoted", ["do $$ ... $$;"]),
        ("=".join("x" * 1_500), "path", []),
        ("awk 'NR>=2700 && NR==5'", "package", []),
        ("needs django>=4,<5 and numpy>=1.26", "package", ["django>=4,<5", "numpy>=1.26"]),
        ('{"a":true,"b":":"}', "quoted", []),
        ("1.2.3.4\u00b2 and 1.2.33\u00b2", "host", []),
        ("1.2.3.4\u00b2 and 1.2.33\u00b2", "version", ["1.2.3.4\u00b2", "1.2.33\u00b2"]),
        ("two PRs with SHAs and IDs", "symbol", []),
    ],
)  # fmt: skip
def test_case(text: str, kind: str, values: list[str]) -> None:
    assert [hit.value for _, hit in extract(text, by_user=True) if hit.kind == kind] == values


def test_arguments_are_parsed_and_not_scanned() -> None:
    arguments = json.dumps({"path": "C:\\work\\a.txt", "edits": [{"new": "a\nb", "n": 3, "on": True}], "none": None})
    assert list(strings_of(arguments)) == ["C:\\work\\a.txt", "a\nb", "3"]
    assert list(strings_of("{broken")) == ["{broken"]
    deep = "[" * 900 + '"x"' + "]" * 900
    assert list(strings_of(deep)) == ["x"]


def test_a_quotation_counts_only_in_the_words_of_a_user() -> None:
    assert found('call it "Show more"', "quoted") == ["Show more"]
    assert found('call it "Show more"', "quoted", by_user=False) == []
