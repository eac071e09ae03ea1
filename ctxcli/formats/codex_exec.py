"""`codex exec --json`: the events of a thread, an item for each thing the agent did.

Source of the shape: https://github.com/openai/codex, codex-rs/exec/src/exec_events.rs and
event_processor_with_jsonl_output.rs. What follows from them: the prompts are not among the events; an item of
reasoning is the summary that people are shown; a call and its result are one item, which is started and completed; the
usage of a turn is the running total of its thread, so that it tells the context only of a turn that made one call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exec_items import CALLS, SAID, call_part, result_parts, said_part
from ctxcli.formats.blocks.values import count, dump, mapping, sequence, text
from ctxcli.model import Lane, Part, PartKind, Record, Role, Transcript, Usage
from ctxcli.shelf import Format

_BOOKS = frozenset({"turn.started", "turn.failed", "error", "item.plan.delta", "request_user_input"})
_ITEM_EVENTS = frozenset({"item.started", "item.updated", "item.completed"})
_FIGURES = ("input_tokens", "cached_input_tokens", "output_tokens")


class _Thread:
    """Reads the events of one thread, over one run of the client or several."""

    def __init__(self, thread: str = "") -> None:
        self.draft = Draft("codex-exec", "openai", "codex", id=thread or None)
        self.runs = 0
        """Items are numbered anew in each run."""
        self._open: int | None = None
        """Index of the answer that the model is giving."""
        self._uncounted: list[tuple[int, int]] = []
        """(index, line) of the answers since usage was last reported."""
        self._called: dict[str, bool] = {}
        """Calls by their id: whether their result has come."""
        self._total = dict.fromkeys(_FIGURES, 0)
        self._shared = [0, 0, 0]
        """Turns of several calls, and what they sent and received in all."""

    def read(self, value: Mapping[str, Any], line: int) -> None:
        """Take one event."""
        type_ = text(value.get("type"))
        item = mapping(value.get("item"))
        if type_ in _ITEM_EVENTS and item:
            self._item(type_, item, line)
            return
        if type_ == "turn.completed":
            self._usage(mapping(value.get("usage")))
        if type_ in ("turn.started", "turn.completed", "turn.failed"):
            self._open = None
        if type_ in _BOOKS or type_ in ("thread.started", "turn.completed"):
            self.draft.bookkeep(type_)
        else:
            self.draft.unknown(type_, line)

    def _item(self, event: str, item: Mapping[str, Any], line: int) -> None:
        kind = text(item.get("type"))
        ref = f"{self.runs}.{text(item.get('id'))}" if self.runs > 1 else text(item.get("id"))
        if kind in SAID:
            if event == "item.completed":
                self._answer(said_part(kind, item, line), line)
            else:
                self.draft.bookkeep(f"{event}/{kind}")
        elif kind == "todo_list":
            self._plan(event, item, line)
        elif kind in CALLS:
            self._call(event, kind, ref, item, line)
        elif kind == "error":
            self.draft.bookkeep("item/error")
        else:
            self.draft.unknown(f"item/{kind}", line)

    def _call(self, event: str, kind: str, ref: str, item: Mapping[str, Any], line: int) -> None:
        """A call where it is started, its result where it is completed, or both at once."""
        done = self._called.get(ref)
        if done is None:
            self._answer(call_part(kind, item, ref, line), line)
            self._called[ref] = False
        if event != "item.completed" or kind == "web_search" or done:
            if done is not None:
                self.draft.bookkeep(f"{event}/{kind}")
            return
        self._called[ref] = True
        self.draft.add(Role.TOOL, result_parts(kind, item, ref, line), line)
        self._open = None
        if kind == "collab_tool_call":
            for thread in map(text, sequence(item.get("receiver_thread_ids"))):
                self.draft.lanes.setdefault(thread, Lane(thread, spawned_by=ref))

    def _plan(self, event: str, item: Mapping[str, Any], line: int) -> None:
        """Each state of the plan is a call that wrote it; the last one is repeated when the turn ends."""
        if event == "item.completed":
            self.draft.duplicates += 1
            return
        arguments = {"items": item.get("items")}
        self._answer(Part(PartKind.TOOL_CALL, dump(arguments), line, name="update_plan"), line)
        self.draft.add(Role.TOOL, [Part(PartKind.TOOL_RESULT, "", line, name="update_plan")], line)
        self._open = None

    def _answer(self, part: Part, line: int) -> None:
        if self._open is None:
            self._open = self.draft.add(Role.ASSISTANT, [part], line)
            self._uncounted.append((self._open, line))
        else:
            self.draft.extend(self._open, [part], line)

    def _usage(self, figures: Mapping[str, Any]) -> None:
        """A turn has ended: what its thread's total has grown by is the usage of its calls."""
        told = {key: count(figures.get(key)) for key in _FIGURES}
        now = {key: value or 0 for key, value in told.items()}
        anew = any(now[key] < self._total[key] for key in _FIGURES)
        sent, cached, received = (now[key] - (0 if anew else self._total[key]) for key in _FIGURES)
        answers, self._uncounted = self._uncounted, []
        if not now["input_tokens"]:
            self._uncounted = answers
            return
        self._total = now
        alone = len(answers) == 1
        if not alone and answers:
            self._shared = [self._shared[0] + 1, self._shared[1] + sent, self._shared[2] + received]
        read = None if told["cached_input_tokens"] is None else cached
        left = None if read is None else max(0, sent - read)
        usage = Usage(sent, left, read, None if read is None else 0, received) if alone and sent else None
        for at, line in answers:
            self.draft.call(at, line, usage=usage)

    def finish(self) -> Transcript:
        """The transcript; answers of a turn that did not end are calls without usage."""
        for at, line in self._uncounted:
            self.draft.call(at, line)
        if self.draft.messages:
            self.draft.notes.append("The prompts are not in this stream, nor what Codex sends before them.")
        if self.draft.calls and self.draft.calls[0].usage:
            self.draft.notes.append(
                "The figures of the first turn are those of its call, unless the run took up a thread that had begun "
                "before: the total of that thread would go on."
            )
        turns, sent, received = self._shared
        if turns:
            many = "one turn" if turns == 1 else f"{turns:,} turns"
            self.draft.notes.append(
                f"Usage is reported per turn: {sent:,} tokens sent and {received:,} received are those of {many} of "
                "several calls, in all; they are no context, and stand at none of the calls."
            )
        return self.draft.finish()


def claims(records: Sequence[Record]) -> bool:
    """Events of threads, turns and items."""
    return any(_is_event(record.value) for record in records)


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    type_ = text(value.get("type"))
    if type_ in _ITEM_EVENTS:
        return isinstance(mapping(value.get("item")).get("type"), str)
    return (type_ == "thread.started" and isinstance(value.get("thread_id"), str)) or (
        type_ == "turn.completed" and isinstance(value.get("usage"), dict)
    )


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """A conversation for each thread; runs that go on with the same thread are one."""
    thread = _Thread()
    for record in records:
        value = record.value
        if isinstance(value, dict) and value.get("type") == "thread.started":
            name = text(value.get("thread_id"))
            if thread.draft.messages and name != thread.draft.id:
                yield thread.finish()
                thread = _Thread()
            thread.draft.id = name or thread.draft.id
            thread.runs += 1
        thread.draft.saw(record)
        if isinstance(value, dict):
            thread.read(value, record.line)
        else:
            thread.draft.not_a_record(record)
    yield thread.finish()


FORMAT = Format(
    name="codex-exec",
    title="Codex `exec --json` output",
    recognised_by="thread.started, turn.completed, item.completed …",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "sub-agents"}),
)
