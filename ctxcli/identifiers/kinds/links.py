"""URLs, hosts and e-mail addresses."""

import re
from collections.abc import Iterator

from ctxcli.identifiers.hit import Hit, Kind, Line
from ctxcli.identifiers.kinds.paths import has_file_ending
from ctxcli.identifiers.words import SURE_TOP_LEVELS, TOP_LEVELS

_URL = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'`<>\\^…—–→←⇒“”‘’«»。，、；：！？（）「」『』【】《》]{2,2000}"
)
_REMOTE = re.compile(
    r"(?<![\w@.-])(?:[\w-]{1,30}@)?(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,10}:[\w.-]{1,80}/[\w.-]{1,80}?\.git(?![\w/])"
)
_QUERY = re.compile(r"(?<![\w@./:-])(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,10}/[\w./%-]{0,300}\?[\w=&%.+-]{1,500}")
_EMAIL = re.compile(r"(?<![\w.+/:-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w@/:])")
_ADDRESS = re.compile(r"(?<![\w.:/-])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.]|:\d)")
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}([a-z]{2,12})(?::\d{2,5})?")
_FOOTNOTE = re.compile(r"\[\d+\]$")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def trimmed_url(text: str) -> str:
    """A URL without the punctuation of the sentence around it: closing brackets stay where they are opened."""
    if "%" not in text:
        text = text.partition("|")[0]
    if not text.isascii():
        text = next((text[:at] for at, sign in enumerate(text) if sign > "\x7f" and not sign.isalnum()), text)
    text = _FOOTNOTE.sub("", text)
    while text:
        last = text[-1]
        if last in ".,:;!?*_~#" or (last in _PAIRS and text.count(last) > text.count(_PAIRS[last])):
            text = text[:-1]
        else:
            break
    return text


def _until_unopened(text: str) -> str:
    """Up to a closing bracket that the URL did not open (a markdown link's), and up to a comma before another URL."""
    open_: list[str] = []
    for at, sign in enumerate(text):
        if sign in "([{":
            open_.append(sign)
        elif sign in _PAIRS:
            if not open_ or open_[-1] != _PAIRS[sign]:
                return text[:at]
            open_.pop()
        elif sign == "," and "://" in text[at + 1 : at + 12]:
            return text[:at]
    return text


def _urls(line: Line) -> Iterator[Hit]:
    text = line.text
    if "://" in text:
        for match in _URL.finditer(text):
            value = trimmed_url(_until_unopened(match.group()))
            if line.text[match.end() : match.end() + 1] == ">":
                value = value.rstrip("-")  # an arrow
            if len(value) > value.index("://") + 3:
                yield Hit("url", value, match.start())
    if ".git" in text:
        yield from (Hit("url", match.group(), match.start()) for match in _REMOTE.finditer(text))
    if "?" in text:
        yield from (Hit("url", trimmed_url(match.group()), match.start()) for match in _QUERY.finditer(text))


def _emails(line: Line) -> Iterator[Hit]:
    if "@" in line.text:
        yield from (Hit("email", match.group(), match.start()) for match in _EMAIL.finditer(line.text))


def _hosts(line: Line) -> Iterator[Hit]:
    if "." not in line.text and "localhost" not in line.text:
        return
    for match in _ADDRESS.finditer(line.text):
        address, _, port = match.group().partition(":")
        if is_address(address) and (not port or int(port) <= 65_535):
            yield Hit("host", match.group(), match.start())
    for run in line.runs:
        if "." not in run.text and ":" not in run.text:
            continue
        if run.text.startswith("localhost:") and run.text[10:].isdigit():
            yield Hit("host", run.text, run.start)
        host = _HOST.fullmatch(run.text)
        if host is not None and _is_host(run.text, host[1]) and run.after[:1] not in ("(", "/"):
            yield Hit("host", run.text, run.start)


def is_address(text: str) -> bool:
    """Whether four numbers with dots between them are an IPv4 address."""
    parts = text.split(".")
    return len(parts) == 4 and all(part.isdecimal() and int(part) <= 255 for part in parts)


def _is_host(text: str, top: str) -> bool:
    name = text.partition(":")[0]
    if has_file_ending(name) or top not in TOP_LEVELS:
        return False
    return name.count(".") > 1 or top in SURE_TOP_LEVELS or ":" in text


URL = Kind(
    "url",
    "addresses with a scheme, git remotes, addresses with a query",
    _urls,
    hits=(
        ("see https://example.com/issues/42.", ("https://example.com/issues/42",)),
        ("(https://en.wikipedia.org/wiki/Foo_(bar))", ("https://en.wikipedia.org/wiki/Foo_(bar)",)),
        ("[#3](https://x.org/3), s3://bucket/key", ("https://x.org/3", "s3://bucket/key")),
        ("git@github.com:owner/name.git", ("git@github.com:owner/name.git",)),
    ),
    misses=("a :// b", "config.rs README.md setup.py", "key: //comment"),
)
HOST = Kind(
    "host",
    "domains and IP addresses, with or without a port",
    _hosts,
    hits=(
        ("error connecting to api.github.com", ("api.github.com",)),
        ("on 192.168.1.10:8080", ("192.168.1.10:8080",)),
    ),
    misses=("version 1.2.3.400", "obj.method.call()", "main.rs and lib.py"),
)
EMAIL = Kind(
    "email",
    "e-mail addresses",
    _emails,
    hits=(("mail ana@example.com, please", ("ana@example.com",)),),
    misses=("root@container", "@scope/name", "user@host:path"),
)
