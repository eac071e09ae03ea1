"""The items of the OpenAI Responses API: what each of them put into the context, and who said it.

Source of the shapes: https://platform.openai.com/docs/api-reference/responses/object and, of compactions,
https://developers.openai.com/api/docs/guides/compaction.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.codex_items import SEALED, is_model_item, message_role, output_parts
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.media import media_part
from ctxcli.formats.blocks.openai import content_parts, item_call, result_parts, tool_parts
from ctxcli.formats.blocks.said import Said
from ctxcli.formats.blocks.synthetic import told_by_ctx
from ctxcli.formats.blocks.values import blocks, mapping, sequence, text
from ctxcli.model import COMPACTION, Part, PartKind, Role

Placed = tuple[Mapping[str, Any], int]
"""An item and its line."""

_ANSWERS = ("output", "outputs", "results", "result", "error")
"""Under which a hosted tool's answer stands in its call."""
_FREE = frozenset({"mcp_approval_request", "mcp_approval_response"})
"""Items by which a person lets a call pass, which is an item of its own."""
_OTHERS = frozenset({"message", "mcp_list_tools", "item_reference"})
_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call",
     "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
     "tool_search_call"}
)  # fmt: skip
_CONTENT = frozenset({"input_text", "output_text", "input_image", "input_file"})


def kind_of(item: Mapping[str, Any]) -> str:
    """The type of an item; a message may leave it out."""
    return text(item.get("type")) or ("message" if isinstance(item.get("role"), str) else "")


def is_item(value: Any) -> bool:
    """Whether a value may be an item: it has a type, or is a message without one."""
    return isinstance(value, dict) and bool(kind_of(value)) and "payload" not in value


def is_mark(value: Any) -> bool:
    """Whether a value is an item that no other API has."""
    if not isinstance(value, dict) or "payload" in value:
        return False
    kind = kind_of(value)
    if kind.removesuffix("_output") in _CALLS:
        return isinstance(value.get("call_id", value.get("id")), str)
    if kind == "reasoning":
        return isinstance(value.get("summary"), list)
    if kind in SEALED:
        return isinstance(value.get("encrypted_content"), str)
    return kind == "message" and any(text(mapping(one).get("type")) in _CONTENT for one in blocks(value.get("content")))


@dataclass(slots=True)
class Speech:
    """Items in a row, as the messages that they make up: what the model wrote in a row is one answer."""

    odd: Draft
    """Counts what is no item, or one of a type that is not known."""
    known: Mapping[str, Mapping[str, Any]]
    """Items by their id, for those that only refer to one."""
    said: list[Said] = field(default_factory=list)
    _run: list[Part] = field(default_factory=list)
    _line: int = 0
    _answered: bool = False
    """The model has spoken: a compaction that follows stands for all before it."""

    def hear(self, items: Iterable[Placed], *, seal: bool = True) -> None:
        """Take items; those after them may belong to the same answer unless it is sealed."""
        for item, line in items:
            self._hear(self.known.get(text(item.get("id")), item) if kind_of(item) == "item_reference" else item, line)
        if seal:
            self._end()

    def answer(self, items: Iterable[Placed], line: int) -> Said:
        """The items of a response: what the model wrote is its answer, and what else is among them stands before it."""
        parts: list[Part] = []
        for item, place in items:
            if is_model_item(item):
                parts += _parts(item, place)
            else:
                self._hear(item, place)
        self._end()
        return Said(Role.ASSISTANT, tuple(parts), line)

    def _hear(self, item: Mapping[str, Any], line: int) -> None:
        kind = kind_of(item)
        if is_model_item({**item, "type": kind}):
            self._line = self._line if self._run else line
            self._run += _parts(item, line)
            self._answered = True
            return
        if kind in _FREE:
            self.odd.bookkeep(f"item/{kind}")
        elif kind in SEALED or kind in _OTHERS or kind.endswith("_output"):
            self._end()
            self._other(kind, item, line)
        else:
            self.odd.unknown(f"item/{kind}", line)

    def _other(self, kind: str, item: Mapping[str, Any], line: int) -> None:
        """An item that the model did not write."""
        if kind in SEALED:
            part = Part(PartKind.OPAQUE, "", line, name=COMPACTION)
            self.said.append(Said(Role.USER, (part,), line, harness=not self._answered))
        elif kind == "message":
            role, harness = message_role(item)
            parts, ours = told_by_ctx(role, tuple(content_parts(item.get("content"), line)))
            self.said.append(Said(role, parts, line, harness or ours))
        elif kind.endswith("_output"):
            self.said.append(Said(Role.TOOL, tuple(_output(item, line)), line))
        elif kind == "mcp_list_tools":
            self.said.append(Said(Role.SYSTEM, tuple(tool_parts(item.get("tools"), line)), line, harness=True))
        else:
            self.said.append(Said(Role.USER, (Part(PartKind.OPAQUE, "", line, name=kind),), line, harness=True))

    def _end(self) -> None:
        if self._run:
            self.said.append(Said(Role.ASSISTANT, tuple(self._run), self._line))
            self._run = []


