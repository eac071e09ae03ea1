"""What the context after says: every token in it, where it stands, and which of them are nearly another."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import pairwise

from ctxcli.guard.forms import (
    CASELESS,
    PAGES,
    PATHS,
    SPACED,
    WHOLE_DIGESTS,
    ends_with,
    home_form,
    path_form,
    squeezed,
    stands_in,
)
from ctxcli.identifiers.runs import runs_of

_BROKEN = re.compile(r"[ \t]*\n[ \t>*#|]*")
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\n", '\\"': '"', "\\/": "/", "\\\\": "\\"}
_ESCAPE = re.compile(r'\\[ntr"/\\]')
_MOST_LOOKED_AT = 2_000_000
"""Characters of a text that are also looked at with its line ends taken out."""


@lru_cache(maxsize=1 << 15)
def _tokens_of(line: str) -> frozenset[str]:
    """The tokens of a line; contexts of one conversation are much alike."""
    return frozenset(run.text for run in runs_of(line))


class Place(IntEnum):
    """Where something stands; the best first."""

    SUMMARY = 0
    """In the compacted text, or pinned."""
    NOTES = 1
    TAIL = 2
    """In messages that were kept as they are."""


class Holdings:
    """The texts of a context by place, and what stands in them.

    `given` holds the (kind, normal form) of the identifiers that were found in those texts.
    """

    def __init__(
        self,
        texts: Iterable[tuple[Place, str]],
        given: Mapping[Place, Set[tuple[str, str]]],
        folders: Sequence[str] = (),
    ) -> None:
        by_place: defaultdict[Place, list[str]] = defaultdict(list)
        for place, text in texts:
            by_place[place].append(text)
        self._texts = {place: "\n".join(by_place[place]) for place in sorted(by_place)}
        self._given = given
        self._folders = folders
        self._folded: dict[str, str] = {}

    def place_of(self, kind: str, form: str, spellings: Iterable[str]) -> Place | None:
        """The best place where an identifier stands whole, as written or normalised; None where it does not."""
        spelled = [f"#{form}"] if kind == "ticket" and form.isdigit() else list(dict.fromkeys((*spellings, form)))
        for place in self._texts:
            if (kind, form) in self._given.get(place, ()) or any(self.says(place, kind, one) for one in spelled):
                return place
            if not self._tokens[place].isdisjoint(spelled) or (kind in PATHS and self._has_path(place, form)):
                return place
        return None

    def _has_path(self, place: Place, form: str) -> bool:
        forms = self._path_forms[place]
        if form in forms or home_form(form) in forms:
            return True
        return form.startswith("~/") and any(home_form(other) == form for other in forms)

    def holds(self, kind: str, form: str, value: str) -> bool:
        """Whether an identifier stands anywhere, without a look at every token: quick on a long text."""
        return any((kind, form) in self._given.get(place, ()) or self.says(place, kind, value) for place in self._texts)

    def says(self, place: Place, kind: str, value: str) -> bool:
        """Whether the text of a place says a value, as a whole token."""
        caseless = kind in CASELESS or (kind == "error" and " " in value)
        wanted = squeezed(value) if kind in SPACED or caseless else value
        readings = [self._flat[place]]
        if len(wanted) > 3:
            readings += self._other_readings[place]
        if caseless:
            wanted = wanted.casefold()
            return any(stands_in(wanted, self._casefolded(text), kind) for text in readings)
        return any(stands_in(wanted, text, kind) for text in readings)

    def relative(self, kind: str, value: str) -> str | None:
        """What is left of an identifier, said in another way or in part: see `moved` in the README."""
        if kind in ("hash", "uuid"):
            return next((token for token in self._sorted_tokens if abbreviates(value, token)), None)
        if kind in ("ticket", "url"):
            return self._numbered(value)
        if kind in ("package", "error"):
            return self._last_part(kind, value)
        if kind not in PATHS or not value.strip("/"):
            return None
        form = path_form(value, self._folders)
        for token in self._paths_by_name.get(form.rsplit("/", 1)[-1], ()):
            if ends_with(form, token) or ends_with(token, form):
                return token
        at = self._joined_paths.find(f"/{form.lstrip('/')}/")
        if at < 0:
            return None
        start, end = self._joined_paths.rfind("\n", 0, at + 1) + 1, self._joined_paths.index("\n", at + 1)
        return self._joined_paths[start:end].removeprefix("//").removesuffix("/")

    def _numbered(self, value: str) -> str | None:
        """A ticket by its address, or an address by its ticket."""
        match = _NUMBER_OF.search(value)
        if match is None:
            return None
        number = match[1]
        if "://" in value:
            ticket = number if number[0].isalpha() else f"#{number}"
            said = re.compile(rf"{re.escape(ticket)}(?![\w-])")
            return ticket if any(said.search(text) for text in self._flat.values()) else None
        address = re.compile(rf"/{PAGES}/{re.escape(number)}(?![\w-])")
        found = next((hit for text in self._flat.values() if (hit := address.search(text))), None)
        return found.group() if found else None

    def _last_part(self, kind: str, value: str) -> str | None:
        """The version of a package, the class of an exception."""
        last = _PARTS.split(value)[-1]
        known = last != value and len(last) > 2
        return last if known and any(stands_in(last, text, kind) for text in self._flat.values()) else None

    @cached_property
    def _sorted_tokens(self) -> list[str]:
        """Every token, whatever its place."""
        return sorted(frozenset().union(*self._tokens.values()))

    @cached_property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self._texts.values())

    @cached_property
    def slashed(self) -> str:
        """All of it, with forward slashes only."""
        return self.text.replace("\\", "/")

    @cached_property
    def _tokens(self) -> dict[Place, frozenset[str]]:
        found = {}
        for place, text in self._texts.items():
            readings = {text, _unescaped(text)}
            lines = dict.fromkeys(line for reading in readings for line in reading.split("\n"))
            found[place] = frozenset().union(*map(_tokens_of, lines))
        return found

    @cached_property
    def _path_forms(self) -> dict[Place, frozenset[str]]:
        return {
            place: frozenset(path_form(token, self._folders) for token in tokens if _pathlike(token))
            for place, tokens in self._tokens.items()
        }

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        return tuple(sorted({path_form(token, self._folders) for token in self._sorted_tokens if _NAME.search(token)}))

    @cached_property
    def _joined_paths(self) -> str:
        """A path a line, with slashes around it, so that a folder anywhere in one is found at once."""
        return "\n" + "".join(f"//{path.lstrip('/')}/\n" if path[:1] != "/" else f"/{path}/\n" for path in self._paths)

    @cached_property
    def _paths_by_name(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._paths:
            found[path.rsplit("/", 1)[-1]].append(path)
        return found

    @cached_property
    def _flat(self) -> dict[Place, str]:
        return {place: squeezed(text) for place, text in self._texts.items()}

    def _casefolded(self, text: str) -> str:
        if text not in self._folded:
            self._folded[text] = text.casefold()
        return self._folded[text]

    @cached_property
    def _other_readings(self) -> dict[Place, tuple[str, ...]]:
        """Where a text wraps inside a word, or is a JSON string that was not parsed."""
        found = {}
        for place, text in self._texts.items():
            readings = [] if len(text) > _MOST_LOOKED_AT else [_BROKEN.sub("", text)]
            if (unescaped := _unescaped(text)) is not text:
                readings.append(squeezed(unescaped))
            found[place] = tuple(readings)
        return found


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _ESCAPES[match.group()], _UNICODE.sub(lambda match: chr(int(match[1], 16)), text))


def abbreviates(value: str, token: str) -> bool:
    """Whether one hash or UUID is the other one in short, the first 7 to 12 digits of it."""
    short, full = sorted((value.casefold(), token.casefold()), key=len)
    return (
        7 <= len(short) <= 12 and len(full) in WHOLE_DIGESTS and full.startswith(short) and bool(_HEX.fullmatch(full))
    )


_NUMBER_OF = re.compile(rf"(?:#|/{PAGES}/|^)([A-Z][A-Z0-9]+-\d+|\d+)/?$")
_PARTS = re.compile(r"[=~<>!]=|@|\s|(?<=[a-z])\.(?=[A-Z])")
_HEX = re.compile(r"[0-9a-f-]{13,128}")
_NAME = re.compile(r"[/\\._-]|[A-Za-z]\d")
"""What makes a token a possible file or folder: a plain word says nothing about where it is."""


def _pathlike(token: str) -> bool:
    return "/" in token or "\\" in token


def wrapped_pieces(text: str, original: Holdings) -> Iterator[str]:
    """The two ends of each word that a line break cut in two and that the original holds in one."""
    lines = text.split("\n")
    for line, following in pairwise(lines):
        words, others = line.split(), following.lstrip(" \t>*#|").split()
        if words and others:
            whole = (words[-1] + others[0]).strip("`'\"*_.,;:!?()<>[]")
            if len(whole) > 3 and original.holds("path" if "/" in whole else "", whole, whole):
                yield from (words[-1], others[0])
