"""The append-only notes: what is written is read, what is torn or altered is said, and two writers lose nothing."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.errors import UnreadableError
from ctxcli.files.append import append_lines
from ctxcli.notes import Mark, Note, Notebook, Removal, Source, is_notes, new, notes_of, parse, record, to_slots
from ctxcli.reports.slots import Decision, Entry, Slots
from ctxcli.slots import SLOTS
from support import ROOT


def whole(text: str) -> str:
    """Halves of a character that meet are the character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


texts = st.text(st.characters(), max_size=20).map(whole) | st.sampled_from(
    ["lone \ud83d", "line\nfeed\r", "\u2028\u0085", '"}', "never touch it", "\0"]
)
maybe = st.none() | texts
sources = st.builds(Source, texts, maybe)
lines = st.integers(1, 10**6)
notes = st.builds(
    Note, st.sampled_from(SLOTS), texts, maybe, maybe, st.lists(texts, max_size=2).map(tuple), maybe, st.booleans(),
    st.none() | sources, st.none() | lines, maybe, texts,
)  # fmt: skip
items = (
    notes
    | st.builds(Removal, st.sampled_from(["0123456789abcdef", "x"]), maybe, texts)
    | st.builds(Mark, sources, lines, texts, lines, texts)
)


def written(*some: Note | Removal | Mark) -> bytes:
    return "".join(f"{record(one)}\n" for one in some).encode()


def read(content: bytes) -> Notebook:
    return parse(content.splitlines(keepends=True) if b"\r" not in content else _at_feeds(content))


def _at_feeds(content: bytes) -> list[bytes]:
    return [piece + b"\n" for piece in content.split(b"\n")[:-1]] + [content.split(b"\n")[-1]]


A = Note("constraints", "Never touch it.", line=3, hash="ab", source=Source("s.jsonl", "c1"), time="2026-01-01")
B = Note("decisions", "pnpm instead of npm", "the lock file is its", "pnpm", ("npm",))
C = Note("identifiers", "src/a.py", type="path")
D = Note("open", "does it build?")


# -- laws


@given(items)
def test_what_is_written_is_read(item: Note | Removal | Mark) -> None:
    line = record(item)
    assert "\n" not in line
    book = parse([line.encode()])
    assert (*book.entries, *book.removed, *book.marks) == (item,)
    assert not book.faults


@given(st.lists(st.tuples(st.sampled_from([A, B, C, D]), st.booleans()), max_size=12))
def test_adding_and_removing_folds_like_a_dict(steps: list[tuple[Note, bool]]) -> None:
    model: dict[str, Note] = {}
    gone: set[str] = set()
    for note, adds in steps:
        if adds:
            model[note.id] = note
            gone.discard(note.id)
        else:
            model.pop(note.id, None)
            gone.add(note.id)
    book = read(written(*(note if adds else Removal(note.id) for note, adds in steps)))
    assert list(book.entries) == list(model.values())
    assert {one.id for one in book.removed} == gone


@given(st.lists(items, min_size=1, max_size=4), st.data())
def test_a_file_that_breaks_off_anywhere_loses_only_what_was_being_written(
    some: list[Note | Removal | Mark], data: st.DataObject
) -> None:
    content = written(*some)
    cut = data.draw(st.integers(0, len(content)))
    kept = content[:cut]
    complete = kept.count(b"\n")
    last = kept.rpartition(b"\n")[2]
    is_whole = complete < len(some) and last == record(some[complete]).encode()
    book = read(kept)
    wanted = read(written(*some[: complete + is_whole]))
    assert (book.entries, book.removed, book.marks) == (wanted.entries, wanted.removed, wanted.marks)
    assert [fault.line for fault in book.faults] == ([complete + 1] if last and not is_whole else [])
    assert is_notes(kept)


@given(st.lists(items, min_size=1, max_size=3), st.data())
def test_a_byte_that_was_changed_is_found(some: list[Note | Removal | Mark], data: st.DataObject) -> None:
    content = bytearray(written(*some))
    at = data.draw(st.integers(0, len(content) - 2))
    content[at] ^= data.draw(st.integers(1, 255))
    line = content[:at].count(b"\n") + 1
    assert {line, line + 1} & {fault.line for fault in read(bytes(content)).faults}  # it may have become a line feed


@given(st.lists(notes, max_size=6))
def test_adding_twice_adds_nothing(some: list[Note]) -> None:
    first = new(Notebook(), some)
    assert new(parse(line.encode() for line in map(record, first)), first[-1:]) == []
    assert len({note.id for note in some}) <= len(first) <= len(some)


@given(notes, maybe, texts)
def test_what_an_entry_says_decides_which_one_it_is(note: Note, other: str | None, time: str) -> None:
    assert replace(note, time=time, line=1, chosen=other, text=f" {note.text}\n").id == note.id
    assert (replace(note, reason=other).id == note.id) == (note.reason == other)


# -- cases


