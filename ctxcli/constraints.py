"""Sentences by which a user, or a project's instructions, set a boundary: must, never, only, do not.

Found by form, in English: a sentence counts when it demands or forbids, not when it describes ("I don't have the
order id") or asks. What stands in code, tables and quotations is no demand.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ctxcli.model import Message, PartKind, Role, Transcript

_LONGEST = 400
"""Characters beyond which a sentence is a paste."""
_DOCUMENT = 2_000
"""Characters of a message beyond which it is a document that was pasted, not the user's own words."""

_START = r"(?:^|[.,;:(–—]\s*|(?:\b(?:and|but|so|then|please|also|just|ok|okay|yes|no|again),?\s+)|[-*•]\s+|\d+[.)]\s+)"
_IDLE = r"(?:need|have|know|think|worry|bother|care|mind|see|understand|forget|get|remember|believe|hesitate|feel)"
_VERBS = (
    r"(?:use|change|touch|edit|modify|run|add|write|read|commit|push|test|support|return|include|exchange|refund|charge"
    r"|install|send|show|print|call|apply|update|delete|remove|work|look|rename|move|create|allow|accept|deploy|merge"
    r"|log|store|reply|answer|break|skip|keep|release|publish|import|depend|expose|spend|retry|ask|cache|upload)"
)
_LIMIT = r"[~<>=]*\s*[$€£]?(?:\d|(?:one|two|three|four|five|six|seven|eight|nine|ten)\b)"
_ASKED = rf"\b(?:{_VERBS}|must|should|need|take|limit|cap|stay|wait|have|with|for)"
_BOUND = r"(?:at\s+(?:most|least)|(?:no|not)\s+(?:more|less|fewer|longer)\s+than|up\s+to)"
_ADDED = (
    r"new|additional|extra|further|external|third[- ]party|breaking|hard[- ]?coded|direct|public|global|network|manual"
)
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\bmust(?:\s+not|n[’']t)?\b(?!\s+(?:have|'ve|say|admit|confess)\b)",
        rf"{_START}(?:do\s+not|don[’']?t)\s+(?!{_IDLE}\b)\w",
        rf"{_START}(?:never|always|avoid|refrain\s+from|under\s+no\s+circumstances)\s+(?!mind\b|an?\b|been\b)\w",
        rf"{_START}(?:keep|leave)\s+(?!in\s+mind|an?\s+eye|going|it\s+(?:up|for)|up\b|track|calm)\w",
        rf"{_START}(?:let[’']?s|let\s+us)\s+(?:not|never|only)\s+\w",
        rf"{_START}(?:make|be)\s+sure\s+(?:that\s+)?(?:you\s+|we\s+|it\s+)?(?:not|never|do\s+not|don[’']?t|doesn[’']?t)\b",
        rf"{_START}stop\s+\w+ing\b",
        r"\b(?:you|we|it|they|this|that|which|agents?)\s+(?:should\s*(?:not|n[’']?t|\s+never)|must)\b(?!\s+(?:matter|have)\b)",
        rf"\byou\s+(?:can\s*not|can[’']?t|may\s+not)\s+{_VERBS}\b|\bwe\s+(?:can\s*not|can[’']?t)\s+(?:use|add|change|break)\b",
        rf"\b(?:never|only|always)\s+(?:ever\s+)?{_VERBS}\b",
        rf"\b{_VERBS}(?:ing)?\s+only\b|^(?!(?:I|it|this|that|the|we|they|there|he|she)\b)[A-Z][a-z]+\s.*\bonly[.!]?$",
        r"^only\s+\w+\s+(?:may|can|should|is|are)\b|^ensure\b|\bask\s+(?:me|us)\s+(?:first|before)\b|\byou\s+have\s+to\b",
        r"\bI\s+(?:don[’']?t|do\s+not)\s+want\b|^no\s+[\w-]+,?\s+please\b",
        rf"^(?:at\s+most|no\s+more\s+than|not\s+more\s+than)\s+{_LIMIT}",
        r"\b(?:have|has|need|needs)\s+to\s+\w+\s+(?:within|before|under|by)\b",
        r"\b(?:I[’']?d|I\s+would|I|we)\s+only\s+(?:like|want|need|accept|allow)\b",
        r"\b(?:not\s+allowed|forbidden|prohibited|off[- ]limits|no\s+exceptions?)\b",
        rf"{_ASKED}\b.*\b{_BOUND}\s+{_LIMIT}",
        rf"\b(?:not\s+exceed(?:ing)?|a\s+(?:maximum|minimum)\s+of)\s+{_LIMIT}",
        rf"^(?:max|min)(?:imum|\.)?:?\s+{_LIMIT}|{_LIMIT}[\d,.]*\s+(?:max|min)(?:imum)?\b",
        rf"\b(?:limit|budget|cap|deadline)\s+(?:is|of|:)\s*{_LIMIT}",
        r"\b(?:must|should|keep|stay|stays|need|needs|has\s+to)\b.*(?:<=|>=|≤|≥|<|>|\bunder|\bbelow|\bwithin|\bover)\s*[$€£]?\d",
        r"^(?!(?:it|this|that|I|they|there|he|she|which|works?)\b).*\bwithout\s+\w+ing\b",
        rf"^(?:[-*•]\s+|\d+[.)]\s+)?no\s+(?:{_ADDED}|changes?\s+(?:to|in))\b",
    )
]  # fmt: skip
_GUESSES = re.compile(
    r"\bmust\s+be\s+(?:an?|some|something|because|tired|right|wrong|kidding|joking|hard)\b|\bthere\s+must\b"
    r"|\bdo(?:\s+not|n[’']?t)\s+(?:be\s+(?:surprised|afraid|shy|sorry|alarmed)|you)\b"
    r"|^(?:(?-i:[A-Z]{3,})|\w*(?:Error|Exception)|\d[\d:. -]+\w*):\s", re.IGNORECASE,
)  # fmt: skip
_DESCRIBES = re.compile(
    r"^(?:[-*•]\s+)?no\b.*\b(?:was|were|is|are|failed|found|exists?|has|have|had|results?|remain)\b", re.IGNORECASE
)
_HEDGED = re.compile(
    r"^(?:I\s+(?:don[’']?t(?!\s+want)|did|do(?!\s+not\s+want)|have|had|am|was|think|guess|wonder|see|actually)|I[’']m|sorry|hmm|maybe|why|what|how"
    r"|if\s+not\b|when\s+someone)\b", re.IGNORECASE,
)  # fmt: skip
_ENDS = re.compile(r"(?<=[.!?])[\"')\]]?\s+|\n+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_NO_PROSE = re.compile(r"^\s*(?:\||>|//|#!|/\*|\+{1,3}\s|@@|\$ |[│├└┌])|[{};]\s*$|^\s*\w+\(")
_INSTRUCTIONS = re.compile(r"\b(?:AGENTS|CLAUDE|GEMINI|CONTRIBUTING|copilot-instructions)\.md\b")


class Constraint(NamedTuple):
    """One boundary, in the words that set it."""

    text: str
    line: int
    """1-based source line."""
    role: Role
    """user, or system for what a project's instructions say."""
    pasted: bool
    """Part of a document that was pasted into a message."""


def constraints_of(transcript: Transcript, indices: Iterator[int] | list[int] | None = None) -> Iterator[Constraint]:
    """The boundaries that these messages (all of them) set, in order, each wording once."""
    seen: set[str] = set()
    places = range(len(transcript.messages)) if indices is None else indices
    for index in places:
        for found in _in_message(transcript.messages[index], plain=transcript.format == "text"):
            key = " ".join(found.text.lower().split())
            if key not in seen:
                seen.add(key)
                yield found


def _in_message(message: Message, *, plain: bool) -> Iterator[Constraint]:
    if message.role not in (Role.USER, Role.SYSTEM):
        return
    for part in message.parts:
        if part.kind is not PartKind.TEXT:
            continue
        told = bool(_INSTRUCTIONS.search(part.text[:300])) if message.harness else True
        if not told:
            continue
        role = Role.SYSTEM if message.harness else message.role
        pasted = role is Role.USER and not plain and len(part.text) > _DOCUMENT
        start = part.line or message.line
        for offset, sentence in demands(part.text):
            yield Constraint(sentence, start + offset if plain else start, role, pasted)


def demands(text: str) -> Iterator[tuple[int, str]]:
    """(0-based line, sentence) for each sentence of a text that demands or forbids."""
    for offset, sentence in sentences(text):
        if is_demand(sentence):
            yield offset, sentence


def is_demand(sentence: str) -> bool:
    """Whether a sentence sets a boundary."""
    if not 8 <= len(sentence) <= _LONGEST or sentence.endswith("?") or _HEDGED.match(sentence):
        return False
    if _DESCRIBES.match(sentence) or _GUESSES.search(sentence):
        return False
    return any(form.search(sentence) for form in _FORMS)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """(0-based line, sentence) for the prose of a text: wrapped lines are joined, code and tables left out."""
    held: list[str] = []
    start, fenced = 0, False
    for number, raw in enumerate(text.split("\n")):
        if _FENCE.match(raw):
            fenced = not fenced
        line = raw.strip()
        begins = not line or fenced or bool(re.match(r"[-*•#]|\d+[.)]\s|\[", line)) or bool(_NO_PROSE.search(raw))
        if begins and held:
            yield from ((start, one) for one in _split(" ".join(held)))
            held = []
        if line and not fenced and not _FENCE.match(raw) and not _NO_PROSE.search(raw):
            start = start if held else number
            held.append(line)
    if held:
        yield from ((start, one) for one in _split(" ".join(held)))


def _split(paragraph: str) -> Iterator[str]:
    for piece in _ENDS.split(paragraph):
        bare = piece.strip().strip("*").strip()
        if bare:
            yield bare
