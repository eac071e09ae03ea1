"""When two strings are the same identifier: exact, normalised, or only a part of one another.

The ladder: exact > normalised (case of hex, UUID, host and env; slash style; `./`; a working folder in front) >
suffix or folder > file name > lost. What is normalised is listed here and nowhere else.
"""

import re
from collections.abc import Sequence

_SPACE = re.compile(r"\s+")
_DRIVE = re.compile(r"^[A-Za-z]:(?=[\\/])")
_HOST = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*://)([^/?#]*)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CENTS = re.compile(r"(?<=\d)\.0+(?!\d)")
_AMOUNT = re.compile(r"[-+]?\d+(?:\.\d+)?")
_UNITS = {
    "milliseconds": "ms", "millisecond": "ms", "msec": "ms", "seconds": "s", "second": "s", "sec": "s", "secs": "s",
    "minutes": "min", "minute": "min", "mins": "min", "hours": "h", "hour": "h", "percent": "%", "dollars": "$",
    "usd": "$", "euros": "€", "euro": "€", "eur": "€", "pounds": "£", "bytes": "B",
}  # fmt: skip
_LAST_NUMBER = re.compile(r"(\d{1,5})(?!.*\d)")
_STATUS = re.compile(r"(?:exit(?:ed)?|http|status)\b", re.IGNORECASE)
_HOME = re.compile(r"^(?:/home/[^/]+|/Users/[^/]+|/root|[a-z]:/Users/[^/]+)(?=/)")
_REMOTE = re.compile(r"^(?:remotes/)?(?:origin|upstream)/(?=.)")

Key = tuple[str, str]
"""(kind, normal form): what an identifier is counted under."""
WHOLE_DIGESTS = (32, 36, 40, 64, 128)
"""Characters of a whole digest or UUID."""
PAGES = r"(?:pulls?|issues?|merge_requests|browse)"
"""Pattern of the segment before the number of an issue or a pull request in an address."""
CASELESS = frozenset({"hash", "uuid", "host", "env", "email"})
PATHS = frozenset({"path", "location"})
SPACED = frozenset({"quantity", "error", "quoted", "date"})


def normal(kind: str, value: str, folders: Sequence[str] = ()) -> str:
    """The form in which two values of a kind are equal; `folders` are working folders."""
    if kind in PATHS:
        return path_form(value, folders)
    if kind in CASELESS:
        return value.casefold()
    if kind == "url":
        return url_form(value)
    if kind == "ticket":
        return value.removeprefix("#") if value[1:].isdigit() else value
    if kind == "branch":
        return _REMOTE.sub("", value)
    if kind == "quantity":
        return quantity_form(value)
    if kind == "error":
        return error_form(value)
    if kind == "version":
        return value.removeprefix("v")
    if kind == "id":
        return value.casefold() if value[:2].lower() in ("0x", "cv", "gh") else value.removeprefix("#")
    return squeezed(value) if kind in SPACED else value


def path_form(value: str, folders: Sequence[str] = ()) -> str:
    """Forward slashes, no `./` in front, no slash behind, without the working folder in front."""
    path = _slashes(value)
    for folder in folders:
        head = _slashes(folder)
        if head and path.startswith(head + "/"):
            return path[len(head) + 1 :]
    return path


def home_form(path: str) -> str:
    """A path form with `~` for the folder of whoever's home it is in."""
    return _HOME.sub("~", path)


def quantity_form(value: str) -> str:
    """`1,000 milliseconds` is `1000ms`, `500 dollars` and `$500.00` are `$500`."""
    text = _SPACE.sub("", value).replace("−", "-")
    text = _THOUSANDS.sub("", text)
    text = _CENTS.sub("", text)
    number = _AMOUNT.match(text)
    unit = _UNITS.get(text[number.end() :].lower()) if number else None
    if number is None or unit is None:
        return text
    return f"{unit}{number.group()}" if unit in "$€£" else number.group() + unit


