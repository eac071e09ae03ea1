"""The counter that a run uses: each distinct text once, known ones from the cache, the rest in one batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctxcli.errors import SettingError
from ctxcli.shelf import Weigh
from ctxcli.tokens.cache import CountCache, digest
from ctxcli.tokens.engines import Heuristic, engine_for
from ctxcli.tokens.vocab import DEFAULT, encoding_of_model


@dataclass(slots=True)
class Counter:
    """A Weigh that remembers, in memory and on disk."""

    name: str
    cache: CountCache | None = None
    engine: str = "tiktoken"
    _known: dict[bytes, int] = field(default_factory=dict)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; `engine` then says which program counted, or would have without the cache."""
        digests = [digest(text) for text in texts]
        missing = {key: text for key, text in zip(digests, texts, strict=True) if key not in self._known}
        program = engine_for(self.name, sum(map(len, missing.values())))
        if missing or not self._known:
            self.engine = program.engine
        if missing and self.cache is not None:
            self._known.update(self.cache.get(self.name, list(missing)))
            missing = {key: text for key, text in missing.items() if key not in self._known}
        if missing:
            fresh = dict(zip(missing, program.count(list(missing.values())), strict=True))
            self._known.update(fresh)
            if self.cache is not None:
                self.cache.put(self.name, fresh)
        return [self._known[key] for key in digests]


@dataclass(frozen=True, slots=True)
class Choice:
    """The encoding for a transcript, and whether it is the model's own."""

    name: str
    exact: bool


def choose(models: Sequence[str], wanted: str | None = None) -> Choice:
    """The encoding for these models, the most used first: the user's choice, the model's own, o200k_base."""
    if wanted and wanted not in ("auto", ""):
        name = wanted.removeprefix("tiktoken:")
        if name in ("heuristic", "rules"):
            return Choice("heuristic", exact=False)
        if not name:
            raise SettingError("--tokenizer tiktoken: wants a name behind the colon, as in tiktoken:p50k_base")
        own = [encoding_of_model(model) for model in models]
        return Choice(name, exact=all(_same(each, name) for each in own))
    named = [encoding_of_model(model) for model in models]
    first = next((name for name in named if name), None)
    if first is None:
        return Choice(DEFAULT, exact=False)
    name = "o200k_base" if first == "o200k_harmony" else first
    return Choice(name, exact=all(each is not None for each in named))


def _same(own: str | None, name: str) -> bool:
    """Whether a model's own encoding counts ordinary text as the one named does."""
    return own == name or (own, name) == ("o200k_harmony", "o200k_base")


def counter(name: str, cache: CountCache | None = None) -> Weigh:
    """A counter for an encoding or rule by name."""
    return Heuristic() if name == "heuristic" else Counter(name, cache)
