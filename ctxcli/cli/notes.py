"""`ctx notes`."""

import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.note_files import append, book_of, report_of
from ctxcli.cli.output import canvas, emit
from ctxcli.cli.sources import Sources, say, say_skips
from ctxcli.errors import SettingError, UnreadableError
from ctxcli.files import find
from ctxcli.notes import Mark, Note, Notebook, Removal, new, record, resume, to_slots
from ctxcli.renderers import drawing_names
from ctxcli.slots import DECISIONS, IDENTIFIERS, SLOTS, parse, render

_TEXT = "text"
_DRAWN = drawing_names("notes")
notes_file = click.argument("notes", metavar="NOTES")
slot = click.option("--slot", type=click.Choice(SLOTS), help="Only this slot.")


@click.group("notes")
def command() -> None:
    """Keep constraints, decisions, identifiers and open items in a file that is only ever added to.

    NOTES is a file of JSON lines. What has been noted outlives every context: `ctx compact --notes` and `ctx guard
    --notes` read it, and `ctx notes resume` says what a fresh context needs of it.
    """


@command.command("add")
@opt.options(
    notes_file,
    click.option("--slot", type=click.Choice(SLOTS), required=True, help="What kind of entry it is."),
    click.option("--text", required=True, metavar="TEXT", help="The words, verbatim; - reads standard input."),
    click.option("--reason", metavar="TEXT", help="Why; of a decision it stands on the same line."),
    click.option("--type", "kind", metavar="KIND", help="Of an identifier: path, url … [default: by its look]"),
    click.option("--source", metavar="FILE", help="The transcript that says it."),
    click.option("--line", type=click.IntRange(1), metavar="N", help="And the line of it."),
)  # fmt: skip
def add(notes: str, **flags: Any) -> int:
    """Add one entry; one that stands already is not added again. Secrets are masked."""
    from ctxcli.identifiers.secrets import mask, secrets_in  # noqa: PLC0415

    words = [_given(flags["text"]), flags["reason"]]
    secrets = frozenset(secret for text in words if text for secret in secrets_in(text))
    if secrets:
        say(f"{len(secrets)} secret(s) masked: notes hold none")
    text, reason = (None if one is None else mask(one, secrets) for one in words)
    note = _located(_entry(flags["slot"], text or "", reason, flags["kind"]), flags["source"], flags["line"])
    added = append(notes, lambda book: [record(one) for one in new(book, [note])])
    emit([f"{notes}: {note.id} {'added' if added else 'stands already'}\n"])
    return 0


@command.command("extract")
@opt.options(
    notes_file, click.argument("transcript", metavar="TRANSCRIPT"), opt.conversation, opt.from_format, opt.tokenizer
)
def extract(notes: str, transcript: str, **flags: Any) -> int:
    """Add what a transcript says and the notes do not: the four slots of the turns that were not extracted before."""
    from ctxcli.compact.extracting import notes_from  # noqa: PLC0415
    from ctxcli.tokens import choose, counter  # noqa: PLC0415

    book = book_of(notes, needed=False)
    sources = Sources(flags["conversation"], flags["from_"])
    found: list[Note] = []
    marks: list[Mark] = []
    for path, one in sources.transcripts(list(find([transcript]))):
        say_skips(path, one)
        weigh = counter(choose(one.models, flags["tokenizer"]).name)
        fresh, mark = notes_from(one, book, weigh)
        found += fresh
        marks += [] if mark is None else [mark]
    if sources.failed:
        return 2
    added: list[Note] = []

    def lines(now: Notebook) -> list[str]:
        added.extend(new(now, found))
        return [*map(record, added), *(record(mark) for mark in marks if mark not in now.marks)]

    append(notes, lines)
    emit([f"{notes}: {_in_words(added, transcript)}\n"])
    return 0


