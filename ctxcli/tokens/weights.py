"""The weight of each part of a transcript, in counted tokens and then in the model's own."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctxcli.model import Call, Message, Part, PartKind, Role, Transcript
from ctxcli.shelf import Weigh
from ctxcli.tokens.calibrate import Fit
from ctxcli.tokens.media import media_tokens

_KIND = {
    PartKind.TOOL_RESULT: "results",
    PartKind.DOCUMENT: "results",
    PartKind.THINKING: "thinking",
}
_WRITTEN = frozenset({PartKind.TEXT, PartKind.THINKING, PartKind.TOOL_CALL, PartKind.OPAQUE})
PLACEHOLDER = 10
"""Tokens of the short text that stands where a tool result was cleared."""

_OPENAI_MESSAGE = 3
"""Tokens that frame each chat message: https://cookbook.openai.com (how to count tokens with tiktoken)."""


def kind_of(kind: PartKind) -> str:
    """Which of the calibration's kinds a part is: words, results or thinking."""
    return _KIND.get(kind, "words")


def count_parts(transcript: Transcript, weigh: Weigh) -> list[tuple[int, ...]]:
    """Counted tokens of each part of each message; names of called tools count with their arguments.

    Media are weighed by rule, opaque parts by what the provider reported for them.
    """
    texts: list[str] = []
    for message in transcript.messages:
        for part in message.parts:
            texts.append(part.text)
            if part.kind is PartKind.TOOL_CALL:
                texts.append(part.name)
    counts = iter(weigh.count(texts))
    weights: list[tuple[int, ...]] = []
    for message in transcript.messages:
        row = []
        for part in message.parts:
            counted = next(counts)
            if part.kind is PartKind.TOOL_CALL:
                counted += next(counts)
            if part.media is not None:
                counted = media_tokens(part.media, transcript.provider)
            row.append(counted if part.tokens is None else part.tokens)
        weights.append(tuple(row))
    return weights


@dataclass(frozen=True, slots=True)
class Weighed:
    """A message in the tokens of one model: each part, and what belongs to none of them (framing)."""

    parts: tuple[int, ...]
    rest: int

    @property
    def total(self) -> int:
        """All of it."""
        return sum(self.parts) + self.rest


def scale(message: Message, counted: Sequence[int], found: Fit, *, call: Call | None, provider: str) -> Weighed:
    """A message under a fit. An answer whose output the provider reported weighs what it reported.

    What the answer's text leaves of that report is thinking that the file does not hold; where the
    text alone comes to more, it is scaled down.
    """
    parts = [
        value if part.media is not None or part.tokens is not None else round(found.of(kind_of(part.kind)) * value)
        for part, value in zip(message.parts, counted, strict=True)
    ]
    rest = _framing(message, found, provider)
    usage = call.usage if call is not None else None
    if usage is None or not usage.output or not usage.output_final:
        return Weighed(tuple(parts), rest)
    own = [at for at, part in enumerate(message.parts) if is_written(part)]
    hidden = usage.output - sum(parts[at] for at in own)
    if hidden < 0:
        for at, value in zip(own, _shrink([parts[at] for at in own], usage.output), strict=True):
            parts[at] = value
        return Weighed(tuple(parts), rest)
    sealed = (PartKind.THINKING, PartKind.OPAQUE)
    place = next((at for at in own if message.parts[at].kind in sealed and message.parts[at].tokens is None), None)
    if place is None:
        return Weighed(tuple(parts), rest + hidden)
    parts[place] += hidden
    return Weighed(tuple(parts), rest)


def is_written(part: Part) -> bool:
    """Whether the model itself wrote a part of an answer, so that the reported output holds it.

    Results of the provider's own tools and what its compactions leave stand in an answer, too.
    """
    return part.kind in _WRITTEN and part.name != "compaction"


def _framing(message: Message, found: Fit, provider: str) -> int:
    if found.overhead:
        return found.overhead if message.role is Role.ASSISTANT else 0
    if provider == "openai" and found.origin != "fitted" and message.parts:
        return _OPENAI_MESSAGE
    return 0


def _shrink(parts: list[int], total: int) -> list[int]:
    """The same proportions in whole numbers that add up to `total`."""
    whole = sum(parts)
    shrunk = [value * total // whole for value in parts]
    shrunk[parts.index(max(parts))] += total - sum(shrunk)
    return shrunk
