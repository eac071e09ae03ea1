"""Paths, and places in files."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from ctxcli.identifiers.hit import Hit, Kind, Line, Run
from ctxcli.identifiers.words import (
    BARE_FILES,
    COMMANDS,
    FILE_ENDINGS,
    FOLDERS,
    LISTING,
    NOT_FILES,
    PROMPT,
    ROOT_FOLDERS,
)

_SEGMENT = r"[\w.@+%~$*!-]"
_SPACED = re.compile(r"(?<=[\"'`])(?:/|~/|[A-Za-z]:[\\/])[^\"'`\n]{1,300}?\.[A-Za-z]\w{0,7}(?=[\"'`])")
_WINDOWS = re.compile(r"(?<![\w\\/%])[A-Za-z]:(?!\\[ntr0](?!\w))\\{1,2}(?:\w[\w. -]{0,80}\\{1,2})*+[\w.-]*+")
_DRIVE = re.compile(r"[A-Za-z]:/[\w.]")
_HOLE = r"(?:\[{1,2}[\w.]{1,60}\]{1,2}|\([\w.-]{1,60}\)|\{\w{1,60}\})"
_BRACKETED = re.compile(
    r"(?<![\w/.@\[({$-])(?:\.{0,2}/(?:[\w.@-]++/)*+|(?:[\w.@-]++/)++)"
    rf"[\w.@-]*+{_HOLE}[\w.@-]*+(?:/(?:[\w.@-]|{_HOLE})++)*+/?"
)
"""A route with a hole in it: `apps/[id]/route.ts`, `/threads/{thread_id}.md`."""
_VARIABLE_NAME = re.compile(r"\$[\w{]")
_HINT = re.compile(r"[/.]")
"""What every path holds, but for a few; one look spares most runs the rules."""
_CONTEXT_LINE = re.compile(r"^(\S{1,500}\.[A-Za-z]\w{0,7})-\d{1,7}-")
_VARIABLE = re.compile(r"\$\{\w{1,60}\}(?:/[\w.@+*-]++)++/?|\$\w{1,60}(?:/[\w.@+*-]++)++/?")
_PLACE = re.compile(r":(\d{1,9})(?::(\d{1,6}))?(?::.*)?$")
_CALL_PLACE = re.compile(r"\((\d{1,7}),(\d{1,5})\)")
_DOT_FILE = re.compile(
    r"\.(?:git|npm|docker|eslint|prettier|vscode|node|python|ruby|env|bash|zsh|vim|editor|hg|tool|nvm)[\w.-]*+"
)
_ALL_SEGMENTS = re.compile(rf"{_SEGMENT}++(?:/{_SEGMENT}++)*+/?")


def has_file_ending(name: str) -> bool:
    """Whether the last segment of a name ends like a file's, and is no program's name."""
    last = name.rsplit("/", 1)[-1]
    stem, dot, ending = last.rpartition(".")
    return bool(stem and dot) and ending.lower() in FILE_ENDINGS and last.lower() not in NOT_FILES and "$" not in ending


def is_path(text: str, run: Run) -> bool:
    """Whether a text is a path, by its own shape or by what stands around its run."""
    if not text or "//" in text or "..." in text or not _ALL_SEGMENTS.fullmatch(text.lstrip("/")):
        return False
    if text[0] == "/" or text.startswith(("./", "../", "~/")):
        return _is_rooted(text)
    if text.count("/") == 0:
        return _is_file_name(text, run)
    return _is_relative(text, run)


def _is_rooted(text: str) -> bool:
    """`/a/b`, `/a/`, `~/a`, `./a`: two segments, a slash at the end, or a file's ending."""
    rest = text.lstrip("/.~")
    segments = [part for part in rest.split("/") if part]
    if not segments or not any(part[0].isalnum() or part[0] in "._*@-" for part in segments):
        return False
    if text[0] == "/":
        return len(segments) > 1 or text.endswith("/") or has_file_ending(text) or segments[0] in ROOT_FOLDERS
    return True


def _is_file_name(text: str, run: Run) -> bool:
    if text in BARE_FILES:
        return True
    if text[0] == ".":
        return _DOT_FILE.fullmatch(text) is not None or (text.count(".") > 1 and has_file_ending(text[1:]))
    if LISTING.match(run.line) and run.line.rstrip().endswith(text) and not text.isdigit():
        return True
    stem = text.rpartition(".")[0]
    return (
        has_file_ending(text) and bool(stem.strip("*")) and not stem.replace(".", "").isdigit() and run.after[:1] != "("
    )


def _is_relative(text: str, run: Run) -> bool:
    """`a/b`: a file's ending, a folder that projects have, a dot folder, a glob, or a command before it."""
    segments = text.rstrip("/").split("/")
    first, last = segments[0], segments[-1]
    if not all(segments):
        return False
    if first.isdigit():
        return has_file_ending(text) and any(sign.isalpha() for sign in last.partition(".")[0])
    if has_file_ending(text) or (first[0] == "." and len(first) > 1) or _VARIABLE_NAME.match(first):
        return True
    if text.endswith("/"):
        return first[0].islower() or first[0] in "._" or len(segments) > 1
    if "*" in last and first[0].isalnum() and first != "*":
        return True
    if first in FOLDERS and last[0] not in "-%":
        return len(segments) > 2 or run.word_before != "branch"
    named = run.word_before in COMMANDS or (len(segments) > 2 and _names_a_folder(run))
    return named and not first.isupper()


