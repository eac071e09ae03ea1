"""A provider's prompt cache: its rules and prices, and when a compaction has paid for itself, in input tokens."""

import re
from dataclasses import dataclass
from datetime import datetime

from ctxcli.shelf import shelf

WRITE_5M, WRITE_1H, READ, OUTPUT = 1.25, 2.0, 0.1, 5.0
"""Prices in those of an input token: a cache write that lives 5 minutes or an hour, a cache read, an output token.
Anthropic's price list: https://docs.claude.com/en/docs/build-with-claude/prompt-caching."""
LIFE_5M, LIFE_1H = 300, 3_600
"""Seconds that an entry lives after its last use."""
MINIMUM = 1_024
"""Tokens of the shortest prefix that is cached, for most models."""
_TEN_MINUTES, _HALF_HOUR, _DAY = 600, 1_800, 86_400


@dataclass(frozen=True, slots=True)
class CacheRules:
    """How a provider caches prompts, for the models whose bare name a pattern matches."""

    name: str
    title: str
    models: str
    provider: str = ""
    """Whose calls follow these rules where the model is not named; empty for no provider."""
    minimums: tuple[tuple[str, int], ...] = ()
    """Tokens of the shortest prefix that is cached, by pattern of the name; the first that matches, else 1,024."""
    lives: tuple[int, ...] = (LIFE_5M, LIFE_1H)
    """Seconds that an entry may live after its last use; the first unless the provider's figures tell another."""
    writes: tuple[tuple[int, float], ...] = ()
    """Price of a write in that of an input token, for entries that live at least so many seconds, longest first;
    none where what is not read is plain input."""
    reads: tuple[tuple[str, float], ...] = ()
    """Price of a read in that of an input token, by pattern of the name; the first that matches, else 0.1."""
    breakpoints: bool = False
    """Whether a read ends where an earlier request had a breakpoint: behind tools and system prompt, or at its end.
    Otherwise every prefix that two requests share is read."""
    lookback: int = 0
    """How many blocks before the end of a request an earlier request's end is looked for; 0 for all of them."""
    step: int = 1
    """What is read is a multiple of so many tokens."""
    note: str = ""
    """What is assumed where the provider does not say."""

    def minimum(self, model: str) -> int:
        """Tokens of the shortest prefix that is cached for a model."""
        return next((tokens for pattern, tokens in self.minimums if re.match(pattern, bare(model))), MINIMUM)

    def read(self, model: str) -> float:
        """Price of a token that is read, in that of an input token."""
        return next((price for pattern, price in self.reads if re.match(pattern, bare(model))), READ)

    def write(self, life: int) -> float | None:
        """Price of a token that is written, in that of an input token; None where writing costs nothing beside."""
        return next((price for least, price in self.writes if life >= least), None)


CACHE_RULES = shelf(
    CacheRules(
        "anthropic", "Anthropic: breakpoints behind tools and system prompt and at the end of each request",
        r"claude|fable|mythos", "anthropic",
        minimums=(
            (r"claude-(opus|fable|mythos)-5", 512),
            (r"claude-(opus-4-[56]|haiku-4-5)", 4_096),
            (r"claude-(opus-4-7|.*haiku)", 2_048),
        ),
        lives=(LIFE_5M, LIFE_1H), writes=((LIFE_1H, WRITE_1H), (0, WRITE_5M)), breakpoints=True, lookback=20,
    ),
    CacheRules(
        "openai-5.6", "OpenAI from GPT-5.6 on: automatic, writes cost 1.25, entries live 30 minutes or more",
        r"gpt-(5\.[6-9]|[6-9])", lives=(_HALF_HOUR, LIFE_1H, _DAY), writes=((0, WRITE_5M),), step=128,
    ),
    CacheRules(
        "openai-5.5", "OpenAI, GPT-5.5: automatic, entries live up to a day",
        r"gpt-5\.5", lives=(_DAY, LIFE_1H, _TEN_MINUTES), step=128,
    ),
    CacheRules(
        "openai", "OpenAI: automatic, entries live 5 to 10 minutes, or up to a day where that is asked for",
        r"(chatgpt|gpt-(?!oss)|gpt4|o\d|codex)", "openai",
        lives=(_TEN_MINUTES, LIFE_1H, _DAY), step=128,
        reads=((r"gpt-(4\.1|4\.5)|o[34]", 0.25), (r"(chatgpt-)?gpt-?4o|o1", 0.5)),
    ),
    CacheRules(
        "google", "Google: implicit caching",
        r"gemini", "google", minimums=((r"gemini-2", 2_048), (r"", 4_096)),
        note="Google does not say how long a cached prompt lives: 5 minutes are assumed unless the figures tell more.",
    ),
    CacheRules(
        "prefix", "any other provider: what two requests share at the front", r"",
        note="The rules of this provider's cache are not known: every prefix of 1,024 tokens or more that two requests "
             "share is taken to be read at a tenth of the price, and writing to cost nothing.",
    ),
)  # fmt: skip
"""The rules of the providers, the first that matches; looked up in November 2026.

Anthropic, https://platform.claude.com/docs/en/build-with-claude/prompt-caching: 512 tokens for Opus 5, Fable 5 and
Mythos 5; 1,024 for Opus 4.8, 4.1 and 4 and for the Sonnets; 2,048 for Opus 4.7 and the Haikus before 4.5; 4,096 for
Opus 4.5 and 4.6 and Haiku 4.5. Four breakpoints a request, each found again at most 20 blocks back; agents set them
behind the tools, behind the system prompt and at the end.

OpenAI, https://developers.openai.com/api/docs/guides/prompt-caching: from 1,024 tokens on in steps of 128, without
breakpoints, gone after 5 to 10 minutes without use and after an hour in any case; `prompt_cache_retention` 24h for the
models that have it, and the only one for GPT-5.5. From GPT-5.6 on a write costs 1.25, an entry lives 30 minutes at
least, and the guide speaks of breakpoints; but recorded runs of Codex with GPT-5.6 read shorter prefixes than those,
in steps of 128, so none are modelled. Prices of reads: the price list, by family.

Google, https://ai.google.dev/gemini-api/docs/caching: implicit caching from 2,048 tokens (Gemini 2.5) or 4,096 on.
"""


