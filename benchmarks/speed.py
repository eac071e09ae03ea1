"""Speed and memory of `ctx audit`, as ratios to a floor measured in the same run.

    python benchmarks/speed.py [FILE…] [--megabytes 50]

The floor is what must be done once: parse each line with orjson and count each distinct text with
tiktoken, one after the other, in one process. Without files a session of the size asked for is
made from the fixture. Prints a table; nothing here is a test.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

from ctxcli.files import load
from ctxcli.tokens.engines import Tiktoken

ROOT = Path(__file__).parent.parent
SESSION = ROOT / "fixtures" / "claude-code" / "session.jsonl"


def made(megabytes: int, folder: Path) -> Path:
    """A long session: the fixture's records over and over, with ids and texts of their own."""
    target, lines = folder / f"{megabytes}-MB.jsonl", SESSION.read_text("utf-8").splitlines()
    with target.open("w", encoding="utf-8") as stream:
        turn = 0
        while stream.tell() < megabytes * 1_000_000:
            turn += 1
            for line in lines:
                if '"compact_boundary"' not in line and '"isCompactSummary"' not in line:
                    fresh = (
                        line.replace("5e55-", f"{turn}-")
                        .replace('"msg_', f'"msg_{turn}_')
                        .replace("toolu_", f"toolu_{turn}_")
                    )
                    stream.write(
                        fresh.replace("PASSED", f"PASSED {turn}").replace('sessionId":"%d-' % turn, 'sessionId":"5e55-')
                        + "\n"
                    )
    return target


def timed(command: list[str]) -> float:
    """Seconds that a command takes."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def floor(path: Path) -> float:
    """Seconds to parse each line and count each distinct text once."""
    texts = {part.text for one in load(str(path)) for message in one.transcript.messages for part in message.parts}
    Tiktoken("o200k_base").count(["warm"])
    start = time.perf_counter()
    with path.open("rb") as stream:
        for line in stream:
            try:
                orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
    Tiktoken("o200k_base").count(sorted(texts))
    return time.perf_counter() - start


def row(path: Path) -> dict[str, object]:
    """The figures of one file."""
    ctx = [sys.executable, "-m", "ctxcli", "audit", str(path), "--json"]
    least = floor(path)
    cold = timed([*ctx, "--no-cache"])
    timed(ctx)
    warm = timed(ctx)
    return {
        "file": path.name,
        "MB": round(path.stat().st_size / 1e6, 1),
        "floor s": round(least, 2),
        "audit s": round(cold, 2),
        "audit / floor": round(cold / least, 2),
        "known texts s": round(warm, 2),
        "peak MB": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }


def main() -> None:
    arguments = sys.argv[1:]
    size = int(arguments.pop(arguments.index("--megabytes") + 1)) if "--megabytes" in arguments else 50
    files = [Path(name) for name in arguments if name != "--megabytes"]
    with tempfile.TemporaryDirectory() as folder:
        help_, bare = timed([sys.executable, "-m", "ctxcli", "--help"]), timed([sys.executable, "-c", "import click"])
        print(json.dumps({"ctx --help s": round(help_, 3), "python with click s": round(bare, 3)}))
        for path in files or [SESSION, made(size, Path(folder))]:
            print(json.dumps(row(path)))


if __name__ == "__main__":
    main()
