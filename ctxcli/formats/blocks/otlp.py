"""OpenTelemetry spans: OTLP JSON, and the flattened forms that SDKs and viewers write a span a line.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, `ReadableSpan.to_json` of the Python SDK
and the span export of Arize Phoenix, whose attributes are nested objects.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxcli.formats.blocks.moments import from_milliseconds
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import Record

_RESOURCES = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_VALUES = ("stringValue", "boolValue", "doubleValue", "string_value", "bool_value", "double_value")
_WHOLE = ("intValue", "int_value")
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Span:
    """One span: its place in the trace, its attributes by their dotted names, its events."""

    name: str
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...]
    id: str
    parent: str
    trace: str
    start: str
    """In a form that sorts."""
    time: str
    """When it ended."""
    line: int


def spans_of(record: Record) -> list[Span | None]:
    """The spans that a record holds, None for what stands among them and is none; empty where it holds none at all."""
    value = record.value
    if isinstance(value, list):
        lines = (record.lines or {}).get((), ())
        return [_flat(item, lines[at] if at < len(lines) else record.line) for at, item in enumerate(value)]
    raw = mapping(value)
    if holds_resources(raw):
        return [_span(span, record.line) for span in _nested(raw)]
    if isinstance(raw.get("spans"), list):
        return [_flat(span, record.line) for span in raw["spans"]]
    one = _flat(raw, record.line)
    return [one] if one else []


def holds_resources(value: Any) -> bool:
    """Whether a value is a batch of OTLP spans."""
    return any(isinstance(mapping(value).get(key), list) for key in _RESOURCES)


def _nested(raw: Mapping[str, Any]) -> Iterator[Any]:
    for resources in (sequence(raw.get(key)) for key in _RESOURCES):
        for resource in resources:
            for scopes in (sequence(mapping(resource).get(key)) for key in _SCOPES):
                for scope in scopes:
                    yield from sequence(mapping(scope).get("spans"))


def _flat(value: Any, line: int) -> Span | None:
    """A span that stands by itself: attributes, and a name or ids."""
    raw = mapping(value)
    named = {"name", "context", "span_id", "spanId", "traceId", "trace_id", "type"} & raw.keys()
    return _span(raw, line) if isinstance(raw.get("attributes"), (dict, list)) and named else None


def _span(value: Any, line: int) -> Span | None:
    raw = mapping(value)
    if not raw:
        return None
    context = mapping(raw.get("context") or raw.get("spanContext"))
    start, end = _moment(_first(raw, "start")), _moment(_first(raw, "end"))
    events = tuple(
        (text(mapping(event).get("name")), _attributes(mapping(event).get("attributes")))
        for event in sequence(raw.get("events") or raw.get("span_events"))
    )
    return Span(
        name=text(raw.get("name")),
        attributes=flattened(_attributes(raw.get("attributes"))),
        events=events,
        id=_named(raw, context, "spanId", "span_id"),
        parent=_named(raw, {}, "parentSpanId", "parent_span_id", "parent_id", "parentId"),
        trace=_named(raw, context, "traceId", "trace_id"),
        start=start[0],
        time=end[1] or start[1],
        line=line,
    )


def _named(raw: Mapping[str, Any], context: Mapping[str, Any], *keys: str) -> str:
    return next((text(place[key]) for place in (raw, context) for key in keys if place.get(key)), "")


def _first(raw: Mapping[str, Any], which: str) -> Any:
    keys = (f"{which}TimeUnixNano", f"{which}_time_unix_nano", f"{which}_time", f"{which}Time")
    return next((raw[key] for key in keys if raw.get(key)), None)


def _moment(value: Any) -> tuple[str, str]:
    """A time in a form that sorts, and as people read it: nanoseconds, seconds and nanoseconds, or ISO 8601."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(one, int) for one in value):
        value = value[0] * 10**9 + value[1]
    if isinstance(value, str) and not value.isdigit():
        return re.sub(r"\D", "", value)[:20].ljust(20, "0"), value
    if isinstance(value, bool) or not isinstance(value, (int, str)) or len(str(value)) > 20:
        return "", ""
    return f"{int(value):020d}", from_milliseconds(int(value) / 1e6)


def _attributes(value: Any) -> dict[str, Any]:
    """Attributes by name, whether they stand as an object or as OTLP's list of keys and values."""
    if isinstance(value, dict):
        return value
    pairs = map(mapping, sequence(value))
    return {text(pair["key"]): _value(pair.get("value"), 0) for pair in pairs if pair.get("key")}


def _value(value: Any, depth: int) -> Any:
    raw = mapping(value)
    for key in _VALUES:
        if key in raw:
            return raw[key]
    for key in _WHOLE:
        if key in raw:
            whole = text(raw[key])
            return int(whole) if re.fullmatch(r"-?\d{1,18}", whole) else None
    if depth > _DEEPEST:
        return None
    many = mapping(raw.get("arrayValue") or raw.get("array_value"))
    if many or "arrayValue" in raw:
        return [_value(item, depth + 1) for item in sequence(many.get("values"))]
    pairs = map(mapping, sequence(mapping(raw.get("kvlistValue") or raw.get("kvlist_value")).get("values")))
    return {text(pair["key"]): _value(pair.get("value"), depth + 1) for pair in pairs if pair.get("key")}


def flattened(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Objects in attributes become dotted names; lists stay values."""
    found: dict[str, Any] = {}
    waiting: deque[tuple[str, Any, int]] = deque((str(key), value, 0) for key, value in attributes.items())
    while waiting:
        key, value, depth = waiting.popleft()
        if isinstance(value, dict) and value and depth < _DEEPEST:
            waiting += [(f"{key}.{inner}", item, depth + 1) for inner, item in value.items()]
        else:
            found[key] = value
    return found


def listed(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """The objects under `prefix.0.…`, `prefix.1.…`, each with its fields by dotted name; or a list of objects."""
    whole = attributes.get(prefix)
    if isinstance(whole, list):
        return [flattened(item) for item in whole if isinstance(item, dict)]
    found: dict[int, dict[str, Any]] = {}
    start = f"{prefix}."
    for key, value in attributes.items():
        number, _, name = key[len(start) :].partition(".") if key.startswith(start) else ("", "", "")
        if number.isdecimal() and len(number) < 7 and name:
            found.setdefault(int(number), {})[name] = value
    return [found[number] for number in sorted(found)]


def under(attributes: Sequence[Mapping[str, Any]], prefix: str) -> list[dict[str, Any]]:
    """Each object without the prefix that all of its names have."""
    return [{key.removeprefix(f"{prefix}."): value for key, value in one.items()} for one in attributes]
