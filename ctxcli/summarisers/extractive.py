"""The default: the four slots out of what was said, without a model, in the words that said it."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ctxcli.constraints import sentences
from ctxcli.model import Message, Part, PartKind, Role
from ctxcli.reports.slots import Decision, Entry, Slots
from ctxcli.shelf import Material, Summariser
from ctxcli.slots import render

_CHOICE = re.compile(
    r"\b(?:cho(?:se|sen|ose)|decided|opted|went with|go(?:ing)? with|settled on|picked|instead of|rather than"
    r"|prefer(?:red)?|ruled out|rejected|won[’']t (?:use|work)|should use|switch(?:ed|ing)? to"
    r"|the (?:fix|cause|problem|root cause) (?:is|was))\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|to avoid|as it|which (?:would|means)|otherwise|due to)\b\s*(.+)", re.IGNORECASE
)
_REJECTED = re.compile(r"\b(?:instead of|rather than|over)\s+([^,.;]{3,80})", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z_-]{3,30}>")
_SHORTEST, _LONGEST = 20, 320
"""Characters of a sentence that can be a decision."""
_COMMIT = re.compile(r"git commit\b.*?-a?m\s+(?:\"\$\(cat <<'?EOF'?\n)?[\"']?([^\n\"']{8,120})")
_FOR_DECISIONS = 4
"""Decisions get a quarter of what constraints, open items and required identifiers leave."""
_LONGEST_REQUEST = 1_500
"""Characters of the latest request that stand in the summary; it is the user's, and rarely longer."""
_LONGEST_ERROR = 200
_DONE = ("completed", "done", "cancelled", "closed")
_TODO_TEXT = ("content", "step", "title", "task", "description", "text")


