"""The part of a context that is compacted, as text that a model can read."""

from collections.abc import Collection, Container, Iterable, Iterator

from ctxcli.identifiers.gather import secrets_of
from ctxcli.identifiers.secrets import mask
from ctxcli.model import Message, Part, PartAt, PartKind, Role, Transcript
from ctxcli.replay import live

_UNSEEN = (PartKind.THINKING, PartKind.OPAQUE, PartKind.TOOLS)
"""Parts that no hand-over rests on: reasoning goes with its turn, definitions are sent again."""


def span_text(transcript: Transcript, *, keep_last: int = 0) -> str:
    """What is in the context at the end of a transcript, but for its system prompt and the newest messages.

    A line says who speaks, and at which source line; results stand in full, secrets are masked.
    """
    indices, cleared = live(transcript)
    said = [index for index in indices if transcript.messages[index].parts]
    chosen = said[: max(0, len(said) - keep_last)]
    return mask("\n\n".join(_messages(transcript, chosen, cleared)), secrets_of(transcript))


def texts_of_messages(transcript: Transcript, indices: Iterable[int], secrets: Collection[str]) -> list[str]:
    """What these messages say, in the same form, part by part."""
    return [mask(text, secrets) for text in _messages(transcript, indices, ())]


def _messages(transcript: Transcript, indices: Iterable[int], cleared: Container[PartAt]) -> Iterator[str]:
    for index in indices:
        message = transcript.messages[index]
        if message.role is Role.SYSTEM:
            continue
        said = [
            _said(message, part)
            for number, part in enumerate(message.parts)
            if part.kind not in _UNSEEN and (index, number) not in cleared and (part.text.strip() or part.media)
        ]
        yield from said


def _said(message: Message, part: Part) -> str:
    line = part.line or message.line
    what = {
        PartKind.TOOL_CALL: f"calls {part.name or 'a tool'}",
        PartKind.TOOL_RESULT: f"result of {part.name or 'a tool'}" + (", which failed" if part.failed else ""),
        PartKind.DOCUMENT: f"document {part.address}".rstrip(),
        PartKind.SUMMARY: "an earlier summary",
        PartKind.MEDIA: "media",
    }.get(part.kind)
    speaker = "client" if message.harness else message.role.value
    head = f"[line {line}] {speaker}" + (f", {what}" if what else "")
    return f"{head}:\n{part.text}" if part.text else f"{head}."
