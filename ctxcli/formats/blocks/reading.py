"""The loop over a source of exchanges, and where its skips end up."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ctxcli.formats.blocks.chain import Chain
from ctxcli.formats.blocks.exchange import exchanges
from ctxcli.model import Record, Skip, Transcript


def read_exchanges(records: Iterable[Record], chain: Chain) -> Iterator[Transcript]:
    """Each conversation as soon as the next one starts; what is no exchange becomes a skip of the one after."""
    skips: list[Skip] = []
    seen = size = 0
    number = 0
    held: Transcript | None = None

    def dress(transcript: Transcript) -> Transcript:
        nonlocal skips, seen, size
        found = tuple(skips)
        dressed = replace(
            transcript, skips=found, records=seen, bytes=size, id=transcript.id or str(number), many=number > 1
        )
        skips, seen, size = [], 0, 0
        return dressed

    for record in records:
        found = False
        for exchange in exchanges(record):
            found = True
            for transcript in chain.put(exchange):
                number += 1
                if held is not None:
                    yield replace(held, many=True)
                held = dress(transcript)
        seen += 1
        size += record.size
        if not found:
            kind = type(record.value).__name__
            skips.append(Skip(record.line, f"a JSON {kind} that is no message and no conversation: skipped"))
    if chain.draft is not None:
        last = chain.close()
        number += 1
        if held is not None:
            yield replace(held, many=True)
        yield replace(dress(last), many=number > 1, id=last.id or (str(number) if number > 1 else None))
