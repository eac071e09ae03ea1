"""What became of a constraint, as far as words can tell: kept, weakened, lost, or not to be judged without a model."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ctxcli.constraints import is_demand, sentences
from ctxcli.reports.guard import KEPT, LOST, UNJUDGED, WEAKENED

_CONTRACTIONS = (
    (re.compile(r"\b(?:can[’']?t|cannot)\b"), "can not"),
    (re.compile(r"\bwon[’']?t\b"), "will not"),
    (re.compile(r"n[’']t\b"), " not"),
    (re.compile(r"\bdont\b"), "do not"),
)
_WORD = re.compile(r"[^\W_][\w./:%€$£#-]*[^\W_]|[^\W_]|[<>]=?|[≤≥]")
_NUMBER = re.compile(r"(?<![\w.])[-+$€£]?\d[\d,._]*(?:\s?(?:%|[a-zA-Zµ]{1,3}\b))?")
_NEGATIONS = frozenset("not never no without avoid neither nor forbidden prohibited refrain none nothing".split())
_WEAK = re.compile(
    r"\b(?:should|may|might|could|prefer\w*|try|tries|ideally|if possible|when possible|where possible|consider\w*"
    r"|optional\w*|usually|generally|rarely|mostly)\b"
)
_IDLE = frozenset(
    """
    a an and any are as at be been but by can do does for from has have if in into is it its just keep let lets make
    me must my of on only or our please shall should so sure than that the their them then there these they this
    those to up us use used using very was we were will with would you your always also ever all not never no
    without avoid neither nor may might
    """.split()
)
_ONLY = frozenset("only solely exclusively just nothing alone sole".split())
_CLAUSES = re.compile(r";\s+|,?\s+(?:and|but)\s+|\.\s+")
_BAD = (KEPT, UNJUDGED, WEAKENED, LOST)
_REASON = re.compile(r":\s|\s(?:because|since|so that|as otherwise)\s|\s[–—-]\s", re.IGNORECASE)
_NEARLY_ALL, _SOME = 0.75, 0.4
"""Share of a constraint's words that a sentence holds: of the same thing; perhaps of the same thing."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, and what it is compared by."""

    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in lower case, contractions written out."""
        text = self.text.lower().replace("`", " ").replace("*", " ")
        for pattern, full in _CONTRACTIONS:
            text = pattern.sub(full, text)
        return tuple(_WORD.findall(text))

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of the words that say what it is about."""
        return frozenset(_stem(word) for word in self.words if word not in _IDLE and not word[0].isdigit())

    @cached_property
    def negations(self) -> int:
        """How often it negates."""
        return sum(word in _NEGATIONS for word in self.words)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers, with their units."""
        return frozenset(re.sub(r"\s", "", match.group().lower()).rstrip(".,") for match in _NUMBER.finditer(self.text))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one constraint."""

    status: str
    stands: str | None
    why: str


class Judge:
    """Holds constraints against what a context says."""

    def __init__(self, text: str) -> None:
        self._sentences = [Sentence(sentence) for _, sentence in _pieces(text)]
        self._run = " ".join(word for sentence in self._sentences for word in sentence.words)
        self._whole = f" {self._run} "

    def judge(self, constraint: str) -> Judgement:
        """Compare by words: the sentence, else its demands one by one, without their reasons; the worst counts."""
        found = self._judge(constraint)
        if found.status in (KEPT, WEAKENED):
            return found
        demands = [
            bare for clause in _CLAUSES.split(constraint) if is_demand(bare := _REASON.split(clause, maxsplit=1)[0])
        ]
        if not demands or demands == [constraint]:
            return found
        judgements = [self._judge(demand) for demand in demands]
        return max(judgements, key=lambda one: _BAD.index(one.status))

    def _judge(self, constraint: str) -> Judgement:
        """Verbatim, else the sentence that shares most of the words."""
        wanted = Sentence(constraint)
        if f" {' '.join(wanted.words)} " in self._whole:
            return Judgement(KEPT, constraint, "word for word")
        best = max(self._sentences, key=lambda one: _score(wanted, one), default=None)
        share = _share(wanted, best) if best is not None else 0.0
        if best is None or share < _SOME:
            return Judgement(LOST, None, "no sentence says anything like it")
        if share < _NEARLY_ALL:
            return Judgement(UNJUDGED, best.text, "perhaps a paraphrase: only a model, or you, can judge it")
        fault = _fault(wanted, best)
        if not fault:
            return Judgement(KEPT, best.text, "the same words, polarity and numbers")
        if len(wanted.content) < 3 and fault != "number":
            return Judgement(LOST, best.text, "the words stand there, the boundary does not")
        return Judgement(WEAKENED, best.text, _FAULTS[fault])


_FAULTS = {
    "number": "a number changed",
    "polarity": "a negation went missing, or came in",
    "only": "“only” went missing",
    "modality": "a demand became a wish",
}


def _fault(wanted: Sentence, found: Sentence) -> str:
    if not wanted.numbers <= found.numbers:
        return "number"
    if (wanted.negations > 0) != (found.negations > 0):
        return "polarity"
    if _ONLY & set(wanted.words) and not (_ONLY & set(found.words) or found.negations):
        return "only"
    weak = {word for word in _WEAK.findall(found.text.lower()) if word != "may" or not _ONLY & set(found.words)}
    if weak and not _WEAK.search(wanted.text.lower()):
        return "modality"
    return ""


def _share(wanted: Sentence, found: Sentence) -> float:
    if not wanted.content:
        return 1.0 if wanted.numbers and wanted.numbers <= found.numbers else 0.0
    return len(wanted.content & found.content) / len(wanted.content)


def _score(wanted: Sentence, found: Sentence) -> tuple[float, bool, float]:
    """More of its words; of equals one without a fault; of those the shorter."""
    share = _share(wanted, found)
    return share, share >= _SOME and not _fault(wanted, found), -float(len(found.words))


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Sentences, and the lines of code and tables: a constraint may stand anywhere."""
    yield from sentences(text)
    yield from ((number, line) for number, line in enumerate(text.split("\n")) if "|" in line or line.startswith(">"))


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ied", "ies", "edly", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word.rstrip("e") if len(word) > 3 else word


def judged(constraints: Sequence[str], text: str) -> list[Judgement]:
    """The judgement on each of several constraints."""
    judge = Judge(text)
    return [judge.judge(one) for one in constraints]
