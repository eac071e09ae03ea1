"""Points that somebody called open, and nobody settled: questions left for later, what is still to do or to decide."""

import re
from collections.abc import Iterator

from ctxcli.constraints import sentences
from ctxcli.model import PartKind, Role
from ctxcli.reports.slots import Entry
from ctxcli.shelf import Material
from ctxcli.summarisers.extractive.said import Said, is_request, parts

_OPEN = re.compile(
    r"^(?:[-*•]\s+|\d+[.)]\s+)?(?:\*\*)?(?:"
    r"(?:one |an? )?(?:open|unresolved|outstanding|unanswered) (?:question|point|issue|item|problem|decision)s?\b"
    r"|(?:still|yet|left) (?:open|unclear|undecided|unresolved|missing|to (?:do|be done|decide|be decided|check))\b"
    r"|to ?-?do\s*:|tbd\b|follow[- ]?up\s*:|not (?:yet )?(?:decided|clear|resolved|settled|done)(?: yet)?\b"
    r"|(?:undecided|unresolved|unclear|pending)\s*:|question for later\b"
    r"|(?:we|I|you) still (?:need|have|want) to\b|remains? to be\b)"
    r"|\b(?:is|are|remains?) (?:still )?"
    r"(?:an? open (?:question|issue|point)|open|undecided|unresolved|to be decided|tbd)[.!]?$"
    r"|\b(?:has|have) (?:not|n[’']t) been (?:decided|resolved|settled|answered)(?: yet)?[.!]?$",
    re.IGNORECASE,
)
_SETTLES = re.compile(
    r"\b(?:resolved|answered|settled|decided|done|closed|fixed|finished|completed|no longer (?:open|needed)|migrated"
    r"|dropped|won[’']t)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./-]{4,}")
_IDLE = frozenset(
    """
    open question questions point issue item still todo decided resolved settled clear pending should would could when
    before after this that with from have need needs what which once
    """.split()  # noqa: SIM905 - a word list is read as text
)
_SHARED = 0.5
"""Share of a point's words that the sentence names which settles it."""
_SHORTEST, _LONGEST = 15, 240
_DOCUMENT = 2_000
"""Characters of a message of the user beyond which it is a document that was pasted."""
_MOST = 12
"""The newest so many."""


def unsettled(material: Material) -> list[tuple[Said, Entry]]:
    """The points in the words that called them open, oldest first; what a later sentence settles is none any more."""
    found: dict[str, tuple[Said, Entry, frozenset[str]]] = {}
    for said, sentence in _sentences(material):
        if _OPEN.search(sentence):
            found.pop(sentence, None)
            found[sentence] = said, Entry(sentence, said.line), _words(sentence)
        elif found and _SETTLES.search(sentence):
            named = _words(sentence)
            settled = [text for text, (_, _, words) in found.items() if _is_about(words, named)]
            for text in settled:
                del found[text]
    return [(said, entry) for said, entry, _ in list(found.values())[-_MOST:]]


def _sentences(material: Material) -> Iterator[tuple[Said, str]]:
    for said in parts(material, PartKind.TEXT):
        asked = is_request(said) and len(said.part.text) <= _DOCUMENT
        if asked or (said.message.role is Role.ASSISTANT and not said.message.harness):
            for _, sentence in sentences(said.part.text):
                if _SHORTEST <= len(sentence) <= _LONGEST:
                    yield said, sentence


def _words(sentence: str) -> frozenset[str]:
    return frozenset(word.lower().strip(".") for word in _WORD.findall(sentence)) - _IDLE


def _is_about(words: frozenset[str], named: frozenset[str]) -> bool:
    return bool(words) and len(words & named) >= max(1, _SHARED * len(words))
