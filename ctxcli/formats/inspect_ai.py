"""Logs of Inspect (UK AI Security Institute): a `.json` document, or an `.eval` archive with a file for each sample.

Every sample of every epoch is a conversation. Shapes: see blocks/inspect_parts.py and blocks/inspect_sample.py.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ctxcli.formats.blocks.agents import odd_message
from ctxcli.formats.blocks.documents import count_stray, each_document
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.inspect_sample import Sample
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.model import Record, Transcript
from ctxcli.shelf import Format

_FILES = ("_journal/", "summaries.json", "reductions.json")


def _is_header(record: Record) -> bool:
    value = mapping(record.value)
    return isinstance(value.get("eval"), dict) and "version" in value and "model" in value["eval"]


def _is_sample(record: Record) -> bool:
    value = mapping(record.value)
    return isinstance(value.get("messages"), list) and {"id", "epoch", "target"} <= value.keys()


def claims(records: Sequence[Record]) -> bool:
    """A version beside the description of an evaluation: in the document, or in the header of the archive."""
    return any(map(_is_header, records))


class _Log:
    """The log that the samples belong to."""

    def __init__(self) -> None:
        self._model = ""

    def holds(self, record: Record) -> bool:
        """Whether a record holds conversations; a header is remembered."""
        if not _is_header(record):
            return _is_sample(record)
        self._model = text(record.value["eval"].get("model")) or self._model
        return bool(sequence(record.value.get("samples")))

    def drafts(self, record: Record) -> Iterator[Draft]:
        """Each sample of the record."""
        inside = _is_header(record)
        values = sequence(record.value.get("samples")) if inside else [record.value]
        odd = [(at, value) for at, value in enumerate(values) if not isinstance(value, dict)]
        first = True
        for number, value in enumerate(values):
            if isinstance(value, dict):
                draft = self._draft(value, record, ("samples", number) if inside else ())
                if first:
                    draft.saw(record)
                    for at, one in odd:
                        odd_message(draft, one, line_of(record, ("samples", at)))
                first = False
                yield draft

    def _draft(self, value: Mapping[str, object], record: Record, at: tuple[str | int, ...]) -> Draft:
        lines = record.lines or {}
        events = lines.get((*at, "events"), ())
        return Sample(value, self._model).read(events, lines.get((*at, "messages"), ()), line_of(record, at))

    @staticmethod
    def stray(draft: Draft, record: Record) -> None:
        """The header, the journal and the results: no model saw them."""
        if _is_header(record) or record.file.startswith(_FILES):
            draft.saw(record)
            draft.bookkeep("header" if _is_header(record) else record.file.split("/", 1)[0])
        else:
            count_stray(draft, record)


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """The conversation of each sample, an epoch after the other."""
    log = _Log()
    return each_document(records, log.holds, log.drafts, log.stray)


FORMAT = Format(
    name="inspect-ai",
    title="Inspect log (.json, .eval)",
    recognised_by="`version` beside `eval` with its model, in the document or in the archive's header",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt", "compaction", "sub-agents", "timestamps"}),
)