def cache_rules(model: str, provider: str = "") -> CacheRules:
    """The rules that the calls of a model follow: by its name, else by who served it, else those of a plain prefix."""
    prefix = CACHE_RULES["prefix"]
    cards = [one for one in CACHE_RULES.values() if one is not prefix]
    if model:
        return next((one for one in cards if re.match(one.models, bare(model))), prefix)
    return next((one for one in cards if one.provider and one.provider == provider), prefix)


def bare(model: str) -> str:
    """A model's name without whose it is and where it runs, with dashes for the dots of a Claude's version."""
    name = model.lower().rsplit("/", 1)[-1]
    name = re.sub(r"^((us|eu|apac|global)\.)?anthropic\.", "", name)
    return name.replace(".", "-") if name.startswith("claude") else name


@dataclass(frozen=True, slots=True)
class Pay:
    """What one compaction costs and saves, in input-token equivalents."""

    extra: float
    """At the compaction."""
    saving: float
    """At each later call."""

    @property
    def calls(self) -> float | None:
        """Calls until the compaction has paid; None where it never does."""
        return self.extra / self.saving if self.saving > 0 else None

    @property
    def at_once(self) -> bool:
        """Whether the first call pays for it."""
        return self.saving > 0 and self.extra <= self.saving


@dataclass(frozen=True, slots=True)
class Compacted:
    """The sizes of one compaction, in tokens."""

    before: int
    """N: the context before."""
    after: int
    """C: the context after."""
    prefix: int
    """P: of the context after, what stands unchanged at its front, so that the cache still serves it."""
    summary: int
    """S: what a model wrote for it; 0 where no model was asked."""


def break_even(
    sizes: Compacted, *, warm: bool = True, cached: bool = True, write: float = WRITE_5M, read: float = READ
) -> Pay:  # fmt: skip
    """The arithmetic of one compaction (compaction facts, section 2B).

    With a cache: extra = 5 S + 0.1 P + 1.25 (C - P), and 0.9 N more where the summary call cannot read the cached
    prefix; saving at each later call = 0.1 (N - C); calls to break even = extra / saving. The summary call reads N at
    0.1, as the next call would have done without the compaction, so that the two cancel.
    N = 167k, C = 30k, P = 10k, S = 4k: 46k / 13.7k = 3.4 calls, and 14.3 where the summary call is cold.

    Without a cache: extra = 5 S + C, saving = N - C: in the example 50k against 137k, paid at once.
    """
    before, after = sizes.before, sizes.after
    if not cached:
        return Pay(OUTPUT * sizes.summary + after, float(before - after))
    prefix = min(sizes.prefix, after)
    extra = OUTPUT * sizes.summary + read * prefix + write * (after - prefix)
    if sizes.summary and not warm:
        extra += (1 - read) * before
    return Pay(extra, read * (before - after))


def seconds_between(before: str, now: str) -> float | None:
    """From one recorded time to another, never less than 0; None where either is none, or one alone has a zone."""
    one, other = moment(before), moment(now)
    if one is None or other is None or (one.tzinfo is None) is not (other.tzinfo is None):
        return None
    return max(0.0, (other - one).total_seconds())


def moment(text: str) -> datetime | None:
    """A recorded time; None for what is none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
