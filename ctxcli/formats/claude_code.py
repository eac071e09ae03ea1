"""Claude Code session records: one JSON object a line, several lines per model response."""

from collections.abc import Iterable, Iterator, Sequence

from ctxcli.formats.blocks.claude_records import is_of_qwen, is_session_record
from ctxcli.formats.blocks.claude_session import read_session
from ctxcli.formats.blocks.work import Work
from ctxcli.formats.blocks.write_claude import write_session
from ctxcli.model import Record, Transcript
from ctxcli.shelf import Format


def claims(records: Sequence[Record]) -> bool:
    """A session record has a type of its own and a session, a parent link or the client's bookkeeping."""
    values = [record.value for record in records]
    return any(map(is_session_record, values)) and not any(map(is_of_qwen, values))


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of one session file; a file of a single sub-agent is that agent's main lane."""
    return read_session(records, "claude-code")


def write(source: bytes, work: Work) -> bytes:
    """The source as it is, and after it a boundary and the new context, as a client would have written them."""
    return write_session(source, work, read)


FORMAT = Format(
    name="claude-code",
    title="Claude Code session (JSONL)",
    recognised_by="records with type, sessionId and uuid / parentUuid, or the client's own record types",
    claims=claims,
    read=read,
    write=write,
    knows=frozenset({"usage", "model", "compaction", "sub-agents", "timestamps"}),
    companions=("{stem}/subagents/agent-*.jsonl", "agent-*.jsonl"),
)
