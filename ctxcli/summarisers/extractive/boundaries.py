"""Constraints beside those that somebody stated: what an error forbade, and what the user refused."""

import re
from collections.abc import Iterator

from ctxcli.model import PartKind
from ctxcli.reports.slots import Entry
from ctxcli.shelf import Material
from ctxcli.summarisers.extractive.said import Said, calls_by_ref, first_line, parts

_FORBIDS = re.compile(
    r"permission denied|access denied|not permitted|operation not permitted|forbidden|\b403\b|not allowed"
    r"|read-only file|protected branch|requires approval|refusing to|blocked by|policy violation"
    r"|not authori[sz]ed|must not\b",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"user (?:doesn[’']t want|rejected|declined|denied|chose not)|rejected by (?:the )?user|tool use was rejected",
    re.IGNORECASE,
)
_THE_USER_SAID = re.compile(
    r"(?:to tell you how to proceed(?:, the user said)?|the user said|user feedback|reason):?\s*\n?(.{3,300})",
    re.IGNORECASE | re.DOTALL,
)
_MOST = 10
"""The newest so many: an obstacle from long ago has been gone round since."""
_LONGEST = 240


def constraints(material: Material) -> tuple[Entry, ...]:
    """What was stated, what was carried over, and what was found out on the way; each wording once, by line."""
    found: dict[str, Entry] = {}
    stated = ((*material.carried.constraints, *material.constraints), list(_discovered(material))[-_MOST:])
    for entry in (one for some in stated for one in some):
        found[_bare(entry.text)] = Entry(material.mask(entry.text), entry.line)
    return tuple(sorted(found.values(), key=lambda entry: entry.line or 0))


def _bare(text: str) -> str:
    """A wording without its mark: one that was superseded since is the same boundary."""
    return " ".join(text.partition(" (superseded")[0].casefold().split())


def _discovered(material: Material) -> Iterator[Entry]:
    calls = calls_by_ref(material)
    for said in parts(material, PartKind.TOOL_RESULT):
        if said.at in material.kept or not said.part.text:
            continue
        call = calls.get(said.part.ref)
        if is_refusal(said.part.text):
            yield Entry(f"refused by the user: {_what(said, call)}{_words(said.part.text)}", said.line)
        elif said.part.failed and (match := _FORBIDS.search(said.part.text[:2_000])):
            line = said.part.text[: match.end()].rsplit("\n", 1)[-1] + said.part.text[match.end() :].split("\n", 1)[0]
            yield Entry(f"found out: {_what(said, call)}: {first_line(line, _LONGEST)}", said.line)


def is_refusal(result: str) -> bool:
    """Whether a result says that the user did not let the call through."""
    return _REFUSED.search(result[:2_000]) is not None


def _what(said: Said, call: Said | None) -> str:
    part = call.part if call else said.part
    return first_line(" ".join(filter(None, (part.name or said.part.name, part.address))), _LONGEST) or "a call"


def _words(text: str) -> str:
    match = _THE_USER_SAID.search(text)
    return f": {' '.join(match[1].split())}" if match else ""
