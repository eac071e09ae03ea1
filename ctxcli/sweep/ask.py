"""Asks a model many things at once, and stops cleanly where it may not go on."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from ctxcli.ask import Asker, Request
from ctxcli.errors import LimitReached, ModelError
from ctxcli.sweep.answers import Answer

_IN_A_ROW = 5
"""Failures without a success in between after which the model is taken to be out of reach."""


@dataclass(slots=True)
class Asked:
    """What became of the prompts that were to be asked."""

    answers: dict[str, Answer] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """By key, why there is no answer."""
    stopped: str = ""
    """Why the rest was not asked; empty where all was."""
    in_a_row: int = 0
    """Failures since the last success."""


def ask_all(
    requests: Mapping[str, Callable[[], Request]],
    asker: Asker,
    *,
    concurrency: int,
    on_answer: Callable[[Answer], None],
) -> Asked:
    """Ask each request, some at a time, in order; each answer is handed on as it comes, in the caller's thread.

    No request is begun after a limit is reached, after five failures in a row, or after an interruption; those under
    way are waited for, unless it is interrupted once more.
    """
    asked = Asked()
    waiting = iter(requests.items())
    with ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="ask") as pool:
        running: dict[Future[Answer], str] = {}
        while True:
            try:
                if not asked.stopped:
                    _fill(running, waiting, pool, asker, concurrency)
                if not running:
                    return asked
                for key, outcome in _ended(running):
                    _note(asked, key, outcome, on_answer)
            except KeyboardInterrupt:
                if asked.stopped:
                    raise
                asked.stopped = "interrupted"


def _note(
    asked: Asked, key: str, outcome: Answer | ModelError | LimitReached, on_answer: Callable[[Answer], None]
) -> None:
    """What became of one request, and whether to go on."""
    if isinstance(outcome, Answer):
        asked.answers[key] = outcome
        asked.in_a_row = 0
        on_answer(outcome)
    elif isinstance(outcome, LimitReached):
        asked.stopped = asked.stopped or str(outcome)
    else:
        asked.failed[key] = str(outcome)
        asked.in_a_row += 1
        if asked.in_a_row >= _IN_A_ROW:
            asked.stopped = asked.stopped or f"{asked.in_a_row} failures in a row, the last: {outcome}"


def _fill(
    running: dict[Future[Answer], str],
    waiting: Iterator[tuple[str, Callable[[], Request]]],
    pool: ThreadPoolExecutor,
    asker: Asker,
    most: int,
) -> None:
    """Begin requests until as many run as may."""
    while len(running) < most:
        following = next(waiting, None)
        if following is None:
            return
        key, request = following
        running[pool.submit(_ask, asker, key, request)] = key


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
