"""What the context before held: each identifier once, with what its uses say about how much it matters."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ctxcli.guard.forms import Key, normal, path_form
from ctxcli.guard.reading import Reading
from ctxcli.identifiers.gather import Use
from ctxcli.identifiers.secrets import is_secret
from ctxcli.model import PartAt
from ctxcli.reports.identifiers import SEEN, SOURCES, STATED, TOUCHED


@dataclass(slots=True)
class Known:
    """One identifier of the context before."""

    kind: str
    form: str
    """The normal form."""
    spellings: Counter[str] = field(default_factory=Counter)
    source: str = SEEN
    role: str | None = None
    line: int = 0
    first_line: int = 0
    last_line: int = 0
    by_user: bool = False
    """Whether the user stated it."""
    only_failed: bool = True
    """Whether every use that counts was in a call that failed."""
    only_aside: bool = True
    """Whether every use that counts was in the text of a file, in a code block, or in records that were pasted."""
    secret: bool = False

    @property
    def value(self) -> str:
        """How it was written most often; of equals, first."""
        return self.spellings.most_common(1)[0][0]

    @property
    def uses(self) -> int:
        """How often it occurs."""
        return sum(self.spellings.values())

    def take(self, use: Use, *, failed: bool) -> None:
        """Count one more use."""
        if not self.spellings:
            self.source, self.role, self.line = use.source, use.role, use.line
            self.first_line = self.last_line = use.line
        elif SOURCES.index(use.source) < SOURCES.index(self.source):
            self.source, self.role, self.line = use.source, use.role, use.line
        self.spellings[use.value] += 1
        self.first_line, self.last_line = min(self.first_line, use.line), max(self.last_line, use.line)
        self.by_user = self.by_user or (use.source == STATED and use.role == "user")
        if use.source == STATED or (use.source == TOUCHED and not failed):
            self.only_failed = False
        if use.source != SEEN and not use.aside:
            self.only_aside = False


def known_in(reading: Reading, parts: Iterable[PartAt], folders: Sequence[str]) -> dict[Key, Known]:
    """The identifiers of these parts, in order of first use."""
    found: dict[Key, Known] = {}
    secrets = reading.secrets
    for at in parts:
        for use in reading.uses(at):
            key = (use.kind, normal(use.kind, use.value, folders))
            one = found.get(key)
            if one is None:
                one = found[key] = Known(*key, secret=bool(secrets) and is_secret(use.value, secrets))
            one.take(use, failed=use.part.ref in reading.failed)
    return found


_TEMPORARY = re.compile(
    r"^(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev|/proc|/run/user)(?:/|$)|^\$\{?(?:TMP|TEMP|TMPDIR)\b|^%TE?MP%"
    r"|/AppData/Local/Temp(?:/|$)", re.IGNORECASE,
)  # fmt: skip
_SCRATCH_FOLDER = re.compile(r"(?:^|/)\.?(?:te?mp|scratch|scratchpad|throwaway)(?:[-_.][^/]*)?(?:/|$)", re.IGNORECASE)
_SCRATCH_NAME = re.compile(
    r"^(?:te?mp|scratch|junk|throwaway|foo|bar|baz|qux|asdf|untitled)(?:[\W_\d][^/]*)?$|\.(?:te?mp|swp|swo|pid|lock~)$|~$",
    re.IGNORECASE,
)
_PATTERN = re.compile(
    r"[*?{}<>]|\.\.\.|…|\[[^\]]*\]|\$\(|path/to/|(?:^|/)(?:your|my|some)[-_]|(?:^|/)_(?:test|spec)\.|\$", re.IGNORECASE
)


def is_throwaway(path: str) -> bool:
    """Whether a path is temporary or a scratch name, which nobody comes back to."""
    form = path_form(path)
    name = form.rsplit("/", 1)[-1]
    return bool(_TEMPORARY.search(form) or _SCRATCH_FOLDER.search(form) or _SCRATCH_NAME.match(name))


def is_pattern(path: str) -> bool:
    """Whether a path stands for many, or for one that the reader has to fill in: `src/**/*.ts`, `path/to/file`."""
    return bool(_PATTERN.search(path))
