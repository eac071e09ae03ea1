"""GitHub Copilot Chat in VS Code: "Chat: Export", and the log of its requests, `*.chatreplay.json`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.vscode_export import ExportReader
from ctxcli.formats.blocks.vscode_replay import is_replay, read_replay
from ctxcli.model import Record, Transcript
from ctxcli.shelf import Format

_NAMES = frozenset({"responderUsername", "requesterUsername"})


def claims(records: Sequence[Record]) -> bool:
    """Requests of somebody to a responder, or the log of prompts and their requests."""
    return any(_is_ours(record.value) for record in records)


def _is_ours(value: Any) -> bool:
    return isinstance(value, dict) and (_is_export(value) or is_replay(value))


def _is_export(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("requests"), list) and not _NAMES.isdisjoint(value)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The one conversation of an export, or those of a log; a value that is neither is told in the next one."""
    rest = Draft("vscode-copilot-chat")
    for record in records:
        if _is_export(record.value):
            yield _with(ExportReader().read(record), rest)
        elif _is_ours(record.value):
            for transcript in read_replay(record):
                yield _with(transcript, rest)
        else:
            rest.saw(record)
            if isinstance(record.value, dict):
                rest.unknown("document", record.line)
            else:
                rest.not_a_record(record)
            continue
        rest = Draft("vscode-copilot-chat")
    if rest.records:
        yield rest.finish()


def _with(transcript: Transcript, rest: Draft) -> Transcript:
    """A conversation, and what stood before it and is none."""
    found = rest.finish()
    rest.records, rest.skips = 0, []
    return replace(transcript, records=transcript.records + found.records, skips=(*found.skips, *transcript.skips))


FORMAT = Format(
    name="vscode-copilot-chat",
    title="Copilot Chat in VS Code (chat export, *.chatreplay.json)",
    recognised_by="requests with a responderUsername; prompts with logs and totalLogEntries",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt", "compaction", "timestamps"}),
)
