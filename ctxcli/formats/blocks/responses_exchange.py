"""Where the items of the OpenAI Responses API stand in what people store: requests, responses, both, lists, streams.

Source of the shapes: https://platform.openai.com/docs/api-reference/responses, and of the batches and the compactions
that hold the same objects, /docs/api-reference/batch and /docs/api-reference/responses/compact.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ctxcli.formats.blocks.exchange import CONVERSATION_KEYS, line_of, request_path
from ctxcli.formats.blocks.responses_items import Placed, is_item, is_mark
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import Record

_RESPONSE_KEYS = ("response", "resp", "response_body", "output", "completion", "body")
_OBJECTS = ("response", "response.compaction")
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.done")
_OWN = frozenset({"instructions", "previous_response_id", "reasoning", "max_output_tokens", "context_management"})
"""Fields of a request that no other API with `input` has."""
At = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A request and its response, either of which may be missing."""

    request: Mapping[str, Any]
    input: tuple[Placed, ...]
    response: Mapping[str, Any] | None
    output: tuple[Placed, ...]
    conversation: str
    time: Any
    line: int

    @property
    def compacts(self) -> bool:
        """Whether the response is the new context that a compaction left."""
        return mapping(self.response).get("object") == "response.compaction"


def is_stream_event(value: Any) -> bool:
    """Whether a value is an event of a streamed response."""
    return isinstance(value, dict) and text(value.get("type")).startswith("response.") and "object" not in value


def items_in(record: Record) -> tuple[Placed, ...] | None:
    """The items of a list that stands for a conversation: an array, or the API's own list, which may run backwards."""
    listed = mapping(record.value).get("object") == "list"
    values = record.value["data"] if listed and "data" in record.value else record.value
    if not isinstance(values, list) or not any(map(is_mark, values)) or 2 * sum(map(is_item, values)) <= len(values):
        return None
    items = _placed(values, record, ("data",) if listed else ())
    return tuple(reversed(items)) if listed and _is_backwards(values) else items


def _is_backwards(values: list[Any]) -> bool:
    """Whether an output stands before the call that it answers: the newest item comes first."""
    kinds: dict[str, str] = {}
    for item in map(mapping, values):
        kinds.setdefault(text(item.get("call_id")), text(item.get("type")))
    kinds.pop("", None)
    return any(kind.endswith("_output") for kind in kinds.values())


def turn_of(value: Any, record: Record, at: At = ()) -> Turn | None:
    """The turn that an object holds, at a path of its record; None where it holds none."""
    if not isinstance(value, dict):
        return None
    if is_stream_event(value):
        if value["type"] not in _ENDS:
            return None
        value, at = mapping(value.get("response")), (*at, "response")
    inside = request_path(value) or (("body",) if isinstance(value.get("body"), dict) else ())
    request = mapping(value[inside[0]] if inside else value)
    response, path = _response(value)
    given = request.get("input")
    if response is None and not _is_request(request):
        return None
    named = mapping(request.get("conversation")).get("id") or request.get("conversation")
    return Turn(
        request=request,
        input=(({"role": "user", "content": given}, line_of(record, at)),)
        if isinstance(given, str)
        else _placed(given, record, (*at, *inside, "input")),
        response=response,
        output=_placed(mapping(response).get("output"), record, (*at, *path, "output")),
        conversation=next((text(value[key]) for key in CONVERSATION_KEYS if value.get(key)), text(named)),
        time=mapping(response).get("created_at") or value.get("timestamp") or value.get("created_at"),
        line=line_of(record, at),
    )


def _response(value: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, tuple[str, ...]]:
    """The response in an object, and where it stands in it; a batch wraps it once more."""
    for key in _RESPONSE_KEYS:
        found = mapping(value.get(key))
        if _is_response(found):
            return found, (key,)
        if _is_response(mapping(found.get("body"))):
            return found["body"], (key, "body")
    return (value, ()) if _is_response(value) else (None, ())


def _is_response(value: Mapping[str, Any]) -> bool:
    output = value.get("output")
    if not isinstance(output, list):
        return False
    return value.get("object") in _OBJECTS or any(map(is_mark, output))


def _is_request(value: Mapping[str, Any]) -> bool:
    """Whether an object is a request: embeddings have `input` too, but neither items nor instructions."""
    given = value.get("input")
    if isinstance(given, str):
        return bool(_OWN & value.keys())
    if not isinstance(given, list) or not any(map(is_item, given)):
        return False
    return any(map(is_mark, given)) or bool((_OWN | {"model", "tools"}) & value.keys())


def _placed(values: Any, record: Record, at: At) -> tuple[Placed, ...]:
    return tuple(
        (value if isinstance(value, dict) else {"type": type(value).__name__}, line_of(record, (*at, number)))
        for number, value in enumerate(sequence(values))
    )
