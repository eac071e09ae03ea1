"""LangSmith runs, as JSONL or an array: a tree of spans in which only those of type llm are model calls.

Each of them repeats the whole prompt, and runs of type chain repeat the figures of the runs in them. Source:
https://docs.smith.langchain.com/reference/data_formats/run_data_format and the wrappers of langsmith-sdk.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.langchain import metadata_usage, model_of, native_usage, provider_of, tool_parts, usage_of
from ctxcli.formats.blocks.langsmith import answered, asked, message_of
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.traces import Told, Trace, told
from ctxcli.formats.blocks.values import count, mapping, text
from ctxcli.model import Record, Role, Transcript, Usage
from ctxcli.shelf import Format

_BOOKS = frozenset({"chain", "tool", "retriever", "embedding", "prompt", "parser"})
_MARKS = frozenset({"trace_id", "dotted_order", "parent_run_id", "session_id", "start_time"})
_THREADS = ("session_id", "thread_id", "conversation_id")


def _runs(record: Record) -> list[tuple[Any, int]]:
    """The runs that a record holds, with their lines."""
    path: tuple[str, ...] = ("runs",) if isinstance(mapping(record.value).get("runs"), list) else ()
    values = record.value["runs"] if path else record.value
    if not isinstance(values, list):
        return [(values, record.line)]
    lines = (record.lines or {}).get(path, ())
    return [(value, lines[at] if at < len(lines) else record.line) for at, value in enumerate(values)]


def _is_run(value: Any) -> bool:
    raw = mapping(value)
    return isinstance(raw.get("run_type"), str) and bool(_MARKS & raw.keys()) and bool({"inputs", "id"} & raw.keys())


def claims(records: Sequence[Record]) -> bool:
    """Runs: a run_type beside the ids of a trace."""
    found = [any(_is_run(value) for value, _ in _runs(record)) for record in records]
    return any(found) and 2 * sum(found) >= len(found)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a source, in the order in which they began."""
    trace = Trace(Draft("langsmith"))
    for record in records:
        trace.books.saw(record)
        runs = _runs(record)
        for value, line in runs:
            _read(trace, value, line, record.size // len(runs))
        if not runs:
            trace.books.not_a_record(record)
    return trace.conversations()


def _read(trace: Trace, value: Any, line: int, size: int) -> None:
    kind = mapping(value).get("run_type")
    if not isinstance(kind, str):
        trace.books.not_a_record(Record(line, value))
    elif kind == "llm":
        trace.put(_call(value, line, size))
    elif kind in _BOOKS:
        trace.books.bookkeep(kind)
    else:
        trace.books.unknown(kind, line)


def _call(run: Mapping[str, Any], line: int, size: int) -> Told:
    """A model call: prompt, answer, figures, and where it stands in its trace."""
    extra = mapping(run.get("extra"))
    about, settings = mapping(extra.get("metadata")), mapping(extra.get("invocation_params"))
    inputs, outputs = run.get("inputs"), run.get("outputs")
    fields = message_of(outputs)
    named = (about.get("ls_model_name"), settings.get("model"), settings.get("model_name"), model_of(fields))
    answered_by = (mapping(outputs).get("model"), mapping(mapping(outputs).get("llm_output")).get("model_name"))
    model = next((name for name in (*named, *answered_by) if isinstance(name, str) and name), "")
    thread = next((text(about[key]) for key in _THREADS if about.get(key)), "")
    return told(
        (*_tools(settings, mapping(inputs), line), *asked(inputs, line)),
        answered(outputs, line),
        _usage(run, fields),
        line,
        id=text(run.get("id")),
        start=_start(run),
        parent=text(run.get("parent_run_id")),
        title=thread or text(run.get("trace_id")),
        time=text(run.get("end_time") or run.get("start_time")),
        model=model,
        provider=provider_of(text(about.get("ls_provider")), model),
        size=size,
    )


def _start(run: Mapping[str, Any]) -> str:
    """When a run began, to the microsecond: the last step of its dotted order, else its own field."""
    step = text(run.get("dotted_order")).rpartition(".")[2].partition("Z")[0]
    return re.sub(r"\D", "", step or text(run.get("start_time")))[:20].ljust(20, "0")


def _tools(settings: Mapping[str, Any], inputs: Mapping[str, Any], line: int) -> Iterator[Said]:
    found = (place.get(key) for place in (settings, inputs) for key in ("tools", "functions"))
    parts = tuple(tool_parts(next((value for value in found if isinstance(value, list) and value), []), line))
    if parts:
        yield Said(Role.SYSTEM, parts, line)


def _usage(run: Mapping[str, Any], fields: Mapping[str, Any]) -> Usage | None:
    """The first that says it: the answer, the outputs, the run; they are copies of one another."""
    outputs = mapping(run.get("outputs"))
    about = mapping(mapping(run.get("extra")).get("metadata"))
    llm = mapping(outputs.get("llm_output"))
    found = usage_of(fields) or metadata_usage(outputs.get("usage_metadata"))
    found = found or metadata_usage(about.get("usage_metadata"))
    found = found or native_usage(llm.get("token_usage")) or native_usage(llm.get("usage"))
    return found or native_usage(outputs.get("usage")) or native_usage(fields.get("usage")) or _usage_of_run(run)


def _usage_of_run(run: Mapping[str, Any]) -> Usage | None:
    details = mapping(run.get("prompt_token_details")), mapping(run.get("completion_token_details"))
    return metadata_usage(
        {
            "input_tokens": count(run.get("prompt_tokens")),
            "output_tokens": count(run.get("completion_tokens")),
            "input_token_details": details[0],
            "output_token_details": details[1],
        }
    )


FORMAT = Format(
    name="langsmith",
    title="LangSmith runs (JSONL or array)",
    recognised_by="`run_type` beside `trace_id`, `dotted_order` or `parent_run_id`",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt", "timestamps"}),
)
