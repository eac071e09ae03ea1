"""Asks a model many things at once, and stops cleanly where it may not go on."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import NamedTuple

from ctxcli.ask import Asker, Request
from ctxcli.errors import LimitReached, ModelError
from ctxcli.sweep.answers import Answer

_IN_A_ROW = 5
"""Failures without a success in between after which a group is given up."""
_GIVEN_UP = "not asked, after five failures in a row of this length"


class Wanted(NamedTuple):
    """A request that is to be made."""

    make: Callable[[], Request]
    """Puts it together, when its turn has come."""
    group: int = 0
    """Those that are likely to fail together: of one length."""


@dataclass(slots=True)
class Asked:
    """What became of the prompts that were to be asked."""

    answers: dict[str, Answer] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """By key, why there is no answer."""
    stopped: str = ""
    """Why the rest was not asked; empty where all was."""
    in_a_row: Counter[int] = field(default_factory=Counter)
    """By group, failures since the last success."""


def ask_all(
    wanted: Mapping[str, Wanted],
    asker: Asker,
    *,
    concurrency: int,
    on_answer: Callable[[Answer], None],
    on_interrupt: Callable[[], None] = lambda: None,
) -> Asked:
    """Ask each request, some at a time, in order; each answer is handed on as it comes, in the caller's thread.

    After five failures in a row of a group the rest of that group is not asked, and nothing more where there was no
    answer at all yet. No request is begun after a limit is reached, or an interruption; those under way are waited for,
    unless it is interrupted once more: then KeyboardInterrupt is raised at once.
    """
    asked = Asked()
    waiting = iter(wanted.items())
    pool = ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="ask")
    running: dict[Future[Answer], str] = {}
    try:
        while True:
            try:
                for key, request in _next(asked, waiting, concurrency - len(running)):
                    running[pool.submit(_ask, asker, key, request)] = key
                if not running:
                    return asked
                for key, outcome in _ended(running):
                    _note(asked, key, outcome, wanted[key].group)
                    if isinstance(outcome, Answer):
                        on_answer(outcome)
            except KeyboardInterrupt:
                if asked.stopped:
                    raise
                asked.stopped = "interrupted"
                on_interrupt()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _note(asked: Asked, key: str, outcome: Answer | ModelError | LimitReached, group: int) -> None:
    """What became of one request, and whether to go on."""
    if isinstance(outcome, Answer):
        asked.answers[key] = outcome
        asked.in_a_row[group] = 0
    elif isinstance(outcome, LimitReached):
        asked.stopped = asked.stopped or str(outcome)
    else:
        asked.failed[key] = str(outcome)
        asked.in_a_row[group] += 1
        if asked.in_a_row[group] >= _IN_A_ROW and not asked.answers:
            asked.stopped = asked.stopped or f"{asked.in_a_row[group]} failures in a row, the last: {outcome}"


def _next(
    asked: Asked, waiting: Iterator[tuple[str, Wanted]], most: int
) -> Iterator[tuple[str, Callable[[], Request]]]:  # fmt: skip
    """So many of those that wait, without those of a group that was given up."""
    while most > 0 and not asked.stopped:
        following = next(waiting, None)
        if following is None:
            return
        key, one = following
        if asked.in_a_row[one.group] >= _IN_A_ROW:
            last = next(reversed(asked.failed.values()))
            asked.failed[key] = last if last.startswith(_GIVEN_UP) else f"{_GIVEN_UP}: {last}"
        else:
            most -= 1
            yield key, one.make


def _ask(asker: Asker, key: str, request: Callable[[], Request]) -> Answer:
    asked = request()
    reply = asker.ask(asked)
    return Answer(
        key, reply.text, reply.stop.value, asker.name, asked.temperature, asked.max_output, reply.prompt, reply.output,
        reply.cost,
    )  # fmt: skip


def _ended(running: dict[Future[Answer], str]) -> Iterator[tuple[str, Answer | ModelError | LimitReached]]:
    """Those that have ended, in the order in which they were begun; they run no more. Other errors are raised."""
    ended, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in [one for one in running if one in ended]:
        key = running.pop(future)
        try:
            yield key, future.result()
        except (ModelError, LimitReached) as error:
            yield key, error
