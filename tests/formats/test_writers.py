"""The law of every format that writes: what is read again is the context that the change makes."""

import random
import shutil
from pathlib import Path

import pytest

from ctxcli.change import Change, applied
from ctxcli.errors import UnreadableError
from ctxcli.formats import FORMATS
from ctxcli.model import MAIN, Call, EventKind, Message, PartAt, PartKind, Role, Transcript
from ctxcli.replay import live
from support import fixture_files, name_of, read, shared_files

FIXTURES = [file for file in fixture_files() if FORMATS[file.parent.name].write is not None]
SHARED = [file for file in shared_files("claude-code", "codex", "openai-chat") if FORMATS[file.parent.name].write]
EMPTY = [pytest.param(Path("none/none"), marks=pytest.mark.skip(reason="the real transcripts are not on this machine"))]
SUMMARY = "[Compacted by ctx · {0} messages]\n\n## CONSTRAINTS\n- never “force” \\push\\ \ud83d é\n"
UNWRITABLE = ("conversations.jsonl#3", "retail-few-shot.jsonl#1", "retail-few-shot.jsonl#2", "retail-few-shot.jsonl#3")
"""Conversations that are printed as one text."""
Row = tuple[str, tuple[tuple[str, str, str, bool], ...]]


def start(transcript: Transcript) -> Change:
    """The context as it is, with what was cleared or stripped in it."""
    now, cleared = live(transcript)
    stripped = {at for event in transcript.events if event.kind is EventKind.STRIP for at in event.clears}
    inside = frozenset(now)
    texts: dict[PartAt, str] = {}
    gone = {at for at in stripped if at[0] in inside}
    for index, number in cleared:
        part = transcript.messages[index].parts[number]
        if index in inside and part.kind is PartKind.TOOL_RESULT:
            texts[index, number] = "[cleared]"
        elif index in inside:
            gone.add((index, number))
    return Change(tuple(sorted(now)), texts, frozenset(gone))


def some_change(transcript: Transcript, dice: random.Random) -> Change:
    """A change of the kind that strategies make, drawn at random."""
    before = start(transcript)
    messages = transcript.messages
    keep = tuple(
        index for index in before.keep if messages[index].role is Role.SYSTEM or dice.random() < 0.6
    )  # fmt: skip
    texts, gone = dict(before.texts), set(before.gone)
    for index in keep:
        for number, part in enumerate(messages[index].parts):
            hidden = part.kind in (PartKind.THINKING, PartKind.OPAQUE) and part.name != "compaction"
            if (hidden or part.kind is PartKind.TOOL_CALL) and dice.random() < 0.5:
                gone.add((index, number))
            elif part.kind is PartKind.TOOL_RESULT and (at := dice.random()) < 0.7:
                together = media_of(messages[index], part.ref)
                if at < 0.4:
                    texts[index, number] = "[cleared by ctx: “old”]"
                    gone.update((index, one) for one in together)
                elif at < 0.5:
                    texts[index, number] = "other \ud83d text"
                elif at < 0.6:
                    gone.update((index, one) for one in (number, *together))
                    texts.pop((index, number), None)
    said = [index for index in before.keep if messages[index].role is not Role.SYSTEM]
    stays = [
        index for index in keep
        if messages[index].role is not Role.SYSTEM and any((index, at) not in gone for at in range(len(messages[index].parts)))
    ]  # fmt: skip
    summary = SUMMARY.format(dice.randrange(10**6)) if said and (dice.random() < 0.8 or not stays) else ""
    sealed = max((index for index in keep if is_block(messages[index])), default=-1)
    places = [index for index in (*said, said[-1] + 1) if index > sealed] if said else [0]
    return Change(keep, texts, frozenset(gone), summary, dice.choice(places))


def is_block(message: Message) -> bool:
    """Whether a provider drops everything before a message."""
    summed_up = any(part.kind is PartKind.SUMMARY or part.name == "compaction" for part in message.parts)
    return summed_up and message.role is Role.ASSISTANT


def media_of(message: Message, ref: str) -> list[int]:
    return [
        number for number, part in enumerate(message.parts) if part.kind is PartKind.MEDIA and ref and part.ref == ref
    ]


