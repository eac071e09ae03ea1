"""ATIF, the Agent Trajectory Interchange Format (Harbor and others): `trajectory.json` and its continuations.

A continuation repeats what its agent was given (`is_copied_context`), and some clients mark what stands before a
compaction in the same way: both are counted once. Sub-agents are embedded, or stand in files beside the trajectory.
Source of the shape: see blocks/atif_steps.py.
"""

from collections.abc import Iterable, Iterator, Sequence

from ctxcli.formats.blocks.atif_reader import Trajectory, is_steps
from ctxcli.formats.blocks.documents import count_stray, each_document
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.values import text
from ctxcli.model import Record, Transcript
from ctxcli.shelf import Format


def _is_trajectory(record: Record) -> bool:
    return is_steps(record.value) and text(record.value.get("schema_version")).startswith("ATIF")


def claims(records: Sequence[Record]) -> bool:
    """A schema_version of ATIF beside the steps."""
    return any(map(_is_trajectory, records))


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """Each trajectory, with the continuations and the sub-agents that stand in the same source."""
    open_: list[Trajectory] = []

    def begins(record: Record) -> bool:
        """A file beside the source begins no conversation of the source; a member of an archive does."""
        if not _is_trajectory(record):
            return False
        return not open_ or (open_[-1].lane_of(record) is None and bool(open_[-1].file or not record.file))

    def drafts(record: Record) -> list[Draft]:
        open_[:] = [Trajectory(record)]
        return [open_[-1].draft]

    def joins(draft: Draft, record: Record) -> None:
        lane = open_[-1].lane_of(record) if _is_trajectory(record) else None
        if lane is not None:
            open_[-1].join(record, lane)
        elif _is_trajectory(record):
            draft.saw(record)
            draft.bookkeep("trajectory of another session")
        else:
            count_stray(draft, record)

    return each_document(records, begins, drafts, joins)


FORMAT = Format(
    name="atif",
    title="ATIF trajectory (Harbor, trajectory.json)",
    recognised_by="schema_version: ATIF-v… beside `steps`",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model", "tools", "system prompt", "compaction", "sub-agents", "timestamps"}),
    companions=("{name}.*cont-*.json", "{name}.*summarization-*.json"),
)
