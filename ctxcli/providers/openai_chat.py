"""OpenAI's chat completions, which most other servers speak too, those on one's own machine included."""

import json
from typing import Any
from urllib.parse import urlsplit

from ctxcli.ask import Reply, Request, Stop
from ctxcli.providers.dialect import Close, Send, Tries, hooks, number, plain, table
from ctxcli.providers.endpoint import Endpoint

variable = "OPENAI_API_KEY"
url_variable = "OPENAI_BASE_URL"
marks = False
_OWN = "https://api.openai.com/v1"
_STOPS = {
    "stop": Stop.END, "length": Stop.LENGTH, "content_filter": Stop.REFUSED, "tool_calls": Stop.TOOLS,
    "function_call": Stop.TOOLS, None: Stop.END,
}  # fmt: skip


def body(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    """What is sent. OpenAI itself refuses `max_tokens` for newer models, other servers know nothing else."""
    before = json.loads(request.prefix) if request.prefix else {}
    limit = "max_completion_tokens" if _is_openai(endpoint.base_url) else "max_tokens"
    found: dict[str, Any] = {"model": endpoint.model, limit: request.max_output}
    if before.get("tools"):
        found |= {"tools": before["tools"], "tool_choice": "none"}
    messages = before.get("messages", [])
    if request.system and not messages:
        messages = [{"role": "system", "content": plain(request.system)}]
    found["messages"] = [*messages, {"role": "user", "content": plain(request.text)}]
    if request.temperature is not None:
        found["temperature"] = request.temperature
    return found


def _is_openai(base_url: str) -> bool:
    """Whether OpenAI's own models answer there: at OpenAI, in one of its regions, or at Azure."""
    host = urlsplit(base_url or _OWN).hostname or ""
    return host.endswith((".openai.com", ".openai.azure.com"))


def cacheable(prefix: str) -> str:
    """What of a prefix the cache can serve: all of it."""
    return prefix


def client(endpoint: Endpoint, tries: Tries) -> tuple[Send, Close]:
    """Sends with the package `openai`."""
    import openai  # noqa: PLC0415 - takes a second or more, so only where a model is asked

    opened = openai.OpenAI(
        api_key=endpoint.key or "none", base_url=endpoint.base_url or _OWN, timeout=endpoint.timeout,
        max_retries=endpoint.retries,
        http_client=openai.DefaultHttpxClient(
            follow_redirects=False, timeout=endpoint.timeout, event_hooks=hooks(tries)
        ),
    )  # fmt: skip

    def send(body: dict[str, Any], retries: int) -> str:
        rest = {key: value for key, value in body.items() if key not in ("model", "messages")}
        found = opened.with_options(max_retries=retries).chat.completions.with_raw_response.create(
            model=body["model"], messages=body["messages"], extra_body=rest, timeout=endpoint.timeout
        )
        return str(found.http_response.text)

    return send, opened.close


def read(answer: dict[str, Any]) -> Reply:
    """The first choice; a refusal in a field of its own and a call of a tool are told by the stop."""
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ValueError("has no choices")
    stop = _STOPS.get(choice.get("finish_reason"), Stop.OTHER)
    if message.get("refusal"):
        stop = Stop.REFUSED
    elif message.get("tool_calls") or message.get("function_call"):
        stop = Stop.TOOLS
    text = _text(message.get("content")) or _text(message.get("refusal"))
    usage = table(answer.get("usage"))
    details = table(usage.get("prompt_tokens_details"))
    return Reply(
        text, stop, str(answer.get("model") or ""), prompt=number(usage.get("prompt_tokens")),
        cache_read=number(details.get("cached_tokens")), cache_write=number(details.get("cache_write_tokens")),
        output=number(usage.get("completion_tokens")),
    )  # fmt: skip


def _text(content: Any) -> str:
    """Text as it stands, or in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