def test_slots_and_back() -> None:
    slots = Slots(
        (Entry("Never touch it.", 3), Entry("No npm. (superseded by line 9)", 4)),
        (Decision("pnpm", "pnpm", ("npm",), "its lock file", 5),),
        {"path": ("a.py", "b.py"), "version": ("1.2.3",)},
        (Entry("does it build?", 8),),
    )
    some = notes_of(slots, Source("s.jsonl"), "2026-01-01")
    assert [note.superseded for note in some if note.slot == "constraints"] == [False, True]
    assert to_slots(Notebook(tuple(some))) == replace(
        slots, constraints=(slots.constraints[0], Entry("No npm. (superseded)", 4))
    )


def test_what_is_superseded_since_is_recorded_once_and_keeps_its_place() -> None:
    book = read(written(A, D))
    again = [replace(A, superseded=True), replace(D, superseded=True), B]
    assert new(book, again) == again
    later = read(written(A, D, *again))
    assert later.entries == tuple(again)
    assert new(later, again) == []
    assert not to_slots(later).open
    assert to_slots(later).constraints[0].text == "Never touch it. (superseded)"


def test_faults_say_what_kind_they_are() -> None:
    good = record(A).encode()
    other = good.replace(b"Never", b"Always")
    book = parse([good, b"\n", other, good[:40], b"# by hand\n", good.replace(b":1,", b":2,", 1), good + b"\r\n"])
    assert book.entries == (A,)
    assert [fault.line for fault in book.faults] == [3, 4, 5, 6]
    reasons = [fault.reason.split(":")[0] for fault in book.faults]
    assert reasons == ["altered since ctx wrote it", "a record that breaks off", "no record of ctx", "altered since ctx wrote it"]  # fmt: skip
    assert [fault.recovered for fault in book.faults] == [False, True, False, False]


@pytest.mark.parametrize(("content", "ours"), [
    (b"", True), (b"\n", True), (b'{"ki', True), (record(A)[:30].encode(), True), (b"# Title\n", False),
    (b'{"type":"user"}\n', False), (b"x\n" + record(A).encode(), True), (b"[\n", False), (b"{\n", False),
])  # fmt: skip
def test_a_file_of_another_kind_is_known_as_one(content: bytes, ours: bool) -> None:
    assert is_notes(content) is ours


# -- the file


def test_lines_are_added_behind_a_torn_one(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(written(A) + written(B)[:50])
    assert append_lines(str(path), lambda content: [record(C)] * content.count(b"\n")) == 1
    book = read(path.read_bytes())
    assert book.entries == (A, C)
    assert [(fault.line, fault.recovered) for fault in book.faults] == [(2, True)]


def test_nothing_to_add_writes_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    assert append_lines(str(path), lambda _: []) == 0
    assert list(tmp_path.iterdir()) == []
    assert append_lines(str(path), lambda _: [record(A)]) == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_new_file_follows_the_umask_and_an_old_one_keeps_what_it_had(tmp_path: Path) -> None:
    path, link = tmp_path / "notes.jsonl", tmp_path / "link"
    before = os.umask(0o077)
    try:
        append_lines(str(path), lambda _: [record(A)])
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    link.symlink_to(path)
    append_lines(str(link), lambda _: [record(B)])
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert read(path.read_bytes()).entries == (A, B)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for name in ("", "-", str(tmp_path), str(tmp_path / "none" / "notes.jsonl")):
        with pytest.raises(UnreadableError):
            append_lines(name, lambda _: ["x"])


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.jsonl"
    append_lines(str(path), lambda _: [record(A)])
    real = os.write
    left = [10]

    def full(stream: int, data: bytes) -> int:
        if left[0] <= 0 and len(data) > 0 and os.fstat(stream).st_size:
            raise OSError(28, "No space left on device")
        left[0] -= 10
        return real(stream, data[:10])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(UnreadableError, match="No space left"):
        append_lines(str(path), lambda _: [record(B)])
    monkeypatch.undo()
    assert path.read_bytes() == written(A)


WRITER = """
import sys
from ctxcli.files.append import append_lines
from ctxcli.notes import Note, record
for number in range(int(sys.argv[3])):
    append_lines(sys.argv[1], lambda _: [record(Note("open", f"{sys.argv[2]} {number}"))])
    print(number, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, path, name, str(count)], cwd=ROOT, stdout=subprocess.PIPE)


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    both = [writer(path, name, 60) for name in "ab"]
    for process in both:
        process.communicate(timeout=100)
        assert process.returncode == 0
    book = read(path.read_bytes())
    assert not book.faults
    assert {note.text for note in book.entries} == {f"{name} {number}" for name in "ab" for number in range(60)}


def test_a_process_that_is_killed_loses_nothing_that_it_said_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    process = writer(path, "a", 10**9)
    assert process.stdout is not None
    said = [int(process.stdout.readline()) for _ in range(20)]
    process.kill()
    rest, _ = process.communicate(timeout=100)
    said += [int(line) for line in rest.split(b"\n")[:-1]]
    content = path.read_bytes()
    book = read(content)
    assert {f"a {number}" for number in said} <= {note.text for note in book.entries}
    assert all(fault.recovered and fault.line == book.lines for fault in book.faults)
    assert append_lines(str(path), lambda _: [record(A)]) == 1
    assert A in read(path.read_bytes()).entries