def _parts(item: Mapping[str, Any], line: int) -> Iterator[Part]:
    """What the model wrote, and what a tool of the provider's answered within the same response."""
    if not kind_of(item).endswith("_call"):
        yield from output_parts({**item, "type": kind_of(item)}, line)
        return
    call = item_call({key: value for key, value in item.items() if key not in _ANSWERS}, line)
    yield call
    if item.get("result") and call.name == "image_generation":
        yield media_part(text(item["result"]), "image/png", line, ref=call.ref, name=call.name)
        return
    answer = next((item[key] for key in _ANSWERS if item.get(key) is not None), None)
    if answer is not None:
        failed = item.get("error") is not None and item.get("output") is None
        for part in _answer(answer, line, call):
            yield Part(part.kind, part.text, line, part.name, part.ref, failed=failed, media=part.media)


def _answer(answer: Any, line: int, call: Part) -> Iterator[Part]:
    """A hosted tool's answer: text, what was found in files, or what code printed and drew."""
    if not isinstance(answer, list):
        yield from result_parts(answer, line, call.ref, call.name)
        return
    drawn = [mapping(one) for one in answer if mapping(one).get("type") == "image"]
    rest = [mapping(one).get("logs", mapping(one).get("text", one)) for one in answer if mapping(one) not in drawn]
    yield Part(PartKind.TOOL_RESULT, "\n".join(map(text, rest)), line, ref=call.ref, name=call.name)
    for one in drawn:
        yield media_part(text(one.get("url")), "image/png", line, ref=call.ref, name=call.name)


def _output(item: Mapping[str, Any], line: int) -> Iterator[Part]:
    """The answer to a call; that of a computer is a picture of its screen."""
    output = item.get("output")
    image = mapping(output).get("image_url")
    if image:
        ref = text(item.get("call_id"))
        yield Part(PartKind.TOOL_RESULT, "", line, ref=ref)
        yield media_part(text(image), "image", line, ref=ref)
    else:
        yield from result_parts(mapping(output).get("content", output), line, text(item.get("call_id")))


def head_of(request: Mapping[str, Any], line: int, odd: Draft) -> list[Said]:
    """What stands before every item: the tools, and the instructions of this request alone."""
    tools = tuple(tool_parts(request.get("tools"), line)) if sequence(request.get("tools")) else ()
    head = [Said(Role.SYSTEM, tools, line)] if tools else []
    instructions = request.get("instructions")
    if isinstance(instructions, str) and instructions:
        head.append(Said(Role.SYSTEM, (Part(PartKind.TEXT, instructions, line),), line))
    elif isinstance(instructions, list):
        speech = Speech(odd, {})
        speech.hear([(mapping(one), line) for one in instructions])
        head += speech.said
    return head
