"""The loop over a source of exchanges, and where its skips end up."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.draft import JSON_NAMES
from ctxcli.formats.blocks.exchange import exchanges
from ctxcli.model import Record, Skip, Transcript


@dataclass(slots=True)
class _Unread:
    """What was no exchange since the last conversation ended."""

    skips: list[Skip] = field(default_factory=list)
    records: int = 0

    def added_to(self, transcript: Transcript) -> Transcript:
        """A conversation that tells of it."""
        skips, records = self.skips, self.records
        self.skips, self.records = [], 0
        return replace(transcript, skips=(*transcript.skips, *skips), records=transcript.records + records)


def read_exchanges(records: Iterable[Record], chain: Chain) -> Iterator[Transcript]:
    """Each conversation as soon as nothing can go on from it; what is no exchange becomes a skip of the next.

    The last conversation is held back, so that it can tell of what follows it.
    """
    unread = _Unread()
    held: Transcript | None = None
    for transcript in _conversations(records, chain, unread):
        if held is not None:
            yield held
        held = unread.added_to(transcript)
    if held is not None:
        yield unread.added_to(held)


def _conversations(records: Iterable[Record], chain: Chain, unread: _Unread) -> Iterator[Transcript]:
    for record in records:
        found, odd = exchanges(record)
        unread.skips += odd
        for exchange in found:
            yield from chain.put(exchange)
        if not found:
            kind = JSON_NAMES.get(type(record.value).__name__, "a value")
            unread.records += 1
            unread.skips.append(Skip(record.line, f"{kind} that is no message and no conversation: skipped"))
    yield from chain.close()
