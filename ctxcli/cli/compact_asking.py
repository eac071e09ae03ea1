"""Who writes the summaries of a `ctx compact`: extraction, a command, a stored answer, or a model behind a provider."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctxcli.ask import Asker, Request, Spent
from ctxcli.budget import model_window
from ctxcli.cli.asking import asker_of, plan_of
from ctxcli.cli.prompt import instructions_of
from ctxcli.compact.asking import ATTEMPTS, Planned
from ctxcli.compact.conclude import ModelUse
from ctxcli.compact.modelling import ByModel
from ctxcli.errors import UnreadableError
from ctxcli.files.text import read_text
from ctxcli.formats import conversation_of, convert
from ctxcli.model import Message, PartKind, Role
from ctxcli.reports.compact import SummaryMode
from ctxcli.reports.requests import RequestsReport
from ctxcli.slots import prompt
from ctxcli.summarisers.command import asking, stored
from ctxcli.validity import check, profile_of

if TYPE_CHECKING:
    from ctxcli.compact.session import Session

LLM = "llm"
"""What `--summariser` says for a model behind a provider."""
_WIRE = {"openai": "openai-chat", "anthropic": "anthropic"}
"""The format of a provider's own requests."""
_UNKNOWN_WINDOW = 128_000
"""Tokens that a model is taken to read where nothing is known of it."""
_SHARE = 0.75
"""Of what a window leaves: the model's own tokenizer may see more tokens than ours."""


class OnlyPlanned(Exception):  # noqa: N818 - no error: a dry run has seen what it came for
    """What would be asked is known, and nothing is to be asked."""


@dataclass(slots=True)
class Asking:
    """Who writes the summaries of one conversation, and what that came to."""

    flags: dict[str, Any]
    session: "Session"
    model: ByModel | None = None
    prefix: str = ""
    """The conversation in the provider's own form."""
    planned: list[Planned] = field(default_factory=list)
    before: Spent = field(default_factory=Spent)
    """What the run had spent when the pass over this conversation began, and when it ended."""
    after: Spent = field(default_factory=Spent)

    @classmethod
    def begun(cls, flags: dict[str, Any], session: "Session", asker: Asker | None, data: bytes) -> "Asking":
        """Before the pass; `data` is the source as it was read."""
        if asker is None:
            return cls(flags, session)
        prefix = _prefix(session, _WIRE[asker.name.partition(":")[0]], data)
        model = ByModel(asker, flags["max_output"], flags["temperature"], prefix if flags["reuse_prefix"] else "")
        return cls(flags, session, model, prefix)

    def settings(self) -> dict[str, Any]:
        """What the pass is told, by field of its settings."""
        flags = self.flags
        attempts, chunk = flags["attempts"] or ATTEMPTS, flags["chunk"]
        if flags["summary"]:
            answer = read_text(flags["summary"], sure=True)
            text = answer.messages[0].parts[0].text if answer else ""
            found = {"ask": stored(text), "summariser": "replayed", "attempts": 1}
        elif self.model is not None:
            found = {
                "ask": self.model, "summariser": LLM, "attempts": attempts, "planned": self._plan,
                "follows": flags["reuse_prefix"], "chunk": chunk or self._chunk(),
            }  # fmt: skip
        elif flags["summariser"]:
            found = {"ask": asking(flags["summariser"]), "summariser": "command", "attempts": attempts, "chunk": chunk}
        else:
            return {}
        repair = flags["repair"]
        return {**found, "repair": self.model is not None if repair is None else repair}

    def _chunk(self) -> int:
        """Tokens of the transcript that go into one question: what the model's window leaves."""
        known = model_window(self._asker.name.partition(":")[2])
        frame = self.session.count(prompt("", instructions=instructions_of(self.flags["instructions"])))
        left = (known.context if known else _UNKNOWN_WINDOW) - int(self.flags["max_output"]) - frame
        return max(1_000, int(left * _SHARE))

    def _plan(self, planned: Planned) -> None:
        self.planned.append(planned)
        if self.flags["dry_run"]:
            raise OnlyPlanned

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Around the pass: what is spent meanwhile is spent on this conversation."""
        if self.model is not None:
            self.before = self._asker.spent
        yield
        if self.model is not None:
            self.after = self._asker.spent

    @property
    def _asker(self) -> Asker:
        if self.model is None:
            raise UnreadableError("no model is asked")
        return self.model.asker

    # -- what it comes to

    def plan(self) -> RequestsReport:
        """What a dry run says."""
        attempts = self.flags["attempts"] or ATTEMPTS
        other = next(one for one in self._modes() if not one.chosen)
        cost = "cost unknown" if other.cost is None else f"at most {other.cost:.4f} dollars"
        held = f", {other.cacheable:,} of them perhaps cached" if other.cacheable else ""
        cost += " if they are" if held and other.cost is not None else ""
        flag = "with --reuse-prefix" if other.name == "reuse-prefix" else "without --reuse-prefix"
        more = (
            f"Where an answer does not hold it is asked for again: up to {attempts} times that (--attempts). "
            f"{flag.capitalize()}: about {other.prompt:,} tokens{held}, {cost}."
        )
        return plan_of(self._asker, self._requests(follows=self.flags["reuse_prefix"]), more=more)

    def use(self) -> ModelUse | None:
        """For the report; None where no model was asked through a provider."""
        if self.model is None or not self.planned:
            return None
        now, then = self.after, self.before
        names = ("calls", "stored", "prompt", "cache_read", "cache_write", "output")
        usage = {name: getattr(now, name) - getattr(then, name) for name in names}
        cost = None if now.cost is None or then.cost is None else round(now.cost - then.cost, 6)
        return ModelUse(self._asker.name, usage, cost, tuple(self._modes()))

    def _modes(self) -> list[SummaryMode]:
        """Both ways of asking, as the first prompts would have it."""
        return [self._mode(follows=follows) for follows in (False, True)]

    def _mode(self, *, follows: bool) -> SummaryMode:
        estimates = [self._asker.estimate(request) for request in self._requests(follows=follows)]
        costs = [one.cached_cost for one in estimates if one.cached_cost is not None]
        return SummaryMode(
            "reuse-prefix" if follows else "standalone", follows is bool(self.flags["reuse_prefix"]), len(estimates),
            sum(one.prompt for one in estimates), sum(one.cacheable for one in estimates),
            round(sum(costs), 6) if len(costs) == len(estimates) else None,
        )  # fmt: skip

    def _requests(self, *, follows: bool) -> list[Request]:
        model = self.model
        if model is None:
            return []
        if follows:
            return [model.request(planned.following, prefix=self.prefix) for planned in self.planned]
        return [model.request(text, prefix="") for planned in self.planned for text in planned.standalone]

    def remarks(self) -> list[str]:
        """What a reader has to know about the way of asking."""
        if not self.planned or not self.flags["reuse_prefix"]:
            return []
        messages = self.session.messages
        parts = [part for message in messages for part in message.parts]
        lacking = [] if any(message.role is Role.SYSTEM for message in messages) else ["the system prompt"]
        calls = any(part.kind is PartKind.TOOL_CALL for part in parts)
        if calls and all(part.kind is not PartKind.TOOLS for part in parts):
            lacking.append("the tool definitions")
        found = []
        if lacking:
            what = " and ".join(lacking)
            found.append(
                f"The transcript lacks {what}, with which a provider's cache begins: --reuse-prefix finds little there."
            )
        elif calls and self._asker.name.startswith("anthropic:"):
            found.append(
                "Tools are not offered to the summary call, and without them Anthropic's cache serves the definitions "
                "and the system prompt, but no message: --reuse-prefix saves little."
            )
        return found


def asker_for(flags: dict[str, Any]) -> Asker | None:
    """The model of a run; None where no provider's is wanted."""
    return asker_of(flags) if flags["summariser"] == LLM else None


