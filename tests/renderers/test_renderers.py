"""Output formats: golden text at fixed widths, documents that hold to their schemas, nothing that escapes."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from ctxcli.audit import audit
from ctxcli.contract import problems
from ctxcli.model import Message, Part, PartKind, Role, Transcript
from ctxcli.renderers import DRAWS, RENDERERS
from ctxcli.reports.audit import AuditReport
from ctxcli.reports.check import CheckCounts, CheckReport, CheckSource, Habit
from ctxcli.shelf import Canvas
from support import FIXTURES, ROOT, fixture_files, formats_of, golden, name_of, read

GOLDEN = FIXTURES / "golden" / "audit"
SESSION = FIXTURES / "claude-code" / "session.jsonl"


def draw(name: str, file: Path, canvas: Canvas | None = None) -> str:
    path = file.relative_to(ROOT).as_posix()
    reports: Iterator[AuditReport] = (audit(replace(transcript, path=path)) for transcript in read(file))
    return "".join(RENDERERS[name].audit(reports, canvas or Canvas(width=0)))


VIEWS = [
    ("session-100.txt", "table", SESSION, Canvas(100)),
    ("session-60.txt", "table", SESSION, Canvas(60)),
    ("session-ascii.txt", "table", SESSION, Canvas(80, ascii=True)),
    ("session-all.txt", "table", SESSION, Canvas(0, every_call=True)),
    ("session.md", "markdown", SESSION, Canvas(0)),
    ("session.csv", "csv", SESSION, Canvas(0)),
    ("codex-100.txt", "table", FIXTURES / "codex" / "session.jsonl", Canvas(100)),
    ("conversations-100.txt", "table", FIXTURES / "openai-chat" / "conversations.jsonl", Canvas(100)),
    ("torn-100.txt", "table", FIXTURES / "claude-code" / "torn.jsonl", Canvas(100)),
]


@pytest.mark.parametrize(("name", "renderer", "file", "canvas"), VIEWS, ids=[name for name, *_ in VIEWS])
def test_the_text_is_the_golden_one(name: str, renderer: str, file: Path, canvas: Canvas) -> None:
    golden(draw(renderer, file, canvas), GOLDEN / name)


def test_a_sentence_is_broken_over_lines_and_never_cut() -> None:
    why = "no CI or task file here runs ctx guard, ctx check or ctx compact"
    habit = Habit("CTX404", "tested", "unknown", why, None, fails=False)
    source, counts = CheckSource("a", "chat", None), CheckCounts(1, 0, 0)
    report = CheckReport("ctx.check", 1, ok=True, source=source, profile="anthropic", counts=counts, findings=(), habits=(habit,))  # fmt: skip
    text = "".join(RENDERERS["table"].check([report], Canvas(width=50)))
    assert "…" not in text
    assert why.split() == [word for word in text.split("why", 1)[1].split() if word in why.split()]


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    wide = [line for line in draw("table", SESSION, Canvas(width)).splitlines() if len(line) > width]
    assert not wide


def test_ascii_is_ascii() -> None:
    assert draw("table", SESSION, Canvas(80, ascii=True)).isascii()


@pytest.mark.parametrize("file", fixture_files(), ids=name_of)
def test_json_holds_to_its_schema_and_is_the_report(file: Path) -> None:
    document = json.loads(draw("json", file))
    for one in document if isinstance(document, list) else [document]:
        assert problems("audit", one) == []
    assert isinstance(document, list) == (len(read(file)) > 1)


@pytest.mark.parametrize("file", fixture_files(), ids=name_of)
def test_json_lines_are_calls_of_one_conversation_or_reports_of_several(file: Path) -> None:
    lines = [json.loads(line) for line in draw("jsonl", file).splitlines()]
    many = len(read(file)) > 1
    for line in lines:
        assert problems("audit" if many else "audit-call", line) == []
    assert len(lines) == (len(read(file)) if many else len(read(file)[0].calls))


def test_a_schema_finds_what_is_wrong() -> None:
    document = json.loads(draw("json", SESSION))
    document["totals"]["sent"] = "many"
    del document["budget"]
    document["extra"] = 1
    found = " ".join(problems("audit", document))
    assert "totals/sent: 'many' is not of type 'integer'" in found
    assert "'budget' is a required property" in found
    assert "'extra' was unexpected" in found


def test_csv_has_a_row_for_each_call() -> None:
    rows = list(csv.DictReader(io.StringIO(draw("csv", SESSION))))
    assert len(rows) == 15
    first = rows[0]
    layers = ("system", "tools", "history", "retrieved", "summary")
    assert sum(int(first[name]) for name in layers) == int(first["estimated"])


def hostile(text: str) -> AuditReport:
    part = Part(PartKind.TOOL_RESULT, text, 1, name=text, address=text)
    messages = (Message(Role.USER, (part,), line=1), Message(Role.ASSISTANT, (Part(PartKind.TEXT, "ok", 2),), line=2))
    from ctxcli.model import Call

    return audit(Transcript("x", messages=messages, calls=(Call(1, line=2), Call(1, line=2)), path=text))


HOSTILE = "=cmd|' /C calc'!A0 \x1b[31m<script>alert(1)</script> | `x` [a](http://b) \ud83d\n# h"


def test_a_transcript_cannot_steer_the_terminal() -> None:
    text = "".join(RENDERERS["table"].audit([hostile(HOSTILE)], Canvas(0)))
    assert "\x1b" not in text
    text.encode()


def test_a_transcript_cannot_become_markup_or_a_formula() -> None:
    text = "".join(RENDERERS["markdown"].audit([hostile(HOSTILE)], Canvas(0)))
    assert "<script>" not in text
    assert "\n# h" not in text
    row = next(csv.DictReader(io.StringIO("".join(RENDERERS["csv"].audit([hostile(HOSTILE)], Canvas(0))))))
    assert row["path"].startswith("'=")


def test_json_survives_lone_surrogates() -> None:
    text = "".join(RENDERERS["json"].audit([hostile(HOSTILE)], Canvas(0)))
    assert "\ufffd" in json.loads(text)["source"]["path"]


@pytest.mark.parametrize("name", formats_of("audit"))
def test_no_reports_draw_nothing_that_breaks(name: str) -> None:
    "".join(RENDERERS[name].audit([], Canvas(80)))


def test_what_a_renderer_draws_is_what_is_said_of_it() -> None:
    for name, card in RENDERERS.items():
        drawn = {field.name for field in fields(card) if callable(getattr(card, field.name))}
        assert drawn == set(DRAWS[name]), name
        assert card.name == name
