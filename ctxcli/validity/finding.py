"""Findings: what a sub-agent should return, found in a text and held to their schema."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from ctxcli.contract import Problem, problems_of
from ctxcli.errors import UnreadableError
from ctxcli.reports.finding import AgentFinding, CheckedFinding, Fault, FindingReport

_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w-]*)[^\n]*\n(.*?)^[ \t]*\1[`~]*[ \t]*$", re.DOTALL | re.MULTILINE)
_JSON_FENCES = ("json", "jsonl", "json5", "jsonc")
_OPENS = re.compile(r"[{\[]")
_MOST_TRIES = 200
"""Brackets in prose that may begin a value; more of them is code."""
_FIELDS = frozenset(field.name for field in fields(AgentFinding))
_SHOWN = 200
_RANGE = re.compile(r":(\d+)-(\d+)$")
_SHAPE = "write path:line or path:line-line"
_HOW = "a finding is a JSON object; `ctx schema finding` prints its schema"


class Found(NamedTuple):
    """A JSON value in a text."""

    line: int
    """1-based line on which it starts."""
    value: Any
    size: int = 0
    """Characters that it, or the list that it is the first of, takes among sentences."""


def findings_in(text: str, name: str) -> list[Found]:
    """The values of a text that are meant as findings, in order.

    The text is one JSON object, an array of them, one a line, or an answer that holds them in fenced blocks or among
    its sentences, beside other JSON. Raises UnreadableError, with the line, where there is none or one breaks off.
    """
    bare = text.lstrip("\ufeff").strip()
    if not bare:
        raise UnreadableError(f"{name}: is empty; {_HOW}")
    if bare[0] in "{[":
        return _whole(text.lstrip("\ufeff"), name)
    found = list(_fenced(text, name)) or list(embedded(text))
    if not found:
        raise UnreadableError(f"{name}: holds no JSON; {_HOW}")
    return [one for one in found if is_meant(one.value)] or found


def _whole(text: str, name: str) -> list[Found]:
    """A text that is JSON throughout: one value, or one a line."""
    first = len(text[: len(text) - len(text.lstrip())].split("\n"))
    try:
        return _spread(_parsed(text), first)
    except ValueError as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) == 1 or not _is_json(lines[0][1]):
            place = f"line {error.lineno}: " if isinstance(error, json.JSONDecodeError) else ""
            raise UnreadableError(f"{name}: {place}is no valid JSON: {_reason(error)}; {_HOW}") from None
    found: list[Found] = []
    for number, line in lines:
        try:
            found += _spread(_parsed(line), number)
        except ValueError as error:
            raise UnreadableError(f"{name}: line {number}: is no valid JSON: {_reason(error)}; {_HOW}") from None
    return found


def _spread(value: Any, line: int) -> list[Found]:
    return [Found(line, each) for each in value] if isinstance(value, list) and value else [Found(line, value)]


def _fenced(text: str, name: str) -> Iterator[Found]:
    """The values of the fenced blocks that hold JSON; one that says so has to."""
    for match in _FENCED.finditer(text):
        language, body = match[2].lower(), match[3]
        if language not in _JSON_FENCES and not (not language and body.lstrip().startswith("{")):
            continue
        line = text.count("\n", 0, match.start(3))
        try:
            yield from (Found(line + found.line, found.value) for found in _whole(body, name))
        except UnreadableError:
            opened = line + 1
            raise UnreadableError(f"{name}: the fenced block of line {opened - 1} is no valid JSON; {_HOW}") from None


def embedded(text: str) -> Iterator[Found]:
    """The JSON objects that stand among the sentences of a text."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MOST_TRIES):
        start = _OPENS.search(text, at)
        if start is None:
            return
        at = start.end()
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(each, dict) for each in value)):
            line = text.count("\n", 0, start.start()) + 1
            first, *rest = _spread(value, line)
            yield from (first._replace(size=end - start.start()), *rest)
        at = end


def _parsed(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is no JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _is_json(text: str) -> bool:
    try:
        _parsed(text)
    except ValueError:
        return False
    return True


def _reason(error: ValueError) -> str:
    return f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)


def is_meant(value: Any) -> bool:
    """Whether a JSON value is meant as a finding, valid or not."""
    return isinstance(value, dict) and ("answer" in value or len(_FIELDS & value.keys()) > 1)


def is_finding(value: Any) -> bool:
    """Whether a JSON value is a valid finding."""
    return is_meant(value) and not faults_of(value)


def faults_of(value: Any) -> tuple[Fault, ...]:
    """What is wrong with a finding, each with its path and what to do."""
    found = [_fault(one) for one in problems_of("finding", value)]
    return tuple(found or _backwards(value))


def _fault(one: Problem) -> Fault:
    at = one.at or "document"
    match one.rule:
        case "required":
            place = "/".join(filter(None, (one.at, one.wanted)))
            return Fault(place, "is missing", "add it" if one.wanted in _SAID else "add it, [] where there is nothing")
        case "additionalProperties":
            return Fault(at, one.message, "leave it out, or say it in answer")
        case "pattern" if at.startswith("locations"):
            return Fault(at, f"{_cut(one.value)} is no location", _SHAPE)
        case "pattern" | "minLength":
            return Fault(at, "is empty", "say it in a sentence")
        case "type":
            aside = at.startswith(("rejected/", "failures/")) and one.wanted == "object"
            shape = '{"what": "…", "why": "…"}' if aside else _A[one.wanted]
            return Fault(at, f"{_cut(one.value)} is no {_NOUNS[one.wanted]}", f"write {shape}")
    return Fault(at, one.message, _HOW)


_SAID = ("answer", "what", "why")
_NOUNS: Mapping[str, str] = {"string": "text", "array": "list", "object": "object"}
_A: Mapping[str, str] = {"string": "a text", "array": "a list, [] where there is nothing", "object": "an object"}


def _backwards(value: Any) -> Iterator[Fault]:
    for number, location in enumerate(value["locations"]):
        lines = _RANGE.search(location)
        if lines is not None and int(lines[2]) < int(lines[1]):
            yield Fault(f"locations/{number}", f"{_cut(location)} ends before it begins", "write the lower line first")


def _cut(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def finding_report(text: str, name: str) -> FindingReport:
    """The report on all findings of a text; raises UnreadableError as `findings_in`."""
    rows = tuple(_checked(number, found) for number, found in enumerate(findings_in(text, name), 1))
    return FindingReport("ctx.finding-check", 1, all(row.ok for row in rows), name, rows)


def _checked(number: int, found: Found) -> CheckedFinding:
    faults = faults_of(found.value)
    given = found.value if isinstance(found.value, dict) else {}
    answer = given.get("answer")

    def many(field: str) -> int:
        value = given.get(field)
        return len(value) if isinstance(value, list) else 0

    return CheckedFinding(
        number, found.line, not faults, answer[:_SHOWN] if isinstance(answer, str) else None,
        many("locations"), many("rejected"), many("unresolved"), many("failures"), faults,
    )  # fmt: skip
