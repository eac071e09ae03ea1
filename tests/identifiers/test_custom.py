"""Kinds that a user defines."""

import pytest

from ctxcli.errors import SettingError
from ctxcli.identifiers import KINDS, Extractor
from ctxcli.identifiers.custom import kinds_of

ORDER = {"order": {"pattern": r"ORD-\d{6}", "examples": ["ORD-123456"], "misses": ["ORD-12"]}}


def test_a_kind_of_ones_own_decides_first() -> None:
    extract = Extractor(kinds_of({"order": {"pattern": r"[A-Z]{3}-\d{4}", "examples": ["PAY-4821"]}}))
    assert [(hit.kind, hit.value) for _, hit in extract("see PAY-4821 in src/a.py")] == [
        ("order", "PAY-4821"),
        ("path", "src/a.py"),
    ]


def test_it_finds_whole_words_only() -> None:
    extract = Extractor(kinds_of(ORDER))
    found = [hit.value for _, hit in extract("ORD-123456, ORD-1234567 XORD-123456 (ORD-654321)") if hit.kind == "order"]
    assert found == ["ORD-123456", "ORD-654321"]


def test_it_changes_nothing_for_anyone_else() -> None:
    Extractor(kinds_of(ORDER))
    assert "order" not in KINDS


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"order": {"pattern": "(", "examples": ["x"]}}, "not valid"),
        ({"order": {"pattern": "a", "examples": ["ab"]}}, "does not find the whole of its example 'ab'"),
        ({"order": {"pattern": "a", "examples": ["a"], "misses": ["b a"]}}, "which is a miss"),
        ({"order": {"pattern": "a"}}, "at least one example"),
        ({"order": {"pattern": 5, "examples": ["a"]}}, "pattern is a text"),
        ({"order": {"pattern": "a", "examples": "a"}}, "list of texts"),
        ({"order": {"patern": "a"}}, "is a table with pattern"),
        ({"order": "a"}, "is a table"),
        ({"path": {"pattern": "a", "examples": ["a"]}}, "built in"),
        ({"My Kind": {"pattern": "a", "examples": ["a"]}}, "is no name"),
    ],
)
def test_what_is_wrong_is_said_with_the_kind(settings: dict[str, object], says: str) -> None:
    with pytest.raises(SettingError, match=says) as error:
        kinds_of(settings)
    assert f"kinds.{next(iter(settings))}" in str(error.value)


def test_a_hostile_pattern_is_refused_and_does_not_hang() -> None:
    extract = Extractor(kinds_of({"slow": {"pattern": r"(?:a|aa|a+)+b", "examples": ["aab"]}}))
    with pytest.raises(SettingError, match=r"kinds\.slow: the pattern took over"):
        list(extract("a" * 5_000 + " b"))
