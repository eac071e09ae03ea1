"""A provider's prompt cache, by its rules: what of each request it serves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from ctxcli.audit.rows import cache_of
from ctxcli.audit.walk import Step
from ctxcli.caching import CACHE_RULES, LIFE_1H, LIFE_5M, CacheRules, cache_rules, seconds_between
from ctxcli.model import COMPACTIONS, Transcript
from ctxcli.simulate.course import Request, asked_at

_HELD = 0.5
"""Share of what was cached; a call that read less after a pause found the rest gone."""


@dataclass(frozen=True, slots=True)
class Served:
    """One request: what the cache read, what was written to it, and what was neither. The three add up to it."""

    read: int
    write: int
    uncached: int
    prefix: int
    """What would have been read right after the request before: by its age nothing more is gone."""
    miss: str
    """Why less was read than was sent before; empty where all of that was."""
    idle: float | None
    """Seconds since the answer before; None where a time is not recorded."""


@dataclass(frozen=True, slots=True)
class CacheTerms:
    """Whose rules the calls follow, and how long entries live."""

    provider: str
    """Of the transcript."""
    life: int | None = None
    """Seconds, if the user says so; None for what each provider's rules and figures tell."""
    told: Mapping[str, int] = field(default_factory=dict)
    """Seconds by the name of the rules, where the provider's figures tell them."""
    first_read: int | None = None
    """What the first request reads: what was cached before it."""
    front: int | None = None
    """Tokens behind which the breakpoint of tools and system prompt stands, where the provider's figures tell them."""

    def rules(self, model: str) -> CacheRules:
        """Those of a model."""
        return cache_rules(model, self.provider)

    def life_of(self, rules: CacheRules) -> int:
        """Seconds that an entry lives after its last use."""
        return self.life if self.life is not None else self.told.get(rules.name, rules.lives[0])


@dataclass(slots=True)
class _Entry:
    """A prefix in the cache: its messages, blocks and tokens, and when it was used last."""

    rows: int
    blocks: int
    tokens: int
    used: str


def served(requests: Iterable[Request], terms: CacheTerms) -> Iterator[Served]:
    """Each request of a lane, in order. Where times are not recorded, the cache is warm."""
    last: Request | None = None
    entries: list[_Entry] = []
    for request in requests:
        model = request.call.model
        rules = terms.rules(model)
        life, least = terms.life_of(rules), rules.minimum(model)
        idle = seconds_between(last.call.time, request.asked) if last is not None else None
        while entries and entries[-1].rows > request.same:
            entries.pop()
        found = _prefixes(rules, entries, request, last, terms.front)
        warm = _longest(found, last.call.time if last is not None else "", life)
        hit = _longest(found, request.asked, life)
        prefix, read = (min(one.tokens, request.context) if one is not None else 0 for one in (warm, hit))
        if last is None and terms.first_read is not None:
            read = prefix = min(terms.first_read, request.context)
        read = _counted(read, rules, least)
        write = request.context - read if rules.write(life) is not None and request.context >= least else 0
        prefix = _counted(prefix, rules, least)
        outlived = f"idle for {idle / 60:,.0f} minutes" if read < prefix and idle is not None and idle > life else ""
        miss = outlived or _miss(request, read, least)
        yield Served(read, write, request.context - read - write, prefix, miss, idle)
        if hit is not None:
            hit.used = request.call.time
        entries.append(_Entry(request.rows, request.blocks, request.context, request.call.time))
        last = request


def _prefixes(
    rules: CacheRules, entries: Sequence[_Entry], request: Request, last: Request | None, told: int | None
) -> list[_Entry]:  # fmt: skip
    """What of a request can be in the cache: up to the breakpoints of earlier ones, or all that they share."""
    if last is None:
        return []
    if not rules.breakpoints:
        return [_Entry(request.same, 0, request.prefix, last.call.time)]
    near = list(takewhile(lambda one: _is_near(one, request, rules), reversed(entries)))
    if request.front is None:
        return near
    front = request.front if told is None else min(told, request.context)
    return [*near, _Entry(0, 0, front, last.call.time)]


def _is_near(one: _Entry, request: Request, rules: CacheRules) -> bool:
    return not rules.lookback or request.blocks - one.blocks <= rules.lookback


def _longest(found: Sequence[_Entry], when: str, life: int) -> _Entry | None:
    """Of the entries that live at a time; where it is not known, all do."""
    live = (one for one in found if (seconds_between(one.used, when) or 0) <= life)
    return max(live, key=lambda one: one.tokens, default=None)


def _counted(tokens: int, rules: CacheRules, least: int) -> int:
    """What is read of a prefix: nothing of a short one, else whole steps."""
    return tokens // rules.step * rules.step if tokens >= least else 0


def _miss(request: Request, read: int, least: int) -> str:
    """Why less was read than was sent before, but for its age."""
    if request.changed == "first call" and read:
        return "first call: read what was cached before it"
    if not request.changed and not read and request.prefix < least:
        return f"fewer than {least:,} tokens in front"
    if not request.changed and read < request.prefix // 2:
        return "more was added than is looked back over"
    return request.changed


def lives_told(steps: Sequence[Step], transcript: Transcript) -> dict[str, int]:
    """How long entries live by the name of the rules, where the provider's figures tell it.

    Where they tell writes apart by how long they live, as most of them do. Else by the recorded reads after pauses: of
    the lives that a provider offers, the one that explains most of them, since what was read after a pause had lived so
    long, and what was not had not. Nothing is told where two explain the same.
    """
    pauses: dict[str, list[tuple[float, bool]]] = {}
    for before, step in pairwise(steps):
        idle, held = seconds_between(before.call.time, asked_at(step.frame, transcript)), _held(before, step)
        if idle is not None and held is not None:
            pauses.setdefault(cache_rules(step.call.model, transcript.provider).name, []).append((idle, held))
    found = {}
    for name, rows in pauses.items():
        rules = CACHE_RULES[name]
        wrong = {life: sum(held is (idle > life) for idle, held in rows) for life in rules.lives}
        if len(set(wrong.values())) > 1:
            found[name] = min(rules.lives, key=lambda life: (wrong[life], rules.lives.index(life)))
    return found | _lives_written(steps, transcript.provider)


def _lives_written(steps: Sequence[Step], provider: str) -> dict[str, int]:
    """How long what was written lives, by the name of the rules; only where the figures say so."""
    tokens: dict[str, Counter[int]] = {}
    for usage, model in ((step.call.usage, step.call.model) for step in steps):
        if usage is not None and usage.cache_write_1h is not None:
            lives = tokens.setdefault(cache_rules(model, provider).name, Counter())
            lives[LIFE_1H] += usage.cache_write_1h
            lives[LIFE_5M] += (usage.cache_write or 0) - usage.cache_write_1h
    return {name: lives.most_common(1)[0][0] for name, lives in tokens.items() if lives.total()}


def _held(before: Step, step: Step) -> bool | None:
    """Whether what the call before had left in the cache was read; None where the context is not that of before."""
    was, now = cache_of(before.call.usage), cache_of(step.call.usage)
    if was is None or now is None or before.call.model != step.call.model:
        return None
    if any(event.kind in COMPACTIONS for event in step.frame.events) or not before.size:
        return None
    return now.read >= _HELD * min(before.size, step.size)
