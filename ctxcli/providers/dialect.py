"""What a provider's client has to be able to do, and what goes wrong with each of them in the same way."""

import json
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol
from urllib.request import getproxies

from ctxcli.ask import Reply, Request
from ctxcli.errors import ModelError
from ctxcli.providers.endpoint import Endpoint

_NO_SUCCESS = 300
_SHOWN = 400
"""Characters of a provider's complaint that are passed on."""
_LOGS = ("anthropic", "openai", "httpx", "httpcore", "httpx2", "httpcore2")
"""Loggers of the clients and of what carries them."""
_LONGEST_WAIT = 120.0
"""Seconds that a provider may ask to be left alone before the next attempt."""
_MOVED = "redirections are not followed; give the address itself as --base-url"
_NEXT = {
    **dict.fromkeys((301, 302, 303, 307, 308), _MOVED),
    401: "the key in {key} is not accepted",
    403: "the key in {key} may not do this",
    404: "is the model's name right, and the base URL?",
    429: "over the provider's limit; wait, or raise --retries",
}
_GIVEN_UP = (408, 504, 524)
"""Statuses of a gateway that waited no longer for a provider, which may have gone on."""
_BEARER = "ANTHROPIC_AUTH_TOKEN"
"""What older clients of Anthropic add to a key, unasked (0.60 does)."""


class Tries(threading.local):
    """The attempts of the question that a thread is asking."""

    made = 0
    sent = 0
    """Of those, the ones of which something left this machine."""
    refused = 0
    """Of those, the ones to which the provider said no: it made nothing, and bills nothing."""

    def begin(self) -> None:
        """Another question."""
        self.made = self.sent = self.refused = 0

    @property
    def billed(self) -> int:
        """Attempts that a provider may have worked on, and may bill, whether or not its answer could be read."""
        return self.sent - self.refused


def _wait(seconds: str | None) -> float:
    try:
        return float(seconds or 0)
    except ValueError:
        return 0.0


Send = Callable[[dict[str, Any], int], str]
"""From what is sent and the retries allowed to the text of the answer."""
Close = Callable[[], None]
"""Ends the connections that a client keeps open."""


class Dialect(Protocol):
    """One provider: its form of a request and of an answer, and its client."""

    variable: str
    """Of the environment, where the key usually stands."""
    url_variable: str
    """The same for the base URL."""
    marks: bool
    """Whether the cache is written up to a mark in the request, and else not."""

    def body(self, endpoint: Endpoint, request: Request) -> dict[str, Any]:
        """What is sent."""
        ...

    def cacheable(self, prefix: str) -> str:
        """What of a prefix the provider's cache can still serve."""
        ...

    def client(self, endpoint: Endpoint, tries: Tries) -> tuple[Send, Close]:
        """A function that sends, with the vendor's own client, safe to use from several threads; and one that ends it.

        The first raises what the client raises.
        """
        ...

    def read(self, answer: dict[str, Any]) -> Reply:
        """The answer in neutral form; raises ValueError for what is none."""
        ...


def package(name: str) -> ModelError:
    """The error for a client that is not installed."""
    return ModelError(f"the package {name} is not installed: pip install 'ctx-transcripts[{name}]'")


def hush() -> None:
    """Silence the clients' own logs: they show what is sent, and every header of an answer, which may echo the key."""
    for name in _LOGS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def hooks(tries: Tries) -> dict[str, list[Callable[[Any], None]]]:
    """What the transport calls for each attempt.

    A provider that asks for a longer wait than is bearable is not waited for, though a client would. A token that older
    clients take from the environment, beside the key that was named, is not sent.
    """

    def made(request: Any) -> None:
        tries.made += 1
        token = os.environ.get(_BEARER)
        if token and "x-api-key" in request.headers and request.headers.get("authorization") == f"Bearer {token}":
            del request.headers["authorization"]
        before = tries.sent

        def trace(event: str, _: Any) -> None:
            if event.endswith("send_request_headers.started"):
                tries.sent = before + 1

        request.extensions["trace"] = trace

    def answered(response: Any) -> None:
        tries.refused += response.status_code >= _NO_SUCCESS and response.status_code not in _GIVEN_UP
        if _wait(response.headers.get("retry-after")) > _LONGEST_WAIT:
            response.headers["x-should-retry"] = "false"

    return {"request": [made], "response": [answered]}


@dataclass(frozen=True, slots=True)
class Trouble:
    """From what a client raises to an error that says what to do next; both clients raise alike."""

    client: ModuleType
    endpoint: Endpoint

    def error(self, raised: Exception, tries: Tries) -> ModelError:
        """The error; the key is in it nowhere."""
        client, endpoint = self.client, self.endpoint
        place = endpoint.base_url or endpoint.provider
        times = f" ({tries.made} attempts)" if tries.made > 1 else ""
        if isinstance(raised, client.APITimeoutError):
            said = f"gave no answer within {endpoint.timeout:g} s{times}; raise --timeout"
        elif isinstance(raised, client.APIConnectionError):
            why = raised.__cause__ or raised
            said = f"breaks off{times}: {why}" if tries.sent else f"cannot be reached{times}: {why}{_unreached()}"
        elif isinstance(raised, client.APIStatusError):
            status = int(raised.status_code)
            then = _NEXT.get(status, "").format(key=endpoint.key_name or "no variable")
            said = f"answers {status}{times}: {_complaint(raised)}" + (f" ({then})" if then else "")
        else:
            said = f"{type(raised).__name__}: {raised}"
        return ModelError(endpoint.masked(f"{endpoint.name} at {place}: {said}"))


def _unreached() -> str:
    """What to look at where no connection came about."""
    proxy = any(scheme in getproxies() for scheme in ("http", "https", "all"))
    through = "; a proxy stands in the environment: NO_PROXY names hosts that are asked without" if proxy else ""
    return f" (is the base URL right, and does the server run?{through})"


def _complaint(raised: Any) -> str:
    """A provider's own words about what it refuses."""
    body = raised.body
    inner = body.get("error", body) if isinstance(body, dict) else body
    words = inner.get("message") if isinstance(inner, dict) else inner
    flat = " ".join(str(words or raised.message or "no reason given").split())
    return flat[:_SHOWN] + ("…" if len(flat) > _SHOWN else "")


def parsed(text: str) -> dict[str, Any]:
    """The JSON object of an answer; raises ValueError for anything else, and for an error that is sent as an answer."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("is no JSON object")
    error = value.get("error")
    if error:
        words = error.get("message") if isinstance(error, dict) else error
        raise ValueError(f"is an error: {words}")
    return value


def table(value: Any) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def number(value: Any) -> int | None:
    """A count of tokens; None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def plain(text: str) -> str:
    """A text that can be sent: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
