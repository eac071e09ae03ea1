"""Everything that ctx raises on purpose.

CtxError               the rim prints its message and exits with its code
├── UnreadableError    a file is missing, empty, torn beyond use, or not what it says
├── UnknownFormatError no reader claims the content
├── SettingError       a flag, variable or settings file holds something that cannot be
├── VocabularyError    a tokenizer's vocabulary cannot be had on this machine
├── SummaryError       a model's summary does not hold, or could not be had
├── ModelError         a model gave no answer after all retries, or its client or key is missing
└── LimitReached       a run may not ask or spend more
"""


class CtxError(Exception):
    """An expected failure: says what is wrong, where, and what to do next."""

    exit_code = 2


class UnreadableError(CtxError):
    """A source cannot be read: missing, empty, binary, wrongly encoded, or not JSON."""


class UnknownFormatError(CtxError):
    """The content is JSON, and no transcript format that ctx reads."""


class SettingError(CtxError):
    """A flag, an environment variable or a settings file holds an impossible value."""


class VocabularyError(CtxError):
    """The vocabulary of the tokenizer that was asked for is not on this machine."""


class SummaryError(CtxError):
    """A model's summary lost something, misses a slot, or could not be had: nothing is made of it."""

    exit_code = 1


class ModelError(CtxError):
    """A model could not be asked, or gave no answer: no client, no key, refused, unreachable after all retries."""


class LimitReached(CtxError):  # noqa: N818 - no fault of anything: the user's own limit
    """The next request would go over the number of calls, or the cost, that the user allows."""
