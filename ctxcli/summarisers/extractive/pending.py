"""What is open: the latest request, tasks that are not done, what was tried last, errors, and open points."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ctxcli.constraints import sentences
from ctxcli.model import PartKind, Role
from ctxcli.reports.slots import Entry
from ctxcli.shelf import Material
from ctxcli.summarisers.extractive.boundaries import is_refusal
from ctxcli.summarisers.extractive.said import Said, calls_by_ref, first_line, is_request, parts
from ctxcli.summarisers.extractive.unsettled import unsettled

TASK, REQUEST, TO_DO, TRIED, ERROR, ASKED = (
    "task: ", "latest request: ", "to do (", "last tried: ", "error, not resolved: ", "asked, not answered: ",
)  # fmt: skip
"""How the items begin; the reader of an earlier summary knows them by it."""
_LONGEST_ERROR = 200
_LONGEST_NAME = 300
_MOST_ERRORS = 3
_SHORTEST_REQUEST, _SHORTEST_TASK = 600, 400
"""Characters of a request that are quoted whatever the budget; with more of it, as many characters as it has tokens."""
_DONE = ("completed", "done", "cancelled", "closed")
_TODO_TEXT = ("content", "step", "title", "task", "description", "text")


def open_items(material: Material) -> tuple[Entry, ...]:
    """Each kind of item once, in its last state; what the messages that stay say themselves is left out."""
    found = [
        *_requests(material),
        *_todos(material),
        *_errors(material),
        *_tried(material),
        *_questions(material),
        *unsettled(material),
    ]
    carried = [one for one in material.carried.open if not one.text.startswith((REQUEST, TRIED, TO_DO, ASKED, ERROR))]
    if not any(is_request(said) for said in parts(material, PartKind.TEXT)):
        carried += [one for one in material.carried.open if one.text.startswith(REQUEST)]
    known = {entry.text for entry in carried}
    fresh = (Entry(material.mask(entry.text), entry.line) for said, entry in found if said.at not in material.kept)
    return (*carried, *(entry for entry in fresh if entry.text not in known))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _requests(material: Material) -> Iterator[tuple[Said, Entry]]:
    """What the user asked for first, and last; a whole document that was pasted only in part."""
    asked = [said for said in parts(material, PartKind.TEXT) if is_request(said)]
    if not asked:
        return
    if len(asked) > 1 and not any(one.text.startswith(TASK) for one in material.carried.open):
        task = _whole(asked[0].part.text, max(_SHORTEST_TASK, material.tokens // 2))
        yield asked[0], Entry(f"{TASK}{task}", asked[0].line)
    latest = _whole(asked[-1].part.text, max(_SHORTEST_REQUEST, material.tokens))
    yield asked[-1], Entry(f"{REQUEST}{latest}", asked[-1].line)


def _whole(text: str, most: int) -> str:
    """The text as a line; of one that is a document the beginning and the end, with what is left out said."""
    flat = _flat(text)
    if len(flat) <= most:
        return flat
    start, end = flat[: most // 2].rsplit(" ", 1)[0], flat[-most // 2 :].split(" ", 1)[-1]
    return f"{start} [{len(flat) - len(start) - len(end):,} characters left out] {end}"


def _tried(material: Material) -> Iterator[tuple[Said, Entry]]:
    """The last thing that was attempted, and how it ended; a result that nobody knows the call of was no attempt."""
    calls = calls_by_ref(material)
    tried = [said for said in parts(material, PartKind.TOOL_RESULT) if said.part.name or said.part.ref in calls]
    if tried:
        said = tried[-1]
        outcome = "failed" if said.part.failed else "ended"
        call = calls.get(said.part.ref, said)
        name = _flat(" ".join(filter(None, (said.part.name or call.part.name, said.part.address or call.part.address))))
        head = name if len(name) <= _LONGEST_NAME else said.part.name
        text = f"{TRIED}{head}, {outcome}: {first_line(said.part.text, _LONGEST_ERROR)}"
        yield said, Entry(text, said.line)


def _errors(material: Material) -> Iterator[tuple[Said, Entry]]:
    """Failures since the latest request, of calls that did not work again, with the first line of each."""
    calls, standing = calls_by_ref(material), dict[str, Said]()
    since = max((said.at for said in parts(material, PartKind.TEXT) if is_request(said)), default=-1)
    for said in parts(material, PartKind.TOOL_RESULT):
        call = calls.get(said.part.ref)
        if call is not None:
            name = f"{call.part.name} {call.part.address or call.part.text}"
            standing.pop(name, None)
            if said.part.failed and said.at > since and said.part.text.strip() and not is_refusal(said.part.text):
                standing[name] = said
    last = next(reversed(list(parts(material, PartKind.TOOL_RESULT))), None)
    newest = [said for said in list(standing.values())[-_MOST_ERRORS:] if said != last]
    for said in newest:
        call = calls[said.part.ref]
        name = _flat(f"{call.part.name} {call.part.address}").strip()
        head = name if len(name) <= _LONGEST_NAME else call.part.name
        yield said, Entry(f"{ERROR}{head}: {first_line(said.part.text, _LONGEST_ERROR)}", said.line)


def _questions(material: Material) -> Iterator[tuple[Said, Entry]]:
    """What the assistant asked last, where nobody has answered."""
    said = [one for one in parts(material, PartKind.TEXT) if one.message.role is Role.ASSISTANT or is_request(one)]
    if said and said[-1].message.role is Role.ASSISTANT:
        questions = [sentence for _, sentence in sentences(said[-1].part.text) if sentence.endswith("?")]
        yield from ((said[-1], Entry(f"{ASKED}{question}", said[-1].line)) for question in questions[-3:])


def _todos(material: Material) -> Iterator[tuple[Said, Entry]]:
    """What the last list of tasks, in the arguments of any tool, says is not done."""
    last: list[tuple[Said, Entry]] = []
    for said in parts(material, PartKind.TOOL_CALL):
        if '"status"' in said.part.text:
            tasks = list(_tasks(said.part.text))
            if tasks:
                left = ((text, status) for text, status in tasks if status not in _DONE)
                last = [(said, Entry(f"{TO_DO}{status}): {_flat(text)}", said.line)) for text, status in left]
    yield from last


def _tasks(arguments: str) -> Iterator[tuple[str, str]]:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return
    lists: Iterable[Any] = (
        [item for item in value.values() if isinstance(item, list)] if isinstance(value, dict) else [value]
    )
    for task in (task for tasks in lists if isinstance(tasks, list) for task in tasks if isinstance(task, dict)):
        text = next((task[key] for key in _TODO_TEXT if isinstance(task.get(key), str)), None)
        if text and isinstance(task.get("status"), str):
            yield text, task["status"]
