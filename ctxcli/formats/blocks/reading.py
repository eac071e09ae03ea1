"""The loop over a source of exchanges, and where its skips end up."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.draft import JSON_NAMES
from ctxcli.formats.blocks.exchange import exchanges
from ctxcli.model import Record, Skip, Transcript


def read_exchanges(records: Iterable[Record], chain: Chain) -> Iterator[Transcript]:
    """Each conversation as soon as the next one starts; what is none becomes a skip of the one open."""
    skips: list[Skip] = []
    seen = size = 0
    for record in records:
        found = False
        for exchange in exchanges(record):
            found = True
            for transcript in chain.put(exchange):
                yield replace(transcript, skips=tuple(skips), records=seen, bytes=size)
                skips, seen, size = [], 0, 0
        seen += 1
        size += record.size
        if not found:
            kind = JSON_NAMES.get(type(record.value).__name__, "a value")
            skips.append(Skip(record.line, f"{kind} that is no message and no conversation: skipped"))
    for transcript in chain.close():
        yield replace(transcript, skips=tuple(skips), records=seen, bytes=size)
