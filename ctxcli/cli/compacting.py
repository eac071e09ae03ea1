"""One run of `ctx compact`: from a source to bytes that were checked, the notes, the event and the reports."""

from collections.abc import Iterator
from typing import Any

from ctxcli.change import Change, applied
from ctxcli.cli import options as opt
from ctxcli.cli.asking import plan_pieces
from ctxcli.cli.compact_asking import asker_for, spent_by
from ctxcli.cli.compact_notes import NotesFile
from ctxcli.cli.compact_pass import Pass, Run, begun, guard_flags, shorten
from ctxcli.cli.guard_policy import policy_of
from ctxcli.cli.output import canvas, emit
from ctxcli.cli.sources import say, say_skips
from ctxcli.compact.conclude import Written, conclude, digest_of, is_error, new_violations
from ctxcli.compact.context import start_of
from ctxcli.compact.session import Outcome
from ctxcli.errors import CtxError, UnreadableError
from ctxcli.files import find, load
from ctxcli.files.append import append_lines
from ctxcli.files.containers import unpacker
from ctxcli.files.load import is_claimed
from ctxcli.files.streams import STDIN
from ctxcli.files.whole import read_whole, transcripts_in
from ctxcli.formats import FORMATS, TARGETS, conversation_of, convert
from ctxcli.guard.run import guard_context
from ctxcli.identifiers import Extractor
from ctxcli.identifiers.custom import kinds_of
from ctxcli.model import Transcript
from ctxcli.renderers.json import dump
from ctxcli.renderers.view import plural
from ctxcli.reports.compact import CompactReport, OutputFile
from ctxcli.rules import GUARD_FAILS, INVALID_RESULT
from ctxcli.validity import check, profile_of

_SAME = "same"


def run(name: str, flags: dict[str, Any]) -> int:
    """Compact what a source holds; returns the exit code. Nothing is written unless every conversation may be."""
    name = _one_source(name)
    if unpacker(name) is not None and flags["output_format"] == _SAME:
        raise UnreadableError(
            f"{name}: a folder, an archive or a database is not written back; say --output-format openai-chat, for one"
        )
    data = read_whole(name)
    found = transcripts_in(data, STDIN, flags["from_"]) if name == STDIN else _loaded(name, flags["from_"])
    notes = NotesFile.opened(flags["notes"])
    extractor = Extractor(kinds_of(flags["config"].values.get("kinds", {})))
    policy = policy_of(guard_flags(flags), extractor.kinds)
    shared = Run(flags, policy, extractor, notes, asker_for(flags), data)
    passes = [begun(transcript, shared) for transcript in _chosen(found, flags["conversation"])]
    _shorten(passes, name, shared)
    plans = [one.asking.plan() for one in passes if one.outcome is None and one.asking.planned]
    if plans:
        emit(plan_pieces(plans, flags))
        return 0
    output, added = None, 0
    if any(one.outcome for one in passes):
        written = _written(data, found, passes, flags["output_format"])
        _check(written, found, passes, notes, flags)
        if not any(one.refused for one in passes) and not flags["dry_run"]:
            added = notes.append()
            output = _emit(written, name, passes[0].session.transcript.format, flags)
    _report([_concluded(one, output, notes, added) for one in passes], name, flags)
    return 1 if any(one.refused for one in passes) else 0


def _shorten(passes: list[Pass], name: str, run: Run) -> None:
    """The strategies on each conversation; a model that was asked in vain is not forgotten."""
    try:
        for one in passes:
            say_skips(name, one.session.transcript)
            shorten(one, run.flags)
            if one.outcome is not None and one.outcome.steps:
                run.notes.extract(one.session)
    except (CtxError, KeyboardInterrupt):
        if spent := spent_by(run.asker):
            say(spent)
        raise


def _one_source(name: str) -> str:
    """The one transcript that a name means: a folder may hold it. Raises UnreadableError for none, and for several."""
    found = list(find([name]))
    if found and found[0].error:
        raise UnreadableError(found[0].error)
    paths = [one.path for one in found if one.named or is_claimed(one.path)]
    if len(paths) != 1:
        raise UnreadableError(f"{name}: holds {len(paths):,} transcripts; name one of them")
    return paths[0]


def _loaded(name: str, from_: str | None) -> list[Transcript]:
    return [one.transcript for one in load(name, format_name=from_)]


def _chosen(found: list[Transcript], wanted: str | None) -> list[Transcript]:
    chosen = [one for at, one in enumerate(found, 1) if wanted is None or wanted in (one.id, str(at))]
    if not chosen:
        raise UnreadableError(f"no conversation is called {wanted!r}; there are {len(found):,}, by number too")
    return chosen


# -- the bytes


