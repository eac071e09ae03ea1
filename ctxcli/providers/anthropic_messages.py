"""Anthropic's Messages API, and servers that speak it."""

import json
from typing import Any

from ctxcli.ask import Reply, Request, Stop
from ctxcli.providers.dialect import Close, Send, Tries, hooks, number, plain, table
from ctxcli.providers.endpoint import Endpoint

variable = "ANTHROPIC_API_KEY"
url_variable = "ANTHROPIC_BASE_URL"
marks = True
_STOPS = {
    "end_turn": Stop.END, "stop_sequence": Stop.END, "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH, "refusal": Stop.REFUSED, "tool_use": Stop.TOOLS, None: Stop.END,
}  # fmt: skip
_USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


def body(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    """What is sent. Behind a prefix one mark asks for the cache to be read up to there; its tools cannot be called."""
    before = _unmarked(json.loads(request.prefix)) if request.prefix else {}
    system, messages = before.get("system") or plain(request.system), before.get("messages", [])
    tools, stubs = before.get("tools") or [], _stubs(messages)
    if tools:
        if system:
            system = _blocks_marked(system)
        else:
            tools = [*tools[:-1], _marked(tools[-1])]
    elif messages and not stubs:
        *rest, last = messages
        messages = [*rest, {**last, "content": _blocks_marked(last["content"])}]
    found: dict[str, Any] = {"model": endpoint.model, "max_tokens": request.max_output}
    if tools or stubs:
        found |= {"tools": tools or stubs, "tool_choice": {"type": "none"}}
    if system:
        found["system"] = system
    found["messages"] = [*messages, {"role": "user", "content": [{"type": "text", "text": plain(request.text)}]}]
    if request.temperature is not None:
        found["temperature"] = request.temperature
    return found


def cacheable(prefix: str) -> str:
    """What of a prefix the cache can serve.

    Another `tool_choice` makes all messages strange to it, and other tools everything.
    Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching, what invalidates the cache.
    """
    before = json.loads(prefix)
    if before.get("tools"):
        return json.dumps([before["tools"], before.get("system", "")])
    return "" if _stubs(before.get("messages", [])) else prefix


def _stubs(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Definitions of the tools that a conversation calls: without any, its calls are refused (400)."""
    blocks = [block for message in messages for block in _blocks(message.get("content"))]
    names = dict.fromkeys(block["name"] for block in blocks if block.get("type") == "tool_use")
    return [{"name": name, "input_schema": {"type": "object"}} for name in names]


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in content or [] if isinstance(block, dict)]


def _blocks_marked(content: Any) -> list[dict[str, Any]]:
    """Blocks of which the last one is the end of what the cache holds; reasoning cannot be marked."""
    blocks = _blocks(content)
    if not blocks or blocks[-1].get("type") in ("thinking", "redacted_thinking"):
        return blocks
    return [*blocks[:-1], _marked(blocks[-1])]


def _marked(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "cache_control": {"type": "ephemeral"}}


def _unmarked(value: Any) -> Any:
    """A conversation without the marks of its own: four are allowed, and they are no part of what is cached."""
    if isinstance(value, dict):
        return {key: _unmarked(one) for key, one in value.items() if key != "cache_control"}
    return [_unmarked(one) for one in value] if isinstance(value, list) else value


def client(endpoint: Endpoint, tries: Tries) -> tuple[Send, Close]:
    """Sends with the package `anthropic`."""
    import anthropic  # noqa: PLC0415 - takes a second or more, so only where a model is asked

    opened = anthropic.Anthropic(
        api_key=endpoint.key or "none", base_url=endpoint.base_url or "https://api.anthropic.com",
        timeout=endpoint.timeout, max_retries=endpoint.retries,
        http_client=anthropic.DefaultHttpxClient(
            follow_redirects=False, timeout=endpoint.timeout, event_hooks=hooks(tries)
        ),
    )  # fmt: skip

    def send(body: dict[str, Any], retries: int) -> str:
        rest = {key: value for key, value in body.items() if key not in ("model", "max_tokens", "messages")}
        found = opened.with_options(max_retries=retries).messages.with_raw_response.create(
            model=body["model"], max_tokens=body["max_tokens"], messages=body["messages"], extra_body=rest,
            timeout=endpoint.timeout,
        )  # fmt: skip
        return str(found.http_response.text)

    return send, opened.close


def read(answer: dict[str, Any]) -> Reply:
    """The text blocks; a call of any tool is told by the stop, whatever the answer itself says of it."""
    content = answer.get("content", "")
    content = [] if content is None else content
    if not isinstance(content, list):
        raise ValueError("has no content")
    blocks = [block for block in content if isinstance(block, dict)]
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
    stop = _STOPS.get(answer.get("stop_reason"), Stop.OTHER)
    if any(str(block.get("type")).endswith("tool_use") for block in blocks) and stop is not Stop.REFUSED:
        stop = Stop.TOOLS
    uncached, cache_read, cache_write, output = _used(answer.get("usage"))
    known = [tokens for tokens in (uncached, cache_read, cache_write) if tokens is not None]
    return Reply(
        text, stop, str(answer.get("model") or ""), prompt=sum(known) if known else None, cache_read=cache_read,
        cache_write=cache_write, output=output,
    )  # fmt: skip


def _used(usage: Any) -> tuple[int | None, ...]:
    """Tokens by `_USAGE`; of an answer in several iterations their sum, which the figures beside them are not."""
    whole = table(usage)
    steps = whole.get("iterations")
    rows = [table(step) for step in steps] if isinstance(steps, list) else []
    found = []
    for key in _USAGE:
        known = [value for row in rows if (value := number(row.get(key))) is not None]
        found.append(sum(known) if known else number(whole.get(key)))
    return tuple(found)
