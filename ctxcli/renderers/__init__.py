"""The shelf of output formats."""

from ctxcli.renderers import csv, json, markdown, table
from ctxcli.shelf import shelf

RENDERERS = shelf(table.RENDERER, json.JSON, json.JSONL, csv.RENDERER, markdown.RENDERER)
