"""`ctx check --finding`: what sub-agents returned, held to the schema of a finding."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import click

from ctxcli.cli.output import canvas, emit
from ctxcli.cli.sources import say
from ctxcli.errors import CtxError
from ctxcli.files.streams import shown
from ctxcli.files.text import read_text
from ctxcli.renderers import RENDERERS, drawing_names
from ctxcli.reports.finding import FindingReport
from ctxcli.validity.finding import finding_report

_FOREIGN = ("profile", "conversation", "from_", "max_context")
"""Options of `ctx check` that are about a transcript."""


def check_findings(files: tuple[str, ...], flags: dict[str, Any]) -> int:
    """Report on each file, and return the exit code: 0, 1 for an invalid finding, 2 for what is no JSON."""
    format_ = "json" if flags["as_json"] else flags["format_"]
    drawing = RENDERERS[format_].finding
    if drawing is None:
        names = ", ".join(drawing_names("finding"))
        raise click.UsageError(f"--finding is not written as {format_}; there are {names}")
    given = [f"--{name.rstrip('_').replace('_', '-')}" for name in _FOREIGN if _is_given(name)]
    if given:
        raise click.UsageError(f"{given[0]} is about a transcript, --finding about what a sub-agent returned")
    run = _Run()
    inputs = [*files, flags["config"].path]
    emit(drawing(run.reports(files), canvas(flags["output"])), flags["output"],
         inputs=lambda: inputs, worth=lambda: run.given)  # fmt: skip
    if run.unread:
        return 2
    return 1 if run.invalid and not flags["exit_zero"] else 0


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


@dataclass(slots=True)
class _Run:
    """The reports as they come, and what became of them."""

    unread: bool = False
    invalid: bool = False
    given: bool = False
    seen: set[str] = field(default_factory=set)

    def reports(self, files: tuple[str, ...]) -> Iterator[FindingReport]:
        """The report of each file, each once; what cannot be read is said and passed over."""
        for path in files:
            if path in self.seen:
                continue
            self.seen.add(path)
            try:
                read = read_text(path, sure=True)
                report = finding_report(read.messages[0].parts[0].text if read else "", shown(path))
            except CtxError as error:
                say(str(error))
                self.unread = True
                continue
            self.given, self.invalid = True, self.invalid or not report.ok
            yield report
