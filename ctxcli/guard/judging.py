"""What became of a constraint, as far as words can tell: kept, weakened, lost, or not to be judged without a model."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ctxcli.constraints import is_demand, sentences
from ctxcli.reports.guard import KEPT, LOST, UNJUDGED, WEAKENED

_REWRITTEN = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\b(?:can[’']?t|cannot)\b", "can not"),
        (r"\bwon[’']?t\b", "will not"),
        (r"n[’']t\b", " not"),
        (r"\bdont\b", "do not"),
        (r"\b(?:refrain|abstain) from\b|\bstop\b(?= \w+ing)|\bunder no circumstances\b", "never"),
        (r"\bnothing (?:but|else (?:than|but))\b|\bno other\b|\bnothing else\b|\bonly thing\b", "only"),
        (r"(?<=\d),(?=\d{3}\b)|(?<=\d)\.0+\b", ""),
        (r"\bmilliseconds?\b|\bmsecs?\b", "ms"),
        (r"\bseconds?\b|\bsecs?\b", "s"),
        (r"\bminutes?\b|\bmins?\b", "min"),
        (r"\bper ?cent\b", "%"),
        (r"(\d+) (?:dollars|usd)\b", r"$\1"),
        (r"<=|≤|\bat most\b|\bno more than\b|\bup to\b|\bmaximum\b|\bnot exceed\w*\b", "max"),
        (r">=|≥|\bat least\b|\bno (?:less|fewer) than\b|\bminimum\b", "min-of"),
        (r"<|\bbelow\b|\bunder\b|\bless than\b|\bwithin\b", "max"),
        (r">|\babove\b|\bmore than\b", "min-of"),
        *((rf"\b{word}\b(?! (?:of|by|more|thing))", str(number)) for number, word in enumerate(
            ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 2)),
    )
)  # fmt: skip
"""One word for what has several, so that sentences can be compared word by word."""
_WORD = re.compile(r"[^\W_][\w./:%€$£#-]*[^\W_]|[^\W_]")
_NUMBER = re.compile(r"(?<![\w.])[-+$€£]?\d[\d,._]*(?:\s?(?:%|[a-zA-Zµ]{1,3}\b))?")
_OPPOSITES = (
    ("max", "min-of"), ("before", "after"), ("with", "without"), ("enable", "disable"), ("include", "exclude"),
    ("allow", "forbid"), ("first", "last"), ("on", "off"), ("always", "never"), ("true", "false"),
)  # fmt: skip
_REVOKED = re.compile(
    r"\b(?:no longer|dropped|lifted|revoked|withdrawn|cancell?ed|obsolete|not (?:true|apply|valid)|overruled|waived)\b",
    re.IGNORECASE,
)
_NEGATIONS = frozenset(
    """
    not never no avoid neither nor forbidden prohibited banned disallowed none nothing off-limits untouched unchanged
    unmodified intact
    """.split()
)
_WEAK = re.compile(
    r"\b(?:should|may|might|could|prefer\w*|try|tries|ideally|if possible|when possible|where possible|consider\w*"
    r"|optional\w*|usually|generally|rarely|mostly)\b"
)
_IDLE = frozenset(
    """
    a an and any are as at be been but by can do does for from has have if in into is it its just keep let lets make
    me must my of on only or our please shall should so sure than that the their them then there these they this
    those to up us use used using very was we were will with would you your always also ever all not never no
    avoid neither nor may might max min-of allowed allow permitted off-limits forbidden prohibited banned disallowed
    not only solely untouched unchanged unmodified intact always
    """.split()
)
_SAME = {
    "touch": "chang", "modify": "chang", "modifi": "chang", "modif": "chang", "alter": "chang", "edit": "chang",
    "folder": "directory", "dir": "directory", "directori": "directory", "fil": "file", "remov": "delet",
}  # fmt: skip
_ONLY = frozenset("only solely exclusively just alone sole".split())
_CLAUSES = re.compile(r";\s+|,?\s+(?:and|but)\s+|\.\s+")
_BAD = (KEPT, UNJUDGED, WEAKENED, LOST)
_REASON = re.compile(r":\s|\s(?:because|since|so that|as otherwise)\s|\s[–—-]\s", re.IGNORECASE)
_NEARLY_ALL, _MOST, _SOME = 0.75, 0.6, 0.4
"""Share of a constraint's words that a sentence holds: of the same thing; most likely; perhaps."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, and what it is compared by."""

    text: str

    @cached_property
    def plain(self) -> str:
        """In lower case, with one word for what has several."""
        text = self.text.lower().replace("`", " ").replace("*", " ")
        for pattern, full in _REWRITTEN:
            text = pattern.sub(full, text)
        return text

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words, in the plain form."""
        return tuple(_WORD.findall(self.plain))

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of the words that say what it is about."""
        stems = (_stem(word) for word in self.words if word not in _IDLE and not word[0].isdigit())
        return frozenset(_SAME.get(stem, stem) for stem in stems)

    @cached_property
    def negations(self) -> int:
        """How often it negates."""
        return sum(word in _NEGATIONS for word in self.words)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers, with their units."""
        return frozenset(
            re.sub(r"\s", "", match.group().lower()).rstrip(".,") for match in _NUMBER.finditer(self.plain)
        )


_sentence = lru_cache(maxsize=1 << 15)(Sentence)
"""Contexts of one conversation are much alike: a sentence is taken to pieces once."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one constraint."""

    status: str
    stands: str | None
    why: str


