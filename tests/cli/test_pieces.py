"""`ctx`, `ctx formats`, `ctx schema`, `ctx config`."""

import json
import subprocess
import sys
from importlib import import_module

import pytest
from jsonschema import Draft202012Validator

from ctxcli import __version__
from ctxcli.cli.main import _COMMANDS
from ctxcli.contract import SCHEMAS, schema
from ctxcli.formats import FORMATS
from support import ctx


def test_help_groups_the_commands_and_names_the_exit_codes() -> None:
    text = ctx("--help").stdout.decode()
    assert text.index("Everyday:") < text.index("audit") < text.index("Pieces:")
    assert "Exit codes:" in text


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_help_that_agrees_with_the_group(name: str) -> None:
    command = import_module(_COMMANDS[name][1]).command
    assert command.name == name
    assert ctx(name, "--help").returncode == 0
    for parameter in command.params:
        assert parameter.name in {"files", "name"} or parameter.help, parameter.name


def test_help_imports_nothing_heavy() -> None:
    heavy = {"tiktoken", "toktok", "rich", "jsonschema", "orjson", "sqlite3", "imagesize", "hypothesis"}
    code = "import sys\ntry:\n    from ctxcli.cli.main import main; main(['--help'])\nexcept SystemExit: pass\nprint(sorted(set(sys.modules)), file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert not heavy & set(json.loads(result.stderr.decode().replace("'", '"')))


def test_version() -> None:
    assert ctx("--version").stdout.decode().strip() == f"ctx {__version__}"


def test_an_unknown_command_is_a_usage_error() -> None:
    result = ctx("adit")
    assert result.returncode == 2
    assert b"No such command 'adit'" in result.stderr


def test_formats_lists_every_format() -> None:
    text = ctx("formats").stdout.decode()
    assert all(f"{card.name}\n  {card.title}" in text for card in FORMATS.values())
    assert [row["name"] for row in json.loads(ctx("formats", "--json").stdout)] == list(FORMATS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_prints_a_valid_schema(name: str) -> None:
    printed = json.loads(ctx("schema", name).stdout)
    Draft202012Validator.check_schema(printed)
    assert printed == schema(name)


def test_schema_without_a_name_lists_them() -> None:
    text = ctx("schema").stdout.decode()
    assert all(name in text for name in SCHEMAS)
    assert ctx("schema", "nonsense").returncode == 2


def test_config_as_json() -> None:
    document = json.loads(ctx("config", "--json").stdout)
    assert document["cache"] == {
        "setting": "cache",
        "value": True,
        "shown": "true",
        "origin": "default",
        "what": "keep counts of known texts on disk",
    }
