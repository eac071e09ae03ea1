"""UUIDs, hashes, tickets, dates and other opaque ids."""

import re
from collections.abc import Iterator

from ctxcli.identifiers.hit import Hit, Kind, Line, Run
from ctxcli.identifiers.kinds.paths import has_file_ending
from ctxcli.identifiers.words import FOLDERS, NOT_TICKETS

_UUID = re.compile(r"(?<![\w/.-])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![\w/-]|\.\w)")
_HEX = re.compile(r"[0-9a-f]{7,128}|[0-9A-F]{12,128}")
_DIGEST = re.compile(r"(?:sha\d{1,3}|md5)[:-]([0-9a-f]{8,128})", re.IGNORECASE)
_SURE_WORDS = frozenset(["commit", "sha", "rev", "revision"])
_COMMIT_WORDS = frozenset(["commits", "hash", "ref", "checkout", "cherry-pick", "revert", "show", "parent"])
_COMMIT_LINE = re.compile(r"^[\s*|/\\`-]{0,12}([0-9a-f]{7,40}) +(?:\([^)]{1,80}\) +)?[A-Z]")
_NUMBER = re.compile(r"(?<![\w&/#=-])(?:[\w.-]{1,40}/[\w.-]{1,60})?#([1-9]\d{0,5})(?![\w-]|\.\d)")
_KEY = re.compile(r"(?<![\w/.-])([A-Z][A-Z0-9]{1,9})-(\d{1,6})(?![\w-]|\.\d)")
_PULL = re.compile(
    r"\b(?:pr|issue|mr) (?:view|checkout|diff|merge|edit|comment|close|review|checks|ready|reopen) (\d{1,6})\b"
)
_DATE = re.compile(
    r"(?<![\w/.-])\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![\w/-]|\.\w)"
    r"|(?<![\w/.-])\d{4}/\d{2}/\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?!\w)"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:[A-Z][a-z]{2} {1,2}\d{1,2}|\d{1,2} [A-Z][a-z]{2})"
    r" (?:\d{2}:\d{2}:\d{2} (?:[A-Z+-][\w:]{1,6} )?\d{4}(?: [+-]\d{4}\b)?|\d{4} \d{2}:\d{2}:\d{2}(?: [+-]\d{4})?)"
)
_ID_HINT = re.compile(r"[\d/-]|toolu_")
_POINTER = re.compile(r"0x[0-9A-Fa-f]{4,40}")
_PREFIXED = re.compile(
    r"(?:toolu|call|msg|req|resp|chatcmpl|run|sess|session|task|job|thread|asst|file"
    r"|cus|ord|order|sub|in|evt|ch|price|prod|acct|user|usr|cmpl|step|ctc|fc|rs|ws|env|proj|org|key|txn|inv)"
    r"[_-](?=(?:[\w-]{0,80}?\d){2})[A-Za-z0-9][\w-]{5,80}|toolu_\w{4,}"
)
_MODEL = re.compile(
    r"(?:claude|gpt|gemini|llama|mistral|qwen|deepseek|grok|command|o\d)-[\w.]*-?[\w.-]*\d[\w.-]*", re.IGNORECASE
)
_FAMILY = re.compile(r"[A-Z][A-Za-z]+-\d")
_SAID = re.compile(
    r"\b(?:[Ii][Dd]|[Ii]d number) (?:is|was) #?((?=[\w-]{0,30}\d)[A-Za-z0-9][\w-]{2,30})\b(?!\.\w)"
    r"|\b[Zz][Ii][Pp](?: code)?:? (\d{5})\b"
)
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}-(?=[\w-]*[A-Za-z])\w[\w-]{0,80}")
_NAME = re.compile(r"[a-z0-9]{1,40}(?:-[a-z0-9]{1,40}){1,8}")
_OPAQUE = re.compile(r"(?=[\w-]*\d)[A-Za-z0-9](?:[\w-]{0,80}[A-Za-z0-9])?")
_MIXED = re.compile(r"(?=[A-Za-z]{0,12}\d)(?=\w*[A-Za-z])[A-Za-z]{1,8}\d{5,20}")
_NUMBERED = re.compile(r"(?<![\w/.-])([A-Z][A-Z0-9]{1,5})(?:-\d{2,12}){2,4}(?![\w-]|\.\d)")
_CVE = re.compile(r"\b(?:CVE-\d{4}-\d{4,8}|GHSA(?:-[\w]{4}){3})\b")
_LONG = re.compile(r"\d{8,24}")
_ID_WORDS = frozenset(
    """
    id ids item order account reservation ticket number no pid session_id job run build user customer
    """.split()
)
_REPO_WORDS = frozenset(["repo", "repository", "clone", "--repo", "-r", "fork", "repo:"])
_REPO = re.compile(r"[A-Za-z0-9][\w-]{0,38}/[\w.-]{1,60}")


