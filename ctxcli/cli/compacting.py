"""One run of `ctx compact`: from a source to bytes that were checked, the notes, the event and the reports."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import click

from ctxcli.budget import Limits, usable_window
from ctxcli.change import Change, applied
from ctxcli.cli import options as opt
from ctxcli.cli.compact_notes import NotesFile
from ctxcli.cli.guard_policy import policy_of
from ctxcli.cli.output import canvas, emit
from ctxcli.cli.prompt import instructions_of
from ctxcli.cli.sources import say, say_skips
from ctxcli.compact.conclude import Written, conclude, digest_of, new_violations
from ctxcli.compact.context import Keep
from ctxcli.compact.session import Outcome, Session
from ctxcli.compact.settings import Settings
from ctxcli.compact.window import in_use
from ctxcli.errors import UnreadableError
from ctxcli.files import load
from ctxcli.files.append import append_lines
from ctxcli.files.streams import STDIN
from ctxcli.files.text import read_text
from ctxcli.files.whole import read_whole, transcripts_in
from ctxcli.formats import FORMATS, convert
from ctxcli.guard import Policy
from ctxcli.guard.run import guard_context
from ctxcli.identifiers import Extractor
from ctxcli.identifiers.custom import kinds_of
from ctxcli.model import Transcript
from ctxcli.renderers.json import dump
from ctxcli.replay import live
from ctxcli.reports.compact import CompactReport, OutputFile
from ctxcli.reports.guard import GuardReport
from ctxcli.rules import GUARD_FAILS, INVALID_RESULT, NOT_SMALLER, OVER_BUDGET
from ctxcli.summarisers.command import asking, stored
from ctxcli.task import Results
from ctxcli.tokens import CountCache, choose, counter
from ctxcli.validity import check, profile_of

_SAME = "same"


@dataclass(slots=True)
class _Pass:
    """One conversation on its way."""

    session: Session
    settings: Settings
    exact: bool
    outcome: Outcome | None = None
    """None where the trigger was not reached."""
    guard: GuardReport | None = None
    refused: str = ""
    remarks: list[str] = field(default_factory=list)
    trigger: str = "manual"


def run(name: str, flags: dict[str, Any]) -> int:
    """Compact what a source holds; returns the exit code. Nothing is written unless every conversation may be."""
    data = read_whole(name)
    found = transcripts_in(data, STDIN, flags["from_"]) if name == STDIN else _loaded(name, flags["from_"])
    notes = NotesFile.opened(flags["notes"])
    extractor = Extractor(kinds_of(flags["config"].values.get("kinds", {})))
    policy = policy_of(_guard_flags(flags), extractor.kinds)
    passes = [
        _pass(transcript, policy, extractor, notes, flags) for transcript in _chosen(found, flags["conversation"])
    ]
    for one in passes:
        say_skips(name, one.session.transcript)
        _shorten(one, flags)
        if one.outcome is not None and one.outcome.steps:
            notes.extract(one.session)
    output, added = None, 0
    if any(one.outcome for one in passes):
        written = _written(data, found, passes, flags["output_format"])
        _check(written, found, passes, notes, flags)
        if not any(one.refused for one in passes) and not flags["dry_run"]:
            added = notes.append()
            output = _emit(written, name, passes[0].session.transcript.format, flags)
    _report([_concluded(one, output, notes, added) for one in passes], name, flags)
    return 1 if any(one.refused for one in passes) else 0


def _loaded(name: str, from_: str | None) -> list[Transcript]:
    return [one.transcript for one in load(name, format_name=from_)]


def _guard_flags(flags: dict[str, Any]) -> dict[str, Any]:
    """The guard's policy, from its own table of the settings."""
    own = opt.own_settings(flags["config"], "guard")
    usual: dict[str, Any] = {"require": (), "kinds": (), "ignore": (), "min_kept": (), "strict": False}
    return {**usual, "allow_unverifiable": False, **own, "config": flags["config"]}


def _chosen(found: list[Transcript], wanted: str | None) -> list[Transcript]:
    chosen = [one for at, one in enumerate(found, 1) if wanted is None or wanted in (one.id, str(at))]
    if not chosen:
        raise UnreadableError(f"no conversation is called {wanted!r}; there are {len(found):,}, by number too")
    return chosen


def _pass(
    transcript: Transcript, policy: Policy, extractor: Extractor, notes: NotesFile, flags: dict[str, Any]
) -> _Pass:
    models = list(dict.fromkeys(call.model for call in transcript.calls if call.model))
    choice = choose(models, flags["tokenizer"])
    session = Session(transcript, policy, counter(choice.name, CountCache() if flags["cache"] else None), extractor)
    return _Pass(session, _settings(flags, notes), choice.exact)


def _settings(flags: dict[str, Any], notes: NotesFile) -> Settings:
    messages, tokens = flags["keep_last"] or (None, None)
    ask, summariser = None, "extractive"
    if flags["summary"]:
        answer = read_text(flags["summary"], sure=True)
        ask, summariser = stored(answer.messages[0].parts[0].text if answer else ""), "replayed"
    elif flags["summariser"]:
        ask, summariser = asking(flags["summariser"]), "command"
    for pin in flags["pin"]:
        try:
            re.compile(pin)
        except re.error as error:
            raise click.BadParameter(f"{pin!r} is no regular expression: {error}", param_hint="--pin") from None
    return Settings(
        strategies=flags["strategy"], target=flags["target"],
        keep_last=Keep(messages, tokens) if flags["keep_last"] else None,
        pins=flags["pin"], summary_tokens=flags["summary_tokens"],
        results=Results(flags["keep_results"], frozenset(flags["exclude_tool"]), flags["clear_at_least"]),
        profile=flags["profile"], ask=ask, ask_again=summariser == "command", summariser=summariser,
        instructions=instructions_of(flags["instructions"]), notes_name=notes.path or "", notes=notes.slots,
    )  # fmt: skip


