"""What the user told beside boundaries: what something is, where it stands, how they want it; in its last state."""

import re
from collections.abc import Iterator

from ctxcli.constraints import is_demand, sentences
from ctxcli.model import PartKind
from ctxcli.reports.slots import Entry
from ctxcli.shelf import Material
from ctxcli.summarisers.extractive.said import is_request, parts
from ctxcli.summarisers.extractive.subjects import gives_value

FACT = "fact"
"""The kind under which they stand among the identifiers: a value with what it is the value of."""
_SHORTEST, _LONGEST = 12, 200
_PASTE = 2_000
"""Characters of a message beyond which it is a document, not the user's own words."""
_STATES = re.compile(
    r"\b(?:is|are|was|[’']s|has|have|lives?|runs?|belongs?|owns?|moved|changed|switched|rebased|branched|set|named"
    r"|called|calling|refer|stands?|use|needs?|takes?|costs?|based|working)\b|^[\w’' -]{3,60}[:=] ?\S",
    re.IGNORECASE,
)
"""Of a sentence that gives a value."""
_WISHES = re.compile(
    r"\b(?:the |our )?(?:users?|customers?|they)\b[’'\w ]{0,20}\b(?:wants?|likes?|needs?)\b|\bwould rather\b"
    r"|\bprefer(?:red|ence|s)?\b|\bin \w+ (?:style|units|format)\b"
    r"|^(?:please |kindly )?(?:make|keep|give|write) (?:your |all |the )?(?:responses|answers|replies|reports)\b",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"\bnext (?:step|up|task)\b|\bcurrent(?:ly)? (?:task|goal|step|branch|phase|status)\b|\bopen question\b"
    r"|\bawaiting\b|\b(?:phase|step|stage|milestone)s? \d|\b(?:is|are) (?:failing|blocked|pending|done|parked)\b",
    re.IGNORECASE,
)
_RULES = re.compile(
    r"^only\b|^no\b.+\b(?:may|can|ever|without|unless|until|first)\b|^if\b.{5,}?,|^(?:from now on|going forward)\b"
    r"|\bbefore (?:\w+ing|each|every|any|release|merge)\b",
    re.IGNORECASE,
)
"""Of a standing rule in a form that is too weak for a boundary which the guard asks for."""
_ORDERS = re.compile(
    r"^(?:please |kindly )?(?:send|write|use|answer|reply|put|show|report|format|name|call)\b", re.IGNORECASE
)
"""How a standing wish begins that gives a value; any other order is a request, and done with its turn."""
_TELLS = re.compile(
    r"^(?:\w+ing\b|(?:the|we|it|this|that|there|notes?|I[’']m|I am|I have)\b)"
    r"(?!.*\b(?:please|needs?|want|should|can you)\b)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[A-Z]{3,}(?: [A-Z]+)*: (?=\S)")
_IDLE = re.compile(r"\b(?:the|a|an)\b ?", re.IGNORECASE)
_IS = re.compile(r" (?:is|are|was|were) (?!not\b)|(?=:)")


def told(material: Material) -> list[Entry]:
    """What was carried over and what was told since, in order; of a thing all its states, each wording once.

    What was carried over has no line.
    """
    found: dict[str, Entry] = {}
    for one in (*map(Entry, material.carried.identifiers.get(FACT, ())), *_told(material)):
        found.pop(one.text, None)
        found[one.text] = one
    return list(found.values())


def _told(material: Material) -> Iterator[Entry]:
    for said in parts(material, PartKind.TEXT):
        if is_request(said) and said.at not in material.kept and len(said.part.text) <= _PASTE:
            for _, sentence in sentences(said.part.text):
                if is_fact(sentence):
                    yield Entry(_plain(material.mask(sentence)), said.line)


def _plain(sentence: str) -> str:
    """The sentence as one value of a row, which is read again as it was written."""
    return " ".join(unlabelled(sentence).replace("`", "").split()).strip("'\" ,;").rstrip(".,;")


def is_fact(sentence: str) -> bool:
    """Whether a sentence tells what holds from now on: a value, a state, a wish; no boundary, no question."""
    bare = unlabelled(sentence)
    if not _SHORTEST <= len(bare) <= _LONGEST or bare.endswith("?") or is_demand(bare):
        return False
    if any(form.search(bare) for form in (_STATUS, _WISHES, _RULES)):
        return True
    return gives_value(bare) and bool(_STATES.search(bare) or _ORDERS.search(bare))


def asks(text: str) -> bool:
    """Whether a message wants something done, and does not merely tell of something."""
    return any(
        "?" in one or one.casefold().startswith("please") or not (_TELLS.search(one) or is_fact(one))
        for _, one in sentences(text)
    )


def unlabelled(sentence: str) -> str:
    """A sentence without the label in capitals before it: `IMPORTANT:`, `NOTE:`."""
    return _LABEL.sub("", sentence)


def terse(sentence: str) -> str:
    """A sentence without what carries nothing: articles in what it is about, and the `is`; the value stays as it is."""
    match = _IS.search(sentence)
    if match is None:
        return re.sub(rf"^{_IDLE.pattern}", "", sentence, flags=re.IGNORECASE)
    about, value = sentence[: match.start()], sentence[match.end() :]
    return f"{_IDLE.sub('', about)}{match[0] and ' '}{value}"
