"""Flags, environment variables and branches."""

import re
from collections.abc import Iterator

from ctxcli.identifiers.hit import Hit, Kind, Line
from ctxcli.identifiers.kinds.paths import has_file_ending

_FLAG = re.compile(r"--[A-Za-z][\w-]{1,60}|-[A-Za-z][\w-]{0,40}")
_VARIABLE = re.compile(
    r"\$\{([A-Z_][A-Z0-9_]{1,60})\b|\$([A-Z_][A-Z0-9_]{1,60})\b(?![{\[])|%([A-Z][A-Z0-9_]{2,40})%"
    r"|process\.env\.([A-Za-z_]\w{1,60})|process\.env\[[\"']([A-Za-z_]\w{1,60})"
    r"|(?:os\.environ|ENV|env)(?:\.get)?[\[(][\"']([A-Za-z_]\w{1,60})[\"']"
    r"|(?:[sS]etenv|[gG]etenv|env::var|LookupEnv|Unsetenv)\(\s*[\"']([A-Za-z_]\w{1,60})"
    r"|\b(?:export|unset|setenv) ([A-Z_][A-Z0-9_]{1,60}\b|[A-Za-z_]\w{1,60}(?==))"
)
_ASSIGNED = re.compile(r"(?<![\w.$\[>-])([A-Z][A-Z0-9_]{1,60})=(?![=>])")
_IS_SET = re.compile(
    r"(?<![\w.])`?([A-Z][A-Z0-9_]{3,60})`? (?:is|was|not|env|environment) (?:set|unset|variable|defined)"
)
_NUMBERED = re.compile(r"v?\d{1,9}(?:\.|$)")
_BRANCH_NAME = r"[A-Za-z0-9][\w.#@+-]{0,60}(?:/[\w.#@+-]{1,80}){0,5}"
_PLAIN_BRANCH = rf"(?=[\w.#@+-]{{0,80}}[/\d_]|(?:main|master|develop|trunk|staging)\b){_BRANCH_NAME}"
"""In prose, `non-existent branch` names none."""
_NAMED = rf"(?:[`'\"]({_BRANCH_NAME})|({_PLAIN_BRANCH})(?![\w/-]))"
_TOPICS = (
    "feat/",
    "fix/",
    "feature/",
    "bugfix/",
    "hotfix/",
    "chore/",
    "release/",
    "refactor/",
    "docs/",
    "perf/",
    "ci/",
)
_BRANCH_CUES = (
    # (what a line must hold for a look to be worth it, the cue with the name)
    (("git",), re.compile(rf"\bgit (?:checkout|switch|rebase)(?: -[bBcCq])? ({_BRANCH_NAME})")),
    (("checkout", "switch", "parent", "rebase", "onto"),
     re.compile(rf"\b(?:checkout -b|checkout|switch -c|switch|from parent|rebase|onto) {_NAMED}")),
    (("branch",), re.compile(rf"[`'\"]({_BRANCH_NAME})[`'\"] branch\b|(?<![\w./:-])({_PLAIN_BRANCH}) branch\b")),
    (("branch",), re.compile(rf"\bbranch(?:es|:)? {_NAMED}")),
    (("ranch",), re.compile(rf"[Bb]ranch[`'\"]?\s?[=:]\s?[`'\"]?({_PLAIN_BRANCH})")),
    (("git:(", "@{"), re.compile(rf"git:\(({_BRANCH_NAME})\)|(?<![\w./-])({_BRANCH_NAME})@\{{")),
    (("ahead of", "behind", "up to date", "track"),
     re.compile(rf"\b(?:ahead of|behind|up to date with|tracking|track) {_NAMED}")),
    (("erge ",), re.compile(rf"\b[Mm]erge ({_BRANCH_NAME}) into ({_BRANCH_NAME})")),
    (("pull request #",), re.compile(rf"pull request #\d{{1,7}} from [\w-]{{1,40}}/({_BRANCH_NAME})")),
    (("origin/", "upstream/"), re.compile(rf"(?<![\w./-])((?:remotes/)?(?:origin|upstream)/{_BRANCH_NAME})")),
    (("git p", "git f"),
     re.compile(rf"\bgit (?:push|pull|fetch) (?:-\S{{1,30}} ){{0,3}}(?:origin|upstream) [`'\"]?({_BRANCH_NAME})")),
    (("git ",), re.compile(rf"\bgit (?:show|log|diff) ({_BRANCH_NAME}):")),
    ((" ",), re.compile(rf"^[*+ ] (?:({_BRANCH_NAME}) +[0-9a-f]{{7,40}} |({_PLAIN_BRANCH})$)")),
    (("On branch", "["), re.compile(rf"On branch ({_BRANCH_NAME})|\[({_BRANCH_NAME}) [0-9a-f]{{7,12}}\]")),
    (("new branch", "->"), re.compile(rf"(?:\[new branch\]|->) +({_BRANCH_NAME})(?: -> ({_BRANCH_NAME}))?")),
    (_TOPICS, re.compile(rf"(?<![\w./-])((?:{'|'.join(_TOPICS)}){_BRANCH_NAME})(?![\w/])")),
)  # fmt: skip
_NO_BRANCH = frozenset(
    """
    a an the and or of in on to is it was for with from this that your my our new other another same default main,
    name names protection point head which where as at has not no if so be by its their each every all any
    """.split()
)


