"""What sub-agents gave back, and in which form: something that can be checked, or prose."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ctxcli.model import MAIN, Part, PartKind, Transcript
from ctxcli.validity.finding import embedded, is_finding

FINDING, JSON, LOCATIONS, LIST, PROSE = FORMS = ("finding", "json", "locations", "list", "prose")
"""A valid finding; other JSON; text that names lines of files; a list whose items name things that can be found again;
anything else. The first that holds."""

_FOREIGN = r"(?!com\b|org\b|net\b|io\b|dev\b|local\b)"
_FILE = rf"(?:[\w.@~+-]{{1,80}}[/\\]){{0,30}}[\w@+-]{{1,80}}(?:\.{_FOREIGN}[A-Za-z]\w{{0,9}})"
_PATH = rf"(?:{_FILE}|(?:[\w.@~+-]{{1,80}}[/\\]){{1,30}}[\w.@+-]{{1,80}})"
_LINES = r"L?\d+(?:\s?[-–]\s?L?\d+)?"
_TOKEN = re.compile(r"[^\s`'\"()\[\]<>{}|*,;]+")
_WITH_LINE = re.compile(rf"((?:[A-Za-z]:)?[/\\]?{_PATH}(?::|#L){_LINES})(?:[:.].{{0,20}})?")
_WORDED = re.compile(rf"\b(?:lines?|ll?\.)\s{_LINES}", re.IGNORECASE)
_BEFORE = re.compile(rf"{_PATH}[`*'\")\]]{{0,4}}[,:]?\s{{0,2}}[-–(\[]?\s?(?:at |on )?$")
_BEHIND = re.compile(rf"\)?\s(?:of|in)\s[`*'\"]{{0,3}}{_PATH}")
_NEAR = 160
"""Characters beside `line 40` in which the file is looked for."""
_LONGEST_TOKEN = 400
_ITEM = re.compile(r"^[ \t]*(?:[-*•+]|\d+[.)]|\|)[ \t]+(\S.*)$", re.MULTILINE)
_ADDRESS = re.compile(rf"https?://\S|`[^`\n]+`|(?<![\w/.]){_FILE}(?!\w)|(?<!\w)#\d+|\b[0-9a-f]{{7,40}}\b")
_LONGEST_ITEM = 400
_LONGEST = 200_000
"""Characters of an answer that are looked at."""


class Returned(NamedTuple):
    """What one sub-agent gave back to the lane that called it."""

    lane: str
    line: int
    """1-based source line of the first of it."""
    places: tuple[tuple[int, int], ...]
    """(message, part) of the results, or of the messages that it sent."""
    form: str
    """One of FORMS."""
    locations: int
    """Different places in files that it names with their line."""


def returns_of(transcript: Transcript) -> dict[str, Returned]:
    """By lane, what came back; a lane of which nothing stands in the source is not among them."""
    callers = {lane.spawned_by: lane.name for lane in transcript.lanes if lane.spawned_by and lane.name != MAIN}
    senders = {lane.title: lane.name for lane in transcript.lanes if lane.title and lane.name != MAIN}
    found: dict[str, list[tuple[int, int]]] = {}
    for index, message in enumerate(transcript.messages) if callers or senders else ():
        for number, part in enumerate(message.parts):
            lane = _lane_of(part, callers, senders) if not message.copied else None
            if lane is not None and message.lane != lane:
                found.setdefault(lane, []).append((index, number))
    return {lane: _returned(transcript, lane, places) for lane, places in found.items()}


def _lane_of(part: Part, callers: dict[str, str], senders: dict[str, str]) -> str | None:
    """Whose answer a part is: the result of the call that sent it out, or a message under its name."""
    if part.kind is PartKind.TOOL_RESULT and part.ref:
        return callers.get(part.ref)
    return senders.get(part.name) if part.kind is PartKind.TEXT and part.name else None


def _returned(transcript: Transcript, lane: str, places: list[tuple[int, int]]) -> Returned:
    parts = [transcript.messages[index].parts[number] for index, number in places]
    line = parts[0].line or transcript.messages[places[0][0]].line
    form, locations = form_of("\n".join(part.text for part in parts))
    return Returned(lane, line, tuple(places), form, locations)


def form_of(text: str) -> tuple[str, int]:
    """The form of an answer, and how many different lines of files it names."""
    text = text[:_LONGEST]
    found = list(embedded(text))
    locations = len(set(_locations(text)))
    if any(is_finding(one.value) for one in found):
        return FINDING, locations
    if sum(one.size for one in found) * 2 >= len(text.strip()) > 0:
        return JSON, locations
    if locations:
        return LOCATIONS, locations
    items = [match for match in _ITEM.finditer(text) if _ADDRESS.search(match[1][:_LONGEST_ITEM])]
    return (LIST if len(items) > 1 else PROSE), 0


def _locations(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        if len(token) <= _LONGEST_TOKEN and (":" in token or "#L" in token):
            named = _WITH_LINE.fullmatch(token)
            if named is not None:
                yield named[1]
    for match in _WORDED.finditer(text):
        before, behind = text[max(0, match.start() - _NEAR) : match.start()], text[match.end() : match.end() + _NEAR]
        file = _BEFORE.search(before) or _BEHIND.match(behind)
        if file is not None:
            yield file[0] + match[0]
