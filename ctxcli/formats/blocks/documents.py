"""The loop over a source whose records are conversations, and where the records that are none end up."""

from collections.abc import Callable, Iterable, Iterator

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.values import text
from ctxcli.model import Record, Transcript


def each_document(
    records: Iterable[Record],
    is_own: Callable[[Record], bool],
    drafts: Callable[[Record], Iterable[Draft]],
    stray: Callable[[Draft, Record], None] | None = None,
) -> Iterator[Transcript]:
    """The conversations of each record, as soon as the next one begins; other records are counted with the nearest."""
    count = stray or count_stray
    open_: Draft | None = None
    early: list[Record] = []
    for record in records:
        if is_own(record):
            for draft in drafts(record):
                if open_ is not None:
                    yield open_.finish()
                open_ = draft
                for one in early:
                    count(draft, one)
                early.clear()
        elif open_ is None:
            early.append(record)
        else:
            count(open_, record)
    if open_ is not None:
        yield open_.finish()


def count_stray(draft: Draft, record: Record) -> None:
    """Count a record that is no conversation."""
    draft.saw(record)
    if isinstance(record.value, dict):
        draft.unknown(text(record.value.get("type")) or ", ".join(map(str, list(record.value)[:4])), record.line)
    else:
        draft.not_a_record(record)
