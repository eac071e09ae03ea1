"""What became of each identifier of a context, and what nobody said before."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from ctxcli.guard.derive import is_usual
from ctxcli.guard.forms import PATHS, Key, ends_with, path_form
from ctxcli.guard.holdings import Holdings, Place
from ctxcli.guard.known import Known
from ctxcli.guard.near import LONGEST_TAIL, below, slip
from ctxcli.guard.policy import Policy, Required
from ctxcli.guard.sides import After, Before
from ctxcli.guard.strangers import Stranger, strangers_of
from ctxcli.reports.guard import AT_RISK, KEPT, LOST, MOVED, MUTATED, NOTED

_STATUS = {Place.SUMMARY: KEPT, Place.NOTES: NOTED, Place.TAIL: AT_RISK}
_UNLIKE = frozenset({"quantity", "date", "quoted", "error", "email", "flag", "env", "ticket"})
"""Kinds that are no slip of another kind: `1.2s` is no version."""
_BY_NUMBER = frozenset({"ticket", "url", "hash", "uuid"})
"""Kinds of which another way of saying it (an address and its number, a hash in short) is no slip."""
_MOST_PAIRS = 40_000
"""Pairs that are looked at for slips; what is required comes first."""
_MOST_LIKENED = 300
"""Strangers for which the nearest known identifier is looked up."""


@dataclass
class Comparison:
    """What became of each identifier of a context."""

    before: Before
    after: After
    policy: Policy
    status: dict[Key, str] = field(default_factory=dict)
    nearest: dict[Key, str] = field(default_factory=dict)
    invented: list[tuple[Stranger, str | None]] = field(default_factory=list)
    """With what BEFORE held that is like it."""
    only: Set[Key] | None = None
    """The identifiers of BEFORE that are looked at; None for all of them."""

    def __post_init__(self) -> None:
        if self.after.opaque:
            return
        for key, one in self.known.items():
            self._place(key, one)
        self._find_mutations()

    @cached_property
    def known(self) -> Mapping[Key, Known]:
        """The identifiers of BEFORE that are looked at."""
        if self.only is None:
            return self.before.known
        return {key: one for key, one in self.before.known.items() if key in self.only}

    @cached_property
    def required(self) -> Required:
        """Those that have to survive."""
        return self.before.required(self.policy)

    @cached_property
    def holdings(self) -> Holdings:
        """What AFTER says."""
        return self.after.holdings(self.before.folders)

    @cached_property
    def secrets(self) -> frozenset[str]:
        """Credentials of both sides."""
        return self.before.reading.secrets | self.after.reading.secrets

    def _place(self, key: Key, one: Known) -> None:
        place = self.holdings.place_of(one.kind, one.form, one.spellings)
        if place is not None:
            self.status[key] = _STATUS[place]
            return
        left = self.holdings.relative(one.kind, one.value)
        if left is not None and self._is_ambiguous(one, left):
            left = None
        self.status[key] = LOST if left is None else MOVED
        if left is not None:
            self.nearest[key] = left

    def _is_ambiguous(self, one: Known, left: str) -> bool:
        """Whether what is left of a path is the end of another known path too: metadata.json says nothing."""
        if one.kind not in PATHS or not ends_with(one.form, left):
            return False
        alike = self._by_name.get(left.rsplit("/", 1)[-1], ())
        return any(
            ends_with(form, left) and not (ends_with(form, one.form) or ends_with(one.form, form) or form == one.form)
            for form in alike
        )

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        """The known paths by file name."""
        found: dict[str, list[str]] = {}
        for one in self.known.values():
            if one.kind == "path":
                found.setdefault(one.form.rsplit("/", 1)[-1], []).append(one.form)
        return found

    def _find_mutations(self) -> None:
        """Strangers beside what is lost are mutations; identifiers among the others were invented.

        Where BEFORE is not whole, nothing can be called a stranger for sure.
        """
        strangers = strangers_of(self.before, self.after, self.secrets)
        taken = self._mutate(strangers) if self.before.is_whole else frozenset()
        for stranger in strangers:
            if stranger.kind in self.policy.kinds and stranger.value not in taken and not self._is_known(stranger):
                like = self._like(stranger) if len(self.invented) < _MOST_LIKENED else None
                if like or not is_usual(stranger.kind or "", stranger.value):
                    self.invented.append((stranger, like))

    def _is_known(self, stranger: Stranger) -> bool:
        """Whether it follows from what was said, or is the end of a file name that AFTER holds: a.go for my_a.go."""
        if stranger.derived:
            return True
        if stranger.kind != "path" or "/" in stranger.value:
            return False
        endings = tuple(sign + stranger.value for sign in "_.-")
        return any(
            name.endswith(endings) and any(self.status.get(("path", form)) == KEPT for form in forms)
            for name, forms in self._by_name.items()
        )

    def _mutate(self, strangers: list[Stranger]) -> frozenset[str]:
        """Pair what is gone with strangers, the nearest first, each once; returns those that a required one took."""
        due = self.required.keys
        odd = [(number, one) for number, one in enumerate(strangers) if not (one.derived and one.kind in _BY_NUMBER)]
        likely = (
            (key, number, one) for key in self._gone() for number, one in odd if _may_be(self.known[key].value, one)
        )
        pairs = [
            (key not in due, far, number, key)
            for key, number, one in islice(likely, _MOST_PAIRS)
            if (far := self._slip(self.known[key], one)) is not None
        ]
        taken: dict[int, bool] = {}
        for idle, _, number, key in sorted(pairs):
            if number not in taken and self.status[key] != MUTATED:
                self.status[key], self.nearest[key] = MUTATED, strangers[number].value
                taken[number] = not idle
        return frozenset(strangers[number].value for number, required in taken.items() if required)

    def _gone(self) -> list[Key]:
        """What is lost or moved and could fail, what is required first."""
        kinds, due = self.policy.kinds, self.required.keys
        gone = [
            key for key, status in self.status.items() if status in (LOST, MOVED) and (key in due or key[0] in kinds)
        ]
        return sorted(gone, key=lambda key: key not in due)

    def _slip(self, one: Known, stranger: Stranger) -> int | None:
        """How far a stranger is from an identifier where it may be a slip of it."""
        if stranger.kind != one.kind and stranger.kind in _UNLIKE:
            return None
        value = path_form(stranger.value, self.before.folders) if one.kind in PATHS else stranger.value
        if one.kind in PATHS and below(one.form, value) and not stranger.derived:
            return 1
        distances = [slip(one.kind, spelling, value) for spelling in dict.fromkeys((*one.spellings, one.form))]
        return min((far for far in distances if far is not None), default=None)

    def _like(self, stranger: Stranger) -> str | None:
        """What BEFORE held that is nearest: a slip away, or a file whose name ends so."""
        alike = [one for one in self.known.values() if one.kind == stranger.kind]
        near = next((one.value for one in alike if self._slip(one, stranger) is not None), None)
        if near is None and stranger.kind in PATHS:
            name = stranger.value.rsplit("/", 1)[-1]
            return min((one.value for one in alike if one.value.endswith(name)), key=len, default=None)
        return near


def _may_be(value: str, stranger: Stranger) -> bool:
    """A quick look: a slip leaves the length, and the beginning or the end."""
    other = stranger.value
    if abs(len(value) - len(other)) > max(LONGEST_TAIL, len(value)) or stranger.kind == "quoted":
        return stranger.kind == "quoted"
    return value[:2] == other[:2] or value[-2:] == other[-2:] or value.casefold()[-3:] == other.casefold()[-3:]
