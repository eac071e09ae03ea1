"""A model as somebody who answers a prompt: its answers, and what is no answer."""

from collections import Counter
from dataclasses import dataclass, field

from ctxcli.ask import Asker, Reply, Request, Stop
from ctxcli.compact.asking import UnusableError

_SHOWN = 160
"""Characters of a refusal that are passed on."""


@dataclass(slots=True)
class ByModel:
    """Asks a model, without any tool. Raises UnusableError for an answer that is none, and whatever asking raises."""

    asker: Asker
    max_output: int
    temperature: float | None = None
    prefix: str = ""
    """The conversation that the prompts follow (see ctxcli.ask.Request); empty where they hold its text."""
    _asked: Counter[str] = field(default_factory=Counter)

    def request(self, prompt: str, *, prefix: str | None = None, repeat: int = 0) -> Request:
        """The question for a prompt."""
        before = self.prefix if prefix is None else prefix
        return Request(prompt, "", self.max_output, self.temperature, repeat, before)

    def __call__(self, prompt: str) -> str:
        """The text of the answer."""
        reply = self.asker.ask(self.request(prompt, repeat=self._asked[prompt]))
        self._asked[prompt] += 1
        fault = fault_of(reply, self.max_output)
        if fault:
            raise UnusableError(fault)
        return reply.text


def fault_of(reply: Reply, most: int) -> str:
    """Why a reply is no summary; empty where it may be one."""
    text = " ".join(reply.text.split())
    if reply.stop is Stop.TOOLS:
        return "it calls a tool, though none was offered"
    if reply.stop is Stop.REFUSED:
        return f"it refuses: {text[:_SHOWN]}" if text else "it refuses"
    if reply.stop is Stop.LENGTH:
        return f"it was cut off at the limit of {most:,} tokens (--max-output), or of the window"
    if reply.stop is Stop.OTHER:
        return "it was broken off"
    return "" if text else "it is empty"
