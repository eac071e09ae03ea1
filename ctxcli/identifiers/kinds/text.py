"""Errors, quantities, names in code, and what a user quoted."""

import re
from collections.abc import Iterator

from ctxcli.identifiers.hit import Hit, Kind, Line, Run
from ctxcli.identifiers.kinds.paths import has_file_ending
from ctxcli.identifiers.words import ERRNO

_CLASS = re.compile(r"(?:[a-z_][\w]{0,40}\.){0,5}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Warning|Exit|Fault|Panic)")
_CODE = re.compile(
    r"(?:TS|CS|RS|PY|SC|DL|ORA-|SQLSTATE|MSB|NU|CA|IDE|E|F|W|C|PLR|RUF|ERR)\d{3,6}"
    r"|ERR_[A-Z][A-Z_]{2,60}|E_[A-Z][A-Z_]{2,60}|ORA-\d{4,6}"
)
_STATUS = re.compile(
    r"\b(?:exit (?:status|code) (?:of )?|exited with status |exit[- ]code[:=] ?|os error |errno "
    r"|(?<=\()code |(?<=with )code |(?<=status )code )(-?[1-9]\d{0,4})\b"
    r"|\b(?:HTTP(?:/\d(?:\.\d)?)?|status(?: code)?|code)[: ]{1,2}([45]\d{2})\b"
)
_UNIT = (
    r"(?:ns|µs|us|ms|s|sec|secs|min|mins|h|hrs?|d|px|em|rem|pt|cm|mm|km|m|kg|g|lb|B|[kKMGTP]i?B|[kKMGT]?bps|[kMG]?Hz"
    r"|°C|°F|%|x|fps|rpm|k|M)"
)
_UNIT_WORD = (
    r"(?:seconds?|minutes?|hours?|(?:business |working )?days?|weeks?|months?|years?|milliseconds?|microseconds?|bytes?"
    r"|kilobytes?|megabytes?|gigabytes?|bits?|lines?|characters?|chars|tokens?|words?|pixels?|columns?|percent"
    r"|met(?:er|re)s?|kilomet(?:er|re)s?|miles?|feet|inch(?:es)?|dollars?|euros?"
    r"|GB|MB|KB|ms|times faster)"
)
_FIGURE = r"\d{1,15}(?:[.,]\d{1,9}){0,4}"
_QUANTITY = re.compile(
    rf"(?<![\w.#/$€£-])[$€£]\d{{1,12}}(?:,\d{{3}}){{0,4}}(?:\.\d{{1,4}})?[kMB]?(?![\w])"
    rf"|(?<![be3]\[)(?<![\w.#/:$-])[<>≤≥+-]?{_FIGURE}(?:[–-]{_FIGURE})?{_UNIT}(?: \d{{1,3}}(?:s|m|ms)\b)?"
    rf"(?![\w/-]|\.\w)"
    rf"|(?<!line )(?<![\w.#/:$-])[+-]?{_FIGURE}(?:(?:[–-]| to ){_FIGURE})? {_UNIT_WORD}\b"
    rf"|(?<![\w.#/:$-])[+-]?{_FIGURE} ?(?:€|°C|%)(?!\w)"
)
_SYMBOL = re.compile(
    r"(?:[A-Za-z_$][\w$]*(?:\.|::|->))+[A-Za-z_$][\w$]*"
    r"|_*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_*|_+[a-z][A-Za-z0-9_]*"
    r"|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[A-Z]{2,}[a-z][A-Za-z0-9]*"
)
_IS_FIELD = re.compile(r"\s{0,2}:\s{0,2}(?:true|false|null|nil|None|True|False|undefined)\b")
_BETWEEN_SYMBOLS = re.compile(r"(?<!:):(?!:)|/|@|\+(?=\w)|&|!|\\[nrt\"]|\*")
_QUESTION = re.compile(r"\.(?:[Ii]s|[Hh]as|[Aa]s)[A-Z]\w*$")
_EMPHASIS = re.compile(r"_[A-Za-z]+_")
_SYMBOL_HINT = re.compile(r"[A-Z_.$]|::|->")
_PLURAL = re.compile(r"[A-Z]{2,}s")
_PRODUCTS = frozenset(
    """
    GitHub GitLab macOS iOS iPhone iPad PostgreSQL MySQL JavaScript TypeScript YouTube LinkedIn OpenAI ChatGPT
    DeepSeek WebSocket GraphQL MongoDB DynamoDB CloudFront CoffeeScript IntelliJ PyCharm WebStorm DevOps
    PowerShell LaTeX eBay PayPal TensorFlow PyTorch NumPy SciPy SQLite FreeBSD OpenBSD LibreOffice OpenOffice
    BitBucket CircleCI StackOverflow DigitalOcean OpenHands FastAPI NextJS NodeJS WordPress JetBrains McDonald
    MacBook AirPods LangChain LlamaIndex
    """.split()
)
_QUOTED = re.compile(r"\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”|`([^`\n]{1,200})`|(?<![\w])'([^'\n]{2,200})'(?![\w])")


def _errors(line: Line) -> Iterator[Hit]:
    for run in line.runs:
        name = run.text.partition(":")[0]
        if _is_error(name, run) and not _IS_FIELD.match(run.line, run.start + len(name)):
            yield Hit("error", name, run.start)
    for match in _STATUS.finditer(line.text) if line.has_digit else ():
        yield Hit("error", match.group().rstrip(), match.start())


