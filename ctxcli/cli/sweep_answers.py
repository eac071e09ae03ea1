"""The answers files of `ctx sweep`: one that is added to as answers come, and one that another runner wrote."""

from collections.abc import Iterable
from pathlib import Path

from ctxcli.cli.sources import say
from ctxcli.errors import UnreadableError
from ctxcli.files.append import append_lines
from ctxcli.files.documents import is_there
from ctxcli.files.streams import shown
from ctxcli.files.whole import read_whole
from ctxcli.renderers.view import plural
from ctxcli.sweep.answers import Answer, answers_in, by_id, line_of
from ctxcli.sweep.run import Sampling, Sweep

_FEW = 5
"""Lines that are named."""


class AnswersFile:
    """The file of `--answers`; without a name nothing is known, and nothing kept."""

    def __init__(self, path: str | None, inputs: Iterable[str]) -> None:
        """Read what it holds; raises UnreadableError for a file that is an input, or cannot be added to."""
        self.path = path
        self._answers: tuple[Answer, ...] = ()
        if path is None:
            return
        if is_there(path):
            if any(is_there(one) and Path(one).samefile(path) for one in inputs):
                raise UnreadableError(f"{path}: is an input; --answers wants a file of its own")
            self._answers = read_answers(path)
        append_lines(path, lambda _: [])

    def given(self, model: str, how: Sampling, wanted: Iterable[str]) -> dict[str, Answer]:
        """By key, those of the wanted answers that a model gave when it was asked in this way."""
        found = by_id(self._answers, lambda one: how.gave(one, model))
        return {id_: found[id_] for id_ in wanted if id_ in found}

    def keep(self, answer: Answer) -> None:
        """Add an answer."""
        if self.path is not None:
            append_lines(self.path, lambda _: [line_of(answer)])


def read_answers(path: str) -> tuple[Answer, ...]:
    """The answers in a file; lines that cannot be read are said. Raises UnreadableError for a file of another kind."""
    read = answers_in(read_whole(path), shown(path))
    if len(read.faults) > 1 and not read.answers:
        raise UnreadableError(f"{shown(path)}: holds no answers; {read.faults[0].partition(': ')[2]}")
    for fault in read.faults[:_FEW]:
        say(fault)
    if len(read.faults) > _FEW:
        say(f"{shown(path)}: {len(read.faults) - _FEW:,} more lines are passed over")
    return read.answers


def take(sweep: Sweep, path: str) -> None:
    """Give a sweep the answers, and the verdicts, that another runner had.

    Raises UnreadableError where none of them belongs to it.
    """
    read = read_answers(path)
    found = by_id(read)
    twice = {one.id for one in read if one.text != found[one.id].text}
    if twice:
        say(f"{shown(path)}: {plural(len(twice), 'prompt')} with several answers; the last one counts")
    wanted = {case.id for case in sweep.grid.cases}
    sweep.answers = {id_: one for id_, one in found.items() if id_ in wanted}
    sweep.verdicts = {id_: found[id_] for id_ in sweep.unjudged() if id_ in found}
    if not sweep.answers:
        raise UnreadableError(
            f"{shown(path)}: holds no answer to a prompt of this sweep; items, corpus and flags have to be those that "
            "--emit was given"
        )
    strange = len(found) - len(sweep.answers) - len(sweep.verdicts)
    if strange:
        say(f"{shown(path)}: {strange:,} of {len(found):,} answers belong to no prompt of this sweep")
