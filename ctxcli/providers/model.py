"""A model that can be asked: limits before, retries during, the cache and the books after each question."""

import importlib
import json
import threading
import weakref
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, cast

from ctxcli.ask import Estimate, Reply, Request, Spent, Stop
from ctxcli.caching import cache_rules
from ctxcli.errors import LimitReached, ModelError, SettingError
from ctxcli.prices import Prices
from ctxcli.providers.dialect import Close, Dialect, Send, Tries, Trouble, hush, package, parsed
from ctxcli.providers.endpoint import Endpoint
from ctxcli.providers.replies import Replies, key_of
from ctxcli.reports.calls import Cache
from ctxcli.tokens import CountCache, choose, constant_ratio, counter

_DIALECTS = {"anthropic": "ctxcli.providers.anthropic_messages", "openai": "ctxcli.providers.openai_chat"}
PROVIDERS = tuple(_DIALECTS)
_FRAME = 16
"""Tokens that the form of a request takes beside its texts."""
_LASTING = (Stop.END, Stop.LENGTH)
"""Answers that are worth keeping; a refusal or a call of a tool may be another thing the next time."""


def dialect_of(provider: str) -> Dialect:
    """A provider's form of requests and answers."""
    return cast("Dialect", importlib.import_module(_DIALECTS[provider]))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may spend; None for no limit."""

    calls: int | None = None
    """Questions that are sent. A retry of one that was refused is no further question."""
    cost: float | None = None
    """US dollars. A question is sent only where its costliest answer still fits."""


@dataclass(slots=True)
class _Books:
    """What was sent and what it came to."""

    spent: Spent = field(default_factory=lambda: Spent(cost=0.0))
    held: float = 0.0
    """Dollars held back for what is on its way."""
    flying: int = 0
    """Questions that are on their way."""


class Model:
    """An Asker (see ctxcli.ask) over a vendor's client."""

    def __init__(
        self, endpoint: Endpoint, *, limits: Limits, prices: Prices, replies: Replies | None, counts: bool = True
    ) -> None:
        """Nothing is imported, opened or sent. Raises SettingError for a limit in dollars without a price."""
        self.endpoint = endpoint
        self._limits, self._prices, self._replies = limits, prices, replies
        self._dialect = dialect_of(endpoint.provider)
        choice = choose([endpoint.model])
        self._ratio = 1.0 if choice.exact else constant_ratio(endpoint.model)
        self._weigh = counter(choice.name, CountCache() if counts else None)
        self._books, self._ready, self._tries = _Books(), threading.Condition(), Tries()
        self._counting = threading.Lock()
        self._send: Send | None = None
        if limits.cost is not None and self._cost(Cache(0, 0, 1), 1) is None:
            why = "the prices want the package genai-prices" if prices.version is None else "it is in no price list"
            raise SettingError(
                f"--max-cost: no price is known for {endpoint.model}, so that no cost can be limited: {why}; "
                "give --prices FILE, or limit the questions with --max-calls"
            )

    @property
    def name(self) -> str:
        """PROVIDER:MODEL."""
        return self.endpoint.name

    @property
    def spent(self) -> Spent:
        """So far."""
        with self._ready:
            return self._books.spent

    def body(self, request: Request) -> dict[str, Any]:
        """What is sent for it."""
        return self._dialect.body(self.endpoint, request)

    def estimate(self, request: Request) -> Estimate:
        """What it would come to, nothing cached: then a part may be written to the cache, which may cost more."""
        held = self._dialect.cacheable(request.prefix) if request.prefix else ""
        with self._counting:
            counted = self._weigh.count([held, request.prefix, request.system, request.text])
        cached, *own = (int(tokens * self._ratio) for tokens in counted)
        prompt, output = sum(own) + _FRAME, request.max_output
        cached = min(cached, prompt)
        written = cached if self._dialect.marks else prompt if cache_rules(self.endpoint.model).writes else 0
        return Estimate(
            prompt, output, self._cost(Cache(0, written, prompt - written), output), cached,
            self._cost(Cache(cached, 0, prompt - cached), output),
        )  # fmt: skip

    def ask(self, request: Request) -> Reply:
        """One answer, from the cache on disk or from the provider; see Asker for what it raises."""
        body = self.body(request)
        key = key_of(self.endpoint.provider, self.endpoint.base_url, body, request.repeat)
        known = self._replies.get(key) if self._replies is not None else None
        if known is not None:
            with self._ready:
                self._books.spent = replace(self._books.spent, stored=self._books.spent.stored + 1)
            return replace(known, cost=0.0, stored=True)
        reply = self._asked(body, self.estimate(request))
        if self._replies is not None and reply.stop in _LASTING and reply.text.strip():
            self._replies.put(key, reply)
        return reply

    # -- asking

    def _asked(self, body: dict[str, Any], estimate: Estimate) -> Reply:
        send = self._client()
        attempts, each = self._hold(estimate), estimate.cost or 0.0
        self._tries.begin()
        reply = None
        try:
            reply = self._answer(send, body, attempts - 1)
        finally:
            self._settle(reply, attempts * each, each, estimate)
        return replace(reply, cost=self._cost_of(reply, estimate))

    def _hold(self, estimate: Estimate) -> int:
        """Set aside what the question may cost; returns how often it may be tried. Waits for what is on its way."""
        most, each = self._limits.cost, estimate.cost or 0.0
        attempts = 1 + self.endpoint.retries
        with self._ready:
            while True:
                books = self._books
                if self._limits.calls is not None and books.spent.calls >= self._limits.calls:
                    sent = "1 question was" if books.spent.calls == 1 else f"{books.spent.calls:,} questions were"
                    raise LimitReached(f"--max-calls: {sent} sent, and no more may be")
                if most is None or not each:
                    break
                left = most - (books.spent.cost or 0.0) - books.spent.doubtful - books.held
                if left >= each:
                    attempts = min(attempts, int(left / each))
                    break
                if not books.flying:
                    raise LimitReached(_over(most, books, each))
                self._ready.wait()
            self._books.held += attempts * each
            self._books.flying += 1
            self._books.spent = replace(books.spent, calls=books.spent.calls + 1)
            return attempts

    def _answer(self, send: Send, body: dict[str, Any], retries: int) -> Reply:
        try:
            text = send(body, retries)
        except Exception as raised:
            trouble = Trouble(self._package(), self.endpoint)
            raise trouble.error(raised, self._tries) from None
        try:
            reply = self._dialect.read(parsed(text))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            why = "is not valid JSON" if isinstance(error, json.JSONDecodeError) else str(error)
            asked = f" (is the base URL right? {self.endpoint.base_url})" if self.endpoint.base_url else ""
            said = f"{self.name}: the answer {why}; nothing is made of it{asked}"
            raise ModelError(self.endpoint.masked(said)) from None
        hide = self.endpoint.without_key
        return replace(reply, text=hide(reply.text), model=hide(reply.model))

    def _client(self) -> Send:
        with self._counting:
            if self._send is None:
                if not self.endpoint.key and not self.endpoint.base_url:
                    raise ModelError(
                        f"{self.name}: there is no key; set {self.endpoint.key_name or self._dialect.variable}"
                    )
                self._package()
                hush()
                self._send, close = self._opened()
                weakref.finalize(self, close)
            return self._send

    def _opened(self) -> tuple[Send, Close]:
        """The vendor's client, which refuses addresses and proxies that are none as it is made."""
        try:
            return self._dialect.client(self.endpoint, self._tries)
        except Exception as raised:
            look = "is the base URL right, and what HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE say?"
            said = f"{self.name}: the client cannot be set up: {raised} ({look})"
            raise ModelError(self.endpoint.masked(said)) from None

    def _package(self) -> ModuleType:
        try:
            return importlib.import_module(self.endpoint.provider)
        except ImportError:
            raise package(self.endpoint.provider) from None

    # -- the books

    def _settle(self, reply: Reply | None, held: float, each: float, estimate: Estimate) -> None:
        with self._ready:
            books = self._books
            books.flying -= 1
            books.held = books.held - held if books.flying else 0.0  # sums of floats leave a rest
            lost = max(0, self._tries.billed - (reply is not None))
            books.spent = replace(
                books.spent, doubtful=books.spent.doubtful + lost * each,
                cost=None if lost and estimate.cost is None else books.spent.cost,
            )  # fmt: skip
            if reply is not None:
                one, so_far = self._cost_of(reply, estimate), books.spent.cost
                books.spent = replace(
                    books.spent,
                    prompt=books.spent.prompt + (reply.prompt or 0), output=books.spent.output + (reply.output or 0),
                    cache_read=books.spent.cache_read + (reply.cache_read or 0),
                    cache_write=books.spent.cache_write + (reply.cache_write or 0),
                    cost=None if one is None or so_far is None else so_far + one,
                )  # fmt: skip
            self._ready.notify_all()

    def _cost_of(self, reply: Reply, estimate: Estimate) -> float | None:
        """Dollars of an answer; what the provider does not count is taken as estimated."""
        read, write = reply.cache_read or 0, reply.cache_write or 0
        prompt = estimate.prompt if reply.prompt is None else reply.prompt
        output = estimate.output if reply.output is None else reply.output
        return self._cost(Cache(read, write, max(0, prompt - read - write)), output)

    def _cost(self, cache: Cache, output: int) -> float | None:
        with self._counting:
            return self._prices.paid(self.endpoint.model, cache, output)


def _over(most: float, books: _Books, each: float) -> str:
    """Why the next question is not sent."""
    doubtful = books.spent.doubtful
    lost = f", {doubtful:.4f} for attempts without an answer that may be billed" if doubtful else ""
    return (
        f"--max-cost: of {most:g} dollars {books.spent.cost or 0.0:.4f} are spent{lost}, and the next question may "
        f"cost up to {each:.4f}; it is not sent"
    )
