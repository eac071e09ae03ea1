"""OpenTelemetry traces of generative AI: OTLP JSON, or a span a line; only the spans of model calls are calls.

Every call repeats the history, spans of agents add up the calls in them, and what was said is recorded only where
somebody opted in: without it the calls of a conversation (or of a trace) still tell its figures.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.genai import heard, operation, usage_of
from ctxcli.formats.blocks.langchain import provider_of
from ctxcli.formats.blocks.otlp import Span, holds_resources, spans_of
from ctxcli.formats.blocks.traces import Trace, answer_of, told
from ctxcli.formats.blocks.values import mapping, text
from ctxcli.model import Record, Role, Transcript
from ctxcli.shelf import Format

_MARKS = ("gen_ai.", "llm.", "openinference.", "traceloop.")
_CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id")
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_PROVIDERS = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system")
_AGENTS = ("gen_ai.agent.id", "gen_ai.agent.name")
_NO_SPANS = ("resourceLogs", "resourceMetrics", "resource_logs", "resource_metrics")
_NO_SPAN_TYPES = frozenset({"metric", "metrics", "log", "logs"})
_MOST_PARENTS = 64


def claims(records: Sequence[Record]) -> bool:
    """Batches of OTLP spans, or spans with attributes of generative AI."""
    if any(holds_resources(record.value) for record in records):
        return True
    found = [[span for span in spans_of(record) if span] for record in records]
    marked = any(str(key).startswith(_MARKS) for spans in found for span in spans for key in span.attributes)
    return marked and 2 * sum(map(bool, found)) >= len(found)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversations of a source, in the order in which they began."""
    trace = Trace(Draft("otel-genai"))
    spans: dict[str, Span] = {}
    for record in records:
        trace.books.saw(record)
        found = spans_of(record)
        if not found:
            _no_span(trace.books, record)
        for number, span in enumerate(found):
            if span is None:
                trace.books.not_a_record(record)
            else:
                spans[span.id or f"{span.line}/{number}"] = span
    silent = 0
    for span in spans.values():
        silent += _read(trace, span, spans)
    if silent:
        trace.books.notes.append(f"{silent} calls were traced without what was said: only their figures are known")
    return trace.conversations()


def _no_span(books: Draft, record: Record) -> None:
    raw = mapping(record.value)
    signal = next((key for key in _NO_SPANS if key in raw), "") or text(raw.get("type"))
    if signal in _NO_SPANS or signal in _NO_SPAN_TYPES:
        books.bookkeep(signal)
    elif signal:
        books.unknown(signal, record.line)
    elif not holds_resources(raw):
        books.not_a_record(record)


def _read(trace: Trace, span: Span, spans: Mapping[str, Span]) -> bool:
    """Take a span; whether it is a call of which nothing is recorded but figures."""
    kind = operation(span)
    if kind != "call":
        trace.books.bookkeep(kind)
        return False
    found = heard(span)
    for name in found.unknown:
        trace.books.unknown(name, span.line)
    usage, model = usage_of(span), _text(span, *_MODELS)
    title = _text(span, *_CONVERSATIONS) or span.trace
    silent = not found.answer and all(one.role is Role.SYSTEM for one in found.sent)
    agent = _agent(span, spans) if silent else ""
    trace.put(
        told(
            found.sent,
            answer_of(found.answer, span.line, empty=usage is not None),
            usage,
            span.line,
            id=span.id,
            start=span.start,
            parent=span.parent,
            title=title,
            conversation=f"{title}/{agent}".strip("/") if silent else "",
            time=span.time,
            model=model,
            provider=provider_of(_text(span, *_PROVIDERS), model),
        )
    )
    return silent


def _text(span: Span, *names: str) -> str:
    found = (span.attributes.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), "")


def _agent(span: Span, spans: Mapping[str, Span]) -> str:
    """The agent whose call it is: the nearest span around it that names one."""
    for _ in range(_MOST_PARENTS):
        name = _text(span, *_AGENTS)
        above = spans.get(span.parent)
        if name or above is None:
            return name
        span = above
    return ""


FORMAT = Format(
    name="otel-genai",
    title="OpenTelemetry GenAI spans (OTLP JSON, spans a line; OpenLLMetry, OpenInference)",
    recognised_by="`resourceSpans`, or spans whose attributes begin with gen_ai. or llm.",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt", "timestamps"}),
)
