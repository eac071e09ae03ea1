"""Boundaries that the user took back later: marked, and not dropped in silence."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ctxcli.constraints import Constraint, sentences
from ctxcli.model import PartKind, Role, Transcript
from ctxcli.reports.slots import Entry

_REVOKES = re.compile(
    r"\b(?:no longer|any ?more|never ?mind|scratch that|changed my mind|after all|from now on|lifted|relaxed?"
    r"|forget (?:about )?(?:what|that|the|my)|ignore (?:what|that|the|my)|drop (?:that|the|this)"
    r"|(?:you|we) (?:can|may) (?:now|use|touch|change|edit)|(?:it[’']?s|is|are) (?:ok|okay|fine|allowed) (?:now|to)"
    r"|instead of|is now|are now|actually)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./-]{3,}")
_STOP = frozenset(
    ("the", "and", "for", "that", "this", "with", "not", "never", "must", "only", "any", "are", "you", "may", "can",
     "should", "from", "now", "use", "using", "have", "has", "will", "was", "all", "don", "don't", "always", "please",
     "keep", "also", "then", "when", "into", "more", "than", "most", "least")
)  # fmt: skip
_SHARED = 0.5
"""Share of a boundary's words that the sentence has to name which takes it back."""


def entries_of(constraints: Sequence[Constraint], transcript: Transcript, indices: Iterable[int]) -> Iterator[Entry]:
    """The boundaries as entries; one that a later sentence of the user takes back says at which line."""
    said = list(_revocations(transcript, indices))
    for one in constraints:
        line = next((line for line, words, text in said if line > one.line and _is_about(one.text, words, text)), None)
        yield Entry(f"{one.text} (superseded by line {line})" if line else one.text, one.line)


def _revocations(transcript: Transcript, indices: Iterable[int]) -> Iterator[tuple[int, frozenset[str], str]]:
    for index in indices:
        message = transcript.messages[index]
        if message.role is Role.USER and not message.harness:
            for part in message.parts:
                if part.kind is PartKind.TEXT:
                    for _, sentence in sentences(part.text):
                        if _REVOKES.search(sentence):
                            yield part.line or message.line, _words(sentence), sentence


def _is_about(constraint: str, words: frozenset[str], sentence: str) -> bool:
    own = _words(constraint)
    shared = own & words
    return sentence != constraint and len(shared) >= max(2, _SHARED * len(own))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip(".-/").casefold() for word in _WORD.findall(text)) - _STOP
