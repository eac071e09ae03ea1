"""The only door to JSON Schema: the schemas that ship with ctx, and documents held against them."""

import json
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ctxcli.errors import SettingError

_TITLES = {
    "audit": "what `ctx audit` concludes",
    "audit-call": "one call, a line of `ctx audit --format jsonl`",
    "bench": "what `ctx bench` concludes",
    "budget": "what `ctx budget` concludes",
    "check": "what `ctx check` concludes",
    "compact": "what `ctx compact` did, and its event record",
    "finding": "what a sub-agent should return, which `ctx check --finding` checks",
    "finding-check": "what `ctx check --finding` concludes",
    "formats": "what `ctx formats FILE` says",
    "guard": "what `ctx guard` concludes",
    "guard-baseline": "the findings that `ctx guard --update-baseline` writes",
    "identifiers": "what `ctx identifiers` finds",
    "notes": "what `ctx notes show` and `ctx notes verify` say",
    "notes-line": "one line of a notes file",
    "requests": "what a command would ask a model, under --dry-run",
    "probe": "what `ctx probe` concludes",
    "probe-question": "one line of the questions of `ctx probe`",
    "simulate": "what `ctx simulate` concludes",
    "slots": "the four slots of a summary",
    "sweep": "what `ctx sweep` concludes",
    "sweep-item": "one line of the items of `ctx sweep`",
    "sweep-plan": "what `ctx sweep --dry-run` would ask",
}
SCHEMAS: Mapping[str, str] = MappingProxyType(_TITLES)
"""The documents that have a schema: name and what it is."""


def schema_text(name: str) -> str:
    """The schema of a document as it ships; raises SettingError for a name that there is none of."""
    if name not in SCHEMAS:
        raise SettingError(f"there is no schema {name!r}; there are {', '.join(SCHEMAS)}")
    try:
        folder: Traversable = files("ctxcli.schemas")
    except ModuleNotFoundError:  # run from the sources: the folder is a package only where ctx is installed
        folder = Path(__file__).parent.parent / "schemas"
    return (folder / f"{name}.schema.json").read_text("utf-8")


def schema(name: str) -> dict[str, Any]:
    """The schema of a document."""
    found: dict[str, Any] = json.loads(schema_text(name))
    return found


class Problem(NamedTuple):
    """One thing that is wrong with a document under its schema."""

    at: str
    """The path of it, as in rejected/0/why; empty for the document itself."""
    rule: str
    """The keyword of JSON Schema that it breaks."""
    wanted: str
    """The value of that keyword, or the field that is missing."""
    value: Any
    message: str


def problems_of(name: str, document: Any) -> list[Problem]:
    """What is wrong with a document under its schema, by path; nothing where it is valid."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - costs a fifth of a second to import

    found = []
    for error in Draft202012Validator(schema(name)).iter_errors(document):
        wanted, at = str(error.validator_value), "/".join(map(str, error.absolute_path))
        if error.validator == "required":
            wanted = next(field for field in error.validator_value if repr(field) in error.message)
        found.append(Problem(at, str(error.validator), wanted, error.instance, error.message))
    return sorted(found, key=lambda one: [*map(_number_first, one.at.split("/"))])


def _number_first(step: str) -> tuple[int, str]:
    """In the order of a list's places, not of their digits."""
    return (int(step) if step.isdigit() else 0, step)


def problems(name: str, document: Any) -> list[str]:
    """The same as a sentence each."""
    return [f"{one.at or 'document'}: {one.message}" for one in problems_of(name, document)]
