"""Whether something that nobody said word for word can be put together from what was said."""

import re
from collections.abc import Sequence

from ctxcli.guard.forms import PATHS, path_form, stands_in, url_form
from ctxcli.guard.known import is_pattern, is_throwaway

_SHORTEST_NAME = 4
"""Characters of a file name that can be recognised anywhere."""
_OF_A_TICKET = r"(?:pull|pulls|issues?|merge_requests|PRs?|MRs?|pr\s+\w+|issue\s+\w+|tickets?|bugs?)[\s/#(]*"


def is_derived(kind: str, value: str, text: str, folders: Sequence[str]) -> bool:
    """Whether a value of a kind follows from a text: a folder of a path, a number out of an address, a prefix."""
    if kind in PATHS:
        return _is_derived_path(value, text, folders)
    if kind == "url":
        return f"{url_form(value)}/" in text
    if kind == "ticket":
        number = value.rpartition("#")[2]
        return number.isdigit() and bool(re.search(rf"{_OF_A_TICKET}{number}(?!\d)", text, re.IGNORECASE))
    return kind in ("version", "error", "package") and value in text


def _is_derived_path(value: str, text: str, folders: Sequence[str]) -> bool:
    """A pattern or a temporary name; a piece of a path; or a known file name in a known folder."""
    if is_pattern(value) or is_throwaway(value):
        return True
    form, text = path_form(value, folders).strip("/"), text.replace("\\", "/")
    if f"/{form}" in text or f"{form}/" in text:
        return True
    folder, _, name = form.rpartition("/")
    if not folder or len(name) < _SHORTEST_NAME or not stands_in(name, text):
        return False
    last = folder.rsplit("/", 1)[-1]
    return any(f"/{end}/" in text or f"{end}/" in text or f"/{end}" in text for end in (folder, last))