def _written(data: bytes, found: list[Transcript], passes: list[Pass], output_format: str) -> bytes:
    """The source with its conversations changed, or those that were chosen in another format."""
    changes: dict[int, Change | None] = {id(one.session.transcript): _change(one) for one in passes}
    if output_format != _SAME:
        if len(passes) > 1 and not TARGETS[output_format].many:
            raise UnreadableError(
                f"{TARGETS[output_format].title} holds one conversation: choose one by --conversation"
            )
        pieces = []
        for one in passes:
            messages = (
                one.session.messages if one.outcome is None else applied(one.session.transcript, one.outcome.change)
            )
            said = conversation_of(one.session.transcript, messages)
            text, lost = convert(said, output_format, one_line=len(passes) > 1)
            one.remarks += lost
            pieces.append(text)
        return b"".join(pieces)
    format_ = FORMATS[found[0].format]
    if format_.write is None:
        raise UnreadableError(f"{format_.title}: cannot be written back; say --output-format openai-chat")
    return format_.write(data, [(one, changes.get(id(one))) for one in found])


def _change(one: Pass) -> Change | None:
    """The change to write; None where the conversation stays as it is."""
    return one.outcome.change if one.outcome and one.outcome.change != one.outcome.start else None


def _check(data: bytes, found: list[Transcript], passes: list[Pass], notes: NotesFile, flags: dict[str, Any]) -> None:
    """Read the final bytes again: they have to be valid, and to hold what the guard requires."""
    name = flags["output"] or STDIN
    again = transcripts_in(data, name, None if flags["output_format"] == _SAME else flags["output_format"])
    whole = flags["output_format"] == _SAME
    places = [at for at, one in enumerate(found) if any(one is each.session.transcript for each in passes)]
    for number, one in enumerate(passes):
        at = places[number] if whole else number
        if at >= len(again):
            one.refused = "The result does not read back as it was written."
            continue
        _check_one(one, again[at], notes, flags)


def _check_one(one: Pass, after: Transcript, notes: NotesFile, flags: dict[str, Any]) -> None:
    if one.outcome is None:
        return
    session, profile = one.session, one.settings.profile or profile_of(one.session.transcript)
    broken = new_violations(session, profile, one.outcome)
    if flags["output_format"] == _SAME:
        messages = applied(after, start_of(after))
        broken += [
            found for found in check(messages, profile) if found.rule not in session.broken(profile) and is_error(found)
        ]
    if broken:
        first = f"{broken[0].rule} at line {broken[0].line}: {broken[0].why}"
        one.refused = f"{INVALID_RESULT.name}: the result is not valid for {profile}: {first}"
    if not flags["no_guard"]:
        one.guard = guard_context(session.before, after, session.policy, session.weigh, notes=notes.after())
        if one.guard.verdict == "loss" and not one.refused:
            one.refused = (
                f"{GUARD_FAILS.name}: the guard fails. What is required takes {one.guard.tokens_to_carry:,} tokens; "
                "raise --target or --summary-tokens, give --notes FILE, or say --no-guard."
            )


def _emit(data: bytes, name: str, format_name: str, flags: dict[str, Any]) -> OutputFile:
    output = flags["output"] or STDIN
    others = [name, *(flags[key] for key in ("notes", "events", "summary") if flags[key])]
    emit([data], output, inputs=lambda: others)
    written = format_name if flags["output_format"] == _SAME else flags["output_format"]
    return OutputFile(output, written, digest_of(data))


# -- the report


def _concluded(one: Pass, output: OutputFile | None, notes: NotesFile, added: int) -> CompactReport:
    outcome = one.outcome or Outcome.unchanged(one.session.start)
    written = Written(
        guard=one.guard, output=output if one.outcome else None, notes=notes.used(added),
        trigger=one.trigger, exact=one.exact, refused=one.refused, remarks=tuple(one.remarks),
        done=one.outcome is not None, model=one.asking.use(),
    )  # fmt: skip
    return conclude(one.session, one.settings, outcome, written)


def _report(reports: list[CompactReport], name: str, flags: dict[str, Any]) -> None:
    """The reports to where they were asked for, a word on standard error where that was nowhere, and the events."""
    if flags["events"] and not flags["dry_run"]:
        append_lines(flags["events"], lambda _: [dump(report) for report in reports])
    if flags["output"] or flags["dry_run"]:
        emit(opt.drawing("compact", flags)(iter(reports), canvas(None)))
    else:
        for line in _in_words(reports):
            say(f"{name}: {line}")


def _in_words(reports: list[CompactReport]) -> Iterator[str]:
    for report in reports:
        if report.steps:
            yield (
                f"{report.tokens_before:,} tokens became {report.tokens_after:,}, "
                f"{report.messages_before:,} messages {report.messages_after:,}"
            )
        used = report.summariser
        if used.usage is not None:
            yield (
                f"{used.model}: {plural(used.usage['calls'], 'question')}, {used.usage['prompt']:,} tokens sent, "
                f"{used.usage['output']:,} answered" + ("" if used.cost is None else f", ${used.cost:.4f}")
            )
        if used.repaired:
            yield f"repaired: {plural(len(used.repaired), 'item')}"
        yield from report.remarks
