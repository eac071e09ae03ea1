"""What a writer is given, and the same conversations as it finds them in the source."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ctxcli.change import Change
from ctxcli.errors import UnreadableError
from ctxcli.model import MAIN, Message, Part, Transcript

Work = Sequence[tuple[Transcript, Change | None]]
"""The conversations of a source, in order, with what becomes of each."""


def found_again(transcript: Transcript, again: Iterator[Transcript]) -> Transcript:
    """The next conversation that holds the messages of one read before; raises UnreadableError where none does.

    Those that companion files add stand last, in lanes of their own; here they are missing.
    """
    own = next((one for one in again if _same(one.messages, _without_companions(transcript, one))), None)
    if own is None:
        raise UnreadableError(
            f"{transcript.path or 'the source'}: what was read cannot be found again in it. Has it changed meanwhile?"
        )
    return replace(own, path=transcript.path or "the source")


def _without_companions(transcript: Transcript, again: Transcript) -> Sequence[Message]:
    own, rest = transcript.messages[: len(again.messages)], transcript.messages[len(again.messages) :]
    return transcript.messages if any(one.lane == MAIN for one in rest) else own


def _same(one: Sequence[Message], other: Sequence[Message]) -> bool:
    return len(one) == len(other) and all(
        first.role is second.role and _facts(first.parts) == _facts(second.parts)
        for first, second in zip(one, other, strict=True)
    )


def _facts(parts: Iterable[Part]) -> list[tuple[str, str, int]]:
    return [(part.kind, part.ref, len(part.text)) for part in parts]
