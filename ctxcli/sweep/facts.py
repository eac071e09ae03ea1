"""Items out of a transcript's own facts: settings, paths, what the user told, decisions with reasons, boundaries.

A fact becomes an item only where the transcript gives one answer: a setting with two values is none. The span is the
message that states it, or of a long one the paragraph.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ctxcli.compact.context import raw_of, start_of
from ctxcli.compact.material import Span, material_of
from ctxcli.guard.forms import ends_with, file_name
from ctxcli.guard.policy import Policy
from ctxcli.guard.reading import Reading
from ctxcli.guard.sides import Before
from ctxcli.identifiers import extract
from ctxcli.identifiers.secrets import secrets_in
from ctxcli.model import Message, PartKind, Role, Transcript
from ctxcli.shelf import Material, Weigh
from ctxcli.summarisers.extractive.boundaries import constraints
from ctxcli.summarisers.extractive.decisions import decisions
from ctxcli.summarisers.extractive.facts import told
from ctxcli.summarisers.extractive.subjects import last_states
from ctxcli.sweep.corpus import pieces_of
from ctxcli.sweep.grading import EXACT, JUDGED, normal, stands
from ctxcli.sweep.item import Item, fault_of, is_given_away

_UNBOUNDED = 10**9
_LONGEST_MESSAGE = 1_200
"""Characters of a message that is a span as a whole."""
_SAID = (PartKind.TEXT, PartKind.TOOL_RESULT, PartKind.DOCUMENT)
_SETTING = re.compile(
    r"""^[ \t]*(?:\d+[ \t→:|]+)?(?:[-*][ \t]+|export[ \t]+|ENV[ \t]+|const[ \t]+)?["'`]?([A-Za-z_][\w.-]{2,40})["'`]?"""
    r"""[ \t]*[:=][ \t]*(["'`]?)([^\s"'`,;{}()\[\]<>|=]{2,60})\2[,;]?[ \t]*(?:\#.*|//.*)?$""",
    re.MULTILINE,
)
_GUESSED = frozenset(
    ["true", "false", "null", "none", "yes", "no", "on", "off", "str", "int", "float", "bool", "string", "number",
     "object", "any", "self", "undefined", "line", "error", "status", "exit", "code", "note", "name", "type", "version"]
)  # fmt: skip
"""Values that anybody would guess, and names that are no settings."""
_EXPRESSION = re.compile(r"[!&*]?[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*")
"""What code assigns from another name."""
_HEDGED = re.compile(r"(?:if|when|can|could|maybe|perhaps|i bet|i guess)\b", re.IGNORECASE)
_SECRET = re.compile(r"token|secret|passw|credential|api_?key|private", re.IGNORECASE)
_TOLD = re.compile(
    r"^((?:the|our|my|your) [^,;:]{3,60}?)"
    r"(?: (?:is|are) (?:now |currently |always )?(?!not\b|being\b|at\b|in\b|on\b)|[:=] ?)([^,;]{1,60}?)[.;]?$",
    re.IGNORECASE,
)
_FILE = re.compile(r"\.?[\w+@~-]+(?:\.[\w+-]+)+")
_SHORT = 6
"""Words of a thing, and of what it is, that a question and an answer are made of."""
_BECAUSE = re.compile(
    r"[,;—–-]*\s*\b(?:because|since|so that|to avoid|as it|which (?:would|means)|otherwise|due to)\b", re.IGNORECASE
)
_ENOUGH = 3
"""Paths that somebody spoke of, from which on those in listings are left out."""
_FEWEST = 4
"""Words of a choice and of a reason that say enough."""


class _Place(NamedTuple):
    """A paragraph, or a whole message, that may state a fact."""

    text: str
    normal: str
    line: int
    spoken: bool
    """By the user or the assistant, not only in a result."""


def items_from(transcript: Transcript, weigh: Weigh, kinds: Sequence[str], most: int) -> list[Item]:
    """The items of these kinds, in turn a kind each and spread over the transcript, at most so many."""
    raw = raw_of(transcript, start_of(transcript).keep)
    reading = Reading(transcript)
    parts = reading.parts(raw)
    before = Before(reading, parts, parts)
    material = material_of(before, Policy(), weigh, _UNBOUNDED, span=Span(tuple(raw)))
    places = list(_places([transcript.messages[index] for index in raw]))
    makers = {
        "setting": lambda: _settings(places),
        "path": lambda: _paths(material, places),
        "fact": lambda: _facts(material, places),
        "decision": lambda: _decisions(material, places),
        "constraint": lambda: _constraints(material, places),
    }
    found = [list(_unique(item for item in makers[kind]() if _holds(item))) for kind in kinds]
    chosen = [item for items, count in zip(found, _shares(found, most), strict=True) for item in _evenly(items, count)]
    return sorted(chosen, key=lambda item: (item.line, item.id))


def _places(messages: Iterable[Message]) -> Iterator[_Place]:
    for message in messages:
        for part in message.parts:
            if part.kind not in _SAID or not part.text.strip():
                continue
            spoken = message.role in (Role.USER, Role.ASSISTANT) and part.kind is PartKind.TEXT and not message.harness
            whole = spoken and len(part.text) <= _LONGEST_MESSAGE
            for text in [part.text.strip()] if whole else pieces_of(part.text):
                if not secrets_in(text):
                    yield _Place(text, normal(text), part.line or message.line, spoken)


