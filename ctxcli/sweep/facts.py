"""Items out of a transcript's own facts: settings, paths, what the user told, decisions with reasons, boundaries.

A fact becomes an item only where the transcript gives one answer: a setting with two values is none. The span is the
message that states it, or of a long one the paragraph.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ctxcli.compact.context import raw_of, start_of
from ctxcli.compact.material import Span, material_of
from ctxcli.guard.policy import Policy
from ctxcli.guard.reading import Reading
from ctxcli.guard.sides import Before
from ctxcli.identifiers import extract
from ctxcli.model import Transcript
from ctxcli.shelf import Material, Weigh
from ctxcli.summarisers.extractive.boundaries import constraints
from ctxcli.summarisers.extractive.decisions import decisions
from ctxcli.summarisers.extractive.facts import told
from ctxcli.summarisers.extractive.subjects import last_states
from ctxcli.sweep.configured import settings
from ctxcli.sweep.grading import JUDGED
from ctxcli.sweep.item import Item, fault_of, is_given_away
from ctxcli.sweep.located import paths
from ctxcli.sweep.places import Place, at, item_at, places_of

_UNBOUNDED = 10**9
_HEDGED = re.compile(r"(?:if|when|can|could|maybe|perhaps|i bet|i guess)\b", re.IGNORECASE)
_TOLD = re.compile(
    r"^((?:the|our|my|your) [^,;:]{3,60}?)"
    r"(?: (?:is|are) (?:now |currently |always )?(?!not\b|being\b|at\b|in\b|on\b)|[:=] ?)([^,;]{1,60}?)[.;]?$",
    re.IGNORECASE,
)
_VERDICT = frozenset(
    ["misleading", "wrong", "broken", "missing", "unclear", "outdated", "stale", "good", "bad", "fine", "done", "ready",
     "ok", "okay", "slow", "fast", "empty", "failing", "confusing", "obsolete", "correct", "incorrect", "right", "same",
     "redundant", "unused", "enough", "gone", "clear", "clean", "useless", "inconsistent", "incomplete", "complete"]
)  # fmt: skip
"""What is said of a thing, and not what the thing is."""
_SHORT = 6
"""Words of a thing, and of what it is, that a question and an answer are made of."""
_BECAUSE = re.compile(
    r"[,;—–-]*\s*\b(?:because|since|so that|to avoid|as it|which (?:would|means)|otherwise|due to)\b", re.IGNORECASE
)
_FEWEST = 4
"""Words of a choice and of a reason that say enough."""


def items_from(transcript: Transcript, weigh: Weigh, kinds: Sequence[str], most: int) -> list[Item]:
    """The items of these kinds, in turn a kind each and spread over the transcript, at most so many."""
    raw = raw_of(transcript, start_of(transcript).keep)
    reading = Reading(transcript)
    parts = reading.parts(raw)
    before = Before(reading, parts, parts)
    material = material_of(before, Policy(), weigh, _UNBOUNDED, span=Span(tuple(raw)))
    places = list(places_of([transcript.messages[index] for index in raw]))
    makers = {
        "setting": lambda: settings(places),
        "path": lambda: paths(material, places),
        "fact": lambda: _facts(material, places),
        "decision": lambda: _decisions(material, places),
        "constraint": lambda: _constraints(material, places),
    }
    found = [list(_unique(item for item in makers[kind]() if _holds(item))) for kind in kinds]
    chosen = [item for items, count in zip(found, _shares(found, most), strict=True) for item in _evenly(items, count)]
    return sorted(chosen, key=lambda item: (item.line, item.id))


def _facts(material: Material, places: Sequence[Place]) -> Iterator[Item]:
    """What the user told in the form that something is something; of a thing its last state, where it had one."""
    every = told(material)
    for one in last_states(every, lambda entry: entry.text):
        match = _TOLD.match(one.text)
        place = at(places, one.line, one.text)
        if match is None or place is None or _VERDICT.intersection(match[2].casefold().split()):
            continue
        if len(match[2].split()) <= _SHORT and len(match[1].split()) <= _SHORT:
            what = match[1].strip()
            yield item_at("fact", f"What is {what[0].lower() + what[1:]}?", place, (match[2].strip(),))


def _decisions(material: Material, places: Sequence[Place]) -> Iterator[Item]:
    """The reason of a choice."""
    for one in decisions(material):
        because = _BECAUSE.search(one.text)
        place = at(places, one.line, one.text)
        if one.reason is None or because is None or place is None or _HEDGED.match(one.text):
            continue
        choice = one.text[: because.start()].strip()
        if min(len(choice.split()), len(one.reason.split())) >= _FEWEST:
            yield item_at("decision", f"What is the reason for this: “{choice}”?", place, (one.reason,), JUDGED)


def _constraints(material: Material, places: Sequence[Place]) -> Iterator[Item]:
    """A boundary that names something which no other boundary names."""
    named: dict[str, list[tuple[str, Place]]] = {}
    for one in constraints(material):
        place = at(places, one.line, one.text)
        for value in {hit.value for _, hit in extract(one.text) if hit.kind != "quantity"}:
            if place is not None:
                named.setdefault(value, []).append((one.text, place))
    asked: set[str] = set()
    for value, found in sorted(named.items(), key=lambda one: (one[1][0][1].line, one[0])):
        text, place = found[0]
        if len(found) == 1 and text not in asked:
            asked.add(text)
            yield item_at("constraint", f"Which boundary was set that concerns `{value}`?", place, (text,), JUDGED)


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
