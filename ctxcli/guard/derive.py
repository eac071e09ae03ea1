"""Whether something that nobody said word for word can be put together from what was said."""

import re
from collections.abc import Sequence

from ctxcli.guard.forms import PAGES, PATHS, WHOLE_DIGESTS, home_form, path_form, stands_in, url_form
from ctxcli.guard.holdings import Holdings

_NUMBERED = re.compile(rf"/(?:{PAGES}|tickets?)/(\w[\w-]*)/?$")
_GLOB = re.compile(r"[*?{}<>]|\.\.\.|…")
_USUAL_FILES = frozenset(
    """
    README.md CHANGELOG.md LICENSE Makefile Dockerfile package.json pyproject.toml setup.py requirements.txt go.mod
    Cargo.toml tsconfig.json .gitignore .env index.html index.js index.ts main.py main.go __init__.py conftest.py
    AGENTS.md CLAUDE.md GEMINI.md metadata.json config.yaml config.json settings.json
    """.split()
)
_SHORTEST_NAME = 4
"""Characters of a file name that can be recognised anywhere."""
_OF_A_TICKET = r"(?:pull|pulls|issues?|merge_requests|PRs?|MRs?|pr\s+\w+|issue\s+\w+|tickets?|bugs?|browse)[\s/#(]*"


def is_derived(kind: str, value: str, held: Holdings, folders: Sequence[str]) -> bool:
    """Whether a value of a kind follows from what is held: a folder of a path, a number of an address, a prefix."""
    if kind in PATHS:
        return _is_derived_path(value, held, folders)
    text = held.text
    if kind == "url":
        return f"{url_form(value)}/" in text or _is_address_of(value, text)
    if kind == "host":
        return bool(re.search(rf"(?<![\w.-]){re.escape(value)}(?=[:/])", text))
    if kind == "ticket":
        number = value.rpartition("#")[2]
        return bool(re.search(rf"{_OF_A_TICKET}{re.escape(number)}(?!\w)", text, re.IGNORECASE))
    if kind in ("hash", "uuid"):
        short = rf"(?<![\w-]){re.escape(value)}[0-9a-f-]{{{max(1, 13 - len(value))},}}"
        return bool(re.search(short, text, re.IGNORECASE)) if len(value) < 13 else _is_long_for(value, text)
    return kind == "version" and bool(re.search(rf"(?<![\w.]){re.escape(value)}(?=[.+-]\w)", text))


def _is_address_of(url: str, text: str) -> bool:
    """`…/pull/42` where the text names number 42, `…/browse/PAY-7` where it names that ticket."""
    match = _NUMBERED.search(url)
    return match is not None and stands_in(match[1] if match[1][0].isalpha() else f"#{match[1]}", text, "ticket")


def _is_long_for(value: str, text: str) -> bool:
    """Whether the first 7 to 12 digits of a hash stand in the text by themselves."""
    if len(value) not in WHOLE_DIGESTS:
        return False
    short = next((value[:end] for end in range(7, 13) if stands_in(value[:end], text, "hash")), None)
    return short is not None and not re.search(rf"{re.escape(short)}[0-9a-f-]", text, re.IGNORECASE)


def is_usual(kind: str, value: str) -> bool:
    """What a writer says without meaning one thing in particular: step #1, v2, KeyError, README.md, client/server."""
    if kind == "ticket":
        return value[:1] == "#" and len(value) < 4
    if kind == "version":
        return "." not in value
    if kind in PATHS:
        bare = "/" not in value
        return value in _USUAL_FILES if bare else value.count("/") < 2 and "." not in value and value[0] not in "/~"
    return kind in ("error", "branch")


def _is_derived_path(value: str, held: Holdings, folders: Sequence[str]) -> bool:
    """A glob; a piece of a path, or a path in front of one; a known file name in a known folder."""
    if _GLOB.search(value):
        return True
    if home_form(value) != value and stands_in(home_form(value), held.text, "path"):
        return True
    form, text = path_form(value, folders).strip("/"), held.slashed
    if f"/{form}" in text or f"{form}/" in text:
        return True
    segments = form.split("/")
    if any(stands_in("/".join(segments[at:]), text, "path") for at in range(1, len(segments) - 1)):
        return True
    folder, _, name = form.rpartition("/")
    if not folder or len(name) < _SHORTEST_NAME or not stands_in(name, text):
        return False
    last = folder.rsplit("/", 1)[-1]
    return any(f"/{end}/" in text or f"{end}/" in text or f"/{end}" in text for end in (folder, last))