def _settings(places: Sequence[_Place]) -> Iterator[Item]:
    """Names with one value, which is more than a word, or whose name is written in capitals."""
    values: dict[str, dict[str, tuple[str, _Place]]] = {}
    for place in places:
        for name, _, value in _SETTING.findall(place.text):
            bare = value.rstrip(".:")
            if _is_telling(name, bare):
                values.setdefault(normal(name), {}).setdefault(normal(bare), (bare, place))
    for name, found in values.items():
        if len(found) == 1 and any(sign in name for sign in "_.-"):
            value, place = next(iter(found.values()))
            shown = next(one for one, _, _ in _SETTING.findall(place.text) if normal(one) == name)
            yield _item("setting", f"What is the value of `{shown}`?", place, (value,))


def _is_telling(name: str, value: str) -> bool:
    """Whether a value is one that nobody would guess, and that may be told."""
    if len(value) < 2 or value.casefold() in _GUESSED or name.casefold() in _GUESSED or _SECRET.search(name):
        return False
    return name.isupper() or (not _EXPRESSION.fullmatch(value) and any(one.isdigit() or one in "./:@" for one in value))


def _paths(material: Material, places: Sequence[_Place]) -> Iterator[Item]:
    """Files of which one path is named, be it in forms that are the end of one another; rather those spoken of."""
    names: dict[str, list[str]] = {}
    for one in material.identifiers:
        if one.kind == "path" and _FILE.fullmatch(file_name(one.value)):
            names.setdefault(file_name(one.value), []).append(one.value)
    found: list[tuple[_Place, Item]] = []
    for name, paths in names.items():
        longest = max(paths, key=len)
        inside = sorted({path for path in paths if "/" in path.strip("/")}, key=lambda path: (-len(path), path))
        place = _first(places, inside[-1]) if inside else None
        if place is not None and all(path == longest or ends_with(longest, path) for path in paths):
            question = f"What is the path of the file `{name}`, with its folders?"
            found.append((place, _item("path", question, place, tuple(inside))))
    spoken = [item for place, item in found if place.spoken]
    yield from spoken if len(spoken) >= _ENOUGH else (item for _, item in found)


def _facts(material: Material, places: Sequence[_Place]) -> Iterator[Item]:
    """What the user told in the form that something is something; of a thing its last state, where it had one."""
    every = told(material)
    for one in last_states(every, lambda entry: entry.text):
        match = _TOLD.match(one.text)
        place = _at(places, one.line, one.text)
        if match and place is not None and len(match[2].split()) <= _SHORT and len(match[1].split()) <= _SHORT:
            what = match[1].strip()
            yield _item("fact", f"What is {what[0].lower() + what[1:]}?", place, (match[2].strip(),))


def _decisions(material: Material, places: Sequence[_Place]) -> Iterator[Item]:
    """The reason of a choice."""
    for one in decisions(material):
        because = _BECAUSE.search(one.text)
        place = _at(places, one.line, one.text)
        if one.reason is None or because is None or place is None or _HEDGED.match(one.text):
            continue
        choice = one.text[: because.start()].strip()
        if min(len(choice.split()), len(one.reason.split())) >= _FEWEST:
            yield _item("decision", f"What is the reason for this: “{choice}”?", place, (one.reason,), JUDGED)


def _constraints(material: Material, places: Sequence[_Place]) -> Iterator[Item]:
    """A boundary that names something which no other boundary names."""
    named: dict[str, list[tuple[str, _Place]]] = {}
    for one in constraints(material):
        place = _at(places, one.line, one.text)
        for value in {hit.value for _, hit in extract(one.text) if hit.kind != "quantity"}:
            if place is not None:
                named.setdefault(value, []).append((one.text, place))
    asked: set[str] = set()
    for value, found in sorted(named.items(), key=lambda one: (one[1][0][1].line, one[0])):
        text, place = found[0]
        if len(found) == 1 and text not in asked:
            asked.add(text)
            yield _item("constraint", f"Which boundary was set that concerns `{value}`?", place, (text,), JUDGED)


def _item(kind: str, question: str, place: _Place, answers: tuple[str, ...], grading: str = EXACT) -> Item:
    return Item(f"{kind}-{place.line}", question, place.text, answers, grading=grading, line=place.line)


def _first(places: Iterable[_Place], answer: str) -> _Place | None:
    """Where an answer stands first; rather where somebody says it than in a result."""
    holding = [place for place in places if stands(place.normal, answer)]
    return next((place for place in holding if place.spoken), holding[0] if holding else None)


def _at(places: Iterable[_Place], line: int | None, text: str) -> _Place | None:
    """The place on a line that holds a text, or the first words of it."""
    words = normal(text)
    here = (place for place in places if place.line == line)
    return next((place for place in here if words in place.normal or words[:40] in place.normal), None)


def _holds(item: Item) -> bool:
    """Whether it can be asked, and does not give itself away."""
    return not fault_of(item) and not is_given_away(item) and item.question.count("`") % 2 == 0


def _unique(items: Iterable[Item]) -> Iterator[Item]:
    """One a span, each under an id of its own."""
    seen: dict[str, set[str]] = {}
    for item in items:
        spans = seen.setdefault(item.id, set())
        if item.span not in spans:
            spans.add(item.span)
            yield item if len(spans) == 1 else replace(item, id=f"{item.id}-{len(spans)}")


def _shares(kinds: Sequence[Sequence[Item]], most: int) -> list[int]:
    """How many of each kind: the same of each, as far as it goes."""
    counts = [0] * len(kinds)
    while sum(counts) < min(most, sum(map(len, kinds))):
        for place, items in enumerate(kinds):
            if counts[place] < len(items) and sum(counts) < most:
                counts[place] += 1
    return counts


def _evenly(items: list[Item], count: int) -> list[Item]:
    """So many of them, spread over the transcript."""
    items = sorted(items, key=lambda item: item.line)
    return [items[place * len(items) // count] for place in range(count)]
