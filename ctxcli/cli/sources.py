"""From what a user named to transcripts, one at a time; what cannot be read is said and passed over."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import click

from ctxcli.cli.output import emit
from ctxcli.cli.progress import reading
from ctxcli.errors import CtxError, UnknownFormatError, UnreadableError
from ctxcli.files import Found, load
from ctxcli.model import Transcript
from ctxcli.renderers.view import in_words, printable


@dataclass(slots=True)
class Sources:
    """The conversations of several sources, and what became of each source."""

    conversation: str | None = None
    """Only the one of this id or number."""
    from_: str | None = None
    """The format, instead of finding out."""
    strict: bool = False
    """Anything that was not read as it stands is fatal."""
    failed: bool = False
    """Something could not be read: exit 2."""
    given: int = 0
    """Conversations so far."""
    read: set[str] = field(default_factory=set)
    """The files that were read."""
    beside: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By source, the other files that were read with it."""
    plain: Callable[[str], Transcript | None] | None = None
    """Reads a source that is no transcript as text; None where it has to be one."""
    _passed_over: list[str] = field(default_factory=list)

    def transcripts(self, found: list[Found]) -> Iterator[tuple[str, Transcript]]:
        """(path, conversation), each read when the one before it has been used."""
        wanted = 0
        for source in found:
            if source.path in self.read:
                continue
            try:
                if source.error:
                    raise UnreadableError(source.error)
                for number, transcript in enumerate(self._conversations(source), 1):
                    wanted += 1
                    if self.conversation is None or self.conversation in (transcript.id, str(number)):
                        self.given += 1
                        yield source.path, transcript
            except CtxError as error:
                self._complain(error, source)
        if self._passed_over:
            say(f"passed over, no transcript that ctx reads: {in_words(self._passed_over, 3)}")
        if not self.given and not self.failed:
            self._nothing(wanted)

    def write(self, pieces: Iterable[str], output: str | None, *others: str) -> None:
        """Emit what was drawn of the conversations; never over a file that was read or is among the others."""
        emit(pieces, output, inputs=lambda: [*self.read, *others], worth=lambda: self.given > 0)

    def exit_code(self, *, failed: bool, unchecked: bool, exit_zero: bool) -> int:
        """What to exit with: an unreadable source (2) outweighs a check that failed (1), and that one not made (3).

        `--exit-zero` leaves only 2.
        """
        if self.failed:
            return 2
        if exit_zero:
            return 0
        return 1 if failed else 3 if unchecked else 0

    def _conversations(self, source: Found) -> Iterator[Transcript]:
        text = self.plain(source.path) if self.plain and source.named else None
        if text is not None:
            self.read.add(source.path)
            yield text
            return
        with ExitStack() as stack:
            progress = stack.enter_context(reading(source.path))
            for loaded in load(source.path, format_name=self.from_, progress=progress):
                self.read.update((source.path, *loaded.companions))
                self.beside[source.path] = loaded.companions
                if self.strict and loaded.transcript.skips:
                    skip = loaded.transcript.skips[0]
                    raise UnreadableError(f"{skip.file or source.path}: line {skip.line}: {skip.reason} (--strict)")
                yield loaded.transcript

    def _complain(self, error: CtxError, source: Found) -> None:
        """A file that a folder's search found may be no transcript; one that was named must be."""
        if not source.named and isinstance(error, UnknownFormatError):
            self._passed_over.append(source.path)
        else:
            say(str(error))
            self.failed = True

    def _nothing(self, conversations: int) -> None:
        self.failed = True
        if self.conversation is not None:
            say(
                f"no conversation is called {self.conversation!r}; there are {conversations:,}, "
                "which `ctx audit` lists and which can be given by number too"
            )
        else:
            say("none of these files is a transcript that ctx reads; see `ctx formats`")


def say(text: str) -> None:
    """A line on standard error, harmless on a terminal."""
    click.echo(f"ctx: {printable(text)}", err=True)


def say_skips(path: str, transcript: Transcript) -> None:
    """Each line of a source that could not be read as it stands."""
    for skip in transcript.skips:
        say(f"{skip.file or path}: line {skip.line}: {skip.reason}")