def _flags(line: Line) -> Iterator[Hit]:
    if "-" not in line.text:
        return
    diff = line.text.startswith(("--- ", "+++ ", "diff --git", "@@ "))
    for run in line.runs:
        name = run.text.partition("=")[0].rstrip(":")
        if (
            not _FLAG.fullmatch(name)
            or diff
            or run.line[run.start - 1 : run.start] not in ("", " ", "\t", "`", "'", '"', "(", "[", "|", ",")
        ):
            continue
        if run.start == 0 and not name.startswith("--"):
            continue  # a removed line of a diff, a list
        if len(name) > 2 and name[1] != "-" and "-" in name[2:] and not name[2:].islower():
            continue
        yield Hit("flag", name, run.start)


def _variables(line: Line) -> Iterator[Hit]:
    text = line.text
    if "$" in text or "env" in text.lower() or "%" in text or "export" in text or "unset" in text:
        for match in _VARIABLE.finditer(text):
            group = next(number for number in range(1, 9) if match[number])
            yield Hit("env", match[group], match.start(group))
    for match in _ASSIGNED.finditer(text) if "=" in text else ():
        yield Hit("env", match[1], match.start(1))
    for match in _IS_SET.finditer(text):
        yield Hit("env", match[1], match.start(1))


_ANY_CUE = re.compile(
    r"^[*+ ] \w|" + "|".join(re.escape(needle) for needles, _ in _BRANCH_CUES for needle in needles if needle.strip())
)  # the needle that is a blank stands for a list of branches


def _branches(line: Line) -> Iterator[Hit]:
    if not _ANY_CUE.search(line.text):
        return
    for needles, pattern in _BRANCH_CUES:
        if not any(needle in line.text for needle in needles):
            continue
        for match in pattern.finditer(line.text):
            for number in range(1, (match.lastindex or 0) + 1):
                name = (match[number] or "").rstrip(".,:;-")
                if name and _is_branch(name):
                    yield Hit("branch", name, match.start(number))


def _is_branch(name: str) -> bool:
    if ".." in name or name.isupper() or name.startswith("refs/") or name.lower() in _NO_BRANCH:
        return False
    known = name in ("main", "master", "develop", "dev", "trunk", "staging", "production", "gh-pages")
    shaped = any(sign in "/-_" or sign.isdigit() for sign in name)
    return (known or shaped) and not has_file_ending(name) and not _NUMBERED.match(name)


FLAG = Kind(
    "flag",
    "command-line flags without their values",
    _flags,
    hits=(
        ("git push --force-with-lease -u origin", ("--force-with-lease", "-u")),
        ("go test -tags=integration -race", ("-tags", "-race")),
    ),
    misses=("head -50", "- a list", "a - b", "well-known", "--- a/x.go"),
)
ENV = Kind(
    "env",
    "names of environment variables",
    _variables,
    hits=(
        ("export API_KEY and $HOME, ${CI}", ("API_KEY", "HOME", "CI")),
        ("TERM=dumb ctx", ("TERM",)),
        ("process.env.NODE_ENV", ("NODE_ENV",)),
    ),
    misses=("A == B", "MAX_SIZE in code", "costs $5"),
)
BRANCH = Kind(
    "branch",
    "branches, where the line says that it is one",
    _branches,
    hits=(
        ("on branch fix/refund-rounding", ("fix/refund-rounding",)),
        ("git push origin feat/x-1", ("feat/x-1",)),
        ("git:(main)", ("main",)),
        ("origin/main", ("origin/main",)),
    ),
    misses=("the branch is gone", "a branch of science", "input/output"),
)