def spent_by(asker: Asker | None) -> str:
    """What a run that came to nothing has spent, in words; empty where that is nothing."""
    if asker is None:
        return ""
    spent = asker.spent
    cost = "cost unknown" if spent.cost is None else f"${spent.cost:.4f}"
    lost = f", and up to ${spent.doubtful:.4f} that may be billed for no answer" if spent.doubtful else ""
    sent = f"questions sent: {spent.calls:,}, tokens sent: {spent.prompt:,}, answered: {spent.output:,}"
    stored = f"answers from the cache on disk: {spent.stored:,} (--no-reply-cache asks anew)"
    said = [f"{sent}, {cost}{lost}"] if spent.calls else []
    said += [stored] if spent.stored else []
    return f"{asker.name}: {'; '.join(said)}" if said else ""


def _prefix(session: "Session", wire: str, data: bytes) -> str:
    """The conversation as JSON in a provider's form: as it stands in the source where that is one, else converted.

    It ends before calls that nobody has answered, behind which no provider takes a question.
    """
    transcript, messages = session.transcript, _answered(session.messages)
    untouched = not session.start.texts and not session.start.gone and len(messages) == len(transcript.messages)
    if transcript.format == wire and untouched and not check(session.messages, profile_of(transcript)):
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict) and isinstance(document.get("messages"), list):
            return json.dumps({key: document[key] for key in ("system", "tools", "messages") if key in document})
    text, _ = convert(conversation_of(transcript, messages), wire, one_line=True)
    return text.decode("utf-8")


def _answered(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages up to the last turn of the agent, where calls of that one have no result."""
    last = max((at for at, one in enumerate(messages) if one.role is Role.ASSISTANT), default=None)
    if last is None:
        return messages
    done = {part.ref for one in messages[last:] for part in one.parts if part.kind is PartKind.TOOL_RESULT}
    open_ = any(part.kind is PartKind.TOOL_CALL and part.ref not in done for part in messages[last].parts)
    return messages[:last] if open_ else messages
