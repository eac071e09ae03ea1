"""Versions and packages."""

import re
from collections.abc import Iterator

from ctxcli.identifiers.hit import DIGIT, Hit, Kind, Line, Run
from ctxcli.identifiers.kinds.links import is_address
from ctxcli.identifiers.kinds.paths import has_file_ending
from ctxcli.identifiers.words import FOLDERS, TOP_LEVELS

_VERSION = re.compile(
    r"v?\d{1,5}\.\d{1,5}\.\d{1,6}(?:\.\d{1,6})?(?:[-+.]?(?:[A-Za-z][\w.+-]{0,40}|\d[\w.+-]{0,30}))?"
    r"|v\d{1,4}(?:\.\d{1,5}){0,2}(?:[-+][\w.]{1,30})?"
    r"|\d{1,5}\.\d{1,5}(?:[-.](?i:rc|alpha|beta|pre|preview|dev|post|snapshot|canary|nightly|hotfix)|rc|[ab](?=\d))"
    r"[.-]?\d{0,8}"
)
_REQUIREMENT = re.compile(
    r"(?<![\w./@-])@?[A-Za-z][\w./-]{0,80}(?:\[[\w,-]{1,40}\])?"
    r"(?:(?:==|~=|>=|<=|!=)\d{1,6}\.[\w.*+-]{1,40}|(?:[<>]=?|==|!=)\d[\w.]{0,20}(?=,[<>!=]))"
    r"(?:,[<>!=~]=?\d[\w.*+-]{0,40}){0,4}"
)
_AT_VERSION = re.compile(r"@?[A-Za-z0-9][\w.-]{0,80}(?:/[\w.-]{1,80}){0,6}@(?:[\^~]?v?\d[\w.+-]{0,40}|latest|next)")
_SCOPED = re.compile(r"@[a-z0-9][\w.-]{0,60}/[a-z0-9][\w.-]{0,60}")
_IMPORT = re.compile(r"(?:[a-z0-9-]{1,40}\.){1,4}([a-z]{2,10})(?:/[\w.~-]{1,80}){1,12}/?")


def _versions(line: Line) -> Iterator[Hit]:
    if "." not in line.text and "v" not in line.text:
        return
    for run in line.runs:
        if not DIGIT.search(run.text):
            continue
        text = run.text.lstrip("^~<>=")
        start = run.start + len(run.text) - len(text)
        if _VERSION.fullmatch(text) and not is_address(text) and not _counts(run, text):
            yield Hit("version", text, start)


def _counts(run: Run, text: str) -> bool:
    """A numbered heading or list entry: small numbers at the start of a line or at the end of a heading's words."""
    small = text.replace(".", "").isdecimal() and all(int(part) < 10 for part in text.split("."))
    alone = not run.before.strip(" \t#*-+>") or run.word_before in (
        "section",
        "nested",
        "chapter",
        "figure",
        "table",
        "step",
    )
    return small and alone


def _bare(requirement: str) -> str:
    """Without the end of a sentence or of an emphasis; `==1.*` keeps its star."""
    bare = requirement.rstrip(".-*")
    return f"{bare}.*" if requirement.startswith(f"{bare}.*") and not requirement.startswith(f"{bare}.**") else bare


def _packages(line: Line) -> Iterator[Hit]:
    text = line.text
    if "=" in text and any(mark in text for mark in ("==", "~=", ">=", "<=", "!=")):
        yield from (Hit("package", _bare(match.group()), match.start()) for match in _REQUIREMENT.finditer(text))
    for run in line.runs:
        bare = run.text.rstrip("/")
        if "@" not in bare and "/" not in bare:
            continue
        if (_AT_VERSION.fullmatch(bare) and not bare.endswith("@")) or (
            _SCOPED.fullmatch(bare) and not has_file_ending(bare) and bare[1:].split("/")[0] not in FOLDERS
        ):
            yield Hit("package", bare, run.start)
        else:
            match = _IMPORT.fullmatch(bare)
            if (
                match is not None
                and match[1] in TOP_LEVELS
                and not has_file_ending(bare)
                and not has_file_ending(bare.split("/")[0])
            ):
                yield Hit("package", bare, run.start)


VERSION = Kind(
    "version",
    "three numbers or more, a leading v, or two numbers and rc, beta, dev …",
    _versions,
    hits=(
        ("0.7.29 -> v0.8.0-rc.1", ("0.7.29", "v0.8.0-rc.1")),
        ("needs ^1.2.3", ("1.2.3",)),
        ("2026.11-rc2 after 3.13.0b1 and 1.4rc1", ("2026.11-rc2", "3.13.0b1", "1.4rc1")),
    ),
    misses=("3.14 and 3.14159", "10.0.0.1", "2026.09", "2.2.2 Nested", "10.5-inch, 24.04-lts, 3.11-slim, 2026.11-12"),
)
PACKAGE = Kind(
    "package",
    "name@version, requirements, scoped names, import paths",
    _packages,
    hits=(
        ("npm i left-pad@1.3.0 @scope/name", ("left-pad@1.3.0", "@scope/name")),
        ("pip install click==8.1.7.", ("click==8.1.7",)),
        ("import github.com/owner/name/pkg", ("github.com/owner/name/pkg",)),
    ),
    misses=("ana@example.com", "a == b", "x >= 3", "@packages/ui/button.tsx"),
)
