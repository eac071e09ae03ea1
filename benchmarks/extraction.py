"""Precision and recall of identifier extraction on labelled lines, by kind, with Wilson 95 % intervals.

    python benchmarks/extraction.py LABELS.jsonl [--misses]
    python benchmarks/extraction.py --growth     # time at 20,000 characters to time at 10,000, of hostile texts

A label is a hit when the same value is reported with the same kind (`name` and `name()` are equal).
A report that lies wholly inside a labelled value counts neither way, unless it is listed as tempting.
"""

import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ctxcli.identifiers import KINDS, extract

MAIN = ("path", "location", "url", "uuid", "hash", "version", "package", "ticket", "error", "flag", "env")


def wilson(hits: int, of: int) -> str:
    """A share with its 95 % interval."""
    if not of:
        return "    –"
    share, z = hits / of, 1.96
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{share:.3f} ({middle - half:.2f}–{middle + half:.2f})"


def same(kind: str, value: str) -> tuple[str, str]:
    return kind, value.removesuffix("()") if kind == "symbol" else value


def judged(row: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Each label and each report of a line that counts: (right, missed, tempting or wrong; kind; value)."""
    labels = {same(one["kind"], one["value"]) for one in row["identifiers"]}
    found = {same(hit.kind, hit.value) for hit in extract.of_line(row["text"], by_user=row["stratum"] == "user-prose")}
    yield from (("missed", *label) for label in labels - found)
    for kind, value in found:
        if (kind, value) in labels:
            yield "right", kind, value
        elif value in row["tempting"]:
            yield "tempting", kind, value
        elif all(value == label or value not in label for _, label in labels):
            yield "wrong", kind, value


def growth() -> None:
    """Twice the text may take about twice the time: a ratio near 4 would be quadratic."""
    units = (
        "a.", "a/", "a_", "A1", "@a/", "x=", "-a", "$a", "http://", "a@b.", "1.", "\\", "[a]/", "{a}/", "a:1:", "`a`",
        "'", '"', "#1", "A-1", "a ", "-a ", "a.go ", "$a/b ", "AB-1 ", '"a" ',
    )  # fmt: skip
    for unit in units:
        seconds = []
        for size in (10_000, 20_000):
            texts = [f"{number}{unit * (size // len(unit))}"[:size] for number in range(3)]
            start = time.perf_counter()
            for text in texts:
                extract.of_line(text)
            seconds.append(time.perf_counter() - start)
        print(f"{unit!r:12} {seconds[1] / seconds[0]:5.1f} times, {20_000 * 3 / seconds[1] / 1e6:6.2f} MB/s")


def main() -> None:
    if "--growth" in sys.argv:
        growth()
        return
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text("utf-8").splitlines() if line]
    verdicts = [(*verdict, row["id"], row["text"][:150]) for row in rows for verdict in judged(row)]
    counts = Counter((verdict, kind) for verdict, kind, *_ in verdicts)
    print(f"{'kind':10} {'labels':>6}  {'precision':>18}  {'recall':>18}")
    groups = {name: (name,) for name in KINDS} | {"main kinds": MAIN, "all kinds": tuple(KINDS)}
    for title, kinds in groups.items():
        right, missed, wrong, tempting = (
            sum(counts[verdict, kind] for kind in kinds) for verdict in ("right", "missed", "wrong", "tempting")
        )
        shares = wilson(right, right + wrong + tempting), wilson(right, right + missed)
        print(f"{title:10} {right + missed:6}  {shares[0]:>18}  {shares[1]:>18}")
    print("tempting strings reported:", sum(count for (verdict, _), count in counts.items() if verdict == "tempting"))
    for one in sorted(verdicts) if "--misses" in sys.argv else ():
        if one[0] != "right":
            print(*one, sep=" | ")


if __name__ == "__main__":
    main()