def _names_a_folder(run: Run) -> bool:
    """Whether a run of several segments stands alone in quotes, ticks or a link's text."""
    return run.before[-1:] in "`'\"[" and run.after[:1] in "`'\"]" and run.before[-1:] != ""


def split_place(text: str) -> tuple[str, str]:
    """A text as path and place: `a.go:12:5` is `a.go` and `:12:5`; the place is empty where there is none."""
    match = _PLACE.search(text)
    if match is None:
        return text, ""
    place = f":{match[1]}" + (f":{match[2]}" if match[2] else "")
    return text[: match.start()], place


def _of_run(run: Run) -> Iterator[Hit]:
    text, start = run.text, run.start
    a_tag = text.endswith("/") and text[:-1].isalpha() and run.before.endswith("<")
    if a_tag or (not _HINT.search(text) and text not in BARE_FILES and not LISTING.match(run.line)):
        return
    if text[0] == "@" and (text.count("/") != 1 or has_file_ending(text)):
        text, start = text[1:], start + 1
    if run.line.startswith(("diff --git", "--- a/", "+++ b/")) and text.startswith(("a/", "b/")):
        text, start = text[2:], start + 2
    if text.startswith("node:") and "/" in text:
        path, place = split_place(text[5:])
        path = "node:" + path
        yield from _hits(path, place, start)
        return
    path, place = split_place(text)
    if run.start == 0 and place.count(":") == 2 and run.after.startswith(". "):
        place = place[: place.rindex(":")]  # grep shows a numbered list: `a.md:348:3. Third`
    if is_path(path[2:] if _DRIVE.match(path) else path, run):
        place_run = _CALL_PLACE.match(run.line, start + len(path)) if not place else None
        yield from _hits(path, place_run.group() if place_run else place, start)
        return
    before, colon, after = text.partition(":")
    while colon:
        start += len(before) + 1
        inner, place = split_place(after)
        if is_path(inner, run) and ("/" in inner or has_file_ending(inner)):
            yield from _hits(inner, place, start)
            return
        if is_path(before, run) and not after[:1].isdigit():
            yield Hit("path", before, start - len(before) - 1)
        before, colon, after = after.partition(":")


def _hits(path: str, place: str, start: int) -> Iterator[Hit]:
    if place:
        yield Hit("location", path + place, start)
    yield Hit("path", path, start)


@lru_cache(maxsize=2)
def _all(line: Line) -> tuple[Hit, ...]:
    """Paths and locations, which come from one look at a line."""
    return tuple(_look(line))


def _look(line: Line) -> Iterator[Hit]:
    text = line.text
    ends: dict[int, int] = {}
    for pattern in (_CONTEXT_LINE, PROMPT):
        match = pattern.match(text)
        if match is not None and (pattern is PROMPT or has_file_ending(match[1])):
            ends[0] = match.end()
            if match[1] not in ("", "/", "~"):
                yield Hit("path", match[1], match.start(1))
    for pattern in (_SPACED, _WINDOWS, _VARIABLE, _BRACKETED) if "/" in text or "\\" in text else ():
        for match in pattern.finditer(text):
            if _is_one(pattern, match.group()):
                ends[match.start()] = max(match.end(), ends.get(match.start(), 0))
                yield Hit("path", match.group(), match.start())
    starts = sorted(ends)
    for run in line.runs:
        nearest = bisect_right(starts, run.start) - 1
        if nearest < 0 or run.start >= ends[starts[nearest]]:
            yield from _of_run(run)


def _is_one(pattern: re.Pattern[str], value: str) -> bool:
    if pattern is _SPACED:
        return " " in value
    if pattern is _BRACKETED:
        return has_file_ending(value) or "/" in re.split(_HOLE, value, maxsplit=1)[1]
    return True


def _paths(line: Line) -> Iterator[Hit]:
    yield from (hit for hit in _all(line) if hit.kind == "path")


def _locations(line: Line) -> Iterator[Hit]:
    if line.has_digit:
        yield from (hit for hit in _all(line) if hit.kind == "location")


PATH = Kind(
    "path",
    "files, folders and globs: absolute, relative, home and Windows paths, file names, endpoints",
    _paths,
    hits=(
        ("see src/shop/refunds.py and the tests/ folder", ("src/shop/refunds.py", "tests/")),
        (
            "open ./setup.cfg, ~/.config/ctx or C:\\Users\\ana\\a.txt",
            ("./setup.cfg", "~/.config/ctx", "C:\\Users\\ana\\a.txt"),
        ),
        ("GET /v1/orders/ and @packages/ui/button.tsx", ("/v1/orders/", "packages/ui/button.tsx")),
        ("rm $HOME/cache/*.json '/srv/My File.png'", ("$HOME/cache/*.json", "/srv/My File.png")),
    ),
    misses=(
        "and/or, he/she, 1/2, 7/7, input/output",
        "Node.js and e.g. this",
        "type/TESTS on darwin/arm64",
        "./... and /",
    ),
)
LOCATION = Kind(
    "location",
    "a path with a line in it",
    _locations,
    hits=(
        ("cmd/run.go:12:5: undefined: x", ("cmd/run.go:12:5",)),
        ("src/a.ts(12,5): error", ("src/a.ts(12,5)",)),
        ("at f (/usr/lib/x.js:39:10)", ("/usr/lib/x.js:39:10",)),
    ),
    misses=("localhost:8080", "12:30:05", "see main.go: it fails"),
)
