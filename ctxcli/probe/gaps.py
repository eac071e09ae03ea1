"""Questions that leave one value of a sentence out: of what the user set and told, no number and no name may change."""

import re
from collections.abc import Iterator

from ctxcli.constraints import constraints_of
from ctxcli.identifiers import extract
from ctxcli.model import Role
from ctxcli.shelf import Material
from ctxcli.summarisers.extractive.facts import told
from ctxcli.summarisers.extractive.subjects import last_states

CONSTRAINT, FACT = "constraint", "fact"
_GAP = "____"
_FIRST = ("quantity", "version", "date", "url", "path", "branch", "ticket", "package", "id", "error", "host", "quoted")
"""Kinds of a value that is left out, the one that changes most easily first."""
_FEWEST = 4
"""Words that have to be left of a sentence, so that it says what is asked for."""
_QUESTION = "Fill the gap: “{}”"


def gaps(material: Material) -> Iterator[tuple[str, int, str, str]]:
    """(slot, line, question, answer) for each boundary that the user set and each fact they told, in its last state."""
    set_ = [
        (CONSTRAINT, one.line, one.text)
        for one in constraints_of(material.transcript, list(material.indices))
        if one.role is Role.USER and not one.pasted
    ]
    told_ = [(FACT, one.line or 0, one.text) for one in told(material)]
    for slot, line, text in last_states(sorted((*set_, *told_), key=lambda one: one[1]), lambda one: one[2]):
        sentence = " ".join(text.split())
        value = _value(sentence)
        if value:
            yield slot, line, _QUESTION.format(sentence.replace(value, _GAP)), value


def _value(sentence: str) -> str:
    """What is left out of a sentence: something that it says once; empty where there is nothing."""
    hits = [hit for _, hit in extract(sentence, by_user=True) if hit.kind in _FIRST and sentence.count(hit.value) == 1]
    for hit in sorted(hits, key=lambda hit: _FIRST.index(hit.kind)):
        if len(re.findall(r"\w{2,}", sentence.replace(hit.value, " "))) >= _FEWEST:
            return hit.value
    return ""
