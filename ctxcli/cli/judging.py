"""The judge of a run: the model that is asked, or another one; both under the one limit that the user set."""

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctxcli.ask import Asker, Estimate, Reply, Request, Spent
from ctxcli.cli.asking import asker_of
from ctxcli.errors import LimitReached

if TYPE_CHECKING:
    from ctxcli.providers import Model


def judge_flags(flags: dict[str, Any]) -> dict[str, Any]:
    """The flags that name the judge: an address and a key are those of one provider, and go to no other."""
    given, model = flags["judge"], flags["model"]
    elsewhere = given and model and given[0] != model[0]
    return {**flags, "model": given or model, **({"base_url": None, "key_env": None} if elsewhere else {})}


def asker_and_judge(flags: dict[str, Any]) -> "tuple[Asker, Asker]":
    """The model that is asked and the one that judges, the same where no other is named."""
    asker = asker_of(flags)
    if flags["judge"] in (None, flags["model"]):
        return asker, asker
    judge = asker_of(judge_flags(flags))
    purse = _Purse(flags["max_calls"], flags["max_cost"], (asker, judge))
    return _Under(asker, purse), _Under(judge, purse)


@dataclass(slots=True)
class _Purse:
    """What two models may spend together."""

    calls: int | None
    cost: float | None
    models: "tuple[Model, ...]"
    sent: int = 0
    flying: int = 0
    held: float = 0.0
    """Dollars, for what is on its way."""
    ready: threading.Condition = field(default_factory=threading.Condition)

    def take(self, cost: float) -> None:
        """Set aside one question and its cost; waits for what is on its way. Raises LimitReached."""
        with self.ready:
            while (why := self._lacks(cost)) and self.flying:
                self.ready.wait()
            if why:
                raise LimitReached(f"{why}, by the model and the judge together, and no more may be")
            self.flying, self.held = self.flying + 1, self.held + cost

    def _lacks(self, cost: float) -> str:
        if self.calls is not None and self.sent + self.flying >= self.calls:
            return f"--max-calls: {self.sent:,} questions were sent"
        spent = sum((one.spent.cost or 0.0) + one.spent.doubtful for one in self.models)
        if self.cost is not None and spent + self.held + cost > self.cost:
            return f"--max-cost: ${spent:,.4f} were spent"
        return ""

    def settle(self, cost: float, *, sent: bool) -> None:
        """One question has come back."""
        with self.ready:
            self.flying, self.sent = self.flying - 1, self.sent + sent
            self.held = self.held - cost if self.flying else 0.0
            self.ready.notify_all()


@dataclass(frozen=True, slots=True)
class _Under:
    """A model that shares what may be spent with another one."""

    model: "Model"
    purse: _Purse

    @property
    def name(self) -> str:
        """PROVIDER:MODEL."""
        return self.model.name

    @property
    def spent(self) -> Spent:
        """By this one alone."""
        return self.model.spent

    def body(self, request: Request) -> dict[str, Any]:
        """What is sent for it."""
        return self.model.body(request)

    def estimate(self, request: Request) -> Estimate:
        """What it would come to."""
        return self.model.estimate(request)

    def ask(self, request: Request) -> Reply:
        """One answer; see Asker for what it raises."""
        cost = self.model.estimate(request).cost or 0.0
        self.purse.take(cost)
        sent = True
        try:
            reply = self.model.ask(request)
            sent = not reply.stored
        except LimitReached:
            sent = False
            raise
        finally:
            self.purse.settle(cost, sent=sent)
        return reply