class Judge:
    """Holds constraints against what a context says."""

    def __init__(self, text: str) -> None:
        self._pieces = list(dict.fromkeys(_pieces(text)))
        self._sentences = _Sentences(map(_sentence, self._pieces))

    @cached_property
    def _clauses(self) -> "_Sentences":
        clauses = (clause for piece in self._pieces for clause in _CLAUSES.split(piece) if clause)
        return _Sentences(map(_sentence, clauses))

    def judge(self, constraint: str) -> Judgement:
        """Compare by words: the sentence word for word, else its demands one by one; the worst counts."""
        whole = self._verbatim(Sentence(constraint))
        if whole is not None:
            return whole
        demands = [
            bare for clause in _CLAUSES.split(constraint) if is_demand(bare := _REASON.split(clause, maxsplit=1)[0])
        ]
        if len(demands) < 2:
            found = self._judge(constraint, self._sentences)
            if found.status == KEPT or not demands or demands == [constraint]:
                return found
        judgements = [self._judge(demand, self._clauses) for demand in demands]
        return max(judgements, key=lambda one: _BAD.index(one.status))

    def _verbatim(self, wanted: Sentence) -> Judgement | None:
        run = f" {' '.join(wanted.words)} "
        holder = next((one for one in self._sentences.near(wanted) if run in f" {' '.join(one.words)} "), None)
        if holder is None:
            return Judgement(KEPT, wanted.text, "word for word") if run in self._sentences.whole else None
        if _REVOKED.search(holder.text) and not _REVOKED.search(wanted.text):
            return Judgement(UNJUDGED, holder.text, "word for word, and perhaps taken back")
        return Judgement(KEPT, holder.text, "word for word")

    def _judge(self, constraint: str, among: "_Sentences") -> Judgement:
        """The sentence that shares most of the words decides."""
        wanted = Sentence(constraint)
        best = max(among.near(wanted), key=lambda one: _score(wanted, one), default=None)
        share = _share(wanted, best) if best is not None else 0.0
        if best is None or share < _SOME:
            return Judgement(LOST, None, "no sentence says anything like it")
        fault = _fault(wanted, best)
        if share < _NEARLY_ALL:
            if fault == "polarity" and len(wanted.content) < 3 and not _denies(best):
                return Judgement(LOST, best.text, "it shares one word, and denies nothing")
            if fault in ("number", "opposite") or (fault == "polarity" and share >= _MOST and not _denies(best)):
                return Judgement(WEAKENED, best.text, _FAULTS[fault])
            return Judgement(UNJUDGED, best.text, "perhaps a paraphrase: only a model, or you, can judge it")
        if not fault:
            return Judgement(KEPT, best.text, "the same words, polarity and numbers")
        if len(wanted.content) < 3 and fault not in ("number", "bound", "opposite"):
            return Judgement(LOST, best.text, "the words stand there, the boundary does not")
        return Judgement(WEAKENED, best.text, _FAULTS[fault])