def _uuids(line: Line) -> Iterator[Hit]:
    if "-" in line.text:
        yield from (Hit("uuid", match.group(), match.start()) for match in _UUID.finditer(line.text))


def _hashes(line: Line) -> Iterator[Hit]:
    head = _COMMIT_LINE.match(line.text)
    for run in line.runs:
        for piece, start in _hash_pieces(run):
            listed = head is not None and head.start(1) == start
            if _HEX.fullmatch(piece) and _is_hash(piece, run, listed=listed):
                yield Hit("hash", piece, start)


def _hash_pieces(run: Run) -> Iterator[tuple[str, int]]:
    """The run, the two ends of a range, what follows a colon, and digests without their names."""
    digest = _DIGEST.fullmatch(run.text)
    if digest:
        yield digest[1], run.start + digest.start(1)
    elif ".." in run.text:
        first, dots, last = run.text.partition("...") if "..." in run.text else run.text.partition("..")
        yield first, run.start
        yield last, run.start + len(first) + len(dots)
    elif run.text.count(":") == 1:
        name, _, rest = run.text.partition(":")
        yield name, run.start
        yield rest, run.start + len(name) + 1
    else:
        text = run.text.lstrip("@^")
        text = text.rstrip("^~")
        yield text, run.start + len(run.text) - len(run.text.lstrip("@^"))


def _is_hash(text: str, run: Run, *, listed: bool) -> bool:
    """Digits and letters make a hash; only one of them does beside a word for it, or in a list of commits."""
    if not text.strip("0") or run.after.startswith("…") or run.before.endswith("…"):
        return False
    if any(sign.isdigit() for sign in text) and any(sign.isalpha() for sign in text):
        return True
    if listed and (text.isdigit() or len(text) == 7):
        return True
    if len(text) > 40:
        return False
    return run.word_before in _SURE_WORDS or (run.word_before in _COMMIT_WORDS and not text.isdigit())


def _tickets(line: Line) -> Iterator[Hit]:
    text = line.text
    if "#" in text:
        for match in _NUMBER.finditer(text):
            if not _is_colour(match.group()):
                yield Hit("ticket", match.group(), match.start())
    for match in _KEY.finditer(text) if "-" in text else ():
        if match[1] not in NOT_TICKETS and not match[2].startswith("0"):
            yield Hit("ticket", match.group(), match.start())
    if "pr " in text or "issue " in text or "mr " in text:
        yield from (Hit("ticket", match[1], match.start(1)) for match in _PULL.finditer(text))


def _is_colour(text: str) -> bool:
    return text.startswith("#") and len(text) == 7


def _dates(line: Line) -> Iterator[Hit]:
    if line.has_digit:
        yield from (Hit("date", match.group(), match.start()) for match in _DATE.finditer(line.text))


def _ids(line: Line) -> Iterator[Hit]:
    for match in _SAID.finditer(line.text) if line.has_digit else ():
        yield Hit("id", match[match.lastindex or 0], match.start(match.lastindex or 0))
    for match in _CVE.finditer(line.text) if "-" in line.text else ():
        yield Hit("id", match.group(), match.start())
    for match in _NUMBERED.finditer(line.text) if "-" in line.text and line.has_digit else ():
        if match[1] not in NOT_TICKETS:
            yield Hit("id", match.group(), match.start())
    for run in line.runs:
        text = run.text
        if not _ID_HINT.search(text):
            continue
        name, colon, rest = text.rpartition(":")
        if colon and rest and (rest.isdigit() or "/" in rest) and name.replace("_", "").isalpha():
            yield from _id_of(rest, Run(rest, run.start + len(name) + 1, run.line), name.lower())
        else:
            yield from _id_of(text, run, run.word_before)


