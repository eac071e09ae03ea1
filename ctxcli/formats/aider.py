"""aider's chat history: one markdown file with all sessions of a repository, without ids and with rounded figures.

`# aider chat started at …` opens a session, `#### ` stands before each line that the user typed, `> ` before what aider
itself prints, and the rest is what the model said. What aider prints and what the user types it ends with two blanks,
which tells both from a heading or a quotation of the model's. Source: `append_chat_history`, `user_input` and
`tool_output` of aider/io.py and `calculate_and_show_tokens_and_cost` of aider/coders/base_coder.py,
https://github.com/Aider-AI/aider; tests/fixtures/chat-history.md there.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ctxcli.formats.blocks.agents import provider_of
from ctxcli.formats.blocks.draft import Draft
from ctxcli.model import MAIN, EventKind, Part, PartKind, Record, Role, Transcript, Usage
from ctxcli.shelf import Format

_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_FIGURE = r"([\d.,]+)([kM]?)"
_TOKENS = re.compile(rf"> Tokens: {_FIGURE} sent,(.*?){_FIGURE} received\b")
_CACHE = re.compile(rf"{_FIGURE} cache (write|hit),")
_MODEL = re.compile(r"> (?:Main model|Models?): (\S+) with ")
_VERSION = re.compile(r"> Aider v\d")
_ASKS = re.compile(r"/(?:ask|code|architect|context|help)\s+(?=\S)")
"""Commands whose rest is sent to the model."""
_COMMAND = re.compile(r"[/!]\S")
_RESTARTS = re.compile(r"/(?:clear|reset)\b")
_BY_AIDER = ("# Fix any errors below", "I ran this command:", "Run shell command?")
"""How the prompts begin that aider sends on its own."""
_END = "  "
_FEWEST_MARKS = 2
_SCALES = {"": 1, "k": 1_000, "M": 1_000_000}
_NOTE = (
    "aider does not write down its system prompt, its map of the repository and the files that were added: the context "
    "is much larger than what the file shows. It rounds the tokens that it reports, and may have summed up old turns."
)


def _figure(number: str, scale: str) -> int | None:
    """A figure as aider prints it: 5,244, 604, 12k or 1.2M."""
    try:
        return round(float(number.replace(",", "").rstrip(".")) * _SCALES[scale])
    except ValueError:
        return None


def usage_of(line: str) -> Usage | None:
    """What a line of aider's says about a call. Cached tokens are among those sent, but for old clients' cache hits."""
    match = _TOKENS.match(line)
    sent = _figure(match[1], match[2]) if match else None
    if match is None or sent is None:
        return None
    cache = {kind: _figure(number, scale) or 0 for number, scale, kind in _CACHE.findall(match[3])}
    read, write = cache.get("hit", 0), cache.get("write", 0)
    prompt = sent if read + write <= sent else sent + read
    output = _figure(match[4], match[5])
    if not cache:
        return Usage(prompt=prompt, output=output)
    return Usage(prompt, max(0, prompt - read - write), read, write, output)


@dataclass(slots=True)
class _Block:
    """Lines in a row of one kind."""

    kind: str
    line: int
    lines: list[str] = field(default_factory=list)


class _Session:
    """One session, once all of its lines are there."""

    def __init__(self) -> None:
        self.draft = Draft("aider", agent="aider")
        self._lines: list[Record] = []
        self._model = ""
        self._waiting: int | None = None
        """The call that no figures have been reported for."""

    def take(self, record: Record) -> None:
        """Keep a line."""
        self.draft.saw(record)
        if isinstance(record.value, str):
            self._lines.append(record)
        else:
            self.draft.not_a_record(record)

    def read(self) -> None:
        """Turn the lines into messages, calls and events."""
        for block in _blocks(self._lines):
            if block.kind == "aider":
                self._printed(block)
            elif block.kind == "user":
                self._typed(block)
            elif block.kind == "assistant":
                self._answer(block)
            else:
                self.draft.bookkeep(block.kind)
        self._lines = []
        if self.draft.messages:
            self.draft.provider = provider_of(self._model)
            self.draft.notes.append(_NOTE)

    def _printed(self, block: _Block) -> None:
        for number, line in enumerate(block.lines):
            self.draft.bookkeep("aider output")
            if model := _MODEL.match(line):
                self._model = model[1]
            elif usage := usage_of(line):
                self._report(usage, block.line + number)

    def _report(self, usage: Usage, line: int) -> None:
        """The figures belong to the answer before them; an answer of nothing but edits leaves no text."""
        if self._waiting is None:
            self._waiting = self._call(self.draft.add(Role.ASSISTANT, (), line), line)
        self.draft.calls[self._waiting] = replace(self.draft.calls[self._waiting], usage=usage)
        self._waiting = None

    def _call(self, at: int, line: int) -> int:
        return self.draft.call(at, line, model=self._model)

    def _typed(self, block: _Block) -> None:
        said = "\n".join(line.removeprefix("####").removeprefix(" ").rstrip() for line in block.lines)
        asked = _ASKS.match(said)
        if asked is None and _COMMAND.match(said):
            for _ in block.lines:
                self.draft.bookkeep("command")
            if _RESTARTS.match(said):
                drops = list(self.draft.live[MAIN])
                self.draft.event(EventKind.RESET, block.line, drops=drops, trigger="clear")
            return
        self._waiting = None
        part = Part(PartKind.TEXT, said[asked.end() :] if asked else said, block.line)
        self._add(Role.USER, part, block, harness=said.startswith(_BY_AIDER))

    def _answer(self, block: _Block) -> None:
        at = self._add(Role.ASSISTANT, Part(PartKind.TEXT, "\n".join(block.lines).strip("\n"), block.line), block)
        self._waiting = self._call(at, block.line)

    def _add(self, role: Role, part: Part, block: _Block, *, harness: bool = False) -> int:
        at = self.draft.add(role, [part], block.line, harness=harness)
        self.draft.messages[at].lines += range(block.line, block.line + len(block.lines))
        return at


def _blocks(records: Sequence[Record]) -> Iterator[_Block]:
    """The lines by who wrote them; blank lines belong to an answer, and else to nobody."""
    marked = any(_is_marked(record.value) for record in records)
    open_: _Block | None = None
    for record in records:
        kind = _kind_of(record.value, open_, marked=marked)
        if open_ is None or open_.kind != kind or kind in ("blank", "heading"):
            if open_ is not None:
                yield from _closed(open_)
            open_ = _Block(kind, record.line)
        open_.lines.append(record.value)
    if open_ is not None:
        yield from _closed(open_)


def _kind_of(line: str, open_: _Block | None, *, marked: bool) -> str:
    before = open_.kind if open_ is not None else ""
    if _STARTED.match(line):
        return "heading"
    sure = line.endswith(_END) or not marked
    if line.startswith("####") and line[4:5] in ("", " ") and (sure or before not in ("assistant", "aider")):
        return "user"
    if before == "aider" and marked and open_ is not None and not open_.lines[-1].endswith(_END):
        return "aider"  # what it prints may have several lines: the first has the mark, the last the two blanks
    if (line.startswith("> ") or line == ">") and (sure or before != "assistant"):
        return "aider"
    if not line.strip():
        return before if before == "assistant" else "blank"
    return "assistant"


def _closed(block: _Block) -> Iterator[_Block]:
    """An answer without the blank lines behind it."""
    if block.kind == "assistant":
        while not block.lines[-1].strip():
            block.lines.pop()
            yield _Block("blank", 0, [""])
    yield block


def _is_marked(line: object) -> bool:
    return isinstance(line, str) and line.endswith(_END) and line.startswith(("#### ", "> "))


def claims(records: Sequence[Record]) -> bool:
    """A line that opens a session or reports tokens, or lines that are marked as typed and as printed."""
    lines = [record.value for record in records if isinstance(record.value, str)]
    if any(_STARTED.match(line) or _TOKENS.match(line) or _VERSION.match(line) for line in lines):
        return True
    marks = Counter(line[:2] for line in lines if _is_marked(line))
    return all(marks[mark] >= _FEWEST_MARKS for mark in ("##", "> "))


def read(records: Iterable[Record]) -> Iterator[Transcript]:
    """Each session in which something was said; the lines of those in which nothing was count for the one after."""
    session, held = _Session(), None
    for record in records:
        match = _STARTED.match(record.value) if isinstance(record.value, str) else None
        if match is not None:
            session.read()
            if session.draft.messages:
                if held is not None:
                    yield held
                held, session = session.draft.finish(), _Session()
            session.draft.id = match[1]
        session.take(record)
    session.read()
    if held is not None and session.draft.messages:
        yield held
    last = session.draft.finish()
    yield last if last.messages or held is None else _joined(held, last)


def _joined(first: Transcript, rest: Transcript) -> Transcript:
    """A session, and the lines of those after it in which nothing was said."""
    books = Counter(dict(first.bookkeeping)) + Counter(dict(rest.bookkeeping))
    return replace(
        first,
        records=first.records + rest.records,
        bytes=first.bytes + rest.bytes,
        bookkeeping=tuple(sorted(books.items())),
        skips=first.skips + rest.skips,
    )


FORMAT = Format(
    name="aider",
    title="aider chat history (markdown)",
    recognised_by="`# aider chat started at`, lines that begin with #### or > and end with two blanks",
    claims=claims,
    read=read,
    knows=frozenset({"usage", "model"}),
    text=True,
)
