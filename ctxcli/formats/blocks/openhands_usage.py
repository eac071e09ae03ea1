"""Token figures of OpenHands: sums since the beginning, for each model in use, of which the difference is a call.

Source of the shape: openhands-sdk/openhands/sdk/llm/utils/metrics.py of https://github.com/OpenHands/software-agent-sdk.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.formats.blocks.values import count, mapping, sequence, text
from ctxcli.model import Usage

_KEYS = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_MAIN = ("default", "agent")


def usage_of(value: Any) -> Usage | None:
    """One call's figures: what was read from or written to a cache is part of the prompt; None where all are zero."""
    prompt, output, read, write, reasoning = (count(mapping(value).get(key)) for key in _KEYS)
    if not prompt and not output:
        return None
    known = prompt is not None and read is not None
    uncached = max(0, (prompt or 0) - (read or 0) - (write or 0)) if known else None
    return Usage(prompt, uncached, read, write, output, reasoning)


@dataclass(slots=True)
class Sums:
    """Differences of the sums that a conversation reports from time to time."""

    window: int | None = None
    model: str = ""
    """The conversation's own model, as the reports name it."""
    mixed: int = 0
    """Reports that hold more than one call: their prompts cannot be told apart."""
    beside: dict[str, int] = field(default_factory=dict)
    """Tokens in all of each model that does not answer in the conversation, such as the condenser."""
    last: Usage | None = None
    """The sum at the last report."""
    _before: dict[str, dict[str, int]] = field(default_factory=dict)

    def take(self, stats: Any) -> Iterator[Usage]:
        """The calls of the conversation's own model since the report before."""
        metrics = mapping(mapping(stats).get("usage_to_metrics"))
        own = next((name for name in _MAIN if name in metrics), None)
        own = own or next((name for name in metrics if "condenser" not in name), None)
        for name, value in metrics.items():
            figures = mapping(mapping(value).get("accumulated_token_usage"))
            if name != own:
                tokens = sum(count(figures.get(key)) or 0 for key in _KEYS[:2])
                self.beside[name] = max(tokens, self.beside.get(name, 0))
                continue
            self.model = text(mapping(value).get("model_name")) or self.model
            self.window = count(figures.get("context_window")) or self.window
            self.last = usage_of(figures)
            usage = self.since(name, figures)
            if usage is not None:
                yield usage

    def since(self, name: str, figures: Mapping[str, Any]) -> Usage | None:
        """What was added to a sum; where it went down it began anew."""
        now = {key: count(figures.get(key)) or 0 for key in _KEYS}
        before = self._before.get(name, dict.fromkeys(_KEYS, 0))
        again = any(now[key] < before[key] for key in _KEYS[:2])
        self._before[name] = now
        usage = usage_of({key: now[key] if again else max(0, now[key] - before[key]) for key in _KEYS})
        turn = count(figures.get("per_turn_token"))
        if usage is not None and turn and turn != (usage.prompt or 0) + (usage.output or 0):
            self.mixed += 1
            return Usage(output=usage.output)
        return usage


def by_response(stats: Any) -> dict[str, Usage]:
    """Usage by the id of the response, where the calls are listed one by one."""
    listed = [
        one
        for metrics in mapping(mapping(stats).get("usage_to_metrics")).values()
        for one in sequence(mapping(metrics).get("token_usages"))
    ]
    found = {text(mapping(one).get("response_id")): usage_of(one) for one in listed}
    return {name: usage for name, usage in found.items() if name and usage is not None}
