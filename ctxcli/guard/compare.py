"""From two contexts and a policy to findings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ctxcli.guard.baseline import fingerprint
from ctxcli.guard.derive import is_derived
from ctxcli.guard.forms import PATHS, Key, ends_with, normal, path_form
from ctxcli.guard.holdings import Holdings, Place, wrapped_pieces
from ctxcli.guard.known import Known
from ctxcli.guard.near import below, slip
from ctxcli.guard.policy import Policy, Required, required_of
from ctxcli.guard.sides import After, Before
from ctxcli.identifiers.runs import runs_of
from ctxcli.identifiers.secrets import is_secret, mask
from ctxcli.reports.guard import AT_RISK, INVENTED, KEPT, LOST, MOVED, MUTATED, NOTED, Finding
from ctxcli.rules import RULES

_STATUS = {Place.SUMMARY: KEPT, Place.NOTES: NOTED, Place.TAIL: AT_RISK}
_UNLIKE = frozenset({"quantity", "date", "quoted", "error", "email", "flag", "env", "ticket"})
"""Kinds that are no slip of another kind: `1.2s` is no version."""
_BY_NUMBER = frozenset({"ticket", "url"})
"""Kinds of which another way of saying it (a pull request's address and its number) is no slip."""
RULE_OF = {rule.title.replace("-", "_"): rule.name for rule in RULES.values()}
"""Rule ids by status."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """Something in the compacted text that the original never held."""

    value: str
    kind: str | None
    """None for a token that is no identifier by itself."""
    line: int | None


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

    def __post_init__(self) -> None:
        if self.after.opaque:
            return
        for key, one in self.before.known.items():
            self._place(key, one)
        self._find_mutations()

    @cached_property
    def known(self) -> Mapping[Key, Known]:
        """The identifiers of BEFORE."""
        return self.before.known

    @cached_property
    def required(self) -> Required:
        """Those that have to survive."""
        return required_of(
            self.known, self.policy,
            in_constraints=self.before.in_constraints, in_last_error=self.before.in_last_error,
            folders=self.before.folders,
        )  # fmt: skip

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

    # -- what nobody said before

    def _find_mutations(self) -> None:
        """Strangers beside what is lost are mutations; identifiers among the others were invented.

        Where BEFORE is not whole, nothing can be called a stranger for sure.
        """
        strangers = self._strangers()
        taken = self._mutate(strangers) if self.before.is_whole else frozenset()
        for stranger in strangers:
            if (
                stranger.kind in self.policy.kinds
                and stranger.value not in taken
                and not self._can_be_derived(stranger)
            ):
                like = self._like(stranger)
                if stranger.kind != "branch" or like:  # “the a/b branch” is often no branch's name
                    self.invented.append((stranger, like))

    def _mutate(self, strangers: list[Stranger]) -> frozenset[str]:
        """Pair what is gone with strangers, the nearest first, each once; returns those that a required one took."""
        due = self.required.keys
        odd = [not (one.kind in _BY_NUMBER and self._can_be_derived(one)) for one in strangers]
        pairs = [
            (key not in due, far, number, key)
            for key in self._gone()
            for number, stranger in enumerate(strangers)
            if odd[number] and (far := self._slip(self.known[key], stranger)) is not None
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
        if one.kind in PATHS and below(one.form, value) and not self._can_be_derived(stranger):
            return 1
        distances = [slip(one.kind, spelling, value) for spelling in dict.fromkeys((*one.spellings, one.form))]
        return min((far for far in distances if far is not None), default=None)

    def _strangers(self) -> list[Stranger]:
        """What the compaction wrote and the original never held: identifiers first, then other tokens."""
        ever, folders = self.before.ever_held, self.before.folders
        found: dict[str, Stranger] = {}
        pieces = self.after.authored()
        broken = [piece for one in pieces for piece in wrapped_pieces(one.reading.text([one.at]), ever)]
        for piece in pieces:
            for use in piece.reading.uses(piece.at):
                form = normal(use.kind, use.value, folders)
                if use.value not in found and not ever.holds(use.kind, form, use.value):
                    found[use.value] = Stranger(use.value, use.kind, use.line)
        for piece in pieces:
            for line in piece.reading.text([piece.at]).split("\n"):
                for run in runs_of(line):
                    token, kind = run.text, "path" if "/" in run.text else ""
                    if len(token) > 2 and token not in found and not ever.holds(kind, path_form(token, folders), token):
                        found[token] = Stranger(token, None, None)
        return [one for one in found.values() if not any(one.value in piece for piece in broken)]

    def _can_be_derived(self, stranger: Stranger) -> bool:
        """Whether a stranger is put together from what the original held, or stands for nothing in particular."""
        own = self.before.reading.transcript.id
        if is_secret(stranger.value, self.secrets) or (own and len(own) > 7 and own in stranger.value):
            return True
        if self.after.notes is not None and stranger.value.endswith(_name(self.after.notes.transcript.path)):
            return True
        return self._is_shorthand(stranger) or is_derived(
            stranger.kind or "", stranger.value, self.before.ever_held.text(), self.before.folders
        )

    def _is_shorthand(self, stranger: Stranger) -> bool:
        """Whether a bare file name is the end of the name of a path that AFTER holds: hooks.go for commit_hooks.go."""
        if stranger.kind != "path" or "/" in stranger.value:
            return False
        whole = re.compile(rf"[\w.-]*[_.-]{re.escape(stranger.value)}")
        return any(
            whole.fullmatch(name) and any(self.status.get(("path", form)) == KEPT for form in forms)
            for name, forms in self._by_name.items()
        )

    def _like(self, stranger: Stranger) -> str | None:
        """What BEFORE held that is nearest: a slip away, or a file whose name ends so."""
        alike = [one for one in self.known.values() if one.kind == stranger.kind]
        near = next((one.value for one in alike if self._slip(one, stranger) is not None), None)
        if near is None and stranger.kind in PATHS:
            name = stranger.value.rsplit("/", 1)[-1]
            return min((one.value for one in alike if one.value.endswith(name)), key=len, default=None)
        return near

    # -- findings

    @cached_property
    def findings(self) -> Mapping[Key, Finding]:
        """Every identifier of BEFORE that is not where it should be."""
        return {key: self._finding(key, status) for key, status in self.status.items() if status not in (KEPT, NOTED)}

    @cached_property
    def inventions(self) -> list[Finding]:
        """Every identifier of AFTER that should not be there."""
        return [self._invented(stranger, like) for stranger, like in self.invented]

    def _finding(self, key: Key, status: str) -> Finding:
        one = self.known[key]
        required = key in self.required.keys
        rule = RULE_OF[status]
        waiver = self.policy.waiver_for(one.kind, one.value) if required else None
        print_ = fingerprint(rule, one.kind, one.form)
        known = print_ in self.policy.baseline
        bad = status in (LOST, MUTATED) or (status == MOVED and self.policy.strict)
        why = self.required.keys.get(key) or self.required.excused.get(key)
        nearest = self.nearest.get(key)
        return Finding(
            rule=rule, status=status, kind=one.kind, value=mask(one.value, self.secrets), required=required,
            fails=bool(required and bad and not waiver and not known), source=one.source, role=one.role,
            line=one.line, first_line=one.first_line, last_line=one.last_line, uses=one.uses,
            nearest=mask(nearest, self.secrets) if nearest else None, masked=one.secret,
            waived=waiver.reason if waiver else None, baselined=bool(required and known), why=why,
            fingerprint=print_,
        )  # fmt: skip

    def _invented(self, stranger: Stranger, like: str | None) -> Finding:
        kind = stranger.kind or ""
        sure = self.before.is_whole
        waiver = self.policy.waiver_for(kind, stranger.value)
        form = normal(kind, stranger.value, self.before.folders)
        print_ = fingerprint(RULE_OF[INVENTED], kind, form)
        known = print_ in self.policy.baseline
        return Finding(
            rule=RULE_OF[INVENTED], status=INVENTED, kind=kind, value=mask(stranger.value, self.secrets), required=sure,
            fails=sure and not waiver and not known, source=None, role=None,
            line=stranger.line, first_line=stranger.line, last_line=stranger.line, uses=1,
            nearest=mask(like, self.secrets) if like else None, masked=False,
            waived=waiver.reason if waiver else None, baselined=known,
            why=None if sure else "the file does not hold the whole context before, so it may have stood there",
            fingerprint=print_,
        )  # fmt: skip


def _name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
