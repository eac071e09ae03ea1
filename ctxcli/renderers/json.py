"""The documents themselves: one object, an array of several, or a line each."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import orjson

from ctxcli.reports.calls import CallRow
from ctxcli.shelf import Canvas, Renderer

if TYPE_CHECKING:
    from ctxcli.reports.audit import AuditReport
    from ctxcli.reports.identifiers import IdentifiersReport
    from ctxcli.reports.notes import NotesReport

_INDENT = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True, slots=True)
class CallLine:
    """A call as a document of its own, for JSON lines."""

    kind: str
    version: int
    path: str
    conversation: str | None
    call: CallRow


def dump(value: Any, *, indent: bool = False) -> str:
    """JSON text of a report or of anything in one; lone surrogates become U+FFFD."""
    option = _INDENT if indent else 0
    try:
        return orjson.dumps(value, option=option).decode()
    except TypeError:
        return orjson.dumps(_repaired(value), option=option).decode()


def _repaired(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return {name: _repaired(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_repaired(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return value


def document(reports: Iterable[Any], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """One report as an object; several as an array."""
    stream = iter(reports)
    first = list(islice(stream, 2))
    if len(first) == 1:
        yield dump(first[0], indent=True)
        return
    for number, report in enumerate(chain(first, stream)):
        yield ("[\n" if number == 0 else ",\n") + dump(report, indent=True).rstrip("\n")
    yield "\n]\n" if first else "[]\n"


def audit_lines(reports: "Iterable[AuditReport]", canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """Several reports a line each; of one report, each call."""
    stream = iter(reports)
    first = list(islice(stream, 2))
    if len(first) == 1:
        source = first[0].source
        for call in first[0].calls:
            line = CallLine("ctx.audit.call", 1, source.path, source.conversation, call)
            yield dump(line) + "\n"
        return
    for report in chain(first, stream):
        yield dump(report) + "\n"


def identifier_lines(reports: "Iterable[IdentifiersReport]", canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """Each identifier, a line each."""
    for report in reports:
        for row in report.identifiers:
            yield dump({"path": report.path, "conversation": report.conversation, **asdict(row)}) + "\n"


def note_lines(reports: "Iterable[NotesReport]", canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """Each entry of a notes file, a line each."""
    for report in reports:
        for row in report.entries:
            yield dump({"path": report.path, **asdict(row)}) + "\n"


def document_lines(reports: Iterable[Any], canvas: Canvas) -> Iterator[str]:  # noqa: ARG001
    """A report a line."""
    return (dump(report) + "\n" for report in reports)


JSON = Renderer(
    "json",
    "one document, or an array of several",
    document,
    document,
    document,
    check=document,
    compact=document,
    notes=document,
    formats=document,
    simulate=document,
    budget=document,
    sweep=document,
    finding=document,
    probe=document,
    bench=document,
)
JSONL = Renderer(
    "jsonl", "a document a line; of a single conversation, a call a line; an identifier a line",
    audit_lines, identifier_lines, document_lines, check=document_lines, compact=document_lines, notes=note_lines,
    formats=document_lines, simulate=document_lines, budget=document_lines,
    sweep=document_lines, finding=document_lines,
    probe=document_lines, bench=document_lines,
)  # fmt: skip
