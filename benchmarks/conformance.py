"""What survives of a session in a fixed budget of characters, by the outside suite compaction-conformance-kit.

    pip install --no-deps compaction-conformance-kit==0.8.0
    python benchmarks/conformance.py [--seeds 50] [--bare] [--growing] [--lost]
    compaction-kit benchmark --spec benchmarks/conformance.py:Ctx --budgets 10%,20%,30%

The first form runs the kit's generated corpus, five rounds each, and prints survival by type and how many values that
were overtaken still stand. `--bare` takes the labels off the statements that the corpus marks ("FACT: …"): a tool that
rests on them loses by it. `--growing` hands a fifth of the session to each round, so that each carries the items of
the one before. `--lost` lists what did not survive.

The kit counts characters over the whole context. Its rounds hand on nothing but the text of the context before, so
what earlier rounds knew stands only in the summary. The system prompt is left out on both sides: clients send it with
each request, and the kit's own compactors do not keep it either.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as changed

from compaction_kit.canaries import Canary
from compaction_kit.compacted import CompactedContext
from compaction_kit.generated import build_generated_session
from compaction_kit.probes import BehaviorProbe
from compaction_kit.session import Turn

from ctxcli.change import applied
from ctxcli.compact.context import Keep
from ctxcli.compact.session import Session
from ctxcli.compact.settings import FEWEST_SUMMARY, Settings
from ctxcli.guard import Policy
from ctxcli.model import Message, Part, PartKind, Role, Transcript
from ctxcli.slots import SYNTHETIC

_ROUNDS = 5
_BUDGETS = (0.1, 0.2, 0.3)
_SAYS = re.compile(r"^\[(user|assistant|tool)\] ", re.MULTILINE)
_LABEL = re.compile(r"^(?:[A-Z]{3,} ?)+: ")


class Quarters:
    """A counter that takes four characters for a token, as the figures of ctx do; the kit's measure is characters."""

    name = "characters / 4"
    engine = "len"

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, rounded up."""
        return [-(-len(text) // 4) for text in texts]


class Ctx:
    """ctx as the kit's compactor: one brief summary a round, in the place of all but the first request."""

    name = "ctx"

    def compact(self, turns: list[Turn], round_num: int = 1, budget_chars: int | None = None) -> CompactedContext:
        """The context after, within the budget by the kit's own measure wherever ctx can meet it."""
        transcript = Transcript("kit", messages=tuple(messages_of(turns)))
        text = written(transcript.messages)
        budget = budget_chars or len(text) // 4
        if len(text) > budget:
            text = self._shortened(Session(transcript, Policy(), Quarters()), budget)
        return CompactedContext(text, self.name, round_num)

    def _shortened(self, session: Session, budget: int) -> str:
        """The context with the fullest summary of those that fit, within a hard limit: a brief one."""
        found = ""
        for room in range(min(budget // 4, FEWEST_SUMMARY - 1), 0, -2):
            settings = Settings(("summarise-middle",), budget // 4, keep_last=Keep(messages=0), summary_tokens=room)
            outcome = session.compact(settings)
            found = written(applied(session.transcript, outcome.change))
            if len(found) <= budget:
                break
        return found


def messages_of(turns: Iterable[Turn]) -> Iterator[Message]:
    """The turns as messages; a context that an earlier round wrote is read back into those that it holds."""
    line = 1
    for turn in turns:
        for role, text in _spoken(turn):
            synthetic = text.startswith(SYNTHETIC)
            part = Part(PartKind.SUMMARY if synthetic else PartKind.TEXT, text, line=line)
            yield Message(Role(role), (part,), line=line, harness=synthetic)
            line += 1


def _spoken(turn: Turn) -> Iterator[tuple[str, str]]:
    if turn.role != "system":
        yield turn.role, turn.text
        return
    found = [*_SAYS.finditer(turn.text), *re.finditer(rf"^(?={re.escape(SYNTHETIC)})", turn.text, re.MULTILINE)]
    places = sorted(found, key=lambda match: match.start())
    ends = [*(match.start() for match in places[1:]), len(turn.text)]
    for match, end in zip(places, ends, strict=False):
        text = turn.text[match.end() : end]
        yield match[1] if match.re is _SAYS else "user", text.rstrip("\n")


def written(messages: Iterable[Message]) -> str:
    """A context as the kit sees it; the summary stands as it is, marked by its own first words."""
    rows = []
    for message in messages:
        text = "\n".join(part.text for part in message.parts)
        rows.append(text.rstrip() if text.startswith(SYNTHETIC) else f"[{message.role.value}] {text}")
    return "\n".join(rows)


def bare(turns: Iterable[Turn]) -> list[Turn]:
    """The turns without the labels of their statements."""
    return [changed(turn, text=_LABEL.sub("", turn.text)) for turn in turns]


def final_of(turns: list[Turn], budget: int, *, growing: bool) -> str:
    """The context after the last round."""
    context, step = "", -(-len(turns) // _ROUNDS)
    for number in range(_ROUNDS):
        fresh = turns[number * step : (number + 1) * step] if growing else turns if not number else []
        held = [Turn("system", context)] if context else []
        context = Ctx().compact([*held, *fresh], number + 1, budget).text
    return context


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    for name in ("--bare", "--growing", "--lost", "--show"):
        parser.add_argument(name, action="store_true")
    asked = parser.parse_args()
    print(f"{'budget':>6} {'survival':>9} {'stale':>9} {'over':>5}  by type")
    for share in _BUDGETS:
        sizes, over, kept, every, stale = Counter[bool](), 0, Counter[str](), Counter[str](), Counter[bool]()
        for seed in range(asked.first, asked.first + asked.seeds):
            session, canaries = build_generated_session(seed)
            turns = session.transcript()
            budget = int(len("\n".join(f"[{turn.role}] {turn.text}" for turn in turns)) * share)
            context = final_of(bare(turns) if asked.bare else turns, budget, growing=asked.growing)
            over += len(context) > budget
            sizes[True] += budget
            if asked.show and seed == asked.first:
                print(f"-- {len(context)} of {budget}\n{context}\n--")
            for one in canaries:
                survived = BehaviorProbe().probe(one, context).survived
                every[one.type.value] += 1
                kept[one.type.value] += survived
                if one.superseded_tokens:
                    stale[_stands(one, context)] += 1
                if asked.lost and not survived:
                    print(f"   {share:.0%} lost: {one.content}")
                if asked.lost and one.superseded_tokens and _stands(one, context):
                    print(f"   {share:.0%} stale: {one.superseded_tokens[0]} against {one.content}")
        by_type = "  ".join(f"{name} {kept[name] / count:.0%}" for name, count in every.items())
        figures = f"{kept.total() / every.total():9.1%} {stale[True]:>5}/{stale.total()} {over:>5}"
        print(f"{share:>6.0%} {figures}  {by_type}")


def _stands(one: Canary, context: str) -> bool:
    return any(token in context.lower() for token in one.superseded_tokens)


if __name__ == "__main__":
    main()
