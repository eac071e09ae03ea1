"""The programs that count: tiktoken (the reference), toktok (the fast extra), and a rule without either."""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from ctxcli.tokens.vocab import PATTERNS, encoding

_LONGEST_RUN = 4096
_BLANKS = re.compile(r"\s++")
_BATCH = 64
_WORTH_THREADS = 50_000
"""Characters below which starting threads costs more than they save."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text as UTF-8 can hold it: a lone surrogate becomes U+FFFD, as it does when it is sent."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return _SURROGATE.sub("\ufffd", text)


def pieces(text: str) -> list[str]:
    """The text, cut where a run of white space is so long that tiktoken's regex engine would panic.

    Everything but such runs stays whole, so ordinary text is counted exactly; a run of thousands of
    blanks may count a token more per cut.
    """
    if not has_long_run(text):
        return [text]
    cuts = [0]
    for match in _BLANKS.finditer(text):
        cuts += range(match.start() + _LONGEST_RUN, match.end(), _LONGEST_RUN)
    cuts.append(len(text))
    return [text[start:end] for start, end in pairwise(cuts)]


def has_long_run(text: str) -> bool:
    """Whether a text holds a run of white space that is cut before it is counted."""
    if len(text) < _LONGEST_RUN:
        return False
    return any(match.end() - match.start() > _LONGEST_RUN for match in _BLANKS.finditer(text))


@dataclass(frozen=True, slots=True)
class Tiktoken:
    """Counts with tiktoken, several texts at a time on several threads."""

    name: str
    engine: str = "tiktoken"

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        if not texts:
            return []
        coder = encoding(self.name)
        counts: list[int] = []
        threads = min(8, os.cpu_count() or 1)
        for start in range(0, len(texts), _BATCH):
            cut = [pieces(clean(text)) for text in texts[start : start + _BATCH]]
            flat = [piece for one in cut for piece in one]
            if sum(map(len, flat)) < _WORTH_THREADS:
                lengths = iter([len(coder.encode_ordinary(piece)) for piece in flat])
            else:
                lengths = iter([len(tokens) for tokens in coder.encode_ordinary_batch(flat, num_threads=threads)])
            counts += [sum(next(lengths) for _ in one) for one in cut]
        return counts


@dataclass(frozen=True, slots=True)
class Toktok:
    """Counts with toktok-rs; what it is known to count otherwise than tiktoken goes to tiktoken."""

    name: str
    engine: str = "toktok"

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        import toktok  # noqa: PLC0415 - an optional extra

        ready = [clean(text) for text in texts]
        odd = {at for at, text in enumerate(ready) if "'\u017f" in text or has_long_run(text)}
        counts: list[int] = toktok.batch_count(["" if at in odd else text for at, text in enumerate(ready)], self.name)
        for at in odd:
            counts[at] = Tiktoken(self.name).count([ready[at]])[0]
        return counts


@cache
def has_toktok() -> bool:
    """Whether the `[fast]` extra is installed, found without importing it."""
    from importlib.util import find_spec  # noqa: PLC0415

    return "toktok" in sys.modules or find_spec("toktok") is not None


def engine_for(name: str, size: int) -> Tiktoken | Toktok:
    """The engine for texts of that many characters in all: toktok loads slower, and pays above 1.5 MB."""
    if size > 1_500_000 and name in PATTERNS and has_toktok():
        return Toktok(name)
    return Tiktoken(name)


_WORD = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+|[0-9]+|\r?\n\s*|[ \t]{2,}|[!-/:-@\[-`{-~]+")
_SCRIPTS = (
    (re.compile("[\u0400-\u052f]"), 0.27),  # Cyrillic
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff\u0590-\u05ff]"), 0.42),  # Greek, Hebrew
    (re.compile("[\u0600-\u06ff\u0900-\u0dff]"), 0.35),  # Arabic, the scripts of India
    (re.compile("[\u0e00-\u0eff]"), 0.41),  # Thai, Lao
    (re.compile("[\u1100-\u11ff\uac00-\ud7af]"), 0.58),  # Korean
    (re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"), 0.72),  # Japanese, Chinese
    (re.compile("[\u2010-\u206f\u2190-\u25ff\u3000-\u303f\uff00-\uffef]"), 1.0),  # punctuation, lines
    (re.compile("[\u2600-\u27bf\U0001f000-\U0010ffff]"), 1.6),  # emoji and what is rarer
)


@dataclass(frozen=True, slots=True)
class Heuristic:
    """Estimates without a vocabulary, by the kind and the script of each run of characters.

    The figures are those of o200k_base on prose in 13 languages, code, JSON and markdown: a word is
    a token, and another for each 6 letters over 7; a number one for each 3 digits; a run of signs
    one for each 3; a run of blanks or an end of line one; other scripts their rate a character.
    """

    name: str = "heuristic"
    engine: str = "rules"

    def count(self, texts: Sequence[str]) -> list[int]:
        """An estimate of the tokens of each text, never less than 1 where there is text."""
        return [self._one(clean(text)) for text in texts]

    def _one(self, text: str) -> int:
        if not text:
            return 0
        figure = 0.0
        if not text.isascii():
            figure = sum(rate * len(script.findall(text)) for script, rate in _SCRIPTS)
        for match in _WORD.finditer(text):
            run = match.group()
            size, first = len(run), run[0]
            if first.isalpha():
                figure += 1 if size <= 7 else 1 + (size - 2) // 6
            elif first.isdigit():
                figure += (size + 2) // 3
            elif first.isspace():
                figure += 1
            else:
                figure += 0.85 if size == 1 else (size + 2) // 3
        return max(1, round(figure))
