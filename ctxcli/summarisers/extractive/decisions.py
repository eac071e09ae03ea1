"""Decisions: sentences of choice and rejection with their reason, what the user approved, and the commits made."""

import re
from collections.abc import Iterator

from ctxcli.constraints import sentences
from ctxcli.model import PartKind, Role
from ctxcli.reports.slots import Decision
from ctxcli.shelf import Material
from ctxcli.summarisers.extractive.said import Said, is_request, parts

_CHOICE = re.compile(
    r"\b(?:cho(?:se|sen|ose)|decided|opted|went with|go(?:ing)? with|settled on|picked|instead of|rather than"
    r"|prefer(?:red)?|ruled out|rejected|won[’']t (?:use|work)|should use|switch(?:ed|ing)? to"
    r"|the (?:fix|cause|problem|root cause) (?:is|was))\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|to avoid|as it|which (?:would|means)|otherwise|due to)\b\s*(.+)", re.IGNORECASE
)
_REJECTED = re.compile(r"\b(?:instead of|rather than|over)\s+((?:[^,.;\n]|[.](?=\w)){3,})", re.IGNORECASE)
_SAYS_NOTHING = re.compile(
    r"^(?:so |and |ok,? )?the (?:fix|cause|problem|root cause) (?:is|was) (?:\w+ )?"
    r"(?:simple|straightforward|clear|obvious|easy|trivial|small|minimal|here|this)\W*$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^(?:[-*•#>]+\s+|\d+[.)]\s+|(?:\.\.\.|…)\s*)+")
_TAG = re.compile(r"</?[a-z_-]{3,30}>")
_SHORTEST, _LONGEST = 20, 320
"""Characters of a sentence that can be a decision."""
_COMMIT = re.compile(r"git commit\b.*?-a?m\s+(?:\"\$\(cat <<'?EOF'?\n)?[\"']?([^\n\"']{8,120})")
_APPROVAL = re.compile(
    r"^(?:yes|yep|yeah|ok(?:ay)?|sure|good|great|perfect|agreed|approved|sounds good|go ahead|lgtm|do it|exactly"
    r"|option \w+|the (?:first|second|third|last) (?:one|option)|no|nope|not yet|never mind)\b",
    re.IGNORECASE,
)
_LONGEST_APPROVAL = 160
"""Characters of an answer that is a yes or a no, and not a request of its own."""


def decisions(material: Material) -> list[Decision]:
    """Those with a reason first, the newest first; what was carried over counts as it is."""
    found = {one.text: one for one in material.carried.decisions}
    for one in _said(material):
        found[one.text] = one
    return sorted(found.values(), key=lambda one: (one.reason is None, -(one.line or 0)))


def _said(material: Material) -> Iterator[Decision]:
    question = ""
    for said in parts(material, PartKind.TEXT, PartKind.TOOL_CALL):
        role = said.message.role
        if said.part.kind is PartKind.TOOL_CALL:
            if "git commit" in said.part.text and said.at not in material.kept:
                yield from _commits(said, material)
        elif role in (Role.USER, Role.ASSISTANT) and not said.message.harness:
            if question and is_request(said) and said.at not in material.kept:
                yield from _answers(question, said, material)
            question = _question(said.part.text) if role is Role.ASSISTANT else ""
            if said.at not in material.kept:
                yield from _choices(said, material)


def _choices(said: Said, material: Material) -> Iterator[Decision]:
    for _, whole in sentences(_TAG.sub(" ", said.part.text).replace("**", "")):
        sentence = _BULLET.sub("", whole)
        if not _SHORTEST <= len(sentence) <= _LONGEST or sentence.endswith("?"):
            continue
        if _CHOICE.search(sentence) and not _SAYS_NOTHING.search(sentence):
            yield _decision(material.mask(sentence), said.line)


def _decision(sentence: str, line: int) -> Decision:
    reason, rejected = _REASON.search(sentence), _REJECTED.search(sentence)
    return Decision(
        sentence, None, (rejected[1].strip(),) if rejected else (), reason[1].strip() if reason else None, line
    )


def _question(text: str) -> str:
    """The question with which an answer ends; empty where it asks nothing."""
    asked = [sentence for _, sentence in sentences(text[-2_000:])]
    return asked[-1] if asked and asked[-1].endswith("?") and len(asked[-1]) <= _LONGEST else ""


def _answers(question: str, said: Said, material: Material) -> Iterator[Decision]:
    """A question of the assistant, and the short answer by which the user decided it."""
    answer = " ".join(said.part.text.split())
    if len(answer) <= _LONGEST_APPROVAL and _APPROVAL.match(answer):
        text = material.mask(f"asked: {question} — the user: {answer}")
        yield Decision(text, chosen=material.mask(answer), line=said.line)


def _commits(said: Said, material: Material) -> Iterator[Decision]:
    for match in _COMMIT.finditer(said.part.text.replace('\\"', '"').replace("\\n", "\n")):
        yield Decision(material.mask(f"committed: {match[1].strip()}"), line=said.line)
