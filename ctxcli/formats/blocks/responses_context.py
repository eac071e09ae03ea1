"""What a conversation of the Responses API is told with: sizes of reasoning and of compactions, and what left when."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from ctxcli.formats.blocks.codex_items import keeps_reasoning
from ctxcli.formats.blocks.said import Said
from ctxcli.model import Call, Event, EventKind, Iteration, Part, PartAt, PartKind, Transcript, Usage, is_human


def sized(answer: Said, usage: Usage | None) -> Said:
    """Encrypted reasoning takes the size that the provider reports for it."""
    places = [at for at, part in enumerate(answer.parts) if _is_reasoning(part)]
    if not places or usage is None or not usage.reasoning:
        return answer
    parts = list(answer.parts)
    parts[places[0]] = replace(parts[places[0]], tokens=usage.reasoning)
    return replace(answer, parts=tuple(parts))


def without_old_reasoning(transcript: Transcript) -> Transcript:
    """The conversation with an event for each turn by which older models lose the reasoning of the turns before."""
    waiting: list[PartAt] = []
    strips: list[Event] = []
    model = ""
    models = {call.at: call.model for call in transcript.calls if call.model}
    drops: defaultdict[int, set[int]] = defaultdict(set)
    for event in transcript.events:
        drops[event.at].update(event.drops)
    for index, message in enumerate(transcript.messages):
        waiting = [place for place in waiting if place[0] not in drops[index]]
        model = models.get(index, model)
        if waiting and model and is_human(message) and not keeps_reasoning(model):
            line = message.line
            strips.append(Event(EventKind.STRIP, index, line=line, trigger="new turn", clears=tuple(waiting)))
            waiting = []
        waiting += ((index, at) for at, part in enumerate(message.parts) if _is_reasoning(part))
    events = sorted((*transcript.events, *strips), key=lambda event: event.at)
    return replace(transcript, events=tuple(events)) if strips else transcript


def _is_reasoning(part: Part) -> bool:
    return part.kind is PartKind.OPAQUE and part.name == "reasoning"


def measured(transcript: Transcript, compactions: Mapping[int, Usage]) -> Transcript:
    """The conversation with what its compactions took, by their line; they are billed beside the call before them."""
    calls = list(transcript.calls)
    events = list(transcript.events)
    for at, event in enumerate(events):
        usage = compactions.get(event.line) if event.kind is EventKind.SUMMARY else None
        if usage is None or usage.prompt is None:
            continue
        events[at] = replace(event, tokens_before=usage.prompt)
        before = [number for number, call in enumerate(calls) if call.at < event.at and call.usage is not None]
        if before:
            step = Iteration("compaction", usage.prompt, usage.output or 0)
            calls[before[-1]] = _billed(calls[before[-1]], step)
    return replace(transcript, events=tuple(events), calls=tuple(calls))


def _billed(call: Call, step: Iteration) -> Call:
    usage = call.usage or Usage()
    return replace(call, usage=replace(usage, iterations=(*usage.iterations, step)))


def with_books(transcript: Transcript, books: Transcript) -> Transcript:
    """A conversation that carries what was read beside it."""
    return replace(
        transcript,
        skips=(*transcript.skips, *books.skips),
        bookkeeping=tuple(sorted((*transcript.bookkeeping, *books.bookkeeping))),
        duplicates=transcript.duplicates + books.duplicates,
        records=transcript.records + books.records,
    )