@command.command("show")
@opt.options(
    notes_file, slot,
    click.option("-f", "--format", "format_", type=click.Choice([_TEXT, *_DRAWN]), default=_TEXT, show_default=True,
                 help="The slots as text; table and the others give the id of each entry."),
    opt.json_, opt.output,
)  # fmt: skip
def show(notes: str, **flags: Any) -> int:
    """Show what stands in the notes."""
    book = book_of(notes)
    for fault in book.faults:
        say(f"{notes}: line {fault.line}: {fault.reason}")
    if flags["format_"] == _TEXT and not flags["as_json"]:
        pieces = iter([_slots_text(book, flags["slot"])])
    else:
        report = report_of(notes, book, slot=flags["slot"])
        pieces = opt.drawing("notes", flags)([report], canvas(flags["output"], every_call=True))
    emit(pieces, flags["output"], inputs=lambda: [notes])
    return 0


@command.command("remove")
@opt.options(
    notes_file,
    click.argument("name", metavar="ID"),
    click.option("--reason", metavar="TEXT", help="Why it does not stand any more."),
)
def remove(notes: str, name: str, reason: str | None) -> int:
    """Take an entry out by its id, or by as much of it as no other id begins with; the file keeps both records."""
    from ctxcli.identifiers.secrets import mask, secrets_in  # noqa: PLC0415

    book_of(notes)
    gone: list[Note] = []
    why = None if reason is None else mask(reason, secrets_in(reason))

    def lines(book: Notebook) -> list[str]:
        gone.append(_meant(notes, book, name))
        return [record(Removal(gone[0].id, why, _now()))]

    append(notes, lines)
    emit([f"{notes}: {gone[0].id} removed\n"])
    return 0


@command.command("verify")
@opt.options(
    notes_file, click.argument("transcript", metavar="[TRANSCRIPT]", required=False),
    click.option("-f", "--format", "format_", type=click.Choice(["table", "json", "markdown"]), default="table",
                 show_default=True, help="How the report is written."),
    opt.json_, opt.output, opt.conversation, opt.from_format, opt.exit_zero,
)  # fmt: skip
def verify(notes: str, transcript: str | None, **flags: Any) -> int:
    """Say which lines are torn or altered; with TRANSCRIPT, which entries do not stand in it where they say.

    Exit 1 where there is such a line or entry, 3 where no entry was noted from TRANSCRIPT, so that nothing was checked.
    """
    from ctxcli.compact.extracting import strays  # noqa: PLC0415

    if notes == transcript == "-":
        raise click.UsageError("only one of NOTES and TRANSCRIPT can be standard input")
    book = book_of(notes)
    sources = Sources(flags["conversation"], flags["from_"])
    checked: int | None = None
    found = []
    for path, one in sources.transcripts(list(find([transcript]))) if transcript else ():
        say_skips(path, one)
        count, astray = strays(one, book)
        checked = (checked or 0) + count
        found += astray
    if sources.failed:
        return 2
    report = report_of(notes, book, transcript=transcript, checked=checked, strays=found)
    drawn = opt.drawing("notes", flags)([report], canvas(flags["output"]))
    emit(drawn, flags["output"], inputs=lambda: [notes, *sources.read])
    if checked == 0:
        say(f"no entry of {notes} was noted from {transcript}: nothing could be held against it")
    return sources.exit_code(failed=not report.ok, unchecked=checked == 0, exit_zero=flags["exit_zero"])


@command.command("resume")
@opt.options(
    notes_file,
    click.option("--tokens", type=click.IntRange(200), metavar="N", help="What it may take; the rest is counted."),
    opt.tokenizer, opt.output,
)  # fmt: skip
def resume_(notes: str, tokens: int | None, tokenizer: str | None, output: str | None) -> int:
    """Print what a fresh context needs of the notes, with where they are and what was left out."""
    from ctxcli.tokens import choose, counter  # noqa: PLC0415

    book = book_of(notes)
    for fault in book.faults:
        say(f"{notes}: line {fault.line}: {fault.reason}")
    weigh = counter(choose([], tokenizer).name) if tokens else None
    emit([resume(book, notes, weigh, tokens)], output, inputs=lambda: [notes])
    return 0


