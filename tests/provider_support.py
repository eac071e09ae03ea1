"""A small server on the loopback address that plays both providers; a test scripts its answers.

    with provider(["first answer", Fault(429), refused(), then("the rest")]) as server:
        done = ctx("compact", ..., *server.flags, **server.env)
    assert len(server.requests) == 3

A script is a list of answers (the last one again when it is used up), or a function from a request to an answer. An
answer is a text, an Answer, or a Fault. Which API is meant is told by the path; an answer fits both. Nothing here
sleeps: a rate limit says `retry-after-ms: 1`.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-7f3c9a51d2e84b60"
"""No real key; what no output may hold."""


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def chat(self) -> bool:
        """Whether it is one for OpenAI's chat completions, and not for Anthropic's messages."""
        return self.path.endswith("/chat/completions")

    @property
    def text(self) -> str:
        """The last turn of the user."""
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


@dataclass(frozen=True)
class Answer:
    """An answer of the model."""

    text: str | None
    stop: str = "end"
    """end, length, refused, tools."""
    prompt: int = 1_000
    output: int = 100
    cache_read: int = 0
    cache_write: int = 0
    iterations: Sequence[dict[str, int]] = ()
    usage: bool = True


@dataclass(frozen=True)
class Fault:
    """An answer that is none: a status, or a body as it stands; `silent` says nothing at all until the client gives up.

    A `content-length` in the headers that is more than the body's makes it break off.
    """

    status: int = 500
    body: str = '{"error": {"type": "some_error", "message": "it does not work"}}'
    headers: dict[str, str] = field(default_factory=lambda: {"retry-after-ms": "1"})
    silent: bool = False


def refused(text: str = "I cannot help with that.") -> Answer:
    """A refusal."""
    return Answer(text, "refused")


def calls_a_tool() -> Answer:
    """A call of a tool that nobody offered."""
    return Answer("Let me look.", "tools")


def cut_off(text: str) -> Answer:
    """An answer that ends at the limit of the output."""
    return Answer(text, "length")


SILENT = Fault(silent=True)
Scripted = str | Answer | Fault
Script = Sequence[Scripted] | Callable[[Asked], Scripted]


class Provider:
    """The server while it runs."""

    def __init__(self, script: Script, kind: str) -> None:
        self.requests: list[Asked] = []
        self.kind = kind
        self._script, self._lock, self.stopped = script, threading.Lock(), threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        """The base URL, as `--base-url` takes it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}" + ("/v1" if self.kind == "openai" else "")

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that name this server's model, without a cache of answers."""
        return "--model", f"{self.kind}:test-model", "--base-url", self.url, "--no-reply-cache"

    @property
    def env(self) -> dict[str, str]:
        """The key, and no proxy before the loopback address."""
        return {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, "NO_PROXY": "127.0.0.1"}

    def answer(self, asked: Asked) -> Answer | Fault:
        """What the script says to the next request."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(asked)
        found = self._script(asked) if callable(self._script) else self._script[min(number, len(self._script) - 1)]
        return Answer(found) if isinstance(found, str) else found

    def stop(self) -> None:
        """End it, and whoever still waits for an answer."""
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def provider(script: Script, kind: str = "openai") -> Iterator[Provider]:
    """The server, of the kind openai or anthropic."""
    server = Provider(script, kind)
    try:
        yield server
    finally:
        server.stop()


def _handler(server: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            asked = Asked(self.path, json.loads(raw), {name.lower(): value for name, value in self.headers.items()})
            found = server.answer(asked)
            if isinstance(found, Fault):
                if found.silent:
                    server.stopped.wait()
                    return
                self._send(found.status, found.body, found.headers)
            else:
                self._send(200, json.dumps(_chat(found) if asked.chat else _messages(found)), {})

        def _send(self, status: int, text: str, headers: dict[str, str]) -> None:
            data = text.encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", "content-length": len(data), **headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _chat(answer: Answer) -> dict[str, Any]:
    stop = {"end": "stop", "length": "length", "refused": "stop", "tools": "tool_calls"}[answer.stop]
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.stop == "refused":
        message = {"role": "assistant", "content": None, "refusal": answer.text}
    if answer.stop == "tools":
        call = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
        message["tool_calls"] = [call]
    usage = {
        "prompt_tokens": answer.prompt, "completion_tokens": answer.output,
        "total_tokens": answer.prompt + answer.output, "prompt_tokens_details": {"cached_tokens": answer.cache_read},
    }  # fmt: skip
    return {
        "id": "x", "object": "chat.completion", "created": 0, "model": "test-model-1",
        "choices": [{"index": 0, "message": message, "finish_reason": stop}], **({"usage": usage} if answer.usage else {}),
    }  # fmt: skip


def _messages(answer: Answer) -> dict[str, Any]:
    stop = {"end": "end_turn", "length": "max_tokens", "refused": "refusal", "tools": "tool_use"}[answer.stop]
    content: list[dict[str, Any]] = [] if answer.text is None else [{"type": "text", "text": answer.text}]
    if answer.stop == "tools":
        content.append({"type": "tool_use", "id": "t1", "name": "read_file", "input": {}})
    usage: dict[str, Any] = {
        "input_tokens": answer.prompt - answer.cache_read - answer.cache_write, "output_tokens": answer.output,
        "cache_read_input_tokens": answer.cache_read, "cache_creation_input_tokens": answer.cache_write,
    }  # fmt: skip
    if answer.iterations:
        usage["iterations"] = list(answer.iterations)
    return {
        "id": "x", "type": "message", "role": "assistant", "model": "test-model-1", "content": content,
        "stop_reason": stop, "stop_sequence": None, **({"usage": usage} if answer.usage else {}),
    }  # fmt: skip
