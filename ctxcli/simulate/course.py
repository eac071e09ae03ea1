"""The context of a lane from call to call: what stands in it, message by message, and what of it stays in front."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ctxcli.audit.walk import Scales
from ctxcli.caching import moment
from ctxcli.model import COMPACTIONS, Call, EventKind, Message, PartKind, Role, Transcript
from ctxcli.replay import Frame
from ctxcli.tokens import PLACEHOLDER, kind_of


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """One message in a context; the same object as long as nothing of it changed."""

    message: Message
    index: int | None
    """Of the message in the transcript; None for a summary that a policy put there."""
    numbers: tuple[int, ...] = ()
    """Which parts of that message its parts are."""
    cleared: frozenset[int] = frozenset()
    """Of those the ones whose text a placeholder of the agent stands for."""


@dataclass(frozen=True, slots=True)
class Request:
    """What one call sends, in estimated tokens."""

    n: int
    """The number of the call, from 1, over all lanes."""
    call: Call
    asked: str
    """When it was sent: the time of the last message before it that is no answer, else that of the call itself."""
    context: int
    prefix: int
    """Of the context, what stands at the front as it stood in the request before."""
    front: int | None
    """Of the context, tools and system prompt; None where they are not those of the request before."""
    rows: int
    """Messages of the context."""
    same: int
    """Of them, those at the front that stand as in the request before, with all that stood there too."""
    blocks: int
    """Parts of all messages."""
    compacted: bool
    """Something was compacted since the request before."""
    hidden: int
    """Of the context, what the file does not hold."""
    changed: str
    """Why the prefix is shorter than the request before; empty where the context only grew."""


@dataclass(slots=True)
class Course:
    """The context of one lane, brought forward frame by frame."""

    scales: Scales
    count: Callable[[str], int]
    """Tokens of a text, not yet in those of a model."""
    fixed: int = 0
    """Tokens of system prompt and tools that the file does not hold; they stand in front of all else."""
    hidden: int = 0
    """Those, and what else the file does not hold at this call."""
    rows: list[Held] = field(default_factory=list)
    _sent: list[Held] = field(default_factory=list)
    _hidden: int = 0
    _model: str | None = None
    _weights: dict[tuple[str, Held], int] = field(default_factory=dict)

    @property
    def transcript(self) -> Transcript:
        """What is replayed."""
        return self.scales.transcript

    def apply(self, frame: Frame) -> None:
        """Bring the context to what it is at the frame's call."""
        left = frozenset(frame.left)
        rows = [row for row in self.rows if row.index not in left] if left else list(self.rows)
        messages = self.transcript.messages
        rows += [Held(messages[index], index, tuple(range(len(messages[index].parts)))) for index in frame.entered]
        for event in frame.events:
            if event.clears:
                rows = self._cleared(rows, event.clears, strip=event.kind is EventKind.STRIP)
        self.rows = rows

    def size(self, model: str) -> int:
        """The context in the tokens of a model, what the file does not hold included."""
        return self.hidden + sum(self.weight(model, row) for row in self.rows)

    def weight(self, model: str, row: Held) -> int:
        """One message of it."""
        key = (model, row)
        if key not in self._weights:
            self._weights[key] = self._weigh(model, row)
        return self._weights[key]

    def request(self, n: int, frame: Frame, *, compacted: bool) -> Request:
        """Send the context: what of it stood at the front of the request before."""
        call = frame.call
        same = self._same(frame, call.model)
        changed = self._why(frame, same, compacted=compacted)
        context = self.size(call.model)
        front = None if same is None else min(context, self._front(call.model, same))
        if same is None or front is None:
            prefix, same = 0, 0
        elif self.hidden == self._hidden or (self.hidden > self._hidden and same == len(self._sent)):
            prefix = self._hidden + sum(self.weight(call.model, row) for row in self.rows[:same])
        else:
            prefix, same = front, 0
        self._sent, self._hidden, self._model = self.rows, self.hidden, call.model
        blocks = sum(len(row.message.parts) for row in self.rows)
        return Request(
            n, call, asked_at(frame, self.transcript), context, min(prefix, context), front,
            len(self.rows), same, blocks, compacted, self.hidden, changed,
        )  # fmt: skip

    def _front(self, model: str, same: int) -> int:
        """Tools and system prompt: what no policy takes out of what the file does not hold, and what stands first."""
        leading = 0
        for row in self.rows[:same]:
            if row.message.role is not Role.SYSTEM and any(one.kind is not PartKind.TOOLS for one in row.message.parts):
                break
            leading += self.weight(model, row)
        return self.fixed + leading

    def _same(self, frame: Frame, model: str) -> int | None:
        """How many messages stand at the front as before; None where not even the system prompt does."""
        renewed = any(event.kind is EventKind.RENEW for event in frame.events)
        if self._model is None or self._model != model or renewed:
            return None
        pairs, shorter = zip(self.rows, self._sent, strict=False), min(len(self.rows), len(self._sent))
        return next((at for at, (one, other) in enumerate(pairs) if one is not other), shorter)

    def _why(self, frame: Frame, same: int | None, *, compacted: bool) -> str:
        if self._model is None:
            return "first call"
        if self._model != frame.call.model:
            return "another model"
        if same is None:
            return "system prompt or tools changed"
        if same == len(self._sent) and self.hidden >= self._hidden:
            return ""
        recorded = any(event.kind in COMPACTIONS for event in frame.events)
        return "compaction" if compacted or recorded else "earlier turns changed"

    def _cleared(self, rows: Sequence[Held], clears: Sequence[tuple[int, int]], *, strip: bool) -> list[Held]:
        """The rows without the stripped parts, or with placeholders in the place of the cleared ones."""
        by_row: dict[int, set[int]] = {}
        for index, number in clears:
            by_row.setdefault(index, set()).add(number)
        return [
            row if row.index not in by_row else _without(row, by_row[row.index], strip=strip) for row in rows
        ]  # fmt: skip

    def _weigh(self, model: str, row: Held) -> int:
        fit = self.scales.fits[model]
        if row.index is None:
            return sum(round(fit.of("words") * count) for count in self._counts(row.message))
        weighed = self.scales.of(model, row.index)
        original = self.transcript.messages[row.index].parts
        total = weighed.rest
        for number, part in zip(row.numbers, row.message.parts, strict=True):
            weight = weighed.parts[number]
            if part is not original[number]:
                weight = min(weight, round(fit.of(kind_of(part.kind)) * self.count(part.text)))
            total += min(weight, PLACEHOLDER) if number in row.cleared else weight
        return total

    def _counts(self, message: Message) -> Iterator[int]:
        return (self.count(part.text) for part in message.parts)


def asked_at(frame: Frame, transcript: Transcript) -> str:
    """When a call was sent: the time of the last message before it that is no answer, else that of the answer."""
    before = (transcript.messages[index] for index in reversed(frame.entered))
    asked = next((one.time for one in before if one.role is not Role.ASSISTANT and moment(one.time) is not None), "")
    return asked if asked and frame.call.time else frame.call.time


def _without(row: Held, numbers: set[int], *, strip: bool) -> Held:
    if not strip:
        return replace(row, cleared=row.cleared | numbers)
    kept = [at for at, number in enumerate(row.numbers) if number not in numbers]
    if len(kept) == len(row.numbers):
        return row
    parts = tuple(row.message.parts[at] for at in kept)
    return Held(replace(row.message, parts=parts), row.index, tuple(row.numbers[at] for at in kept), row.cleared)
