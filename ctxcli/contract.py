"""The only door to JSON Schema: the schemas that ship with ctx, and documents held against them."""

import json
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ctxcli.errors import SettingError

_TITLES = {
    "audit": "what `ctx audit` concludes",
    "audit-call": "one call, a line of `ctx audit --format jsonl`",
    "check": "what `ctx check` concludes",
    "compact": "what `ctx compact` did, and its event record",
    "formats": "what `ctx formats FILE` says",
    "guard": "what `ctx guard` concludes",
    "guard-baseline": "the findings that `ctx guard --update-baseline` writes",
    "identifiers": "what `ctx identifiers` finds",
    "notes": "what `ctx notes show` and `ctx notes verify` say",
    "notes-line": "one line of a notes file",
    "simulate": "what `ctx simulate` concludes",
    "slots": "the four slots of a summary",
}
SCHEMAS: Mapping[str, str] = MappingProxyType(_TITLES)
"""The documents that have a schema: name and what it is."""


def schema_text(name: str) -> str:
    """The schema of a document as it ships; raises SettingError for a name that there is none of."""
    if name not in SCHEMAS:
        raise SettingError(f"there is no schema {name!r}; there are {', '.join(SCHEMAS)}")
    return (files("ctxcli.schemas") / f"{name}.schema.json").read_text("utf-8")


def schema(name: str) -> dict[str, Any]:
    """The schema of a document."""
    found: dict[str, Any] = json.loads(schema_text(name))
    return found


def problems(name: str, document: Any) -> list[str]:
    """What is wrong with a document under its schema, place by place; nothing where it is valid."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - costs a fifth of a second to import

    validator = Draft202012Validator(schema(name))
    return [
        f"{'/'.join(map(str, error.absolute_path)) or 'document'}: {error.message}"
        for error in sorted(validator.iter_errors(document), key=lambda error: list(map(str, error.absolute_path)))
    ]
