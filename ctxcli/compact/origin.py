"""Where the boundaries of a model's summary come from: one that nobody set is none."""

from collections.abc import Iterable, Iterator

from ctxcli.guard.judging import Judge
from ctxcli.reports.guard import LOST
from ctxcli.reports.slots import Entry


def unfounded(boundaries: Iterable[Entry], texts: Iterable[str]) -> Iterator[str]:
    """The boundaries that no sentence of these texts is anything like; one in other words has the doubt on its side."""
    said = list(texts)
    flat = [" ".join(text.split()).casefold() for text in said]
    doubtful = [one.text for one in boundaries if not any(_bare(one.text) in text for text in flat)]
    if doubtful:
        judge = Judge("\n".join(said))
        yield from (text for text in doubtful if judge.judge(_bare(text)).status == LOST)


def _bare(text: str) -> str:
    """A boundary without the mark that it was taken back, in the form that texts are compared in."""
    return " ".join(text.partition("(superseded")[0].split()).casefold().strip("\"'“”` ")