_FAULTS = {
    "number": "a number changed",
    "opposite": "it says the opposite",
    "polarity": "a negation went missing, or came in",
    "only": "“only” went missing",
    "bound": "a limit became a figure",
    "modality": "a demand became a wish",
}
_MOST_COMPARED = 40
"""Sentences that a constraint is compared with: those that share most of its words."""


class _Sentences:
    """Sentences by the words that they hold, so that each constraint meets only those that are like it."""

    def __init__(self, sentences_: Iterable[Sentence]) -> None:
        self._all = list(sentences_)
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(self._all):
            for word in one.content | one.numbers:
                self._by_word[word].append(number)

    @cached_property
    def whole(self) -> str:
        """The words of all of them, in order."""
        return f" {' '.join(word for one in self._all for word in one.words)} "

    def near(self, wanted: Sentence) -> list[Sentence]:
        """Those that share the most words with a sentence; of equals, first come first."""
        shared: Counter[int] = Counter()
        for word in wanted.content | wanted.numbers:
            shared.update(self._by_word.get(word, ())[:_MOST_HOLDERS])
        most = sorted(shared, key=lambda number: (-shared[number], number))[:_MOST_COMPARED]
        return [self._all[number] for number in most]


_MOST_HOLDERS = 2_000
"""Sentences with one word that are looked at: a word that stands everywhere tells nothing."""


def _fault(wanted: Sentence, found: Sentence) -> str:
    if not wanted.numbers <= found.numbers:
        return "number"
    words, others = set(wanted.words), set(found.words)
    if any((one in words) > (one in others) and other in others and other not in words for one, other in _pairs()):
        return "opposite"
    if (wanted.negations > 0) != (found.negations > 0) or ("without" in words and "without" not in others):
        return "polarity"
    if _ONLY & words and not (_ONLY & others or found.negations):
        return "only"
    if _BOUNDS & words and not (_BOUNDS | {"limit", "limited", "cap", "budget"}) & others:
        return "bound"
    weak = {word for word in _WEAK.findall(found.text.lower()) if word != "may" or not _ONLY & others}
    return "modality" if weak and not _WEAK.search(wanted.text.lower()) else ""


_BOUNDS = frozenset({"max", "min-of"})


def _denies(found: Sentence) -> bool:
    """Whether a sentence denies or restricts anything: if not, it cannot be a ban in other words."""
    return bool(found.negations or _ONLY & set(found.words) or "without" in found.words)


def _pairs() -> Iterator[tuple[str, str]]:
    for one, other in _OPPOSITES:
        yield one, other
        yield other, one


def _share(wanted: Sentence, found: Sentence) -> float:
    if not wanted.content:
        return 1.0 if wanted.numbers and wanted.numbers <= found.numbers else 0.0
    return len(wanted.content & found.content) / len(wanted.content)


def _score(wanted: Sentence, found: Sentence) -> tuple[float, bool, float]:
    """More of its words; of equals one without a fault; of those the shorter."""
    share = _share(wanted, found)
    return share, share >= _SOME and not _fault(wanted, found), -float(len(found.words))


def _pieces(text: str) -> Iterator[str]:
    """Sentences, and the lines of code, quotations and tables: a constraint may stand anywhere."""
    yield from (sentence for _, sentence in sentences(text))
    yield from filter(None, map(str.strip, text.split("\n")))


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ied", "ies", "edly", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
            break
    return word.rstrip("e") if len(word) > 3 else word