def _in_words(added: list[Note], transcript: str) -> str:
    """`3 constraints, 2 open added from FILE; 1 open superseded`."""
    said = []
    for what, superseded in (("added from", False), ("superseded by", True)):
        some = [note.slot for note in added if note.superseded is superseded]
        if some:
            counts = ", ".join(f"{some.count(name):,} {name}" for name in SLOTS if name in some)
            said.append(f"{counts} {what} {transcript}")
    return "; ".join(said) or f"nothing new in {transcript}"


def _slots_text(book: Notebook, slot: str | None) -> str:
    """The slots as text; one alone with its heading."""
    whole = render(to_slots(book))
    if slot is None:
        return whole
    rows = whole.split("\n")
    start = rows.index(f"## {slot.upper()}")
    return "\n".join([*rows[start : rows.index("", start)], ""])


def _meant(notes: str, book: Notebook, prefix: str) -> Note:
    """The one entry whose id begins so; raises UnreadableError for none and for several."""
    found = book.find(prefix) if prefix else []
    if len(found) == 1:
        return found[0]
    if found:
        raise UnreadableError(
            f"{notes}: {len(found):,} entries have an id that begins with {prefix!r}; give more of it"
        )
    gone = any(one.id.startswith(prefix.lower()) for one in book.removed if prefix)
    what = f"{prefix} was removed already" if gone else f"no entry has the id {prefix!r}"
    raise UnreadableError(f"{notes}: {what}; `ctx notes show {notes} -f table` lists what stands")


# -- the entry that `add` makes


def _given(text: str) -> str:
    if text == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise UnreadableError("standard input: is closed")
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise click.BadParameter("is empty", param_hint="--text")
    return text.strip()


def _entry(slot: str, text: str, reason: str | None, kind: str | None) -> Note:
    if kind and slot != IDENTIFIERS:
        raise click.UsageError("--type is for --slot identifiers")
    if slot == IDENTIFIERS:
        return Note(slot, text, reason, type=kind or _kind_of(text), time=_now())
    if slot != DECISIONS:
        return Note(slot, text, reason, time=_now())
    flat = " ".join(text.split())
    if reason and reason not in flat:
        flat = f"{flat} | because: {' '.join(reason.split())}"
    (read,) = parse(f"## DECISIONS\n- {flat}\n").slots.decisions or (None,)
    chosen, rejected, why = (read.chosen, read.rejected, read.reason) if read else (None, (), None)
    return Note(slot, flat, reason or why, chosen, rejected, time=_now())


def _kind_of(text: str) -> str | None:
    """The kind by which the whole text would be found."""
    from ctxcli.identifiers import extract as hits  # noqa: PLC0415

    return next((hit.kind for _, hit in hits(text, by_user=True) if hit.value == text), None)


def _located(note: Note, path: str | None, line: int | None) -> Note:
    """The entry with the place in a transcript that was given."""
    if (path is None) != (line is None):
        raise click.UsageError("--source and --line go together")
    if path is None or line is None:
        return note
    from ctxcli.compact.extracting import placed_at  # noqa: PLC0415

    sources = Sources()
    for _, transcript in sources.transcripts(list(find([path]))):
        if (found := placed_at(transcript, note, line)) is not None:
            return found
    if sources.failed:
        raise UnreadableError(f"{path}: nothing was added")
    raise UnreadableError(f"{path}: no message stands on line {line}; nothing was added")


def _now() -> str:
    """The time, or that of SOURCE_DATE_EPOCH."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        moment = datetime.fromtimestamp(int(fixed) if fixed else int(time.time()), UTC)
    except (ValueError, OverflowError, OSError):
        raise SettingError(f"SOURCE_DATE_EPOCH={fixed}: is no number of seconds") from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
