"""What tests share: fixtures, a real subprocess of the program, golden files, the normal form."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ctxcli.files import load
from ctxcli.formats import FORMATS
from ctxcli.model import Message, Part, PartKind, Role, Transcript
from ctxcli.renderers import RENDERERS

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
SHARED = ROOT.parent / "shared" / "transcripts"
CORE = ("claude-code", "codex", "openai-chat", "anthropic")


def every_fixture() -> list[Path]:
    """Every transcript of every format among the fixtures, but for the companions of others."""
    return sorted(file for name in FORMATS for file in (FIXTURES / name).glob("*") if file.is_file())


def fixture_files() -> list[Path]:
    """The transcripts of the formats with the most users, for what is checked on each; see also `every_fixture`."""
    return sorted(
        file for folder in CORE for file in (FIXTURES / folder).glob("*") if file.suffix in (".jsonl", ".json")
    )


def formats_of(report: str) -> list[str]:
    """The output formats that draw a report."""
    return [name for name, card in RENDERERS.items() if getattr(card, report) is not None]


def shared_files(*folders: str) -> list[Path]:
    """Real transcripts, where they are at hand."""
    return sorted(file for folder in folders for file in (SHARED / folder).glob("*"))


ABSENT = SHARED / "absent"
"""Stands for the real transcripts in a list of parameters where there are none: the test is skipped then."""
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the real transcripts are not on this machine")


def name_of(path: Path) -> str:
    """A test id: the folder and the file."""
    return f"{path.parent.name}/{path.name}"


def read(path: Path | str) -> list[Transcript]:
    """All conversations of a file."""
    return [loaded.transcript for loaded in load(str(path))]


def ctx(
    *arguments: object, stdin: bytes | None = None, cwd: Path = ROOT, **env: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the program as a user would, away from a terminal."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("CTX_", "NO_COLOR", "FORCE_COLOR", "COLUMNS"))
    }
    kept["CTX_CACHE_DIR"] = os.environ["CTX_CACHE_DIR"]
    return subprocess.run(
        [sys.executable, "-m", "ctxcli", *map(str, arguments)],
        input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL, capture_output=True, cwd=cwd, env={**kept, **env}, check=False, timeout=120,
    )  # fmt: skip


def golden(text: str, path: Path) -> None:
    """Hold a text to a golden file; CTX_WRITE_GOLDEN=1 writes it (read it before you commit it)."""
    if os.environ.get("CTX_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    assert path.exists(), f"no golden file {path.name}; CTX_WRITE_GOLDEN=1 writes it"
    assert text == path.read_text("utf-8")


def normal_form(transcript: Transcript) -> str:
    """A transcript in text: a line for each message, part, call and event."""
    return "\n".join(_normal_lines(transcript)) + "\n"


def _normal_lines(transcript: Transcript) -> Iterator[str]:
    facts = ("id", "window", "records", "duplicates", "many")
    yield " ".join([transcript.format, *(f"{name}={getattr(transcript, name)}" for name in facts)])
    for lane in transcript.lanes:
        yield f"lane {lane.name} title={lane.title!r} spawned_by={lane.spawned_by!r} tokens={lane.tokens} file={Path(lane.file).name!r}"
    calls = {call.at: call for call in transcript.calls}
    for index, message in enumerate(transcript.messages):
        for event in transcript.events:
            if event.at == index:
                yield _event_line(event)
        yield f"[{index}] {_message_line(message)}"
        yield from (f"      {_part_line(part)}" for part in message.parts)
        if index in calls:
            call = calls[index]
            yield f"      = call {call.id} model={call.model} {call.usage}"
    yield from (_event_line(event) for event in transcript.events if event.at >= len(transcript.messages))
    yield from (f"book {name} {count}" for name, count in transcript.bookkeeping)
    yield from (f"skip {skip.line} recovered={skip.recovered} {skip.reason}" for skip in transcript.skips)
    yield from (f"note {note}" for note in transcript.notes)


def _event_line(event: object) -> str:
    return f"! {event}"


def _message_line(message: Message) -> str:
    flags = "".join(f" {flag}" for flag in ("harness", "copied") if getattr(message, flag))
    return f"{message.lane} {message.role} lines={','.join(map(str, message.lines))}{flags} {message.time}".rstrip()


def _part_line(part: Part) -> str:
    text = part.text if len(part.text) <= 70 else f"{part.text[:50]}…({len(part.text)})…{part.text[-10:]}"
    facts = [
        f"{name}={getattr(part, name)!r}"
        for name in ("name", "ref", "address", "failed", "tokens", "media")
        if getattr(part, name)
    ]
    return " ".join([part.kind.value.upper(), f"L{part.line}", repr(text), *facts])


def plain_text(text: str, path: str = "after.md") -> Transcript:
    """A text as the reader of plain text gives it."""
    return Transcript("text", messages=(Message(Role.USER, (Part(PartKind.TEXT, text, line=1),), line=1),), path=path)


def chat(*said: tuple[str, str] | Message, folders: tuple[str, ...] = ()) -> Transcript:
    """A conversation of (role, text) pairs and of messages as they are, a line each."""
    messages = [
        replace(one, line=line)
        if isinstance(one, Message)
        else Message(Role(one[0]), (Part(PartKind.TEXT, one[1], line=line),), line=line)
        for line, one in enumerate(said, 1)
    ]
    return Transcript("chat", messages=tuple(messages), folders=folders, path="before.json")


def tool_call(name: str, arguments: str, ref: str = "t1", address: str = "") -> Message:
    """An assistant's message that calls one tool."""
    return Message(Role.ASSISTANT, (Part(PartKind.TOOL_CALL, arguments, name=name, ref=ref, address=address),))


def tool_result(text: str, ref: str = "t1", *, failed: bool = False) -> Message:
    """What a tool gave back."""
    return Message(Role.TOOL, (Part(PartKind.TOOL_RESULT, text, ref=ref, failed=failed),))
