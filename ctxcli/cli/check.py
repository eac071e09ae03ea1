"""`ctx check`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import click

from ctxcli.budget import Limits
from ctxcli.change import applied
from ctxcli.cli import options as opt
from ctxcli.cli.output import canvas
from ctxcli.cli.returned import check_findings
from ctxcli.cli.sources import Sources, say_skips
from ctxcli.cli.types import Tokens
from ctxcli.compact.context import start_of
from ctxcli.files import find
from ctxcli.files.ci import runs_ctx
from ctxcli.model import Transcript
from ctxcli.reports.check import CheckReport
from ctxcli.shelf import Weigh
from ctxcli.tokens import CountCache, choose, counter
from ctxcli.validity import PROFILES, Answer, Setting, check_report, habits, profile_of


@click.command("check")
@opt.options(
    opt.files,
    click.option("--finding", is_flag=True,
                 help="FILE is what a sub-agent returned: check it against `ctx schema finding`."),
    opt.settings, opt.output_format("check"), opt.json_, opt.output,
    click.option("--profile", type=click.Choice(list(PROFILES)),
                 help="Whose rules apply. [default: those of the transcript's own provider]"),
    click.option("--habits/--no-habits", "with_habits", default=True,
                 help="Answer the questions on pinning, reserve, record and test too."),
    # under a name of its own: `strict` in a settings file is about what was not read as it stands
    click.option("--strict", "warnings_fail", is_flag=True, envvar="CTX_CHECK_STRICT",
                 help="Warnings, and habits answered with no, fail too."),
    opt.conversation, opt.from_format,
    click.option("--max-context", type=Tokens(), metavar="N", help="The model's window in tokens, for the habits."),
    opt.reserve_output, opt.tokenizer, opt.cache, opt.exit_zero,
)  # fmt: skip
def command(files: tuple[str, ...], **flags: Any) -> int:
    """Say whether a provider accepts the context at the end of a transcript, and how well the agent looks after it.

    FILE is a transcript, a folder of them, or - for standard input. The rules are those by which the provider would
    answer 400: calls and results in pairs, nothing empty, nothing torn. The habits are warnings.

    With --finding, FILE is an answer of a sub-agent instead: a finding in JSON, several of them one a line, or in the
    fenced blocks of a text.

    Exit 1 where a rule is broken or a finding is not valid, 2 where something could not be read.
    """
    if flags["finding"]:
        return check_findings(files, flags)
    run = _Run(flags)
    how = canvas(flags["output"])
    drawn = opt.drawing("check", flags)(run.reports(files), how)
    run.sources.write(drawn, flags["output"], *files, flags["config"].path)
    return run.sources.exit_code(failed=run.failed, unchecked=False, exit_zero=flags["exit_zero"])


@dataclass(slots=True)
class _Run:
    """One run: its reports as they come, and whether one of them fails."""

    flags: dict[str, Any]
    sources: Sources = field(init=False)
    failed: bool = False
    _cache: CountCache | None = field(init=False)
    _tested_by: str | None = field(init=False)

    def __post_init__(self) -> None:
        self.sources = Sources(self.flags["conversation"], self.flags["from_"])
        self._cache = CountCache() if self.flags["cache"] else None
        self._tested_by = runs_ctx() if self.flags["with_habits"] else None

    def reports(self, files: tuple[str, ...]) -> Iterator[CheckReport]:
        """The report of each conversation."""
        for path, transcript in self.sources.transcripts(list(find(files))):
            say_skips(path, transcript)
            messages = applied(transcript, start_of(transcript))
            profile = self.flags["profile"] or profile_of(transcript)
            report = check_report(
                transcript, messages, profile, self._answers(transcript), strict=self.flags["warnings_fail"]
            )  # fmt: skip
            self.failed = self.failed or not report.ok
            yield report

    def _answers(self, transcript: Transcript) -> tuple[Answer, ...]:
        if not self.flags["with_habits"]:
            return ()
        limits = Limits(self.flags["max_context"], reserve_output=self.flags["reserve_output"])
        return habits(transcript, Setting(self._weigh(transcript), limits, self._tested_by))

    def _weigh(self, transcript: Transcript) -> Weigh:
        return counter(choose(transcript.models, self.flags["tokenizer"]).name, cache=self._cache)