def _shorten(one: _Pass, flags: dict[str, Any]) -> None:
    """Run the strategies, unless the trigger says that there is room."""
    trigger = flags["trigger"]
    if trigger is not None:
        limit, used = _limit(one, trigger, flags), in_use(one.session)
        if used < limit:
            one.remarks.append(f"Nothing was done: {used:,} tokens are in use, the trigger is at {limit:,}.")
            return
        one.trigger = "budget"
    one.outcome = one.session.compact(one.settings)
    tokens = one.session.weight(one.outcome.change)
    if flags["budget"] is not None and tokens > flags["budget"]:
        one.refused = f"{OVER_BUDGET.name}: the result weighs {tokens:,} tokens and does not fit into the budget of {flags['budget']:,}."
    if tokens > one.session.tokens and not one.outcome.mended.repairs:
        one.refused = f"{NOT_SMALLER.name}: the result would weigh {tokens:,} tokens, more than the {one.session.tokens:,} before."


def _limit(one: _Pass, trigger: int | float, flags: dict[str, Any]) -> int:
    """Where the trigger stands, in tokens; raises UsageError for a share of a window that nobody knows."""
    if isinstance(trigger, int):
        return trigger
    transcript = one.session.transcript
    models = list(dict.fromkeys(call.model for call in transcript.calls if call.model))
    limits = Limits(max_context=flags["max_context"], reserve_output=flags["reserve_output"])
    usable = usable_window(limits, models, transcript.window, recorded_is_usable=transcript.window_is_usable).usable
    if usable is None:
        raise click.UsageError("--trigger as a share wants the window: --max-context 200k, or give it in tokens")
    return int(usable * trigger)


# -- the bytes


def _written(data: bytes, found: list[Transcript], passes: list[_Pass], output_format: str) -> bytes:
    """The source with its conversations changed, or those that were chosen in another format."""
    changes: dict[int, Change | None] = {id(one.session.transcript): _change(one) for one in passes}
    if output_format != _SAME:
        pieces = []
        for one in passes:
            messages = (
                one.session.messages if one.outcome is None else applied(one.session.transcript, one.outcome.change)
            )
            text, lost = convert(messages, output_format, one_line=len(passes) > 1)
            one.remarks += lost
            pieces.append(text)
        return b"".join(pieces)
    format_ = FORMATS[found[0].format]
    if format_.write is None:
        raise UnreadableError(f"{format_.title}: cannot be written back; say --output-format openai-chat")
    return format_.write(data, [(one, changes.get(id(one))) for one in found])


def _change(one: _Pass) -> Change | None:
    """The change to write; None where the conversation stays as it is."""
    return one.outcome.change if one.outcome and one.outcome.change != one.outcome.start else None


def _check(data: bytes, found: list[Transcript], passes: list[_Pass], notes: NotesFile, flags: dict[str, Any]) -> None:
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


def _check_one(one: _Pass, after: Transcript, notes: NotesFile, flags: dict[str, Any]) -> None:
    if one.outcome is None:
        return
    session, profile = one.session, one.settings.profile or profile_of(one.session.transcript)
    broken = new_violations(session, profile, one.outcome)
    known = {found.rule for found in check(session.messages, profile)}
    if flags["output_format"] == _SAME:
        messages = [after.messages[index] for index in live(after)[0]]
        broken += [found for found in check(messages, profile) if found.rule not in known]
    if broken:
        one.refused = f"{INVALID_RESULT.name}: the result is not valid for {profile}: {broken[0].rule} at line {broken[0].line}: {broken[0].why}"
    if not flags["no_guard"]:
        one.guard = guard_context(session.before, after, session.policy, session.weigh, notes=notes.after())
        if one.guard.verdict == "loss" and not one.refused:
            one.refused = (
                f"{GUARD_FAILS.name}: the guard fails. Carrying all that is required takes {one.guard.tokens_to_carry:,} tokens; "
                "raise --target or --summary-tokens, give --notes FILE, or say --no-guard."
            )


def _emit(data: bytes, name: str, format_name: str, flags: dict[str, Any]) -> OutputFile:
    output = flags["output"] or STDIN
    others = [name, *(flags[key] for key in ("notes", "events", "summary") if flags[key])]
    emit([data], output, inputs=lambda: others)
    written = format_name if flags["output_format"] == _SAME else flags["output_format"]
    return OutputFile(output, written, digest_of(data))


# -- the report


def _concluded(one: _Pass, output: OutputFile | None, notes: NotesFile, added: int) -> CompactReport:
    outcome = one.outcome or Outcome.unchanged(one.session.start)
    written = Written(
        guard=one.guard, output=output if one.outcome else None, notes=notes.used(added),
        trigger=one.trigger, exact=one.exact, refused=one.refused, remarks=tuple(one.remarks),
        done=one.outcome is not None,
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
        yield from report.remarks
