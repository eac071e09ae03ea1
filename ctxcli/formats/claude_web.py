"""Sessions of Claude Code on the web: a document `{"loglines": [...]}` of the client's own records.

The records are those of a local session file, but a saved copy may lack their ids and links
(https://github.com/simonw/claude-code-transcripts, which saves them as JSON).
"""

from collections.abc import Iterable, Iterator, Sequence

from ctxcli.formats.blocks.claude_session import ClaudeSession
from ctxcli.formats.blocks.draft import JSON_NAMES
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import Record, Skip, Transcript
from ctxcli.shelf import Format

_NAME = "claude-web"
_LIST = "loglines"
_SPEAKERS = ("user", "assistant", "system")
_IDS = ("session_id", "sessionId", "id", "uuid")
"""Under which a document may name its session, where its records do not."""


def claims(records: Sequence[Record]) -> bool:
    """A document with loglines, of which one is a record of a client."""
    return any(
        mapping(line).get("type") in _SPEAKERS and isinstance(line.get("message", line.get("subtype")), (dict, str))
        for record in records
        for line in sequence(mapping(record.value).get(_LIST))[:25]
    )


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The session of each document."""
    reader, begun = ClaudeSession(_NAME), False
    for record in records:
        value = mapping(record.value)
        if not isinstance(value.get(_LIST), list):
            reader.draft.saw(record)
            kind = JSON_NAMES.get(type(record.value).__name__, "a value")
            reason = f"{kind} stands where a document with loglines should: skipped"
            reader.draft.skips.append(Skip(record.line, reason))
            continue
        if begun:
            yield from reader.finish()
            reader = ClaudeSession(_NAME)
        begun = True
        reader.draft.id = next((text(value[key]) for key in _IDS if value.get(key)), None)
        for row in _rows(record):
            reader.read(row)
    yield from reader.finish()


def _rows(record: Record) -> Iterator[Record]:
    """The records of a document, each with the line that it stands on."""
    values = record.value[_LIST]
    lines = (record.lines or {}).get((_LIST,), ())
    for number, value in enumerate(values):
        line = lines[number] if number < len(lines) else record.line
        yield Record(line, value, record.size // len(values))


FORMAT = Format(
    name=_NAME,
    title="Claude Code on the web, session document (JSON)",
    recognised_by="`loglines`: an array of the client's records",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "compaction", "sub-agents", "timestamps"}),
)