def _is_named_id(cue: str) -> bool:
    """`id`, `PGID`, `session_id`, `orderId`: a word that says that an id follows."""
    return cue in ("id", "pid", "pgid", "ppid", "uid", "gid") or cue.endswith(("_id", "-id"))


def _id_of(text: str, run: Run, cue: str) -> Iterator[Hit]:
    if _POINTER.fullmatch(text.rstrip("?")) and run.before[-1:] != "+" and not text.startswith("+"):
        yield Hit("id", text.rstrip("?"), run.start)
    elif (
        _PREFIXED.fullmatch(text)
        or (_MODEL.fullmatch(text) and not _FAMILY.fullmatch(text))
        or _DATED.fullmatch(text)
        or (cue.endswith("_id") and _NAME.fullmatch(text))
        or _MIXED.fullmatch(text.lstrip("#"))
        or (_LONG.fullmatch(text) and cue in _ID_WORDS)
        or (_is_named_id(cue) and _OPAQUE.fullmatch(text) and (len(text) > 1 or not text.isdigit()))
        or (
            (cue in _REPO_WORDS or run.after.lstrip("`'\" ").startswith(("repo ", "repo.", "repository")))
            and _REPO.fullmatch(text)
            and text.split("/", maxsplit=1)[0] not in FOLDERS
            and not has_file_ending(text)
        )
    ):
        yield Hit("id", text, run.start)


UUID = Kind(
    "uuid",
    "UUIDs that stand alone",
    _uuids,
    hits=(("session 28c304f6-3c5f-4539-af1d-07ae450e639d ended", ("28c304f6-3c5f-4539-af1d-07ae450e639d",)),),
    misses=("logs/28c304f6-3c5f-4539-af1d-07ae450e639d.log", "28c304f6-3c5f"),
)
HASH = Kind(
    "hash",
    "commits, blobs and digests: seven hexadecimal digits or more",
    _hashes,
    hits=(
        ("fixed in a41c9d0", ("a41c9d0",)),
        ("commit 4491676", ("4491676",)),
        ("git diff 385cc7e..b06229e", ("385cc7e", "b06229e")),
        ("4491676 Merge pull request", ("4491676",)),
    ),
    misses=("defaced effaced acceded", "on 20260922 at noon", "0000000000000000", "#b5bd68", "b3280a1…2dce"),
)
TICKET = Kind(
    "ticket",
    "#123, ABC-123, owner/name#123",
    _tickets,
    hits=(("PAY-4821 and #512, owner/repo#7", ("PAY-4821", "#512", "owner/repo#7")), ("gh pr view 37", ("37",))),
    misses=("UTF-8, SHA-256, GPT-3, ISO-8601", "#b5bd68 and #008899", "&#39;", "## 2 heading"),
)
DATE = Kind(
    "date",
    "ISO dates and machine timestamps with a year",
    _dates,
    hits=(
        ("on 2026-01-21 at", ("2026-01-21",)),
        ("2026/02/03 13:58:15 INFO", ("2026/02/03 13:58:15",)),
        ("2026-03-02T09:00:07.000Z", ("2026-03-02T09:00:07.000Z",)),
    ),
    misses=("12:30", "in 2017", "2026-13-01", "docs/2026-02-03-plan.md"),
)
ID = Kind(
    "id",
    "other opaque ids: orders, items, calls, addresses in memory, repositories, models",
    _ids,
    hits=(
        ("order #W2702727", ("#W2702727",)),
        ("Item ID: 6077640618", ("6077640618",)),
        ("toolu_01Ab3dEf9", ("toolu_01Ab3dEf9",)),
        ("claude-opus-4-5-20251101", ("claude-opus-4-5-20251101",)),
        ("at 0x1004e2fc0", ("0x1004e2fc0",)),
    ),
    misses=("metric=0.123456789", "12000 tokens", "the 50 first"),
)
