"""A line, cut into runs: maximal pieces without blanks, quotes and brackets, bare of sentence punctuation."""

import re
from collections.abc import Iterator

from ctxcli.identifiers.hit import Run
from ctxcli.identifiers.words import BARE_FILES, LISTING

_RUN = re.compile(r"[^\s\"'`<>|;,(){}\[\]“”‘’«»…→←⇒│]++")
_OWN_UNDERSCORES = re.compile(r"_[^\W_]|__[a-z]+__")
_CHANGED = re.compile(r"\+\w|-\w[^\s=]*[/.]")
"""What a diff added or removed: the sign is its own."""
_TRAIL = ".,:;!?*=~"
_HEX_WORD = re.compile(r"[a-f]{7,}")
_LONGEST = 4_096
"""Characters of a run beyond which it is data (base64, minified code) and no identifier."""


def runs_of(line: str) -> Iterator[Run]:
    """The runs of a line, in order; plain words are passed over, and what is longer than an identifier can be."""
    for match in _RUN.finditer(line):
        if match.end() - match.start() <= _LONGEST and not _is_word(match.group(), match.end(), line):
            yield from _pieces(match.group(), match.start(), line)


def _is_word(text: str, end: int, line: str) -> bool:
    """A word of a language, which no kind takes: most runs of most texts, so they are passed over early."""
    bare = text.rstrip(_TRAIL)
    if not bare.isalpha() or not (bare.islower() or bare.istitle()) or bare in BARE_FILES:
        return False
    return line[end : end + 1] != "(" and not LISTING.match(line) and not _HEX_WORD.fullmatch(bare)


def _pieces(text: str, start: int, line: str) -> Iterator[Run]:
    """A run without punctuation around it; `key=value` is two, `==` is none, a flag ends before its value."""
    at = 0
    while "=" in text[at:] and ("==" not in text[at:] or text.startswith("-", at)):
        end = text.index("=", at)
        if end > at:
            yield from _bare(text[at:end], start + at, line)
        at = end + 1
    if at < len(text):
        yield from _bare(text[at:], start + at, line)


def _bare(text: str, start: int, line: str) -> Iterator[Run]:
    lead = 2 if text.startswith("#!") else 0
    if start == 0 and _CHANGED.match(text):
        lead = 1
    while text.startswith("~~", lead):
        lead += 2
    while lead < len(text) and text[lead] in "*_!?=" and not _OWN_UNDERSCORES.match(text, lead):
        lead += 1
    if text[lead : lead + 1] == "~" and text[lead + 1 : lead + 2].isdigit():
        lead += 1
    if (
        text[lead : lead + 1] in (".", ":")
        and text[lead + 1 : lead + 2] not in ("/", "\\", ".")
        and not text[lead + 1 : lead + 2].isalpha()
    ):
        lead += 1
    bare = text[lead:].rstrip(_TRAIL)
    if line[start + len(text) : start + len(text) + 1] == ">":
        bare = bare.rstrip("-")  # an arrow
    if lead < len(text) and bare.startswith("_") and bare.endswith("_") and not bare.startswith("__"):
        bare, lead = bare[1:-1].rstrip(_TRAIL), lead + 1  # emphasis
    if bare:
        yield Run(bare, start + lead, line)
