"""`ctx guard`."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import click

from ctxcli.cli import options as opt
from ctxcli.cli.guard_policy import policy_of
from ctxcli.cli.output import canvas
from ctxcli.cli.sources import Sources, say, say_skips
from ctxcli.cli.types import KeptShare
from ctxcli.errors import UnreadableError
from ctxcli.files import find
from ctxcli.files.documents import is_there, read_document
from ctxcli.files.text import is_note, read_text, text_as_transcript
from ctxcli.files.write import write_whole
from ctxcli.formats import FORMATS
from ctxcli.guard import Policy, guard, guard_recorded
from ctxcli.guard.baseline import baseline_of, fingerprints_of, used_of
from ctxcli.identifiers import Extractor
from ctxcli.identifiers.custom import kinds_of
from ctxcli.model import PLAIN_TEXT, Transcript
from ctxcli.notes import standing
from ctxcli.renderers.json import dump
from ctxcli.reports.guard import LOSS, UNVERIFIABLE, GuardReport
from ctxcli.shelf import Weigh
from ctxcli.tokens import CountCache, choose, counter


@click.command("guard")
@opt.options(
    click.argument("files", nargs=-1, required=True, metavar="BEFORE AFTER | --recorded FILE..."),
    click.option("--recorded", is_flag=True, help="Check each compaction that a transcript itself records."),
    opt.settings, opt.output_format("guard"), opt.json_, opt.output,
    click.option("--all", "everything", is_flag=True, help="Every finding, those that do not fail included."),
    click.option("--require", multiple=True, metavar="WHAT",
                 help="stated, touched, seen, all, none, or a glob over values. [default: stated, touched]"),
    click.option("--kinds", multiple=True, metavar="KIND,...",
                 help="Kinds that are required, or all. [default: those that nobody can guess]"),
    click.option("--ignore", multiple=True, metavar="GLOB", help="Values that are not required; repeatable."),
    click.option("--min-kept", type=KeptShare(), multiple=True, metavar="[KIND=]SHARE",
                 help="Fail only where less is kept: 90%, path=95%; repeatable."),
    click.option("--strict", is_flag=True, help="What is only moved fails too."),
    click.option("--notes", metavar="FILE", help="A notes file that AFTER names: what stands there is not lost."),
    click.option("--baseline", metavar="FILE", help="Findings that are known do not fail."),
    click.option("--update-baseline", is_flag=True, help="Write what fails now to the baseline, and exit 0."),
    click.option("--allow-unverifiable", is_flag=True, help="A summary that cannot be read passes."),
    click.option("--require-compaction", is_flag=True, help="With --recorded: fail where none is recorded."),
    opt.conversation,
    click.option("--from", "from_", type=click.Choice([*FORMATS, PLAIN_TEXT]),
                 help="The inputs' format, instead of finding out; text is for AFTER only."),
    opt.tokenizer, opt.cache, opt.exit_zero,
)  # fmt: skip
def command(files: tuple[str, ...], **flags: Any) -> int:
    """Say what AFTER no longer says of what BEFORE held, and fail where that matters.

    BEFORE and AFTER are transcripts, or text such as a summary or a hand-over note; one of them may be - for standard
    input. With --recorded, each compaction that a transcript records is checked: the context before it against the
    context after it.

    Exit 1 where something required is lost, changed or invented, 2 where something could not be read, 3 where a
    summary cannot be read, or its source holds no more what it stands for, and nothing is worse.
    """
    _check_usage(files, flags)
    extractor = Extractor(kinds_of(flags["config"].values.get("kinds", {})))
    run = _Run(policy_of(flags, extractor.kinds), extractor, flags)
    how = canvas(flags["output"], every_call=flags["everything"])
    drawn = opt.drawing("guard", flags)(run.reports(files), how)
    others = [flags[name] for name in ("notes", "baseline") if flags[name]]
    run.sources.write(drawn, flags["output"], *files, *others, flags["config"].path)
    run.settle_baseline()
    return run.exit_code()


def _check_usage(files: tuple[str, ...], flags: dict[str, Any]) -> None:
    if not flags["recorded"] and len(files) != 2:
        raise click.UsageError("give BEFORE and AFTER, or --recorded and the transcripts to check")
    if not flags["recorded"] and files == ("-", "-"):
        raise click.UsageError("only one of BEFORE and AFTER can be standard input")
    if flags["update_baseline"] and flags["baseline"] in (None, "-"):
        raise click.UsageError("--update-baseline wants the file: --baseline FILE")
    if flags["baseline"] and flags["baseline"] == flags["output"]:
        raise click.UsageError("--baseline and --output are the same file")


@dataclass(slots=True)
class _Run:
    """One run: its reports as they come, and what to exit with."""

    policy: Policy
    extractor: Extractor
    flags: dict[str, Any]
    sources: Sources = field(init=False)
    notes: Transcript | None = field(init=False)
    done: list[GuardReport] = field(default_factory=list)
    none_recorded: bool = False
    _cache: CountCache | None = field(init=False)

    def __post_init__(self) -> None:
        self.sources = self._sources()
        path = self.flags["notes"]
        self.notes = _standing(read_text(path, sure=True), path) if path else None
        self._cache = CountCache() if self.flags["cache"] else None
        baseline = self.flags["baseline"]
        if baseline and is_there(baseline):
            self.policy = replace(self.policy, baseline=fingerprints_of(baseline, read_document(baseline)))
        elif baseline and not self.flags["update_baseline"]:
            raise UnreadableError(f"{baseline}: no such baseline; --update-baseline writes it")

    def reports(self, files: tuple[str, ...]) -> Iterator[GuardReport]:
        """The report of each comparison."""
        for report in self._recorded(files) if self.flags["recorded"] else self._compared(*files):
            self.done.append(report)
            yield report

    def exit_code(self) -> int:
        """See Sources."""
        verdicts = {report.verdict for report in self.done if not report.ok}
        lost = LOSS in verdicts and not self.flags["update_baseline"]
        missing = self.none_recorded and self.flags["require_compaction"]
        return self.sources.exit_code(
            failed=lost or missing, unchecked=UNVERIFIABLE in verdicts, exit_zero=self.flags["exit_zero"]
        )

    def settle_baseline(self) -> None:
        """Write the baseline where that was asked for; else say which of its entries nothing needs any more."""
        path = self.flags["baseline"]
        if not path or self.sources.failed:
            return
        if self.flags["update_baseline"]:
            document = baseline_of(self.done)
            write_whole(path, [dump(document, indent=True)], inputs=lambda: self.sources.read, worth=lambda: True)
            say(f"{path}: {len(document.findings):,} findings written; they no longer fail")
        elif unused := len(self.policy.baseline - used_of(self.done)):
            many = f"{unused:,} of {len(self.policy.baseline):,} entries"
            say(f"{path}: {many} are not needed any more; --update-baseline drops them")

    def _recorded(self, files: tuple[str, ...]) -> Iterator[GuardReport]:
        for path, transcript in self.sources.transcripts(list(find(files))):
            say_skips(path, transcript)
            weigh, any_recorded = self._weigh(transcript), False
            for report in guard_recorded(transcript, self.policy, weigh, extractor=self.extractor, notes=self.notes):
                any_recorded = True
                yield report
            if not any_recorded:
                self.none_recorded = True
                which = f", conversation {transcript.id}" if transcript.many else ""
                say(f"{path}{which}: no compaction is recorded, so there is nothing to check")

    def _compared(self, before: str, after: str) -> Iterator[GuardReport]:
        """Conversations of the two sources in pairs, in order."""
        second = self._sources(after)
        pairs = zip_longest(
            self.sources.transcripts(list(find([before]))), second.transcripts(list(find([after])))
        )  # fmt: skip
        for one, other in pairs:
            if one is None or other is None:
                self.sources.failed = True
                if not second.failed and self.sources.given and second.given:
                    say(f"{before} and {after} hold different numbers of conversations: choose with --conversation")
                break
            for path, transcript in (one, other):
                say_skips(path, transcript)
            weigh = self._weigh(one[1])
            yield guard(one[1], other[1], self.policy, weigh, extractor=self.extractor, notes=self.notes)
        self.sources.read |= second.read
        self.sources.failed |= second.failed

    def _sources(self, after: str | None = None) -> Sources:
        """What reads one side. AFTER may be JSON that is no transcript, or a note that begins like JSON."""
        from_ = self.flags["from_"]
        as_text = from_ == PLAIN_TEXT and after is not None
        found = Sources(self.flags["conversation"], None if from_ == PLAIN_TEXT else from_)
        if not self.flags["recorded"] and (as_text or from_ in (None, PLAIN_TEXT)):
            sure = as_text or (after is not None and is_note(after))
            found.plain = lambda path: _named(read_text(path, sure=sure), path)
        return found

    def _weigh(self, transcript: Transcript) -> Weigh:
        choice = choose(transcript.models, self.flags["tokenizer"])
        return counter(choice.name, cache=self._cache)


def _named(transcript: Transcript | None, path: str) -> Transcript | None:
    return replace(transcript, path=path) if transcript else None


def _standing(notes: Transcript | None, path: str) -> Transcript | None:
    """The notes without what was removed from them."""
    if notes is None:
        return None
    return replace(text_as_transcript(standing(notes.messages[0].parts[0].text), path), skips=notes.skips)
