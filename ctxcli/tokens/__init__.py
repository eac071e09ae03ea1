"""The only door to tokenizers and their vocabularies: texts, media and transcripts to tokens."""

from ctxcli.tokens.cache import CountCache
from ctxcli.tokens.calibrate import Fit, Growth, constant_ratio, fit
from ctxcli.tokens.counter import Choice, Counter, choose, counter
from ctxcli.tokens.engines import clean
from ctxcli.tokens.media import media_tokens
from ctxcli.tokens.weights import PLACEHOLDER, Weighed, count_parts, is_written, kind_of, scale

__all__ = [
    "PLACEHOLDER",
    "Choice",
    "CountCache",
    "Counter",
    "Fit",
    "Growth",
    "Weighed",
    "choose",
    "clean",
    "constant_ratio",
    "count_parts",
    "counter",
    "fit",
    "is_written",
    "kind_of",
    "media_tokens",
    "scale",
]
