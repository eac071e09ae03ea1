"""Write schemas/*.schema.json from the dataclasses in ctxcli/reports.py, or check that they agree.

    python scripts/make_schemas.py           # write
    python scripts/make_schemas.py --check   # exit 1 where a file differs

Types become types, docstrings of classes and fields become descriptions, and what a field may hold beyond its type
(a fixed word, a range) stands in the tables here.
"""

import ast
import inspect
import json
import sys
import types
from dataclasses import MISSING, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from ctxcli.caching import CACHE_RULES
from ctxcli.model import Layer
from ctxcli.notes import note
from ctxcli.renderers.json import CallLine
from ctxcli.reports.audit import AuditReport
from ctxcli.reports.bench import BenchReport
from ctxcli.reports.budget import BudgetReport
from ctxcli.reports.check import ANSWERS, CheckReport
from ctxcli.reports.compact import CompactReport
from ctxcli.reports.finding import AgentFinding, FindingReport
from ctxcli.reports.formats import FormatReport
from ctxcli.reports.guard import KEPT, LOST, STATUSES, UNJUDGED, VERDICTS, WEAKENED, BaselineDocument, GuardReport
from ctxcli.reports.identifiers import SOURCES, IdentifiersReport
from ctxcli.reports.notes import NotesReport
from ctxcli.reports.probe import VERDICTS as PROBE_VERDICTS
from ctxcli.reports.probe import ProbeQuestion, ProbeReport
from ctxcli.reports.requests import RequestsReport
from ctxcli.reports.simulate import SimulateReport
from ctxcli.reports.slots import Slots
from ctxcli.reports.sweep import SweepItem, SweepPlanned, SweepReport
from ctxcli.rules import HABITS, PROSE_RETURNED, VALIDITY
from ctxcli.slots import SLOTS
from ctxcli.validity import PROFILES
from ctxcli.validity.returns import FORMS

TARGET = Path(__file__).parent.parent / "schemas"
BASE = "https://json-schema.org/draft/2020-12/schema"
DOCUMENTS = {
    "audit": (AuditReport, "ctx.audit"),
    "audit-call": (CallLine, "ctx.audit.call"),
    "bench": (BenchReport, "ctx.bench"),
    "budget": (BudgetReport, "ctx.budget"),
    "check": (CheckReport, "ctx.check"),
    "compact": (CompactReport, "ctx.compact"),
    "finding": (AgentFinding, ""),
    "finding-check": (FindingReport, "ctx.finding-check"),
    "formats": (FormatReport, "ctx.formats"),
    "guard": (GuardReport, "ctx.guard"),
    "guard-baseline": (BaselineDocument, "ctx.guard-baseline"),
    "identifiers": (IdentifiersReport, "ctx.identifiers"),
    "notes": (NotesReport, "ctx.notes"),
    "requests": (RequestsReport, "ctx.requests"),
    "probe": (ProbeReport, "ctx.probe"),
    "probe-question": (ProbeQuestion, ""),
    "simulate": (SimulateReport, "ctx.simulate"),
    "slots": (Slots, ""),
    "sweep": (SweepReport, "ctx.sweep"),
    "sweep-item": (SweepItem, ""),
    "sweep-plan": (SweepPlanned, "ctx.sweep-plan"),
}
WORDS: dict[str, list[Any]] = {
    "BenchRow.kind": ["strategy", "recorded", "outside"],
    "Window.origin": ["flag", "config", "transcript", "model", "unknown"],
    "Calibration.origin": ["fitted", "constant", "exact"],
    "BudgetReport.basis": ["measured", "estimated", None],
    "Growth.basis": ["measured", "estimated"],
    "CheckFinding.level": ["error", "warning"],
    "CheckFinding.rule": [*VALIDITY],
    "CheckReport.profile": [*PROFILES],
    "CompactionRow.kind": ["summary", "clear", "trim", "rewrite"],
    "CompactionRow.verdict": ["pass", "loss", "unverifiable", None],
    "CompactReport.trigger": ["manual", "budget", "stale"],
    "Habit.answer": [*ANSWERS],
    "Habit.rule": [*HABITS],
    "Hot.stale": ["superseded", "repeated", "failed", "unused", None],
    "LaneRow.form": [*FORMS, None],
    "LaneRow.rule": [PROSE_RETURNED.name, None],
    "LayerBudget.layer": [*(layer.value for layer in Layer), "unattributed"],
    "Totals.basis": ["measured", "estimated", "mixed"],
    "Totals.output_basis": ["measured", "estimated", "mixed", "placeholder"],
    "CompactionRef.kind": ["summary", "clear", "trim", "rewrite"],
    "ConstraintRow.status": [KEPT, WEAKENED, LOST, UNJUDGED],
    "Finding.rule": ["CTX101", "CTX102", "CTX103", "CTX104", "CTX105"],
    "Finding.source": [*SOURCES, None],
    "Finding.status": [*STATUSES[1:]],
    "GuardReport.verdict": [*VERDICTS],
    "IdentifierRow.source": [*SOURCES],
    "Limit.name": ["max-context", "fail-over", "max-growth"],
    "Note.slot": [*SLOTS],
    "PolicyResult.kind": ["recorded", "none", "strategy"],
    "PolicyTotals.basis": ["measured", "mixed", "modelled"],
    "Rules.name": [*CACHE_RULES],
    "Rules.ttl_origin": ["flag", "measured", "rules"],
    "NoteRow.slot": [*SLOTS],
    "ProbeQuestion.grading": ["exact", "regex", "judged"],
    "ProbeRow.verdict": [*PROBE_VERDICTS],
    "StrayRow.slot": [*SLOTS],
    "SweepCell.position": ["alone", "head", "middle", "tail"],
    "SweepGap.best": ["head", "middle", "tail", ""],
    "SweepItem.grading": ["exact", "regex", "judged"],
    "SweepKnee.verdict": ["knee", "none", "unknown"],
}
SIGNED = {
    "CompactReport.tokens_reclaimed",
    "Layers.unattributed",
    "CallRow.growth",
    "Growth.tokens",
    "CallRow.grew",
    "LayerBudget.at_peak",
    "LayerBudget.peak",
}
UNBOUND = {"Calibration.r2", "SweepGap.gap", "SweepGap.low", "SweepLength.fall", "SweepLength.high", "SweepLength.low"}
WITH_DEFAULTS = {"ProbeQuestion", "SweepItem"}
"""Documents that people write: what has a default may be left out."""
PATTERNS = {
    "AgentFinding.answer": r"\S",
    "AgentFinding.locations": r"^\S(.*\S)?:[1-9][0-9]*(-[1-9][0-9]*)?$",
    "AgentFinding.unresolved": r"\S",
    "Aside.what": r"\S",
    "Aside.why": r"\S",
}
"""What texts look like, those in a list included."""


