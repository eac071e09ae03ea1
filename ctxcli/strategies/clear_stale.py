"""Clear the results that something newer has overtaken: read again, written anew, repeated, failed and then solved."""

import re
from collections.abc import Iterator

from ctxcli.change import Change
from ctxcli.model import Part, PartAt, PartKind
from ctxcli.shelf import Strategy
from ctxcli.strategies.pieces import clear, results_of
from ctxcli.task import Task

_READS = re.compile(r"read|view|cat|open|show|get_file|fetch|list|ls|glob|grep|search|status|diff", re.IGNORECASE)
_WRITES = re.compile(r"^(?:write|create|write_file|create_file|save|overwrite)\b|write_to_file", re.IGNORECASE)
_SHORTEST_REPEAT = 200
"""Characters from which two equal results are the same thing, and not two that both say `ok`."""


def shorten(task: Task, change: Change) -> Change:
    """Clear what is stale, oldest first, until the target is met; what overtook it stays."""
    return clear(task, change, sorted(_stale(task, change)), until=task.target)


def _stale(task: Task, change: Change) -> Iterator[tuple[PartAt, str]]:
    calls = _calls(task, change)
    newest_call: dict[tuple[str, str], int] = {}
    newest_text: dict[str, int] = {}
    solved: dict[tuple[str, str], int] = {}
    written: dict[str, int] = {}
    for at in reversed(results_of(task, change)):
        result = task.part(at)
        call = calls.get(result.ref, result)
        line = result.line or task.transcript.messages[at[0]].line
        same = (call.name, call.text)
        target = (call.name, call.address)
        if not task.is_fixed(at[:1]) and (why := _why(result, call, newest_call, newest_text, solved, written)):
            yield at, why
        if not result.failed:
            newest_call.setdefault(same, line)
            if call.address:
                solved.setdefault(target, line)
        if len(result.text) >= _SHORTEST_REPEAT:
            newest_text.setdefault(result.text, line)
        if call.address and _WRITES.search(call.name) and not result.failed:
            written.setdefault(call.address, line)


def _calls(task: Task, change: Change) -> dict[str, Part]:
    return {
        part.ref: part
        for index in change.keep
        for part in task.transcript.messages[index].parts
        if part.kind is PartKind.TOOL_CALL and part.ref
    }


def _why(
    result: Part,
    call: Part,
    newest_call: dict[tuple[str, str], int],
    newest_text: dict[str, int],
    solved: dict[tuple[str, str], int],
    written: dict[str, int],
) -> str:
    """What overtook a result; empty where nothing did."""
    if result.text in newest_text:
        return f"the same text stands at line {newest_text[result.text]}"
    later = newest_call.get((call.name, call.text)) if call.kind is PartKind.TOOL_CALL else None
    if result.failed:
        line = later or (solved.get((call.name, call.address)) if call.address else None)
        return f"failed, and worked at line {line}" if line else ""
    if later and (_READS.search(call.name) or call.address):
        return f"the same call stands at line {later}"
    if call.address in written and _READS.search(call.name):
        return f"the file was written anew at line {written[call.address]}"
    return ""


STRATEGY = Strategy("clear-stale", "superseded reads, repeated results and failures that were solved go", shorten)