def rows(messages: tuple[Message, ...] | list[Message]) -> list[Row]:
    """What is in a context; who speaks of a message that holds results and media alone follows from them."""
    return [
        (
            "user" if message.role is Role.TOOL else message.role.value,
            tuple((part.kind.value, part.text, part.ref, part.failed) for part in message.parts),
        )
        for message in messages
        if message.parts
    ]


def context(transcript: Transcript) -> list[Row]:
    return rows(applied(transcript, start(transcript)))


def write(file: Path, found: list[Transcript], changes: list[Change | None]) -> bytes:
    writer = FORMATS[found[0].format].write
    assert writer is not None
    return writer(file.read_bytes(), list(zip(found, changes, strict=True)))


def changed(file: Path) -> list[tuple[list[Transcript], int]]:
    """Each conversation of a file (of many the first ones), with its number."""
    found = read(file)
    return [(found, number) for number in range(min(len(found), 3))]


@pytest.mark.parametrize("file", FIXTURES + SHARED, ids=name_of)
def test_nothing_changed_is_nothing_written(file: Path) -> None:
    found = read(file)
    assert write(file, found, [None] * len(found)) == file.read_bytes()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("file", FIXTURES, ids=name_of)
def test_what_is_written_reads_as_the_context_that_the_change_makes(file: Path, seed: int, tmp_path: Path) -> None:
    hold_to_the_law(file, seed, tmp_path)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("file", SHARED or EMPTY, ids=name_of)
def test_the_law_holds_for_real_transcripts(file: Path, seed: int, tmp_path: Path) -> None:
    hold_to_the_law(file, seed, tmp_path)


def hold_to_the_law(file: Path, seed: int, folder: Path) -> None:
    """Two compactions in a row, each of what the one before made."""
    for found, number in changed(file):
        dice = random.Random(f"{file.name}{number}{seed}")
        change = some_change(found[number], dice)
        target = folder / file.name
        if file.with_suffix("").is_dir():
            shutil.copytree(file.with_suffix(""), target.with_suffix(""), dirs_exist_ok=True)
        if f"{file.name}#{number + 1}" in UNWRITABLE:
            with pytest.raises(UnreadableError, match="--output-format"):
                write(file, found, [change if one == number else None for one in range(len(found))])
            continue
        target.write_bytes(write(file, found, [change if one == number else None for one in range(len(found))]))
        again = read(target)
        place = held(found, number, change, again)
        twice = some_change(again[place], dice)
        target.write_bytes(write(target, again, [twice if one == place else None for one in range(len(again))]))
        held(again, place, twice, read(target))


def of_main(transcript: Transcript) -> tuple[list[Message], list[Call]]:
    """The messages and the calls of the conversation itself."""
    messages = [one for one in transcript.messages if one.lane == MAIN]
    return messages, [one for one in transcript.calls if one.lane == MAIN]


def held(before: list[Transcript], number: int, change: Change, again: list[Transcript]) -> int:
    """Hold what is read again to the law; returns the number of the conversation that changed."""
    contexts = [context(one) for one in again]
    after = rows(applied(before[number], change))
    assert after in contexts
    for other, one in enumerate(before):
        assert other == number or context(one) in contexts
    own = again[contexts.index(after)]
    if own.format in ("claude-code", "codex"):
        old, new = (of_main(one) for one in (before[number], own))
        assert new[1] == old[1]
        assert new[0][: len(old[0])] == old[0]
        assert all(one.copied or one.harness for one in new[0][len(old[0]) :])
        assert sum(one.lane != MAIN for one in own.messages) == sum(one.lane != MAIN for one in before[number].messages)
    if change.summary:
        (place,) = (at for at, one in enumerate(own.messages) if any(part.text == change.summary for part in one.parts))
        assert [part.kind for part in own.messages[place].parts] == [PartKind.SUMMARY]
        assert own.messages[place].harness
        assert [event.kind for event in own.events if event.summary == place] == [EventKind.SUMMARY]
    return contexts.index(after)