def schema_of(name: str) -> dict[str, Any]:
    """The schema of one document."""
    if name not in DOCUMENTS:
        return notes_line()
    document, kind = DOCUMENTS[name]
    defs: dict[str, Any] = {}
    root = _object(document, defs)
    if kind:
        root["properties"]["kind"] = {"const": kind}
        root["properties"]["version"] = {"const": 1}
    title = kind or f"ctx.{name}"
    return {"$schema": BASE, "$id": f"ctx:{name}", "title": title, **root, "$defs": dict(sorted(defs.items()))}


def notes_line() -> dict[str, Any]:
    """The schema of one line of a notes file: an entry, a removal, or how far a transcript has been extracted."""
    defs: dict[str, Any] = {}
    lines = []
    for cls, kind in note.KINDS.items():
        found = _object(cls, defs)
        digits = {"type": "string", "pattern": "^[0-9a-f]{16}$"}
        named = {
            "kind": {"const": kind},
            "version": {"const": note.VERSION},
            **({"id": digits} if cls is note.Note else {}),
        }
        found["properties"] = {**named, **found["properties"], "check": digits}
        found["required"] = [*found["properties"]]
        lines.append(found)
    told = "One line of the append-only file that `ctx notes` and `ctx compact --notes` write."
    head = {"$schema": BASE, "$id": "ctx:notes-line", "title": "ctx.note", "description": told}
    return {**head, "oneOf": lines, "$defs": dict(sorted(defs.items()))}


def _object(cls: Any, defs: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {
        "description": " ".join((cls.__doc__ or "").split()),
        "type": "object",
        "properties": {field.name: _field(cls, field.name, hints[field.name], defs) for field in fields(cls)},
        "required": [
            field.name
            for field in fields(cls)
            if cls.__name__ not in WITH_DEFAULTS or (field.default is MISSING and field.default_factory is MISSING)
        ],
        "additionalProperties": False,
    }


def _docs(cls: Any) -> dict[str, str]:
    """The strings that stand below the fields of a class."""
    (body,) = (node.body for node in ast.parse(inspect.getsource(cls)).body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: " ".join(doc.value.value.split())
        for field, doc in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant)
    }  # fmt: skip


def _field(cls: Any, name: str, hint: Any, defs: dict[str, Any]) -> dict[str, Any]:
    found = _bare_field(cls, name, hint, defs)
    doc = _docs(cls).get(name)
    return {"description": doc, **found} if doc else found


def _bare_field(cls: Any, name: str, hint: Any, defs: dict[str, Any]) -> dict[str, Any]:
    key = f"{cls.__name__}.{name}"
    if key in WORDS:
        return {"enum": WORDS[key]}
    found = _type(hint, defs)
    if key in PATTERNS:
        found.get("items", found)["pattern"] = PATTERNS[key]
    if "integer" in _types(found) and key not in SIGNED:
        found["minimum"] = 0
    if "number" in _types(found) and key not in UNBOUND:
        found["minimum"] = 0
    return found


def _types(found: dict[str, Any]) -> list[str]:
    kind = found.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def _type(hint: Any, defs: dict[str, Any]) -> dict[str, Any]:
    if is_dataclass(hint):
        if hint.__name__ not in defs:
            defs[hint.__name__] = {}
            defs[hint.__name__] = _object(hint, defs)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _optional([argument for argument in arguments if argument is not type(None)], defs)
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _type(arguments[0], defs)}
    if origin is tuple:
        return {
            "type": "array",
            "prefixItems": [_type(argument, defs) for argument in arguments],
            "minItems": len(arguments),
            "maxItems": len(arguments),
        }
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(arguments[1], defs)}
    return {} if hint is Any else {"type": {int: "integer", float: "number", str: "string", bool: "boolean"}[hint]}


def _optional(inner: list[Any], defs: dict[str, Any]) -> dict[str, Any]:
    if len(inner) > 1:
        return {"anyOf": [*(_type(each, defs) for each in inner), {"type": "null"}]}
    found = _type(inner[0], defs)
    if "$ref" in found:
        return {"anyOf": [found, {"type": "null"}]}
    return {**found, "type": [found["type"], "null"]}


def text_of(name: str) -> str:
    """The file's text."""
    return json.dumps(schema_of(name), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    stale = []
    for name in (*DOCUMENTS, "notes-line"):
        file = TARGET / f"{name}.schema.json"
        if "--check" in sys.argv:
            if not file.exists() or file.read_text("utf-8") != text_of(name):
                stale.append(file.name)
        else:
            file.write_text(text_of(name), "utf-8")
    if stale:
        sys.exit(f"not up to date: {', '.join(stale)}; run python scripts/make_schemas.py")
