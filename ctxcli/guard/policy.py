"""What has to survive: by source, kind and glob, less what is waived, ignored, temporary or secret."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase

from ctxcli.guard.forms import PATHS, Key, path_form
from ctxcli.guard.known import Known, is_pattern, is_throwaway
from ctxcli.identifiers import KINDS
from ctxcli.reports.guard import PolicyUsed
from ctxcli.reports.identifiers import SEEN, STATED, TOUCHED

ALL = "all"
REQUIRED_KINDS = (
    "path", "url", "uuid", "hash", "version", "package", "ticket", "branch", "error", "id", "email", "host",
)  # fmt: skip
"""What a later step has to match, and cannot look up."""
IN_CONSTRAINTS = ("quantity", "quoted", "date")
"""Required inside a boundary that the user set."""
_USUAL_BRANCHES = frozenset({"main", "master", "develop", "trunk", "HEAD", "origin/main", "origin/master"})


@dataclass(frozen=True, slots=True)
class Waiver:
    """Something that may go, and why."""

    value: str
    """A glob over values."""
    reason: str
    kind: str | None = None
    until: date | None = None
    """The last day on which it holds."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What is required, and what may be missing all the same."""

    sources: Set[str] = frozenset({STATED, TOUCHED})
    kinds: Set[str] = frozenset(REQUIRED_KINDS)
    always: tuple[str, ...] = ()
    """Globs over values that are required whatever their kind and source."""
    ignore: tuple[str, ...] = ()
    """Globs over values that are not required."""
    everything: bool = False
    """All sources and all kinds, temporary names and failed calls included."""
    strict: bool = False
    """What only moved fails too."""
    waivers: tuple[Waiver, ...] = ()
    today: date = date.min
    min_kept: Mapping[str | None, float] = field(default_factory=dict)
    """The share that suffices, by kind; None for all the other kinds together."""
    baseline: Set[str] = field(default_factory=frozenset)
    """Fingerprints of findings that are known."""
    allow_unverifiable: bool = False

    def why_required(self, one: Known, *, in_constraint: bool, in_last_error: bool) -> tuple[bool, str | None]:
        """Whether an identifier is required, and what decided beyond source and kind."""
        if one.secret:
            return False, "a secret is never required"
        if _matches(one.spellings, self.ignore):
            return False, "ignored by the settings"
        if _matches(one.spellings, self.always):
            return True, "required by the settings"
        if self.everything:
            return True, None
        if in_constraint and one.kind in IN_CONSTRAINTS and self.sources:
            return True, "part of a boundary that the user set"
        if one.kind not in self.kinds:
            return False, None
        if in_last_error:
            return True, "part of the last error, which nothing came after"
        if one.source not in self.sources:
            return False, None
        return self._by_its_uses(one)

    def _by_its_uses(self, one: Known) -> tuple[bool, str | None]:
        if one.source != SEEN and one.only_failed:
            return False, "only in calls that failed"
        if one.source != SEEN and one.only_aside:
            return False, "only in the text of a file that was written, in a code block, or in records that were pasted"
        if one.kind == "branch" and one.value in _USUAL_BRANCHES:
            return False, "the usual name of a branch"
        if one.kind == "host" and not one.by_user and not any(map(str.isdigit, one.value)):
            return False, "a host without a port, which the user did not name"
        if one.kind in PATHS and is_throwaway(one.value):
            return False, "temporary, or a scratch name"
        if one.kind in PATHS and is_pattern(one.value):
            return False, "a pattern, no file"
        return True, None

    @property
    def asks_for_anything(self) -> bool:
        """False under `--require none`: then boundaries and inventions are only reported."""
        return bool(self.sources) or self.everything

    def waiver_for(self, kind: str, value: str) -> Waiver | None:
        """The first waiver in force that covers a value."""
        for waiver in self.waivers:
            if self.in_force(waiver) and waiver.kind in (None, kind) and fnmatchcase(value, waiver.value):
                return waiver
        return None

    def in_force(self, waiver: Waiver) -> bool:
        """Whether its last day has not passed."""
        return waiver.until is None or waiver.until >= self.today

    def used(self) -> PolicyUsed:
        """The policy as reports give it."""
        sources = (ALL,) if self.everything else tuple(name for name in (STATED, TOUCHED, SEEN) if name in self.sources)
        kinds = tuple(KINDS) if self.everything else tuple(sorted(self.kinds))
        shares = tuple(
            f"{kind}={share:g}" if kind else f"{share:g}"
            for kind, share in sorted(self.min_kept.items(), key=lambda item: item[0] or "")
        )
        return PolicyUsed(
            require=(*sources, *self.always),
            kinds=kinds,
            scope=self._scope(sources),
            waivers=sum(map(self.in_force, self.waivers)),
            min_kept=shares,
            strict=self.strict,
        )

    def _scope(self, sources: tuple[str, ...]) -> str:
        if self.everything:
            return "everything that was stated, touched or seen"
        which = " or ".join(sources) or "named by the settings"
        return f"what was {which}; secrets, temporary names and what only failed calls named are left out"


def _matches(values: Mapping[str, int], globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(value, glob) for glob in globs for value in values)


@dataclass(frozen=True, slots=True)
class Required:
    """Which identifiers of a context are required."""

    keys: Mapping[Key, str | None]
    """Those that are, with what decided beyond source and kind."""
    excused: Mapping[Key, str]
    """Those that a rule excuses, with the rule."""


def required_of(
    known: Mapping[Key, Known],
    policy: Policy,
    *,
    in_constraints: Set[Key],
    in_last_error: Set[Key],
    folders: Sequence[str] = (),
) -> Required:
    """Apply a policy to what a context held; `folders` are the agent's working folders."""
    keys: dict[Key, str | None] = {}
    excused: dict[Key, str] = {}
    own = {path_form(folder) for folder in folders}
    for key, one in known.items():
        wanted, why = policy.why_required(one, in_constraint=key in in_constraints, in_last_error=key in in_last_error)
        if wanted and not why and not policy.everything and one.kind in PATHS and one.form in own:
            wanted, why = False, "the working folder"
        if wanted:
            keys[key] = why
        elif why:
            excused[key] = why
    if not policy.everything:
        for key in _within_longer(keys):
            excused[key] = "the end of a longer path that is required"
            del keys[key]
    return Required(keys, excused)


def _within_longer(keys: Mapping[Key, str | None]) -> list[Key]:
    """Paths that are the end of another one of these: the same file, said shorter."""
    ends: set[str] = set()
    for kind, form in keys:
        if kind in PATHS:
            segments = form.strip("/").split("/")
            ends.update("/".join(segments[at:]) for at in range(1, len(segments)))
    return [key for key, why in keys.items() if why is None and key[0] in PATHS and key[1].lstrip("/") in ends]
