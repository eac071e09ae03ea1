"""Where an answer stands in a reply, whole, and whether the reply says so or denies it. All texts are normal ones."""

import re
from functools import lru_cache

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MEASURE = re.compile(r"(\D{0,3}\d[\d.]*) ?([a-zµ°%]{1,12})")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_BOUND = re.compile(r"([<>=~^!]+) ?(.+)")
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts that put no space between words, or none before a particle: what stands beside them is whole."""
_NO_SPACE = re.compile(f"[{_UNSPACED}]")
_SIGN = rf"[^\W{_UNSPACED}]"
"""What makes a word longer."""
_LEFT = rf"(?<!{_SIGN})(?<!\w[./@-])(?<!\s[-−])(?<!^[-−])(?<!\.\./)(?<![~}}\]>]/)"
_LEFT_OF_NUMBER = rf"{_LEFT}(?<!\d,)"
_LEFT_OF_ROOT = rf"(?<!{_SIGN})(?<![.~}}\]>])"
"""A path from the root is not the end of one from elsewhere."""
_RIGHT = rf"(?!{_SIGN})(?![./@?-]\w)(?!\+\+|#(?!\w))"
_RIGHT_OF_NUMBER = rf"(?!{_SIGN})(?![.@-]\w)(?![/:,]\d)(?!\s?%)"
_UNSURE = re.compile(
    r"\bunknown\b|\bunsure\b|\bunclear\b|\bno (?:mention|information|answer)\b"
    r"|(?:\bnot|n't) (?:sure|certain|stated|specified|mentioned|given|known|clear|provided|know|tell|say|determine)\b"
    r"|\bcannot (?:tell|say|know|determine|answer|be (?:told|known|determined|answered|inferred))\b"
    r"|\bdoes(?: not|n't) (?:mention|state|specify|contain)\b"
)
_DENIED = re.compile(r"\b(?:not|never|nor|neither|no longer|rather than|instead of)\b|n't\b")
_CLAUSE = re.compile(r"[.,;:!?()—–]\s|[;(—–]|\b(?:but|and|so)\b")
_SENTENCE = re.compile(r"[.!?;]\s")


@lru_cache(maxsize=4_096)
def pattern_of(answer: str, *, loose: bool = False) -> re.Pattern[str]:
    """What finds an answer as whole words; loose also as a piece of something longer: 3.11 in 3.11.4.

    1.0 and v1.0 are the same, as are 30s and 30 s, >=3.11 and >= 3.11, and what is set off by _marks_.
    """
    bare = answer.rstrip(".;:,!?。、！？") or answer
    first, last = bare[:1], bare[-1:]
    left = right = ""
    if loose:
        left, right = f"(?<!{_SIGN})", f"(?!{_SIGN})"
    else:
        number = _NUMBER.fullmatch(bare) is not None
        left = _LEFT_OF_ROOT if first == "/" else _LEFT_OF_NUMBER if number else _LEFT
        right = _RIGHT_OF_NUMBER if number else _RIGHT
    left = left if (first.isalnum() or first in "_/.") and not _NO_SPACE.match(first) else ""
    right = right if (last.isalnum() or last in "_/") and not _NO_SPACE.match(last) else ""
    body = _body(bare)
    marked = "" if bare.isalpha() or not left or not right else rf"|(?<!\w)__?{body}__?(?!\w)"
    return re.compile(f"{left}{body}{right}{marked}")


def _body(bare: str) -> str:
    version, bound, measure = _VERSION.fullmatch(bare), _BOUND.fullmatch(bare), _MEASURE.fullmatch(bare)
    if version:
        return f"v?{re.escape(version[1])}"
    if bound:
        return rf"{re.escape(bound[1])}\s?{_body(bound[2])}"
    if measure:
        return rf"{re.escape(measure[1])}\s?{re.escape(measure[2])}"
    return re.escape(bare)


def is_affirmed(reply: str, answer: str, question: str) -> bool:
    """Whether a reply says an answer once, and neither denies it in that clause nor said before that it does not know.

    What a question denies itself may be denied: "Never touch ____".
    """
    found = pattern_of(answer)
    may_deny = _DENIED.search(question) is not None
    for match in found.finditer(reply):
        clause = _CLAUSE.split(reply[: match.start()])[-1]
        end = _SENTENCE.search(reply, match.end())
        until = found.sub(" ", reply[: end.start() if end else len(reply)])
        if not _UNSURE.search(until) and (may_deny or not _DENIED.search(clause)):
            return True
    return False
