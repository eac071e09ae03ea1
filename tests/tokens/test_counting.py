"""Counting: the vocabularies, the engines against one another, the cache, the rule without a vocabulary."""

import base64
import hashlib
import random
import sqlite3
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.errors import SettingError, VocabularyError
from ctxcli.tokens import CountCache, choose, counter
from ctxcli.tokens.cache import digest
from ctxcli.tokens.engines import Heuristic, Tiktoken, Toktok, clean, engine_for, has_toktok, pieces
from ctxcli.tokens.vocab import PATTERNS, encoding, ranks

PUBLISHED = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}


@pytest.mark.parametrize("name", PATTERNS)
def test_the_packed_vocabulary_is_the_published_one(name: str) -> None:
    by_rank = sorted(ranks(name).items(), key=lambda item: item[1])
    text = "".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in by_rank)
    assert hashlib.sha256(text.encode()).hexdigest() == PUBLISHED[name]


def test_the_split_patterns_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiktoken_ext import openai_public

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_args, **_kwargs: {})
    for name, pattern in PATTERNS.items():
        assert getattr(openai_public, name)()["pat_str"] == pattern


KNOWN = [("o200k_base", "hello world", 2), ("cl100k_base", "hello world", 2), ("o200k_base", "", 0),
         ("o200k_base", "<|endoftext|>", 7), ("o200k_base", "antidisestablishmentarianism", 6)]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "tokens"), KNOWN)
def test_known_counts(name: str, text: str, tokens: int) -> None:
    assert Tiktoken(name).count([text]) == [tokens]


def samples() -> list[str]:
    chance = random.Random(7)
    alphabet = "".join(
        map(
            chr,
            [
                *range(32, 127),
                *range(0xA1, 0x250),
                *range(0x400, 0x460),
                *range(0x4E00, 0x4E80),
                *range(0x1F600, 0x1F640),
            ],
        )
    )
    noise = ["".join(chance.choices(alphabet, k=chance.randint(1, 400))) for _ in range(300)]
    any_point = [
        "".join(chr(chance.choice([chance.randrange(0xD800), chance.randrange(0xE000, 0x110000)])) for _ in range(60))
        for _ in range(300)
    ]
    texts = [
        Path(__file__).read_text("utf-8"), "The quick brown fox. " * 50, "日本語のテキスト、한국어, 中文。" * 20, "👩‍👩‍👧‍👦🇳🇴" * 30,
        base64.b64encode(chance.randbytes(3000)).decode(), '{"a": [1, 2.5, null], "b": "\\u00e9"}' * 40,
        "\n\n\t  \r\n" * 200, "don't can't I'LL we'Ve it'ſ ſ'ſ", "ʼn'S" * 9, "a" * 5000, "1234567890" * 300, "  leading", "trailing  ",
    ]  # fmt: skip
    return texts + noise + any_point


@pytest.mark.skipif(not has_toktok(), reason="the [fast] extra is not installed")
@pytest.mark.parametrize("name", PATTERNS)
def test_the_fast_engine_counts_as_the_reference_does(name: str) -> None:
    texts = samples()
    assert Toktok(name).count(texts) == Tiktoken(name).count(texts)


@pytest.mark.skipif(not has_toktok(), reason="the [fast] extra is not installed")
def test_the_fast_engine_is_for_much_text() -> None:
    assert engine_for("o200k_base", 2_000_000).engine == "toktok"
    assert engine_for("o200k_base", 1_000_000).engine == "tiktoken"
    assert engine_for("p50k_base", 2_000_000).engine == "tiktoken"


@pytest.mark.parametrize("sign", [" ", "\n", "\t", "\u00a0"])
def test_a_million_blanks_do_not_panic(sign: str) -> None:
    text = "before" + sign * 1_000_000 + "after"
    assert "".join(pieces(text)) == text
    assert Tiktoken("o200k_base").count([text])[0] > 0


@given(st.text(alphabet=st.characters(codec=None) | st.sampled_from(" \n\t"), max_size=300))
@settings(max_examples=200)
def test_cutting_loses_nothing_and_short_texts_stay_whole(text: str) -> None:
    assert pieces(text) == [text]
    assert Tiktoken("o200k_base").count([text]) == [len(encoding("o200k_base").encode_ordinary(clean(text)))]


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    assert Tiktoken("o200k_base").count(["\ud83d"]) == Tiktoken("o200k_base").count(["\ufffd"])


def test_other_encodings_come_from_tiktokens_cache_or_are_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    tiktoken.registry.ENCODINGS.clear()
    with pytest.raises(VocabularyError, match="downloads nothing"):
        Tiktoken("p50k_base").count(["x"])
    with pytest.raises(VocabularyError, match="no encoding is called 'nonsense'"):
        Tiktoken("nonsense").count(["x"])


