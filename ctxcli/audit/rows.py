"""One row for each call."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields

from ctxcli.audit.walk import Scales, Step
from ctxcli.budget import Usable
from ctxcli.model import Layer, Message, Part, PartKind, Role, Transcript, Usage
from ctxcli.reports.calls import Cache, CallRow, Cause, Context, Layers, Output


def call_rows(steps: Sequence[Step], transcript: Transcript, scales: Scales, usable: Usable) -> tuple[CallRow, ...]:
    """The rows of all calls, numbered from 1 over all lanes; `sent_so_far` adds up within each lane."""
    sent: defaultdict[str, int] = defaultdict(int)
    rows = []
    for step in steps:
        call = step.call
        sent[call.lane] += step.size
        rows.append(
            CallRow(
                n=step.n,
                line=call.line,
                lane=call.lane,
                time=call.time or None,
                model=call.model or None,
                context=Context(step.measured, step.estimated),
                layers=_layers(step),
                added=step.added,
                growth=step.growth,
                grew=step.grew,
                output=_output(step, scales),
                cache=cache_of(call.usage),
                share_of_window=round(step.size / usable.max_context, 4) if usable.max_context else None,
                sent_so_far=sent[call.lane],
                cause=_cause(step, transcript, scales),
            )
        )
    return tuple(rows)


def _layers(step: Step) -> Layers:
    hidden = None if step.measured is None else step.measured - step.estimated
    return Layers(
        step.layers[Layer.SYSTEM],
        step.layers[Layer.TOOLS],
        step.layers[Layer.HISTORY],
        step.layers[Layer.RETRIEVED],
        step.layers[Layer.SUMMARY],
        hidden,
    )


def _output(step: Step, scales: Scales) -> Output:
    usage = step.call.usage
    return Output(
        measured=usage.output if usage else None,
        estimated=scales.text_of(step.call.model, step.call.at),
        final=usage.output_final if usage else False,
    )


def cache_of(usage: Usage | None) -> Cache | None:
    """How the cache served a call; None where the provider did not say."""
    if usage is None or usage.cache_read is None or usage.uncached is None:
        return None
    return Cache(usage.cache_read, usage.cache_write or 0, usage.uncached, usage.cache_write_1h or 0)


def sum_of(caches: Iterable[Cache]) -> Cache:
    """What the cache did over several calls."""
    every = list(caches)
    return Cache(*(sum(getattr(one, field.name) for one in every) for field in fields(Cache)))


def what(message: Message, part: Part) -> str:
    """What a part is, in a reader's words; what the agent's client wrote as the user is `harness text`."""
    if part.kind is not PartKind.TEXT:
        return part.kind.value
    return "harness text" if message.harness and message.role is Role.USER else f"{message.role.value} text"


def _cause(step: Step, transcript: Transcript, scales: Scales) -> Cause | None:
    if step.largest is None:
        return None
    index, number = step.largest
    message = transcript.messages[index]
    part = message.parts[number]
    tokens = scales.of(step.call.model, index).parts[number]
    return Cause(what(message, part), part.name, part.address, part.line, tokens)
