"""The loop over a source of exchanges, and where its skips end up."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.draft import JSON_NAMES
from ctxcli.formats.blocks.exchange import exchanges
from ctxcli.model import Record, Skip, Transcript


def read_exchanges(records: Iterable[Record], chain: Chain) -> Iterator[Transcript]:
    """Each conversation as soon as nothing can go on from it; what is no exchange becomes a skip of the next."""
    skips: list[Skip] = []

    unread = 0

    def with_skips(transcript: Transcript) -> Transcript:
        nonlocal unread
        dressed = replace(transcript, skips=tuple(skips), records=transcript.records + unread)
        skips.clear()
        unread = 0
        return dressed

    for record in records:
        found, odd = exchanges(record)
        skips += odd
        for exchange in found:
            for transcript in chain.put(exchange):
                yield with_skips(transcript)
        if not found:
            kind = JSON_NAMES.get(type(record.value).__name__, "a value")
            unread += 1
            skips.append(Skip(record.line, f"{kind} that is no message and no conversation: skipped"))
    for transcript in chain.close():
        yield with_skips(transcript)
