"""What recorded summaries keep, and what the extractive summariser keeps within the same tokens.

    python benchmarks/recorded.py FILE…      # transcripts that record compactions

For each recorded compaction with a readable summary: tokens of both, the share of the stated and touched identifiers
that each holds (every kind, and those the guard requires), and hindsight recall over every kind, with the summary
alone as the context after.
"""

import sys
import time

from ctxcli.compact.material import material_of
from ctxcli.files import load
from ctxcli.guard import Policy
from ctxcli.guard.compare import Comparison
from ctxcli.guard.reading import Reading
from ctxcli.guard.recorded import Recorded, recorded, used_later
from ctxcli.guard.sides import After, Before, pieces_against
from ctxcli.model import Message, Part, PartKind, Role, Transcript
from ctxcli.reports.guard import HELD
from ctxcli.reports.identifiers import SEEN
from ctxcli.slots import render
from ctxcli.summarisers import SUMMARISERS
from ctxcli.tokens import counter

WEIGH = counter("o200k_base")


def as_text(text: str) -> Transcript:
    part = Part(PartKind.TEXT, text, line=1)
    return Transcript("text", messages=(Message(Role.USER, (part,), line=1),))


def shares(one: Recorded, before: Before, text: str) -> list[float | None]:
    """Held of stated and touched, of required, and of what was used later."""
    reading = Reading(as_text(text))
    parts = reading.parts([0])
    comparison = Comparison(before, After(reading, pieces_against(before, reading, parts), parts), Policy())
    known = comparison.known
    groups = (
        [key for key, what in known.items() if what.source != SEEN and not what.secret],
        list(comparison.required.keys),
        [key for key in used_later(one) if key in known and not known[key].secret],
    )
    return [sum(comparison.status[key] in HELD for key in keys) / len(keys) if keys else None for keys in groups]


def main(files: list[str]) -> None:
    print(f"{'compaction':44} {'tokens':>13} {'stated+touched':>15} {'required':>13} {'hindsight':>13} {'s':>5}")
    sums: list[list[float]] = [[] for _ in range(6)]
    for file in files:
        for loaded in load(file):
            for one in recorded(Reading(loaded.transcript)):
                index = one.event.summary
                if index is None or one.event.opaque:
                    continue
                before = one.before
                theirs = "\n".join(part.text for part in loaded.transcript.messages[index].parts)
                tokens = WEIGH.count([theirs])[0]
                start = time.perf_counter()
                ours = render(SUMMARISERS["extractive"].summarise(material_of(before, Policy(), WEIGH, tokens)))
                took = time.perf_counter() - start
                mine = WEIGH.count([ours])[0]
                first, second = shares(one, before, theirs), shares(one, before, ours)
                for at, (their, our) in enumerate(zip(first, second, strict=True)):
                    sums[2 * at] += [their] if their is not None else []
                    sums[2 * at + 1] += [our] if our is not None else []
                cells = "".join(
                    f"{their or 0:>8.2f} {our or 0:>6.2f}" for their, our in zip(first, second, strict=True)
                )
                print(f"{file[-36:]:36} {one.event.line:>6} {tokens:>7} {mine:>6} {cells} {took:>5.1f}")
    means = "".join(f"{sum(v) / len(v):>8.2f}" if v else "" for v in sums)
    print(f"{'mean':58}{means}")


if __name__ == "__main__":
    main(sys.argv[1:])