def error_form(value: str) -> str:
    """`exit status 3` and `exited with code 3` are `exit 3`, `HTTP 429` and `status 429` are `http 429`."""
    text = squeezed(value)
    number = _LAST_NUMBER.search(text)
    if number is None or " " not in text:
        return text
    return (
        ("exit " if text.lower().startswith("exit") else "http ") + number[1]
        if _STATUS.match(text)
        else text.casefold()
    )


def _slashes(value: str) -> str:
    path = re.sub(r"\\+", "/", value) if "\\" in value else value
    drive = _DRIVE.match(path)
    if drive:
        path = drive.group().lower() + path[drive.end() :]
    path = path.replace("/./", "/")
    while "//" in path[1:] and "://" not in path:
        path = path[0] + path[1:].replace("//", "/")
    while path.startswith("./") and len(path) > 2:
        path = path[2:]
    return path.rstrip("/") or path


def url_form(value: str) -> str:
    """Scheme and host in lower case, no slash behind."""
    match = _HOST.match(value)
    text = match[1].lower() + match[2].lower() + value[match.end() :] if match else value
    return text.rstrip("/")


def squeezed(text: str) -> str:
    """Every run of blanks and line ends as one blank."""
    return _SPACE.sub(" ", text)


def file_name(path: str) -> str:
    """The last segment of a path, whatever its slashes."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def ends_with(longer: str, shorter: str) -> bool:
    """Whether the one path is the end of the other, whole segments only."""
    return len(longer) > len(shorter) and longer.endswith("/" + shorter) and bool(shorter.strip("/"))


def stands_in(value: str, text: str, kind: str = "") -> bool:
    """Whether a value stands in a text as a whole token, never as a piece of a longer one."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        left = _is_free(text[at - 1 : at], kind) or _left_whole(value, text, at, kind)
        if left and (_is_free(text[end : end + 1], kind) or _right_whole(value, text, end, kind)):
            return True
        at = text.find(value, at + 1)
    return False


_LISTED = frozenset({"ticket", "version", "package", "error"})
"""Kinds of which a slash makes a list: PAY-7/PAY-8."""
_AROUND_UUIDS = frozenset("/\\.:=@_")
"""A UUID is whole by its own shape, inside a path or a name too."""
_BEFORE_NUMBERS = "-+−$€£¥#."
_BEFORE_NAMES = "./\\~$#%"


def _is_free(sign: str, kind: str) -> bool:
    """Whether a sign beside a value of this kind ends it, whatever the value."""
    return bool(sign) and ((sign == "/" and kind in _LISTED) or (kind == "uuid" and sign in _AROUND_UUIDS))


def _left_whole(value: str, text: str, at: int, kind: str) -> bool:
    before = text[at - 1] if at else ""
    further = text[at - 2] if at > 1 else ""
    first = value[0]
    if not before or before.isspace():
        return True
    if before.isalnum() or before == "_":
        return False
    if first.isdigit():
        if before == "@":
            return kind in ("version", "host") or not further.isalnum()
        return (before not in _BEFORE_NUMBERS and before not in "/\\") or (before == "#" and kind != "ticket")
    if first.isalpha() or first == "_":
        if before == "$" and kind == "env":
            return True
        if before in "-@":
            return not (further.isalnum() or further == "_")
        return before not in _BEFORE_NAMES
    if first == "/":
        return before not in "./\\~})"
    return not (first == before and first in "-./#~") and not (first in ".#" and before in "/\\")


def _right_whole(value: str, text: str, at: int, kind: str) -> bool:
    after, further = text[at : at + 1], text[at + 1 : at + 2]
    if not after or after.isspace():
        return True
    if after.isalnum() or after == "_":
        return not value[-1].isalnum() and value[-1] not in "_-./" and value[-1] in "°%€"
    more = further.isalnum() or further in "_*{<$[~" if further else False
    if after in "/\\":
        return not more
    if after in ".-+@":
        return not more
    if after == ":":
        return kind in PATHS or not further.isdigit()
    if after in "?&=#":
        return not more or kind not in ("url", "path") or (after == "#" and kind == "path")
    if after == "%":
        return not value[-1].isdigit()
    if after == ",":
        return not (further.isdigit() and value[-1].isdigit())
    return True
