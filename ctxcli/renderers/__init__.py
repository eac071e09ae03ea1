"""The shelf of output formats."""

from ctxcli.renderers import ci, csv, json, markdown, sarif, table
from ctxcli.shelf import shelf

RENDERERS = shelf(
    table.RENDERER, json.JSON, json.JSONL, csv.RENDERER, markdown.RENDERER,
    ci.GITHUB, ci.GITLAB, sarif.RENDERER, ci.JUNIT,
)  # fmt: skip
