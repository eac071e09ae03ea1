"""The house: sizes, doors, packages, and documents that cannot lie."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support import ROOT

PACKAGE = ROOT / "ctxcli"
MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in PACKAGE.rglob("*.py")
    if file.name != "__main__.py"
)
SOURCES = sorted(PACKAGE.rglob("*.py"))


IMPORTS = """
import importlib, sys, traceback
for name in sys.argv[1:]:
    for known in [one for one in sys.modules if one.split(".")[0] == "ctxcli"]:
        del sys.modules[known]
    try:
        importlib.import_module(name)
    except BaseException:
        print(name, traceback.format_exc())
"""


def test_each_module_imports_alone() -> None:
    """With none of the others there; a process for each would take minutes."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORTS, *MODULES], check=True, cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == ""


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_files_and_functions_stay_small(file: Path) -> None:
    source = file.read_text("utf-8")
    assert source.count("\n") <= 320
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 50, f"{node.name} in {file.name}"


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_everything_public_is_documented(file: Path) -> None:
    tree = ast.parse(file.read_text("utf-8"))
    assert ast.get_docstring(tree)
    for outer in tree.body:
        if isinstance(outer, (ast.FunctionDef, ast.ClassDef)) and not outer.name.startswith("_"):
            inner = outer.body if isinstance(outer, ast.ClassDef) else []
            for node in (outer, *(node for node in inner if isinstance(node, ast.FunctionDef))):
                assert node.name.startswith("_") or ast.get_docstring(node), f"{node.name} in {file.name}"


def test_the_package_list_is_complete() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"])
    found = {".".join(file.parent.relative_to(ROOT).parts) for file in PACKAGE.rglob("__init__.py")}
    assert listed == found | {"ctxcli.schemas"}


@pytest.mark.parametrize("script", ["make_schemas.py", "readme.py"])
def test_what_is_generated_is_up_to_date(script: str) -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, "--check"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert result.returncode == 0, result.stderr


def readme_commands() -> list[tuple[str, int]]:
    """Each `ctx` command line of the README's sh blocks, and the exit code that its comment gives."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("ctx ")]
    return [(re.split(r"\s+#", line)[0], 1 if "# exit 1:" in line else 0) for line in lines]


@pytest.mark.parametrize(("line", "code"), readme_commands(), ids=str)
def test_every_command_line_of_the_readme_runs(line: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    program = re.sub(r"(^|&& )ctx ", rf'\1"{sys.executable}" -m ctxcli ', line.split("|", maxsplit=1)[0])
    result = subprocess.run(program, shell=True, capture_output=True, cwd=tmp_path, check=False)  # noqa: S602
    assert result.returncode == code, result.stderr
    assert not result.stderr


def test_the_library_examples_of_the_readme_run() -> None:
    for block, first in zip(
        re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL),
        ("3", "37 pass"),
        strict=True,
    ):
        result = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=ROOT, check=True)
        assert result.stdout.startswith(first)


def test_the_settings_of_the_readme_are_settings(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "ctx.toml").write_text("\n".join(sorted(blocks, key=lambda block: block.startswith("["))), "utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "ctxcli", "config"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert result.stdout.count("settings file") >= 6
    text = subprocess.run(
        [sys.executable, "-m", "ctxcli", "identifiers", "-", "--kinds", "order"],
        input="ORD-654321", capture_output=True, text=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert "ORD-654321" in text.stdout