def _is_error(name: str, run: Run) -> bool:
    if name in ERRNO:
        return True
    if _CLASS.fullmatch(name) and name[0] != "_":
        return not _is_method(name, run.line[run.start + len(name) :][:2])
    return _CODE.fullmatch(name) is not None and _is_code(name, run)


def _is_method(name: str, after: str) -> bool:
    """`node.IsError`, `log.fatalError()`: a question or a call, and no class."""
    return "." in name and (after.startswith("()") or _QUESTION.search(name) is not None)


def _is_code(name: str, run: Run) -> bool:
    """A letter and a number are an error code only beside a word that says so."""
    if len(name.rstrip("0123456789")) > 1:
        return True
    nearby = (run.before[-30:] + run.after[:12]).lower()
    return any(
        word in nearby for word in ("error", "warning", "lint", "rule", "ruff", "flake", "rustc", "noqa", "[e", "code")
    )


def _quantities(line: Line) -> Iterator[Hit]:
    if line.has_digit:
        yield from (
            Hit("quantity", match.group().lstrip("<>≤≥"), match.end() - len(match.group().lstrip("<>≤≥")))
            for match in _QUANTITY.finditer(line.text)
        )


def _symbols(line: Line) -> Iterator[Hit]:
    for run in line.runs:
        if not _SYMBOL_HINT.search(run.text) and not run.line.startswith("(", run.end):
            continue
        for piece, place in _symbol_pieces(run):
            bare = piece.lstrip("$*&!-.^+\\").rstrip(".-:?!\\$^*+")
            if not bare:
                continue
            start = place + piece.find(bare)
            after = run.line[start + len(bare) :][:16]
            if _SYMBOL.fullmatch(bare) and _is_symbol(bare, after):
                yield Hit("symbol", bare, start)
            elif bare.isidentifier() and len(bare) > 2 and after.startswith("()"):
                yield Hit("symbol", bare + "()", start)


def _symbol_pieces(run: Run) -> Iterator[tuple[str, int]]:
    at = 0
    for cut in _BETWEEN_SYMBOLS.finditer(run.text):
        yield run.text[at : cut.start()], run.start + at
        at = cut.end()
    yield run.text[at:], run.start + at


def _is_symbol(text: str, after: str) -> bool:
    """A name with a shape, that is no product, no exception class and no file; what is called is never a file."""
    if text.startswith("process.env.") or _PLURAL.fullmatch(text) or text in _PRODUCTS:
        return False
    if (
        _EMPHASIS.fullmatch(text)
        or text.replace("_", "").isdigit()
        or text.lower() in ("e.g", "i.e", "a.m", "p.m", "u.s")
    ):
        return False
    if _CLASS.fullmatch(text):
        return _IS_FIELD.match(after) is not None or _is_method(text, after)
    return after.startswith("(") or not has_file_ending(text)


def _quotations(line: Line) -> Iterator[Hit]:
    if not line.by_user:
        return
    for match in _QUOTED.finditer(line.text):
        if line.text[match.start() - 1 : match.start()] == "=":
            continue  # the value of an attribute
        number = match.lastindex or 0
        value = match[number].strip() if number else ""
        if match.group()[:1] != "`":
            value = value.rstrip(",.;")  # of the sentence around it
        if any(map(str.isalnum, value)) and value[0] not in ":,;" and (" " in value or not value.isalpha()):
            yield Hit("quoted", value, match.start(number) + match[number].find(value))


ERROR = Kind(
    "error",
    "exception classes, error codes, failing statuses and exit codes",
    _errors,
    hits=(
        ("ZeroDivisionError: division by zero", ("ZeroDivisionError",)),
        ("failed: exit status 1", ("exit status 1",)),
        ("error TS2305: no", ("TS2305",)),
        ("ENOENT: no such file", ("ENOENT",)),
        ("got HTTP 429", ("HTTP 429",)),
    ),
    misses=("HTTP 200 OK", "exit code 0", "lastError = x", "E3 and F1 cars"),
)
QUANTITY = Kind(
    "quantity",
    "numbers with their unit",
    _quantities,
    hits=(
        ("keep it under 200 ms", ("200 ms",)),
        ("a $9.89 refund", ("$9.89",)),
        ("-5% and 12px", ("-5%", "12px")),
        ("about ~1.7KB", ("1.7KB",)),
    ),
    misses=("3 files", "version 1.2.3", "42 passed", "0x1f"),
)
SYMBOL = Kind(
    "symbol",
    "names in code",
    _symbols,
    hits=(
        ("call refund_total and asMoney()", ("refund_total", "asMoney")),
        ("in V8::Inspector and fs.watch", ("V8::Inspector", "fs.watch")),
        ("run main()", ("main()",)),
    ),
    misses=("GitHub on macOS", "a plain word", "e.g. this"),
)
QUOTED = Kind(
    "quoted",
    "wording that the user put in quotes or ticks",
    _quotations,
    hits=(('call it "Show more" please', ("Show more",)), ("run `compound-v1`", ("compound-v1",))),
    misses=('it is "pending" now', "don't and won't"),
)