def test_the_cache_remembers_counts_and_no_text(tmp_path: Path) -> None:
    cache = CountCache(tmp_path / "deep" / "counts.sqlite")
    secret = "the launch code is 0000"
    assert counter("o200k_base", cache).count([secret, "x", secret]) == counter("o200k_base").count(
        [secret, "x", secret]
    )
    assert set(cache.get("o200k_base", [digest(secret), digest("y")])) == {digest(secret)}
    assert cache.get("cl100k_base", [digest(secret)]) == {}
    assert secret.encode() not in (tmp_path / "deep" / "counts.sqlite").read_bytes()


def test_a_known_text_is_not_counted_again(tmp_path: Path) -> None:
    cache = CountCache(tmp_path / "counts.sqlite")
    cache.put("o200k_base", {digest("hello"): 4711})
    assert counter("o200k_base", cache).count(["hello"]) == [4711]


def test_a_broken_or_forbidden_cache_is_no_error(tmp_path: Path) -> None:
    broken = tmp_path / "counts.sqlite"
    broken.write_bytes(b"this is no database" * 100)
    assert counter("o200k_base", CountCache(broken)).count(["hello world"]) == [2]
    (tmp_path / "file").write_text("")
    assert counter("o200k_base", CountCache(tmp_path / "file" / "counts.sqlite")).count(["hello world"]) == [2]


def test_the_cache_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxcli.tokens.cache._MOST_ROWS", 100)
    cache = CountCache(tmp_path / "counts.sqlite")
    for start in range(0, 300, 50):
        cache.put("o200k_base", {digest(str(n)): n for n in range(start, start + 50)})
    with sqlite3.connect(tmp_path / "counts.sqlite") as table:
        assert table.execute("SELECT COUNT(*) FROM counts").fetchone()[0] <= 100


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("The heuristic is meant for a machine without a vocabulary, and prose is what it sees most.", 0.8, 1.25),
        (Path(__file__).read_text("utf-8"), 0.75, 1.3),
        ('{"id": 17, "name": "Ana", "tags": ["a", "b"], "total": 12.35}' * 20, 0.7, 1.35),
        ("これは日本語の文章です。トークンの数を見積もります。" * 10, 0.6, 1.5),
        ("Это предложение написано по-русски, чтобы проверить оценку." * 10, 0.6, 1.6),
    ],
)  # fmt: skip
def test_the_rule_without_a_vocabulary_is_near(text: str, low: float, high: float) -> None:
    estimate, exact = Heuristic().count([text])[0], Tiktoken("o200k_base").count([text])[0]
    assert low <= estimate / exact <= high


CHOICES = [
    (["gpt-4.1-2025-04-14"], None, ("o200k_base", True)),
    (["openai/gpt-4"], None, ("cl100k_base", True)),
    (["gpt-oss-120b"], None, ("o200k_base", True)),
    (["claude-opus-4-5"], None, ("o200k_base", False)),
    ([], None, ("o200k_base", False)),
    (["gpt-4o", "claude-opus-4-5"], None, ("o200k_base", False)),
    (["claude-opus-4-5"], "cl100k_base", ("cl100k_base", False)),
    (["gpt-4"], "cl100k_base", ("cl100k_base", True)),
    ([], "cl100k_base", ("cl100k_base", True)),
    (["gpt-4"], "tiktoken:p50k_base", ("p50k_base", False)),
    (["gpt-4"], "heuristic", ("heuristic", False)),
]


@pytest.mark.parametrize(("models", "wanted", "chosen"), CHOICES)
def test_the_encoding_is_the_users_or_the_models(
    models: list[str], wanted: str | None, chosen: tuple[str, bool]
) -> None:
    choice = choose(models, wanted)
    assert (choice.name, choice.exact) == chosen


def test_a_tokenizer_without_a_name_is_an_error() -> None:
    with pytest.raises(SettingError):
        choose([], "tiktoken:")


def test_a_run_of_blanks_counts_the_same_with_either_engine() -> None:
    text = "a" + "\t" * 4_099 + "b"
    if has_toktok():
        assert Toktok("o200k_base").count([text]) == Tiktoken("o200k_base").count([text])


def test_nonsense_in_the_cache_is_not_believed(tmp_path: Path) -> None:
    cache = CountCache(tmp_path / "counts.sqlite")
    cache.put("o200k_base", {digest("hello"): -5})
    assert counter("o200k_base", cache).count(["hello"]) == [1]
