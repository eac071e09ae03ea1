"""A transcript read for the guard: the identifiers and the plain text of each part, each looked at once."""

import hashlib
import re
from collections.abc import Container, Iterable
from functools import cached_property

from ctxcli.identifiers import Extractor, extract
from ctxcli.identifiers.gather import Use, secrets_of, texts_of, uses_in
from ctxcli.identifiers.normalise import plain
from ctxcli.model import PLAIN_TEXT, Message, Part, PartAt, PartKind, Transcript

_SAYS_SO = re.compile(r"\s*(?:\w*Error\b|Exception\b|Traceback \(most|fatal: |error: |Exit code [1-9])")
"""How a result begins that failed, in formats that have no flag for it."""


class Reading:
    """What one transcript says, part by part; nothing is extracted before it is asked for, nor twice."""

    def __init__(self, transcript: Transcript, extractor: Extractor = extract) -> None:
        self.transcript = transcript
        self.extractor = extractor
        self._uses: dict[PartAt, list[Use]] = {}
        self._plain: dict[PartAt, list[str]] = {}
        self.is_text = transcript.format == PLAIN_TEXT

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the transcript."""
        return self.transcript.messages

    def uses(self, at: PartAt) -> list[Use]:
        """The identifiers of a part, in order."""
        if at not in self._uses:
            message = self.messages[at[0]]
            place_of = {id(part): (at[0], number) for number, part in enumerate(message.parts)}
            self._uses.update((place, []) for place in place_of.values())
            for use in uses_in(message, self.extractor, plain=self.is_text):
                self._uses[place_of[id(use.part)]].append(use)
        return self._uses[at]

    @cached_property
    def failed(self) -> frozenset[str]:
        """Ids of the tool calls whose result says that they failed."""
        return frozenset(
            part.ref
            for message in self.messages
            for part in message.parts
            if part.kind is PartKind.TOOL_RESULT and part.ref and (part.failed or _SAYS_SO.match(part.text))
        )

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The credentials that stand in it."""
        return secrets_of(self.transcript)

    def text(self, parts: Iterable[PartAt]) -> str:
        """The text of parts in plain form, each on lines of its own."""
        return "\n".join(text for at in parts for text in self._texts(at))

    def _texts(self, at: PartAt) -> list[str]:
        if at not in self._plain:
            self._plain[at] = [plain(text) for text in texts_of(self.part(at))]
        return self._plain[at]

    def part(self, at: PartAt) -> Part:
        """One part."""
        return self.messages[at[0]].parts[at[1]]

    def parts(self, indices: Iterable[int], without: Container[PartAt] = ()) -> list[PartAt]:
        """The parts of these messages."""
        every = ((index, number) for index in indices for number in range(len(self.messages[index].parts)))
        return [at for at in every if at not in without]


def digest(reading: Reading, parts: Iterable[PartAt]) -> str:
    """SHA-256 of the text of parts, each ended by a zero byte."""
    found = hashlib.sha256()
    for at in parts:
        found.update(reading.part(at).text.encode("utf-8", "surrogatepass") + b"\0")
    return found.hexdigest()
