"""`ctx audit`."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import click

from ctxcli.audit import Settings, audit
from ctxcli.cli import options as opt
from ctxcli.cli.finding import NAMES, Since, installed, latest, offer
from ctxcli.cli.output import canvas
from ctxcli.cli.sources import Sources
from ctxcli.files import Found, find
from ctxcli.model import Transcript
from ctxcli.reports.audit import AuditReport
from ctxcli.tokens import CountCache, counter


@click.command("audit")
@opt.options(
    click.argument("files", nargs=-1, metavar="[FILE]..."),
    click.option("--latest", is_flag=True, help="The newest transcript of an agent on this machine, of this project."),
    click.option("--agent", type=click.Choice(NAMES), metavar="NAME", help=f"Only transcripts of: {', '.join(NAMES)}."),
    click.option("--since", type=Since(), metavar="TIME", help="Only those written to since: 12h, 2d, 2026-11-30."),
    opt.settings, opt.output_format("audit"), opt.json_, opt.output,
    click.option("--all", "every_call", is_flag=True, help="Every call, and every conversation of a file in full."),
    opt.conversation, opt.from_format, opt.max_context, opt.reserve_output, opt.share, opt.fail_over,
    opt.max_growth, opt.tokenizer, opt.cache, opt.strict, opt.exit_zero,
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **flags: Any) -> int:
    """Say call by call where the tokens of a transcript went, layer by layer.

    FILE is a transcript, a folder of them, or - for standard input; .gz and .zst are read as they are. Without FILE,
    the transcripts that agents have left on this machine are listed, those of this project first.

    Exit 1 where a call is over a limit that you set, 2 where something could not be read, 3 where a limit
    could not be checked because no window is known.
    """
    if not files:
        _check_listing(flags)
        found = installed(flags["agent"], flags["since"])
        newest = latest(found) if flags["latest"] else None
        if newest is None:
            return 2 if flags["latest"] else offer(found, as_json=flags["as_json"] or flags["format_"] == "json")
        files = (newest,)
    elif flags["latest"] or flags["agent"] or flags["since"]:
        raise click.UsageError("--latest, --agent and --since choose a transcript; a FILE is one already")
    sources = Sources(flags["conversation"], flags["from_"], strict=flags["strict"])
    run = _Run(_settings(ctx, flags), sources)
    how = canvas(flags["output"], every_call=flags["every_call"], full=flags["conversation"] is not None)
    drawing = opt.drawing("audit", flags)(run.reports(list(find(files))), how)
    sources.write(drawing, flags["output"], *files, flags["config"].path)
    return run.exit_code(exit_zero=flags["exit_zero"])


def _check_listing(flags: dict[str, Any]) -> None:
    """A list checks nothing: a limit without a transcript must not pass for one that holds."""
    asked = [
        f"--{name.replace('_', '-')}" for name in ("fail_over", "max_growth", "strict", "conversation") if flags[name]
    ]
    asked += ["--output"] * bool(flags["output"]) + ["--format"] * (flags["format_"] not in ("table", "json"))
    if asked and not flags["latest"]:
        raise click.UsageError(f"{', '.join(asked)}: which transcript? Name a FILE, or say --latest")


def _settings(ctx: click.Context, flags: dict[str, Any]) -> Settings:
    cache = CountCache() if flags["cache"] else None
    return Settings(
        opt.limits(ctx, flags), flags["fail_over"], flags["max_growth"], flags["tokenizer"],
        partial(counter, cache=cache),
    )  # fmt: skip


@dataclass(slots=True)
class _Run:
    """One run over several sources: reports as they come, and what to exit with."""

    settings: Settings
    sources: Sources
    exceeded: bool = False
    unchecked: bool = False
    _seen: set[str] = field(default_factory=set)

    def exit_code(self, *, exit_zero: bool) -> int:
        """See Sources."""
        return self.sources.exit_code(failed=self.exceeded, unchecked=self.unchecked, exit_zero=exit_zero)

    def reports(self, found: list[Found]) -> Iterator[AuditReport]:
        """The report of each conversation."""
        for _, transcript in self.sources.transcripts(found):
            yield self._report(transcript)

    def _report(self, transcript: Transcript) -> AuditReport:
        report = audit(transcript, self.settings)
        self.exceeded = self.exceeded or any(limit.calls for limit in report.limits)
        self.unchecked = self.unchecked or any(not limit.checked for limit in report.limits)
        return self._without_shared(report, transcript)

    def _without_shared(self, report: AuditReport, transcript: Transcript) -> AuditReport:
        """The report with its calls that an earlier input held counted: a resumed or forked copy."""
        names = {call.n: named.id for call, named in zip(report.calls, transcript.calls, strict=True) if named.id}
        shared = [call for call in report.calls if names.get(call.n) in self._seen]
        self._seen.update(names.values())
        if not shared:
            return report
        sent = sum(call.context.size for call in shared)
        return replace(
            report,
            counts=replace(report.counts, shared_calls=len(shared)),
            totals=replace(report.totals, shared=sent),
        )