def summarise(material: Material) -> Slots:
    """Fill the slots within the budget: what was asked and forbidden first, then what the guard requires.

    After that the open items, the decisions (those with a reason first, the newest first), and the other identifiers
    by rank. What does not fit is left out whole, never cut.
    """
    opened = tuple(_open_items(material))
    chosen = list(_decisions(material))
    room = material.tokens - _weight(material, Slots(constraints=material.constraints, open=opened))
    due = [(one.kind, one.value) for one in material.identifiers if one.required]
    others = [(one.kind, one.value) for one in material.identifiers if not one.required]
    identifiers, room = _fit(material, due, room)
    decisions, rest = _fit_decisions(material, chosen, room // _FOR_DECISIONS)
    more, _ = _fit(material, others, room - room // _FOR_DECISIONS + rest)
    decisions.sort(key=lambda one: one.line or 0)
    while True:
        slots = Slots(material.constraints, tuple(decisions), _grouped([*identifiers, *more]), opened)
        over = _weight(material, slots) - material.tokens
        if over <= 0 or not more:
            return slots
        del more[-max(1, over // 8) :]


def _grouped(values: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """By kind, in the order given."""
    kinds: dict[str, list[str]] = {}
    for kind, value in values:
        kinds.setdefault(kind, []).append(value)
    return {kind: tuple(found) for kind, found in kinds.items()}


def _weight(material: Material, slots: Slots) -> int:
    return material.weigh.count([render(slots)])[0]


def _fit(material: Material, items: Sequence[tuple[str, str]], room: int) -> tuple[list[tuple[str, str]], int]:
    """The items that fit, in order, and the room that is left; a comma and a blank are a token."""
    weights = material.weigh.count([value for _, value in items])
    found: list[tuple[str, str]] = []
    kinds: set[str] = set()
    for item, weight in zip(items, weights, strict=True):
        cost = weight + 1 + (0 if item[0] in kinds else 3)
        if cost <= room:
            room -= cost
            kinds.add(item[0])
            found.append(item)
    return found, room


def _fit_decisions(material: Material, decisions: Sequence[Decision], room: int) -> tuple[list[Decision], int]:
    weights = material.weigh.count([one.text for one in decisions])
    found = []
    for decision, weight in zip(decisions, weights, strict=True):
        cost = weight + 8
        if cost <= room:
            room -= cost
            found.append(decision)
    return found, room


def _messages(material: Material) -> Iterator[Message]:
    return (material.transcript.messages[index] for index in material.indices)


def _decisions(material: Material) -> Iterator[Decision]:
    """Sentences of choice, those with a reason first, the newest first; and the commits that were made."""
    found: dict[str, Decision] = {}
    for message in _messages(material):
        for part in message.parts:
            if part.kind is PartKind.TEXT and message.role in (Role.USER, Role.ASSISTANT) and not message.harness:
                for _, sentence in sentences(_TAG.sub(" ", part.text).replace("**", "")):
                    if (
                        _SHORTEST <= len(sentence) <= _LONGEST
                        and _CHOICE.search(sentence)
                        and not sentence.endswith("?")
                    ):
                        found[sentence] = _decision(sentence, part.line or message.line)
            elif part.kind is PartKind.TOOL_CALL and "git commit" in part.text:
                for match in _COMMIT.finditer(part.text.replace('\\"', '"').replace("\\n", "\n")):
                    found[match[1]] = Decision(f"committed: {match[1].strip()}", line=part.line or message.line)
    yield from sorted(found.values(), key=lambda one: (one.reason is None, -(one.line or 0)))


def _decision(sentence: str, line: int) -> Decision:
    reason, rejected = _REASON.search(sentence), _REJECTED.search(sentence)
    return Decision(
        sentence, None, (rejected[1].strip(),) if rejected else (), reason[1].strip() if reason else None, line
    )


def _open_items(material: Material) -> Iterator[Entry]:
    """The latest request in full, the tasks that are not done, the last thing tried and how it ended."""
    messages = list(_messages(material))
    asked = [(message, part) for message in messages for part in message.parts if _is_request(message, part)]
    if asked:
        message, part = asked[-1]
        yield Entry(f"latest request: {_whole(part.text, _LONGEST_REQUEST)}", part.line or message.line)
    yield from _todos(messages)
    tried = [(message, part) for message in messages for part in message.parts if part.kind is PartKind.TOOL_RESULT]
    calls = [part for message in messages for part in message.parts if part.kind is PartKind.TOOL_CALL]
    if tried:
        message, part = tried[-1]
        outcome = "failed" if part.failed else "ended"
        first = next((line for line in part.text.split("\n") if line.strip()), "").strip()
        call = next((one for one in calls if one.ref == part.ref), part)
        name = " ".join(filter(None, (part.name or call.name, part.address or call.address)))
        yield Entry(f"last tried: {_whole(name, 300)}, {outcome}: {first[:_LONGEST_ERROR]}", part.line or message.line)
    said = [
        part
        for message in messages
        if message.role is Role.ASSISTANT
        for part in message.parts
        if part.kind is PartKind.TEXT
    ]
    if said:
        questions = [sentence for _, sentence in sentences(said[-1].text) if sentence.endswith("?")]
        yield from (Entry(f"asked, not answered: {question}", said[-1].line) for question in questions[-3:])


def _is_request(message: Message, part: Part) -> bool:
    return message.role is Role.USER and not message.harness and part.kind is PartKind.TEXT and bool(part.text.strip())


def _whole(text: str, most: int) -> str:
    """The text as a line; of a longer one the beginning and the end, with what is left out said."""
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    half = most // 2
    return f"{flat[:half]} [{len(flat) - 2 * half:,} characters left out] {flat[-half:]}"


def _todos(messages: Iterable[Message]) -> Iterator[Entry]:
    """What the last list of tasks, in the arguments of any tool, says is not done."""
    last: list[Entry] = []
    for message in messages:
        for part in message.parts:
            if part.kind is PartKind.TOOL_CALL and '"status"' in part.text:
                tasks = list(_tasks(part.text))
                if tasks:
                    line = part.line or message.line
                    last = [Entry(f"to do ({status}): {text}", line) for text, status in tasks if status not in _DONE]
    yield from last


def _tasks(arguments: str) -> Iterator[tuple[str, str]]:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return
    lists: list[Any] = (
        [item for item in value.values() if isinstance(item, list)] if isinstance(value, dict) else [value]
    )
    for task in (task for tasks in lists if isinstance(tasks, list) for task in tasks if isinstance(task, dict)):
        text = next((task[key] for key in _TODO_TEXT if isinstance(task.get(key), str)), None)
        if text and isinstance(task.get("status"), str):
            yield text, task["status"]


SUMMARISER = Summariser("extractive", "what was said, in the words that said it; no model", summarise)
